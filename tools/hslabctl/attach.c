// SPDX-License-Identifier: GPL-2.0
/* attach, detach, attached: kmem_caches that are not hslab's. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hslabctl.h"

/* Is there an hslab, and can it attach? If not, says so. */
static bool can_attach(void)
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

/* The file of what is attached, to be freed; NULL after saying that it is not. */
static char *attached_file(const char *name, const char *file)
{
	char *path = tree_path(tree_sysfs, "attached/%s/%s", name, file);

	if (!strchr(name, '/') && !access(path, F_OK))
		return path;
	complain("'%s' is not attached", name);
	free(path);
	return NULL;
}

/* In the order of the table: what a mode begins with is to be there before it. */
static int write_attached(const char *name, const struct setting *settings,
			  int nr)
{
	int policy, i, err = 0;

	for (policy = 0; policy < NR_ATTACH_POLICIES; policy++) {
		char *path = tree_path(tree_sysfs, "attached/%s/%s", name,
				       attach_policies[policy].name);

		for (i = 0; i < nr; i++)
			if (settings[i].policy == policy)
				err |= tree_write(path, settings[i].value);
		free(path);
	}
	return err ? EXIT_REFUSED : EXIT_OK;
}

/* Nothing is attached to when a setting is wrong. */
int cmd_attach(int argc, char **argv)
{
	struct setting *settings;
	char *path;
	int status = EXIT_REFUSED;

	if (argc < 2 || strchr(argv[1], '/')) {
		complain("attach takes a name in /sys/kernel/slab, and KEY=VALUE...");
		return EXIT_USAGE;
	}
	settings = settings_parse(attach_policies, NR_ATTACH_POLICIES, argv + 2,
				  argc - 2);
	if (!settings)
		return EXIT_USAGE;
	if (can_attach()) {
		path = tree_path(tree_sysfs, "attach");
		if (!tree_write(path, argv[1]))
			status = write_attached(argv[1], settings, argc - 2);
		free(path);
	} else {
		status = EXIT_NONE;
	}
	settings_free(settings, argc - 2);
	return status;
}

/* Write 1 to a file of what is attached. */
static int tell_attached(int argc, char **argv, const char *file)
{
	char *path;
	int status;

	if (argc != 2) {
		complain("%s takes one name that attached shows", argv[0]);
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	path = attached_file(argv[1], file);
	if (!path)
		return EXIT_USAGE;
	status = tree_write(path, "1") ? EXIT_REFUSED : EXIT_OK;
	free(path);
	return status;
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
		char *path = tree_path(tree_sysfs, "attached/%s/%s", name,
				       files[i]);
		char *text = tree_read(path);

		printf(" %s=%s", files[i], text ? text : "-");
		free(text);
		free(path);
	}
	putchar('\n');
}

static void list_attached(void)
{
	char *path = tree_path(tree_sysfs, "attached");
	struct dirent **entries;
	int i, nr = scandir(path, &entries, NULL, alphasort);

	free(path);
	for (i = 0; i < nr; i++) {
		if (entries[i]->d_name[0] != '.')
			print_attached(entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

static int show_attached(const char *name)
{
	char *path = attached_file(name, "mode");
	json_t *attached;

	if (!path)
		return EXIT_USAGE;
	free(path);
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
	char *path;
	int status = EXIT_USAGE;

	if (!settings)
		return EXIT_USAGE;
	if (!can_attach()) {
		status = EXIT_NONE;
	} else {
		path = attached_file(name, "mode");
		if (path)
			status = write_attached(name, settings, nr);
		free(path);
	}
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
