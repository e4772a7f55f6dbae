// SPDX-License-Identifier: GPL-2.0
/* The files of /sys/kernel/hslab and /sys/kernel/debug/hslab, or of a recording. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hslabctl.h"

const char *tree_sysfs = "/sys/kernel/hslab";
const char *tree_debugfs = "/sys/kernel/debug/hslab";
const char *tree_proc = "/proc";
const char *tree_conf = "/etc/hslab";

bool tree_exists(void)
{
	char *path = tree_path(tree_sysfs, "version");
	bool exists = !access(path, R_OK);

	free(path);
	return exists;
}

/* Is there an hslab? If not, says so. */
bool tree_present(void)
{
	bool present = tree_exists();

	if (!present)
		complain("no hslab in %s: is the module loaded?", tree_sysfs);
	return present;
}

static char *tree_vpath(const char *base, const char *fmt, va_list args)
{
	char *rest, *path;

	if (vasprintf(&rest, fmt, args) < 0 ||
	    asprintf(&path, "%s/%s", base, rest) < 0)
		abort();
	free(rest);
	return path;
}

/* The path of a file below @base; to be freed. */
char *tree_path(const char *base, const char *fmt, ...)
{
	va_list args;
	char *path;

	va_start(args, fmt);
	path = tree_vpath(base, fmt, args);
	va_end(args);
	return path;
}

/* All that is in a file, without the last newline; NULL with errno, or to be freed. */
char *tree_read(const char *path)
{
	size_t len = 0, size = 4096;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	ssize_t got;

	if (fd < 0)
		return NULL;
	text = malloc(size);
	while (text && (got = read(fd, text + len, size - len - 1)) > 0) {
		len += got;
		if (len == size - 1)
			text = realloc(text, size *= 2);
	}
	if (!text)
		abort();
	if (got < 0) {
		int err = errno;

		free(text);
		close(fd);
		errno = err;
		return NULL;
	}
	close(fd);
	if (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	return text;
}

/* As tree_read(), of a file below @base. */
char *tree_read_at(const char *base, const char *fmt, ...)
{
	va_list args;
	char *path, *text;
	int err;

	va_start(args, fmt);
	path = tree_vpath(base, fmt, args);
	va_end(args);
	text = tree_read(path);
	err = errno;
	free(path);
	errno = err;
	return text;
}

/* Say what the kernel has logged about hslab since @kmsg was opened at its end. */
static void tree_say_log(int kmsg)
{
	char record[2048];
	ssize_t len;

	while ((len = read(kmsg, record, sizeof(record) - 1)) > 0) {
		char *text;

		record[len] = '\0';
		text = strchr(record, ';');
		if (!text || strncmp(text + 1, "hslab: ", 7))
			continue;
		text[strcspn(text, "\n")] = '\0';
		complain("the kernel says: %s", text + 1);
	}
}

/* Write a value to a file of sysfs; 0, or -1 after saying what was refused, and why. */
int tree_write(const char *value, const char *fmt, ...)
{
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int fd, err = 0;
	va_list args;
	char *path;

	va_start(args, fmt);
	path = tree_vpath(tree_sysfs, fmt, args);
	va_end(args);
	if (kmsg >= 0)
		lseek(kmsg, 0, SEEK_END);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		err = errno;
	if (fd >= 0 && close(fd) && !err)
		err = errno;
	if (err) {
		complain("%s: '%.*s' refused: %s", path,
			 (int)strcspn(value, "\n"), value, strerror(err));
		if (kmsg >= 0)
			tree_say_log(kmsg);
	}
	if (kmsg >= 0)
		close(kmsg);
	free(path);
	return err ? -1 : 0;
}

static int tree_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* May it be the name of a folder in a folder? */
bool tree_is_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") &&
	       strcmp(name, "..");
}

/* The folders in @where whose names match, sorted; @nr is 0 when none does. */
char **tree_folders(const char *where, const char *pattern, size_t *nr)
{
	char *path = tree_path(tree_sysfs, "%s", where);
	DIR *dir = opendir(path);
	char **names = NULL;
	struct dirent *entry;

	*nr = 0;
	free(path);
	while (dir && (entry = readdir(dir))) {
		if (!tree_is_name(entry->d_name) ||
		    !glob_matches(pattern, entry->d_name))
			continue;
		names = realloc(names, (*nr + 1) * sizeof(*names));
		if (!names)
			abort();
		names[(*nr)++] = strdup(entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (*nr)
		qsort(names, *nr, sizeof(*names), tree_compare);
	return names;
}

char **tree_caches(const char *pattern, size_t *nr)
{
	return tree_folders("caches", pattern, nr);
}

void tree_free_names(char **names, size_t nr)
{
	while (nr)
		free(names[--nr]);
	free(names);
}
