// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: how long objects live. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define BUCKETS		64	/* from 2^i to 2^(i + 1) nanoseconds */
#define NAMED		8	/* caches that are not tracked */

struct lifetimes {
	const char *name;
	long long nr[BUCKETS];
	long long sum;
	int low, high;		/* the first and the last that is not 0 */
};

static double bucket_seconds(int bucket)
{
	return (double)(1ULL << bucket) / 1e9;
}

/* The lines "LOW ns: COUNT" of the kernel; 0, -1 with errno, or 1 when it has none. */
static int lifetimes_read(struct lifetimes *lifetimes, const char *name)
{
	char *text = tree_read_at(tree_debugfs, "caches/%s/lifetimes", name);
	char *next = text;

	if (!text)
		return -1;
	*lifetimes = (struct lifetimes){ .name = name, .low = BUCKETS, .high = -1 };
	while (next && *next) {
		unsigned long long low;
		long long nr;
		int i;

		if (sscanf(strsep(&next, "\n"), "%llu ns: %lld", &low, &nr) != 2 ||
		    !low || nr <= 0)
			continue;
		i = 63 - __builtin_clzll(low);
		lifetimes->nr[i] += nr;
		lifetimes->sum += nr;
		lifetimes->low = i < lifetimes->low ? i : lifetimes->low;
		lifetimes->high = i > lifetimes->high ? i : lifetimes->high;
	}
	free(text);
	return lifetimes->sum ? 0 : 1;
}

/* At powers of 1000, or of 10 when they would be few. */
static size_t ticks_of(int low, int high, struct tick ticks[BUCKETS])
{
	bool thousands = high + 1 - low > 14;
	double step = thousands ? 9.96578 : 3.32193;	/* how often 2 is in that */
	double seconds = 1 / 1e9, at;
	size_t nr = 0;

	for (at = 0; at <= high + 1; at += step) {
		if (at >= low) {
			ticks[nr].at = 100 * (at - low) / (high + 1 - low);
			unit_seconds(ticks[nr++].label, seconds);
		}
		seconds *= thousands ? 1000 : 10;
	}
	return nr;
}

/* Between which powers of 2 half of them end. */
static int median_of(const struct lifetimes *lifetimes)
{
	long long sum = 0;
	int i;

	for (i = lifetimes->low; i < lifetimes->high; i++) {
		sum += lifetimes->nr[i];
		if (2 * sum >= lifetimes->sum)
			break;
	}
	return i;
}

/* A picture with the columns from @low to @high, so that those of all caches line up. */
static void print_one(struct report *report, const struct lifetimes *lifetimes,
		      int low, int high)
{
	struct column columns[BUCKETS];
	char from[UNIT_LEN], to[UNIT_LEN], median[UNIT_LEN];
	struct tick ticks[BUCKETS];
	char *label;
	int i;

	for (i = low; i <= high; i++) {
		columns[i - low].value = lifetimes->nr[i];
		snprintf(columns[i - low].what, sizeof(columns->what), "%s to %s",
			 unit_seconds(from, bucket_seconds(i)),
			 unit_seconds(to, 2 * bucket_seconds(i)));
	}
	if (asprintf(&label, "Lifetimes of %lld objects of %s, from %s to %s",
		     lifetimes->sum, lifetimes->name,
		     unit_seconds(from, bucket_seconds(lifetimes->low)),
		     unit_seconds(to, 2 * bucket_seconds(lifetimes->high))) < 0)
		abort();
	html(report->out, "<figure><figcaption><b>%s</b><br/>", lifetimes->name);
	html_count(report->out, lifetimes->sum);
	html(report->out, " objects, %s to %s; half of them less than %s\n"
	     "</figcaption>\n", from, to,
	     unit_seconds(median, 2 * bucket_seconds(median_of(lifetimes))));
	svg_histogram(report->out, label, columns, high + 1 - low, ticks,
		      ticks_of(low, high, ticks));
	html(report->out, "</figure>\n");
	free(label);
}

static void print_table(struct report *report, const struct lifetimes *list,
			size_t nr, int low, int high)
{
	char from[UNIT_LEN];
	size_t i;

	html(report->out, "<details><summary>In numbers</summary>\n");
	report_scroll(report, "Lifetimes");
	html(report->out, "<table><thead><tr><th>from</th>");
	for (i = 0; i < nr; i++)
		html(report->out, "<th>%s</th>", list[i].name);
	html(report->out, "</tr></thead>\n<tbody>");
	for (; low <= high; low++) {
		html(report->out, "<tr><th scope=\"row\">%s</th>",
		     unit_seconds(from, bucket_seconds(low)));
		for (i = 0; i < nr; i++) {
			html(report->out, "<td>");
			html_count(report->out, list[i].nr[low]);
			html(report->out, "</td>");
		}
		html(report->out, "</tr>\n");
	}
	html(report->out, "</tbody></table>");
	report_scroll_end(report);
	html(report->out, "</details>\n");
}

/* Of which caches nothing is known since they are not tracked. */
static void print_untracked(struct report *report)
{
	const char *name;
	json_t *cache;
	size_t nr = 0;

	json_object_foreach(report->caches, name, cache) {
		if (count_of(cache, "track"))
			continue;
		if (nr++ < NAMED)
			html(report->out, nr == 1 ? "<p>Not tracked: " : ", ");
		if (nr <= NAMED)
			html(report->out, "<code>%s</code>", name);
	}
	if (nr > NAMED)
		html(report->out, " and %zu others", nr - NAMED);
	if (nr)
		html(report->out, ". <code>hslabctl set CACHE track=1</code> begins to\n"
		     "record whose the objects are, and for how long; new ones take\n"
		     "48 bytes more.</p>\n");
}

/* A histogram for each cache of which lifetimes are known. */
void report_lifetimes(struct report *report)
{
	struct lifetimes *list = calloc(json_object_size(report->caches) + 1,
					sizeof(*list));
	int low = BUCKETS, high = -1, err = 0;
	size_t nr = 0, nr_read = 0, i;
	const char *name;
	json_t *cache;

	if (!list)
		abort();
	json_object_foreach(report->caches, name, cache) {
		int status = lifetimes_read(&list[nr], name);

		err = status < 0 ? errno : err;
		nr_read += status >= 0;
		if (status)
			continue;
		low = list[nr].low < low ? list[nr].low : low;
		high = list[nr].high > high ? list[nr].high : high;
		nr++;
	}
	if (err && !nr_read)
		report_missing(report, "How long objects live", err);
	else if (!nr)
		html(report->out, "<p>No lifetimes are known yet.</p>\n");
	if (nr) {
		html(report->out, "<p>Objects by how long they lived, until they\n"
		     "were freed; each column is for twice the time of the one\n"
		     "before it. Heights are of the highest column in the same\n"
		     "picture.</p>\n<div class=\"multiples\">");
		for (i = 0; i < nr; i++)
			print_one(report, &list[i], low, high);
		html(report->out, "</div>");
		print_table(report, list, nr, low, high);
	}
	print_untracked(report);
	free(list);
}
