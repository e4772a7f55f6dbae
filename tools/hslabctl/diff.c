// SPDX-License-Identifier: GPL-2.0
/* diff: what grew between two outputs of list --json. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

/* What list --json has written; NULL after saying what is wrong, with the @status for it. */
static json_t *load(const char *file, int *status)
{
	json_error_t error;
	FILE *in = fopen(file, "re");
	json_t *root;

	if (!in) {
		complain("%s: %s", file, strerror(errno));
		*status = EXIT_REFUSED;
		return NULL;
	}
	root = json_loadf(in, 0, &error);
	fclose(in);
	if (!root) {
		complain("%s:%d: %s", file, error.line, error.text);
		return NULL;
	}
	if (!json_is_object(json_object_get(root, "caches"))) {
		complain("%s: no caches, expected what list --json prints",
			 file);
		json_decref(root);
		return NULL;
	}
	return root;
}

static void diff_cache(const char *name, const json_t *before,
		       const json_t *after)
{
	json_t *was = json_object_get(before, "stats");
	json_t *stats = json_object_get(after, "stats"), *value;
	const char *key;

	json_object_foreach(stats, key, value) {
		long long old = json_integer_value(json_object_get(was, key));
		long long new = json_integer_value(value);

		if (new != old)
			printf("%s %s %lld -> %lld (%+lld)\n", name, key, old,
			       new, new - old);
	}
}

int cmd_diff(int argc, char **argv)
{
	json_t *before, *after, *old, *new, *cache;
	const char *name;
	int status = EXIT_USAGE;

	if (argc != 3) {
		complain("diff takes two files that list --json has written");
		return EXIT_USAGE;
	}
	before = load(argv[1], &status);
	after = before ? load(argv[2], &status) : NULL;
	if (!after) {
		json_decref(before);
		return status;
	}
	old = json_object_get(before, "caches");
	new = json_object_get(after, "caches");
	json_object_foreach(old, name, cache)
		if (!json_object_get(new, name))
			printf("%s is gone\n", name);
	json_object_foreach(new, name, cache) {
		if (!json_object_get(old, name))
			printf("%s is new\n", name);
		diff_cache(name, json_object_get(old, name), cache);
	}
	json_decref(before);
	json_decref(after);
	return EXIT_OK;
}
