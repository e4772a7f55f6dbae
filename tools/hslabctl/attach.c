// SPDX-License-Identifier: GPL-2.0
/* attach, detach, attached, sweep: kmem_caches that are not hslab's. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hslabctl.h"

/* Is there an hslab, and can it attach? If not, says so. */
bool can_attach(void)
{
	char *path;
	bool can;

	if (!tree_present())
		return false;
	path = tree_path(tree_sysfs, "attach");
	can = !access(path, F_OK);
	free(path);
	if (!can)
		complain("this hslab cannot attach");
	return can;
}

static bool is_attached(const char *name)
{
	char *path = tree_path(tree_sysfs, "attached/%s/mode", name);
	bool is = tree_is_name(name) && !access(path, F_OK);

	free(path);
	return is;
}

/* Says so when it is not. */
static bool must_be_attached(const char *name)
{
	bool is = is_attached(name);

	if (!is)
		complain("'%s' is not attached", name);
	return is;
}

/* Has it such a policy already? Words are in small letters alone. */
static bool is_set(const char *name, const char *policy, const char *value)
{
	char *text = tree_read_at(tree_sysfs, "attached/%s/%s", name, policy);
	bool is = text && !strcasecmp(text, value);

	free(text);
	return is;
}

/*
 * Attach to it, unless it is attached already, and set what it has not: writing a mode
 * or a bound empties the quarantine, though it be the same.
 */
int attach_apply(const char *name, const char *const values[NR_ATTACH_POLICIES])
{
	int i, err = 0;

	if (!is_attached(name) && tree_write(name, "attach"))
		return -1;
	for (i = 0; i < NR_ATTACH_POLICIES; i++)
		if (values[i] && !is_set(name, attach_policies[i].name, values[i]))
			err |= tree_write(values[i], "attached/%s/%s", name,
					  attach_policies[i].name);
	return err;
}

/* In the order of the table: what a mode begins with is to be there before it. */
static int write_attached(const char *name, const struct setting *settings,
			  int nr)
{
	int policy, i, err = 0;

	for (policy = 0; policy < NR_ATTACH_POLICIES; policy++)
		for (i = 0; i < nr; i++)
			if (settings[i].policy == policy)
				err |= tree_write(settings[i].value,
						  "attached/%s/%s", name,
						  attach_policies[policy].name);
	return err ? EXIT_REFUSED : EXIT_OK;
}

/* Nothing is attached to when a setting is wrong. */
int cmd_attach(int argc, char **argv)
{
	struct setting *settings;
	int status = EXIT_REFUSED;

	if (argc < 2 || !tree_is_name(argv[1])) {
		complain("attach takes a name in /sys/kernel/slab, and KEY=VALUE...");
		return EXIT_USAGE;
	}
	settings = settings_parse(attach_policies, NR_ATTACH_POLICIES, argv + 2,
				  argc - 2);
	if (!settings)
		return EXIT_USAGE;
	if (!can_attach())
		status = EXIT_NONE;
	else if (!tree_write(argv[1], "attach"))
		status = write_attached(argv[1], settings, argc - 2);
	settings_free(settings, argc - 2);
	return status;
}

/* Write 1 to a file of what is attached. */
static int tell_attached(int argc, char **argv, const char *file)
{
	if (argc != 2) {
		complain("%s takes one name that attached shows", argv[0]);
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	if (!must_be_attached(argv[1]))
		return EXIT_USAGE;
	return tree_write("1", "attached/%s/%s", argv[1], file) ? EXIT_REFUSED :
								  EXIT_OK;
}

int cmd_detach(int argc, char **argv)
{
	return tell_attached(argc, argv, "detach");
}

int cmd_sweep(int argc, char **argv)
{
	return tell_attached(argc, argv, "sweep");
}

static void print_attached(const char *name)
{
	static const char *const files[] = { "mode", "object_size", "aliases" };
	size_t i;

	printf("%s", name);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		char *text = tree_read_at(tree_sysfs, "attached/%s/%s", name,
					  files[i]);

		printf(" %s=%s", files[i], text ? text : "-");
		free(text);
	}
	putchar('\n');
}

static void list_attached(void)
{
	char **names;
	size_t i, nr;

	names = tree_folders("attached", "*", &nr);
	for (i = 0; i < nr; i++)
		print_attached(names[i]);
	tree_free_names(names, nr);
}

static int show_attached(const char *name)
{
	json_t *attached;

	if (!must_be_attached(name))
		return EXIT_USAGE;
	attached = snapshot_attached(name);
	show_folder(name, attached);
	json_decref(attached);
	return EXIT_OK;
}

static int set_attached(const char *name, char **words, int nr)
{
	struct setting *settings = settings_parse(attach_policies,
						  NR_ATTACH_POLICIES, words,
						  nr);
	int status = EXIT_USAGE;

	if (!settings)
		return EXIT_USAGE;
	if (!can_attach())
		status = EXIT_NONE;
	else if (must_be_attached(name))
		status = write_attached(name, settings, nr);
	settings_free(settings, nr);
	return status;
}

/* All; all about one; or set its policies. */
int cmd_attached(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "set"))
		return set_attached(argv[2], argv + 3, argc - 3);
	if (argc > 2) {
		complain("attached takes NAME, set NAME KEY=VALUE..., or nothing");
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	if (argc == 2)
		return show_attached(argv[1]);
	list_attached();
	return EXIT_OK;
}
