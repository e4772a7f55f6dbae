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

int cmd_attach(int argc, char **argv)
{
	char *path;
	int err;

	if (argc != 2) {
		complain("attach takes one name in /sys/kernel/slab");
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	path = tree_path(tree_sysfs, "attach");
	err = tree_write(path, argv[1]);
	free(path);
	return err ? EXIT_REFUSED : EXIT_OK;
}

int cmd_detach(int argc, char **argv)
{
	char *path;
	int status = EXIT_OK;

	if (argc != 2 || strchr(argv[1], '/')) {
		complain("detach takes one name that attached shows");
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	path = tree_path(tree_sysfs, "attached/%s/detach", argv[1]);
	if (access(path, F_OK)) {
		complain("'%s' is not attached", argv[1]);
		status = EXIT_USAGE;
	} else if (tree_write(path, "1")) {
		status = EXIT_REFUSED;
	}
	free(path);
	return status;
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

int cmd_attached(int argc, char **argv)
{
	struct dirent **entries;
	char *path;
	int i, nr;

	if (argc != 1) {
		complain("attached takes no '%s'", argv[1]);
		return EXIT_USAGE;
	}
	if (!can_attach())
		return EXIT_NONE;
	path = tree_path(tree_sysfs, "attached");
	nr = scandir(path, &entries, NULL, alphasort);
	free(path);
	for (i = 0; i < nr; i++) {
		if (entries[i]->d_name[0] != '.')
			print_attached(entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return EXIT_OK;
}
