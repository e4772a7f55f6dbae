// SPDX-License-Identifier: GPL-2.0
/* The reports in /sys/kernel/debug/hslab/faults, taken apart. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define MAX_SECONDS	1e11	/* the kernel counts 2^64 ns */

/* Is @line the line with the time of a report? */
static bool is_time(const char *line, double *seconds)
{
	size_t len;

	if (*line != '[')
		return false;
	line++;
	len = strspn(line, " 0123456789.");
	*seconds = strtod(line, NULL);
	return len && !strncmp(line + len, "]\n", 2) && *seconds < MAX_SECONDS;
}

/*
 * Where the next report begins. The name of a process, which is in a report, may hold a
 * newline and such a time; there is no room in it for what must follow that.
 */
static char *next_report(char *text, double *seconds)
{
	while (text && *text) {
		char *line = strchr(text, '\n');

		if (is_time(text, seconds) && line &&
		    !strncmp(line + 1, "BUG: hslab: ", 12))
			return text;
		text = line ? line + 1 : NULL;
	}
	return NULL;
}

/* Where in "NAME, object PTR of N bytes" or "NAME, N objects of M bytes" the name ends. */
static char *end_of_name(char *text)
{
	char *comma = text, *end = NULL;

	while ((comma = strstr(comma, ", "))) {
		const char *word = comma + 2;

		word += strspn(word, "0123456789 ");
		if (!strncmp(word, "object", 6))
			end = comma;
		comma += 2;
	}
	return end;
}

/* A report begins with "BUG: hslab: KIND in cache NAME, object ..." */
static json_t *parse_report(double seconds, const char *text, size_t len)
{
	char *kind = strndup(text + 12, strcspn(text, "\n") - 12);
	char *name = kind ? strstr(kind, " in cache ") : NULL;
	char *end = name ? end_of_name(name) : NULL;
	json_t *report = json_object();

	if (!kind)
		abort();
	if (end)
		*end = '\0';
	if (name)
		*name = '\0';
	while (len && text[len - 1] == '\n')
		len--;
	/* not checked: html_text() takes what is no UTF-8 */
	json_object_set_new(report, "time", json_real(seconds));
	json_object_set_new(report, "kind", json_string_nocheck(kind));
	json_object_set_new(report, "cache",
			    json_string_nocheck(name ? name + 10 : ""));
	json_object_set_new(report, "text", json_stringn_nocheck(text, len));
	free(kind);
	return report;
}

/**
 * faults_read() - the last reports, oldest first
 *
 * Return: an array of objects with time (seconds), kind, cache and text; NULL with errno.
 */
json_t *faults_read(void)
{
	char *text = tree_read_at(tree_debugfs, "faults");
	double seconds, following = 0;
	char *at, *next;
	json_t *faults;

	if (!text)
		return NULL;
	faults = json_array();
	for (at = next_report(text, &seconds); at; at = next) {
		size_t len;

		at = strchr(at, '\n') + 1;
		next = next_report(at, &following);
		len = next ? (size_t)(next - at) : strlen(at);
		json_array_append_new(faults, parse_report(seconds, at, len));
		seconds = following;
	}
	free(text);
	return faults;
}
