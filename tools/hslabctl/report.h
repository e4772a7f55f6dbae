/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hslabctl report: what its files have of each other.
 *
 * html.c and svg.c are leaves and know nothing of hslab; each section of the page is in
 * a file of its own, report.c has the frame.
 */
#ifndef REPORT_H
#define REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "hslabctl.h"

struct report {
	FILE *out;
	json_t *root;		/* snapshot("*") */
	json_t *caches;		/* of it */
	bool counts;		/* are there any of caches? */
	bool counts_attached;	/* and of what hslab is attached to? */
	json_t *faults;		/* the last reports, oldest first; NULL: unreadable */
	int faults_errno;	/* why */
	unsigned int nr_missing;	/* parts that are not there */
};

/* html.c: all strings are escaped */
void html_text(FILE *out, const char *text);
void html(FILE *out, const char *fmt, ...)
	__printf(2, 3);
void html_bytes(FILE *out, long long bytes);
void html_count(FILE *out, long long count);

#define UNIT_LEN	32

const char *unit_bytes(char text[UNIT_LEN], long long bytes);
const char *unit_count(char text[UNIT_LEN], long long count);
const char *unit_seconds(char text[UNIT_LEN], double seconds);

/* svg.c: as wide as there is room; places and widths are in percent of that */
struct segment {
	const char *class;	/* of report_style */
	const char *what;
	long long value;
};

struct dots {
	const char *label;
	unsigned int nr[100];	/* how many in each part of the axis */
};

struct column {
	char what[2 * UNIT_LEN];
	long long value;
};

struct tick {
	double at;		/* percent */
	char label[UNIT_LEN + 1];
};

void svg_defs(FILE *out);
void svg_bar(FILE *out, const char *label, const struct segment *segments,
	     size_t nr, long long scale, long long below);
void svg_dots(FILE *out, const char *label, const struct dots *lanes, size_t nr,
	      const struct tick *ticks, size_t nr_ticks);
void svg_histogram(FILE *out, const char *label, const struct column *columns,
		   size_t nr, const struct tick *ticks, size_t nr_ticks);
void svg_fan(FILE *out, const bool *dashed, size_t nr);

/* report_style.c */
extern const char report_style[];

/* report.c */
long long count_of(const json_t *folder, const char *name);
const char *word_of(const json_t *folder, const char *name);
void report_missing(struct report *report, const char *what, int err);
struct bar {
	const char *name, *label;
	const struct segment *segments;
	size_t nr;
	long long scale, below;		/* as for svg_bar() */
	void (*print)(FILE *out, long long value);
	long long value;		/* beside it */
};

void report_bar(struct report *report, const struct bar *bar);
void report_scroll(struct report *report, const char *label);
void report_scroll_end(struct report *report);

/* The sections. */
void report_memory(struct report *report);
void report_stores(struct report *report);
void report_faults(struct report *report);
void report_lifetimes(struct report *report);
void report_attached(struct report *report);

void report_refusals(struct report *report);

/* faults.c */
json_t *faults_read(void);

#endif
