// SPDX-License-Identifier: GPL-2.0
/* save: all policies, as an hslab.conf. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

static bool is_word(const char *name, size_t len)
{
	static const char *const words[] = { "defaults", "attach" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !strncmp(words[i], name, len))
			return true;
	return false;
}

/* A name, so that it is read as no more than that; to be freed. */
static char *escaped(const char *name)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	if (is_word(name, strlen(name)))
		putc('\\', out);
	for (; *name; name++) {
		if (strchr("*?[]\\#= \t;", *name))
			putc('\\', out);
		putc(*name, out);
	}
	if (fclose(out))
		abort();
	return text;
}

/* Is the pattern of a rule one of these caches alone, which have a line each? */
static bool is_of_one(const char *rule, size_t len, char *const *names, size_t nr)
{
	bool is = false;
	size_t i;

	for (i = 0; i < nr && !is; i++) {
		char *name = escaped(names[i]);

		is = strlen(name) == len && !strncmp(name, rule, len);
		free(name);
	}
	return is;
}

/* What caches to come start with. It does not matter any more for those that are there. */
static int save_rules(FILE *out)
{
	char *text = rules_read(), *rest = NULL, *rule;
	char **names;
	size_t nr;

	if (!text)
		return -1;
	names = tree_caches("*", &nr);
	for (rule = strtok_r(text, "\n", &rest); rule;
	     rule = strtok_r(NULL, "\n", &rest)) {
		const char *end = conf_span(rule, " ");
		size_t len = end - rule;

		if (is_of_one(rule, len, names, nr))
			continue;
		if (is_word(rule, len))
			putc('\\', out);
		pattern_print(out, rule, len, "#=");
		fprintf(out, "%s\n", end);
	}
	tree_free_names(names, nr);
	free(text);
	return 0;
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
		char *name = escaped(names[i]);

		fprintf(out, "%s%s", word, name);
		free(name);
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
		err = save_rules(out);
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
