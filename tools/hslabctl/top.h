/* SPDX-License-Identifier: GPL-2.0 */
/* What top.c and screen.c have of each other. */
#ifndef TOP_H
#define TOP_H

#include "hslabctl.h"

enum top_id {
	TOP_CACHE,
	TOP_ALLOCS,
	TOP_FREES,
	TOP_LIVE,
	TOP_PEAK,
	TOP_MEMORY,	/* of live objects, tags included */
	TOP_HELD,	/* in quarantine */
	TOP_FAULTS,
	NR_TOP
};

struct top_column {
	const char *name;
	char key;	/* sorts by it, on the screen */
	int width;
};

extern const struct top_column top_columns[NR_TOP];

struct top_row {
	const char *name;		/* the snapshot's */
	long long values[NR_TOP];	/* -1: unknown; that of the name is not used */
};

struct top {
	/* what was asked for */
	const char *filter;
	int delay_ms;
	long times;		/* 0: without end */
	bool batch;
	enum top_id sort;

	json_t *before, *caches;	/* the last two snapshots */
	long long read_ms;		/* when the last was made */
	long long elapsed_ms;		/* between the two; 0: there is one alone */
	struct top_row *rows;
	size_t nr;
};

bool top_read(struct top *top);
void top_sort(struct top *top, enum top_id by);
int top_wait_ms(const struct top *top);
void top_summary(const struct top *top, char *line, size_t size);
void top_headings(char *line, size_t size, int width);
void top_line(const struct top_row *row, char *line, size_t size, int width);

/* screen.c */
int screen_run(struct top *top);

#endif
