// SPDX-License-Identifier: GPL-2.0
/* What sysfs has, as JSON: the one form that list, show, diff and prometheus use. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hslabctl.h"

static bool hidden;	/* a file was for root alone */

/* Files that are words though they may look like numbers, or are lists. */
static const char *const words[] = { "zero", "poison", "stores_draining", "owner",
	"ctor", "flags", "caches", "kmem_cache", "version", "aliases" };
/* Files that are only written; in a recording they may be readable. */
static const char *const actions[] = { "shrink", "scrub", "purge", "sweep",
	"detach" };

static bool one_of(const char *name, const char *const *list, size_t nr)
{
	while (nr)
		if (!strcmp(name, list[--nr]))
			return true;
	return false;
}

static json_t *value_of(const char *name, const char *text)
{
	size_t len = strlen(text);

	if (one_of(name, words, ARRAY_SIZE(words)) || !len || len > 18 ||
	    text[strspn(text, "0123456789")])
		return json_string(text);
	return json_integer(strtoll(text, NULL, 10));
}

static json_t *read_folder(const char *path);

static json_t *read_entry(const char *path, const char *name)
{
	struct stat info;
	json_t *value;
	char *text;

	if (stat(path, &info))
		return NULL;
	if (S_ISDIR(info.st_mode))
		return read_folder(path);
	if (one_of(name, actions, ARRAY_SIZE(actions)))
		return NULL;
	text = tree_read(path);
	if (!text) {
		hidden |= errno == EACCES;
		return NULL;
	}
	value = value_of(name, text);
	free(text);
	return value;
}

static json_t *read_folder(const char *path)
{
	json_t *folder = json_object();
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		hidden |= errno == EACCES;
	while (dir && (entry = readdir(dir))) {
		char *file;
		json_t *value;

		if (entry->d_name[0] == '.')
			continue;
		file = tree_path(path, "%s", entry->d_name);
		value = read_entry(file, entry->d_name);
		if (value)
			json_object_set_new(folder, entry->d_name, value);
		free(file);
	}
	if (dir)
		closedir(dir);
	return folder;
}

/* All files of a cache; what cannot be read is left out. */
json_t *snapshot_cache(const char *name)
{
	char *path = tree_path(tree_sysfs, "caches/%s", name);
	json_t *cache = read_folder(path);

	free(path);
	return cache;
}

/* All files of what hslab is attached to. */
json_t *snapshot_attached(const char *name)
{
	char *path = tree_path(tree_sysfs, "attached/%s", name);
	json_t *attached = read_folder(path);

	free(path);
	return attached;
}

/* The counts of the caches that match, and nothing else of them. */
json_t *snapshot_stats(const char *pattern)
{
	json_t *caches = json_object();
	char **names;
	size_t i, nr;

	names = tree_caches(pattern, &nr);
	for (i = 0; i < nr; i++) {
		char *path = tree_path(tree_sysfs, "caches/%s/stats", names[i]);
		json_t *cache = json_object();

		json_object_set_new(cache, "stats", read_folder(path));
		json_object_set_new(caches, names[i], cache);
		free(path);
	}
	tree_free_names(names, nr);
	return caches;
}

/* The whole of sysfs, with the caches that match. */
json_t *snapshot(const char *pattern)
{
	static const char *const tops[] = { "version", "profile", "faults",
		"seal", "defaults", "stores", "attached" };
	json_t *root = json_object(), *caches = json_object();
	char **names;
	size_t i, nr;

	for (i = 0; i < ARRAY_SIZE(tops); i++) {
		char *path = tree_path(tree_sysfs, "%s", tops[i]);
		json_t *value = read_entry(path, tops[i]);

		if (value)
			json_object_set_new(root, tops[i], value);
		free(path);
	}
	names = tree_caches(pattern, &nr);
	for (i = 0; i < nr; i++)
		json_object_set_new(caches, names[i], snapshot_cache(names[i]));
	tree_free_names(names, nr);
	json_object_set_new(root, "caches", caches);
	return root;
}

/* A copy whose members come in the order of their names. */
json_t *json_sorted(const json_t *object)
{
	char *text = json_dumps(object, JSON_SORT_KEYS);
	json_t *copy = json_loads(text, 0, NULL);

	free(text);
	return copy;
}

/* Violations that a cache has found; -1 when they cannot be read. */
long long snapshot_faults(const json_t *cache)
{
	json_t *stats = json_object_get(cache, "stats"), *value;
	long long sum = -1;
	const char *key;

	json_object_foreach(stats, key, value)
		if (!strncmp(key, "faults_", 7))
			sum = (sum < 0 ? 0 : sum) + json_integer_value(value);
	return sum;
}

/* Was anything left out, being for root alone? */
bool snapshot_hidden(void)
{
	return hidden;
}

/* Say once why counts are missing. */
void snapshot_hint(void)
{
	if (hidden)
		complain("counts are for root alone, and are left out");
}
