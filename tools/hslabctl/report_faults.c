// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: the violations, and when they were found. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define NEWEST		10	/* reports that are listed before the older ones */
#define KEPT		64	/* the kernel does not keep more */
#define MAX_KINDS	16
#define MAX_TICKS	7

struct axis {
	double begin, length, step;	/* seconds */
};

static const json_t *fault_at(const struct report *report, size_t i)
{
	return json_array_get(report->faults, i);
}

static double time_of(const json_t *fault)
{
	return json_real_value(json_object_get(fault, "time"));
}

/* From a whole number of steps on, until all have room. */
static struct axis axis_of(const struct report *report)
{
	static const double steps[] = { 0.01, 0.1, 1, 5, 10, 30, 60, 300, 600,
		1800, 3600, 14400, 43200, 86400, 604800, 2592000, 31536000 };
	double first = time_of(fault_at(report, 0)), last = first, time;
	struct axis axis;
	size_t i;

	for (i = 0; i < json_array_size(report->faults); i++) {
		time = time_of(fault_at(report, i));
		first = time < first ? time : first;
		last = time > last ? time : last;
	}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		axis.step = steps[i];
		axis.begin = (long long)(first / axis.step) * axis.step;
		if (last < axis.begin + axis.step * (MAX_TICKS - 1))
			break;
	}
	axis.length = axis.step;
	while (axis.length < last - axis.begin)
		axis.length += axis.step;
	return axis;
}

/* Seconds, as in the kernel's log; when they get long, how many after the first tick. */
static size_t ticks_of(const struct axis *axis, struct tick ticks[MAX_TICKS])
{
	int digits = axis->step < 1 ? 2 : 0;
	bool brief = axis->begin + axis->length < (digits ? 1e3 : 1e5);
	size_t nr = 0;

	while (nr < MAX_TICKS && nr * axis->step <= axis->length * 1.001) {
		struct tick *tick = &ticks[nr];
		double later = nr * axis->step;

		tick->at = 100 * later / axis->length;
		if (!nr || brief) {
			snprintf(tick->label, UNIT_LEN, "%.*f s", digits,
				 axis->begin + later);
		} else {
			tick->label[0] = '+';
			unit_seconds(tick->label + 1, later);
		}
		nr++;
	}
	return nr;
}

static void add_dot(struct dots *lanes, size_t *nr, const char *kind, double at)
{
	size_t lane = 0, parts = ARRAY_SIZE(lanes->nr);

	while (lane < *nr && strcmp(lanes[lane].label, kind))
		lane++;
	if (lane == MAX_KINDS)
		return;
	if (lane == *nr)
		lanes[(*nr)++].label = kind;
	lanes[lane].nr[at < 1 ? (size_t)(at * parts) : parts - 1]++;
}

static void print_time_line(struct report *report)
{
	struct dots lanes[MAX_KINDS] = { 0 };
	struct axis axis = axis_of(report);
	struct tick ticks[MAX_TICKS];
	size_t nr = 0, i, nr_faults = json_array_size(report->faults);
	char *label;

	for (i = 0; i < nr_faults; i++) {
		const json_t *fault = fault_at(report, i);

		add_dot(lanes, &nr, word_of(fault, "kind"),
			(time_of(fault) - axis.begin) / axis.length);
	}
	if (asprintf(&label, "%zu reports by kind, from %.6f s to %.6f s after boot",
		     nr_faults, time_of(fault_at(report, 0)),
		     time_of(fault_at(report, nr_faults - 1))) < 0)
		abort();
	svg_dots(report->out, label, lanes, nr, ticks, ticks_of(&axis, ticks));
	free(label);
}

static void print_report(struct report *report, const json_t *fault)
{
	char time[UNIT_LEN];

	snprintf(time, sizeof(time), "[%12.6f]", time_of(fault));
	html(report->out, "<details class=\"fault\"><summary><code>%s</code>\n"
	     "<b>%s</b> in cache <b>%s</b></summary><pre>%s</pre></details>\n",
	     time, word_of(fault, "kind"), word_of(fault, "cache"),
	     word_of(fault, "text"));
}

static void print_reports(struct report *report)
{
	size_t nr = json_array_size(report->faults), i;

	html(report->out, "<h3>Reports, newest first</h3>\n");
	for (i = 0; i < nr; i++) {
		if (i == NEWEST)
			html(report->out, "<details class=\"older\"><summary>%zu\n"
			     "older</summary>\n", nr - i);
		print_report(report, fault_at(report, nr - 1 - i));
	}
	if (nr > NEWEST)
		html(report->out, "</details>\n");
}

static bool is_of(const json_t *fault, const char *name, const char *kind)
{
	return !strcmp(word_of(fault, "cache"), name) &&
	       !strcmp(word_of(fault, "kind"), kind);
}

/* How many violations there were, -1 when nothing counts them, and reports of them. */
static void print_count(struct report *report, const char *name,
			const char *kind, long long nr)
{
	size_t i, shown = 0;

	for (i = 0; i < json_array_size(report->faults); i++)
		shown += is_of(fault_at(report, i), name, kind);
	html(report->out, "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td>\n"
	     "<td>", name, kind);
	if (nr >= 0)
		html_count(report->out, nr);
	else
		html(report->out, "not counted");
	html(report->out, "</td><td>");
	if (report->faults)
		html_count(report->out, shown);
	else
		html(report->out, "not known");
	html(report->out, "</td></tr>\n");
}

/* The file of stats/ that counts such violations; to be freed. */
static char *counter_of(const char *kind)
{
	char *file, *at;

	if (asprintf(&file, "faults_%s", kind) < 0)
		abort();
	for (at = file; *at; at++)
		if (*at == '-')
			*at = '_';
	return file;
}

/* Does a cache, or what hslab is attached to, count such violations, and has it any? */
static bool is_counted(struct report *report, const char *name, const char *kind)
{
	const json_t *attached = json_object_get(report->root, "attached");
	const json_t *cache = json_object_get(report->caches, name);
	const json_t *other = json_object_get(attached, name);
	char *file = counter_of(kind);
	bool is = count_of(json_object_get(cache, "stats"), file) ||
		  count_of(json_object_get(other, "stats"), file);

	free(file);
	return is;
}

/* Reports of caches that are gone, or detached, each kind once. */
static void print_uncounted(struct report *report)
{
	size_t i, j;

	for (i = 0; i < json_array_size(report->faults); i++) {
		const char *name = word_of(fault_at(report, i), "cache");
		const char *kind = word_of(fault_at(report, i), "kind");

		for (j = 0; j < i; j++)
			if (is_of(fault_at(report, j), name, kind))
				break;
		if (j == i && !is_counted(report, name, kind))
			print_count(report, name, kind, -1);
	}
}

static void print_counted(struct report *report, json_t *caches)
{
	const char *name, *key;
	json_t *cache, *value;

	json_object_foreach(caches, name, cache) {
		json_object_foreach(json_object_get(cache, "stats"), key, value) {
			char kind[UNIT_LEN], *at;

			if (strncmp(key, "faults_", 7) ||
			    !json_integer_value(value))
				continue;
			snprintf(kind, sizeof(kind), "%s", key + 7);
			for (at = kind; *at; at++)
				if (*at == '_')
					*at = '-';
			print_count(report, name, kind,
				    json_integer_value(value));
		}
	}
}

static void print_counts(struct report *report, json_t *attached)
{
	report_scroll(report, "Violations by cache and kind");
	html(report->out, "<table><thead><tr><th>cache</th><th class=\"text\">kind\n"
	     "</th><th>violations</th><th>reports below</th></tr></thead>\n<tbody>");
	print_counted(report, report->caches);
	print_counted(report, attached);
	print_uncounted(report);
	html(report->out, "</tbody></table>");
	report_scroll_end(report);
}

static bool any_counts(json_t *caches)
{
	const char *name;
	json_t *cache;

	json_object_foreach(caches, name, cache)
		if (snapshot_faults(cache) > 0)
			return true;
	return false;
}

/* The violations by time, by cache and kind, and the kernel's reports of them. */
void report_faults(struct report *report)
{
	json_t *attached = json_object_get(report->root, "attached");
	long long nr = count_of(report->root, "faults");
	size_t nr_reports = json_array_size(report->faults);

	if (nr) {
		html(report->out, "<p>");
		html_count(report->out, nr);
		html(report->out, " violation%s since the module was loaded.</p>\n",
		     nr == 1 ? "" : "s");
	} else {
		html(report->out, "<p class=\"good\">No violation was found since\n"
		     "the module was loaded.</p>\n");
	}
	if (!report->faults)
		report_missing(report, "The reports", report->faults_errno);
	if (nr_reports) {
		html(report->out, "<p>When the last %zu of them were found, by the\n"
		     "kernel\u2019s clock, in seconds since boot. The kernel keeps\n"
		     "no more than %d reports.</p>\n", nr_reports, KEPT);
		print_time_line(report);
	}
	if (nr_reports || any_counts(report->caches) || any_counts(attached))
		print_counts(report, attached);
	if (nr_reports)
		print_reports(report);
}
