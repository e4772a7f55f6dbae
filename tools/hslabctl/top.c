// SPDX-License-Identifier: GPL-2.0
/*
 * top: what the caches are doing, again and again.
 *
 * The lines are made here, for the batch mode and for screen.c alike.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "top.h"

const struct top_column top_columns[NR_TOP] = {
	[TOP_CACHE]	= { "cache", 'c', 18 },
	[TOP_ALLOCS]	= { "allocs/s", 'a', 9 },
	[TOP_FREES]	= { "frees/s", 'f', 9 },
	[TOP_LIVE]	= { "live", 'l', 8 },
	[TOP_PEAK]	= { "peak", 'p', 8 },
	[TOP_MEMORY]	= { "memory", 'm', 7 },
	[TOP_HELD]	= { "held", 'h', 7 },
	[TOP_FAULTS]	= { "faults", 'v', 6 },
};

static_assert(ARRAY_SIZE(top_columns) == NR_TOP, "a line a column");

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static long long count(const json_t *cache, const char *name)
{
	const json_t *value = json_object_get(json_object_get(cache, "stats"),
					      name);

	return value ? json_integer_value(value) : -1;
}

/* Of a second; -1 for a cache that was not there before, or is another by now. */
static long long rate(const struct top *top, const char *cache,
		      const char *name, long long now)
{
	long long before = count(json_object_get(top->before, cache), name);

	if (before < 0 || now < before || top->elapsed_ms <= 0)
		return -1;
	return (now - before) * 1000 / top->elapsed_ms;
}

static long long sum_of(const json_t *cache, const char *a, const char *b)
{
	long long x = count(cache, a), y = count(cache, b);

	return x < 0 || y < 0 ? -1 : x + y;
}

static void fill_row(const struct top *top, struct top_row *row,
		     const char *name, const json_t *cache)
{
	row->name = name;
	row->values[TOP_ALLOCS] = rate(top, name, "allocs",
				       count(cache, "allocs"));
	row->values[TOP_FREES] = rate(top, name, "frees",
				      count(cache, "frees"));
	row->values[TOP_LIVE] = count(cache, "live");
	row->values[TOP_PEAK] = count(cache, "peak");
	row->values[TOP_MEMORY] = sum_of(cache, "payload_bytes", "tag_bytes");
	row->values[TOP_HELD] = count(cache, "quarantine_bytes");
	row->values[TOP_FAULTS] = snapshot_faults(cache);
}

/* Numbers from high to low; what is equal by name. */
static int compare(const void *a, const void *b, void *sort)
{
	const struct top_row *x = a, *y = b;
	enum top_id by = *(const enum top_id *)sort;
	long long i = by == TOP_CACHE ? 0 : x->values[by];
	long long j = by == TOP_CACHE ? 0 : y->values[by];

	return i == j ? strcmp(x->name, y->name) : i < j ? 1 : -1;
}

/**
 * top_sort() - sort the rows by a column, from now on
 * @top: what is shown
 * @by: the column
 */
void top_sort(struct top *top, enum top_id by)
{
	top->sort = by;
	if (top->nr)
		qsort_r(top->rows, top->nr, sizeof(*top->rows), compare, &by);
}

/**
 * top_read() - read all counts, and make the rows
 * @top: what is shown
 *
 * Return: false when counts are for root alone.
 */
bool top_read(struct top *top)
{
	json_t *caches = snapshot_stats(top->filter);
	long long now = now_ms();
	const char *name;
	json_t *cache;

	json_decref(top->before);
	top->before = top->caches;
	top->caches = caches;
	top->elapsed_ms = top->before ? now - top->read_ms : 0;
	top->read_ms = now;
	free(top->rows);
	top->rows = calloc(json_object_size(caches) + 1, sizeof(*top->rows));
	if (!top->rows)
		abort();
	top->nr = 0;
	json_object_foreach(caches, name, cache)
		fill_row(top, &top->rows[top->nr++], name, cache);
	top_sort(top, top->sort);
	return !snapshot_hidden();	/* a cache that goes has none, either */
}

/* Milliseconds until the counts are to be read again. */
int top_wait_ms(const struct top *top)
{
	long long left = top->read_ms + top->delay_ms - now_ms();

	return left > 0 ? left : 0;
}

/* A number in few letters: all of it, or with a k, M, G or T. */
static void format_value(char *text, size_t size, long long value,
			 unsigned int base)
{
	static const char units[] = "kMGT";
	double scaled = value;
	int unit = -1;

	if (value < 0) {
		snprintf(text, size, "-");
		return;
	}
	if (value < 100000) {
		snprintf(text, size, "%lld", value);
		return;
	}
	while (scaled >= base && units[unit + 1]) {
		scaled /= base;
		unit++;
	}
	snprintf(text, size, "%.1f%c", scaled, units[unit]);
}

/* Append to a line of @size bytes. */
static void append(char *line, size_t size, const char *text, int width)
{
	size_t len = strlen(line);

	snprintf(line + len, size - len, " %*s", width, text);
}

/* The name takes what the other columns leave of @width, and is cut there. */
static void begin_line(char *line, size_t size, const char *name, int width)
{
	int i;

	for (i = TOP_CACHE + 1; i < NR_TOP; i++)
		width -= 1 + top_columns[i].width;
	if (width < top_columns[TOP_CACHE].width)
		width = top_columns[TOP_CACHE].width;
	snprintf(line, size, "%-*.*s", width, width, name);
}

/**
 * top_headings() - the line above the rows
 * @line: where to put it
 * @size: bytes there
 * @width: of the line
 */
void top_headings(char *line, size_t size, int width)
{
	int i;

	begin_line(line, size, top_columns[TOP_CACHE].name, width);
	for (i = TOP_CACHE + 1; i < NR_TOP; i++)
		append(line, size, top_columns[i].name, top_columns[i].width);
}

/**
 * top_line() - the line of a cache
 * @row: the cache's
 * @line: where to put it
 * @size: bytes there
 * @width: of the line
 */
void top_line(const struct top_row *row, char *line, size_t size, int width)
{
	int i;

	begin_line(line, size, row->name, width);
	for (i = TOP_CACHE + 1; i < NR_TOP; i++) {
		bool bytes = i == TOP_MEMORY || i == TOP_HELD;
		char text[32];

		format_value(text, sizeof(text), row->values[i],
			     bytes ? 1024 : 1000);
		append(line, size, text, top_columns[i].width);
	}
}

/**
 * top_summary() - the first line: how many caches, and how long rates are over
 * @top: what is shown
 * @line: where to put it
 * @size: bytes there
 */
void top_summary(const struct top *top, char *line, size_t size)
{
	long long sum[NR_TOP] = {};
	char memory[32], over[48] = "";
	size_t i;
	int j;

	for (i = 0; i < top->nr; i++)
		for (j = TOP_CACHE + 1; j < NR_TOP; j++)
			if (top->rows[i].values[j] > 0)
				sum[j] += top->rows[i].values[j];
	format_value(memory, sizeof(memory), sum[TOP_MEMORY], 1024);
	if (top->elapsed_ms)
		snprintf(over, sizeof(over), ", over %lld.%03lld s",
			 top->elapsed_ms / 1000, top->elapsed_ms % 1000);
	snprintf(line, size, "caches %zu, live %lld, memory %s, faults %lld, by %s%s",
		 top->nr, sum[TOP_LIVE], memory, sum[TOP_FAULTS],
		 top_columns[top->sort].name, over);
}

static void print_batch(const struct top *top)
{
	int width = 0;
	char line[512];
	size_t i;

	/* No name is cut. */
	for (i = 0; i < top->nr; i++)
		if ((int)strlen(top->rows[i].name) > width)
			width = strlen(top->rows[i].name);
	for (i = TOP_CACHE + 1; i < NR_TOP; i++)
		width += 1 + top_columns[i].width;
	top_summary(top, line, sizeof(line));
	puts(line);
	top_headings(line, sizeof(line), width);
	puts(line);
	for (i = 0; i < top->nr; i++) {
		top_line(&top->rows[i], line, sizeof(line), width);
		puts(line);
	}
	fflush(stdout);
}

static int run_batch(struct top *top)
{
	long i;

	for (i = 0; !top->times || i < top->times; i++) {
		if (i) {
			int ms = top_wait_ms(top);
			struct timespec wait = { ms / 1000,
				ms % 1000 * 1000000L };

			nanosleep(&wait, NULL);
			putchar('\n');
		}
		if (!top_read(top))
			return EXIT_REFUSED;
		print_batch(top);
		if (ferror(stdout))
			return EXIT_REFUSED;
	}
	return EXIT_OK;
}

static bool parse_sort(struct top *top, const char *name)
{
	const char *names[NR_TOP], *near;
	int i;

	for (i = 0; i < NR_TOP; i++) {
		names[i] = top_columns[i].name;
		if (!strcmp(name, names[i])) {
			top->sort = i;
			return true;
		}
	}
	near = near_name(name, names, NR_TOP);
	complain("top: unknown column '%s'%s%s%s", name,
		 near ? "; did you mean '" : "", near ? near : "",
		 near ? "'?" : ", see hslabctl top --help");
	return false;
}

static bool parse_delay(struct top *top, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds < 0.1 ||
	    seconds > 86400) {
		complain("top: bad -d '%s', expected seconds, from 0.1 to 86400",
			 text);
		return false;
	}
	top->delay_ms = seconds * 1000;
	return true;
}

static bool parse_times(struct top *top, const char *text)
{
	char *end;

	top->times = strtol(text, &end, 10);
	if (end == text || *end || top->times < 1) {
		complain("top: bad -n '%s', expected a number, 1 or more", text);
		return false;
	}
	return true;
}

static bool parse_top(int argc, char **argv, struct top *top)
{
	static const struct option longs[] = {
		{ "batch", no_argument, NULL, 'b' },
		{ "times", required_argument, NULL, 'n' },
		{ "delay", required_argument, NULL, 'd' },
		{ "sort", required_argument, NULL, 's' },
		{ "filter", required_argument, NULL, 'f' },
		{ }
	};
	bool good = true;
	int c;

	while (good && (c = getopt_long(argc, argv, "bn:d:s:f:", longs,
					NULL)) >= 0) {
		switch (c) {
		case 'b':
			top->batch = true;
			break;
		case 'n':
			good = parse_times(top, optarg);
			break;
		case 'd':
			good = parse_delay(top, optarg);
			break;
		case 's':
			good = parse_sort(top, optarg);
			break;
		case 'f':
			top->filter = optarg;
			break;
		default:
			good = false;
		}
	}
	if (good && optind < argc) {
		complain("top: unexpected '%s'; did you mean --filter '%s'?",
			 argv[optind], argv[optind]);
		good = false;
	}
	return good;
}

int cmd_top(int argc, char **argv)
{
	struct top top = { .filter = "*", .delay_ms = 2000, .sort = TOP_ALLOCS };
	int status;

	if (!parse_top(argc, argv, &top))
		return EXIT_USAGE;
	if (!tree_present())
		return EXIT_NONE;
	status = top.batch ? run_batch(&top) : screen_run(&top);
	if (status == EXIT_REFUSED && !ferror(stdout))
		complain("top: counts are for root alone");
	json_decref(top.before);
	json_decref(top.caches);
	free(top.rows);
	return status;
}
