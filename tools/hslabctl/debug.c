// SPDX-License-Identifier: GPL-2.0
/* What debugfs tells: stores, faults, traces. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hslabctl.h"

/* A file of debugfs, to be freed; NULL after saying why not. */
static char *read_file(const char *path)
{
	char *text = tree_read(path);

	if (!text)
		complain("%s: %s%s", path, strerror(errno),
			 errno == EACCES ? ": debugfs is for root alone" : "");
	return text;
}

/* Print a file of debugfs; with a heading, the lines are indented. */
static int print_file(const char *file, const char *heading)
{
	char *path = tree_path(tree_debugfs, "%s", file);
	char *text = read_file(path), *line, *next = text;

	if (text && heading)
		printf("%s:\n", heading);
	while (next && *next) {
		line = strsep(&next, "\n");
		printf("%s%s\n", heading ? "  " : "", line);
	}
	free(text);
	free(path);
	return text ? EXIT_OK : EXIT_REFUSED;
}

/* The stores and who is there; for a cache, whom it shares with, and why not. */
int cmd_stores(int argc, char **argv)
{
	char *file;
	int status;

	if (argc > 2 || (argc == 2 && !tree_is_name(argv[1]))) {
		complain("stores takes a CACHE, or nothing for all stores");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	if (argc == 1)
		return print_file("stores", NULL);
	file = tree_path("caches", "%s/merge", argv[1]);
	status = print_file(file, NULL);
	free(file);
	return status;
}

/* Print what of @text comes after the last report of @seen; the kernel keeps 64. */
static void print_new(const char *seen, const char *text)
{
	const char *last = seen, *at = seen, *found = NULL;

	while ((at = strstr(at, "\n[")))
		last = ++at;
	if (*last)
		found = strstr(text, last);
	if (found)
		text = found + strlen(last);
	text += strspn(text, "\n");
	if (*text)
		puts(text);
}

static int follow_faults(void)
{
	char *path = tree_path(tree_debugfs, "faults");
	char *seen = strdup(""), *text;

	while ((text = read_file(path))) {
		if (strcmp(seen, text))
			print_new(seen, text);
		free(seen);
		seen = text;
		if (fflush(stdout))
			break;
		sleep(1);
	}
	free(seen);
	free(path);
	return EXIT_REFUSED;
}

int cmd_faults(int argc, char **argv)
{
	bool follow = argc == 2 && (!strcmp(argv[1], "-f") ||
				    !strcmp(argv[1], "--follow"));

	if (argc > 2 || (argc == 2 && !follow)) {
		complain("faults takes nothing but -f");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	return follow ? follow_faults() : print_file("faults", NULL);
}

/* Is there such a folder in sysfs? That of debugfs is for root alone. */
static bool has_folder(const char *where, const char *name)
{
	char *path = tree_path(tree_sysfs, "%s/%s", where, name);
	bool has = !access(path, F_OK);

	free(path);
	return has;
}

static int print_traces(const char *where, const char *name, const char *file,
			const char *heading)
{
	char *path = tree_path(where, "%s/%s", name, file);
	int status;

	status = print_file(path, heading);
	free(path);
	return status;
}

/* A cache of hslab's and what hslab is attached to may have the same name. */
int cmd_traces(int argc, char **argv)
{
	static const char *const files[] = { "alloc_traces", "free_traces",
		"lifetimes" };
	bool cache, attached;
	int status = EXIT_OK;
	size_t i;

	if (argc != 2 || !tree_is_name(argv[1])) {
		complain("traces takes one CACHE");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	cache = has_folder("caches", argv[1]);
	attached = has_folder("attached", argv[1]);
	if (!cache && !attached) {
		complain("'%s' is no cache, and not attached", argv[1]);
		return EXIT_USAGE;
	}
	for (i = 0; cache && i < ARRAY_SIZE(files) && !status; i++)
		status = print_traces("caches", argv[1], files[i], files[i]);
	if (attached && !status)
		status = print_traces("attached", argv[1], "free_traces",
				      "free_traces (attached)");
	return status;
}
