// SPDX-License-Identifier: GPL-2.0
/* save: all policies, as an hslab.conf. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

/* A name, so that it is read as no more than that. */
static void save_name(FILE *out, const char *name)
{
	const char *letter;

	if (!strcmp(name, "defaults") || !strcmp(name, "attach"))
		putc('\\', out);
	for (letter = name; *letter; letter++) {
		if (strchr("*?[]\\#= \t", *letter))
			putc('\\', out);
		putc(*letter, out);
	}
}

/* The policies of a table, as a folder has them; ends the line. */
static int save_policies(FILE *out, const char *folder, const struct policy *table,
			 int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		char *path = tree_path(tree_sysfs, "%s/%s", folder, table[i].name);
		char *value = tree_read(path);

		if (!value) {
			complain("%s: %s", path, strerror(errno));
			free(path);
			return -1;
		}
		fprintf(out, " %s=%s", table[i].name, value);
		free(value);
		free(path);
	}
	putc('\n', out);
	return 0;
}

/* A line for each folder in "caches" or "attached"; begins with @word. */
static int save_folders(FILE *out, const char *where, const char *word,
			const struct policy *table, int nr_policies)
{
	char **names;
	size_t nr, i;
	int err = 0;

	names = tree_folders(where, "*", &nr);
	for (i = 0; i < nr && !err; i++) {
		char *folder = tree_path(where, "%s", names[i]);

		fputs(word, out);
		save_name(out, names[i]);
		err = save_policies(out, folder, table, nr_policies);
		free(folder);
	}
	tree_free_names(names, nr);
	return err;
}

/* But for the profiles, which follow from the other policies. */
static int save_all(FILE *out)
{
	const struct policy *single = policies + POLICY_PROFILE + 1;
	const int nr = NR_POLICIES - POLICY_PROFILE - 1;
	int err;

	fputs("# Written by hslabctl save; see hslab.conf(5).\ndefaults", out);
	err = save_policies(out, "defaults", single, nr);
	if (!err)
		err = save_folders(out, "caches", "", single, nr);
	if (!err)
		err = save_folders(out, "attached", "attach ", attach_policies,
				   NR_ATTACH_POLICIES);
	return err;
}

int cmd_save(int argc, char **argv)
{
	struct output output;
	int err;

	if (argc != 2) {
		complain("save takes one FILE, or - for the standard output");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	if (output_open(&output, argv[1]))
		return EXIT_REFUSED;
	err = save_all(output.file);
	return output_close(&output, !err) ? EXIT_REFUSED : EXIT_OK;
}
