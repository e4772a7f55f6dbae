// SPDX-License-Identifier: GPL-2.0
/*
 * Files that are replaced whole: who had one before finds it as it was, or the new one,
 * never half of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hslabctl.h"

/*
 * The file that is to be replaced, links followed, to be freed; NULL for what is to be
 * written to: a pipe, a device, or what has no path.
 */
static char *output_replaces(const char *name)
{
	struct stat info;

	if (lstat(name, &info))
		return errno == ENOENT ? strdup(name) : NULL;
	if (stat(name, &info) || !S_ISREG(info.st_mode))
		return NULL;
	return realpath(name, NULL);
}

/* A temporary file beside @path, with the mode of what is there. */
static FILE *output_temporary(const char *path, char *temporary)
{
	mode_t mode = umask(0);
	struct stat info;
	FILE *file;
	int fd;

	umask(mode);
	mode = stat(path, &info) ? 0666 & ~mode : info.st_mode & 07777;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return NULL;
	file = fchmod(fd, mode) ? NULL : fdopen(fd, "w");
	if (!file) {
		close(fd);
		unlink(temporary);
	}
	return file;
}

static void output_free(struct output *output)
{
	free(output->path);
	free(output->temporary);
}

/**
 * output_open() - begin to write a file
 * @output: filled in; what is written goes to its file
 * @name: of the file, or - for the standard output
 *
 * A regular file is as it was until output_close(). What is none, such as a pipe, is
 * written to.
 *
 * Return: 0, or -1 after saying why not.
 */
int output_open(struct output *output, const char *name)
{
	*output = (struct output){ stdout, NULL, NULL };
	if (!strcmp(name, "-"))
		return 0;
	output->path = output_replaces(name);
	if (!output->path) {
		output->path = strdup(name);
		output->file = fopen(name, "we");
	} else {
		if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0)
			abort();
		output->file = output_temporary(output->path, output->temporary);
	}
	if (output->file)
		return 0;
	complain("%s: %s", output->path, strerror(errno));
	output_free(output);
	return -1;
}

/**
 * output_close() - end what output_open() began
 * @output: as it was filled in
 * @good: put it in the place of the file that was there; else that stays
 *
 * Return: 0 when all is written, else -1, after saying why if @good.
 */
int output_close(struct output *output, bool good)
{
	FILE *file = output->file;
	bool written;

	if (!output->path)	/* main() looks at the standard output */
		return good ? 0 : -1;
	written = good && !fflush(file) && !ferror(file);
	if (written && output->temporary)
		written = !fsync(fileno(file)) &&
			  !rename(output->temporary, output->path);
	if (good && !written)
		complain("%s: %s", output->path, strerror(errno));
	fclose(file);
	if (output->temporary && !written)
		unlink(output->temporary);
	output_free(output);
	return written ? 0 : -1;
}
