// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: why caches do not share slots, as the kernel tells it of each pair. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define NAMED	3	/* caches; of more there is the number */

/* What /sys/kernel/debug/hslab/caches/<name>/merge says, reason -> names; NULL with errno. */
static json_t *refusals_read(const char *name)
{
	char *text = tree_read_at(tree_debugfs, "caches/%s/merge", name);
	char *next = text;
	json_t *reasons;

	if (!text)
		return NULL;
	reasons = json_object();
	while (next && *next) {
		char *line = strsep(&next, "\n");
		char *reason = strrchr(line, ':');	/* no reason has one */
		json_t *names;

		if (!reason || reason[1] != ' ')
			continue;
		*reason = '\0';
		reason += 2;
		names = json_object_get(reasons, reason);
		if (!names) {
			names = json_array();
			json_object_set_new(reasons, reason, names);
		}
		json_array_append_new(names, json_string(line));
	}
	free(text);
	return reasons;
}

static void print_names(struct report *report, const json_t *names)
{
	size_t nr = json_array_size(names), i;

	if (nr > NAMED) {
		html(report->out, "%zu caches", nr);
		return;
	}
	for (i = 0; i < nr; i++)
		html(report->out, "%s%s", i ? ", " : "",
		     json_string_value(json_array_get(names, i)));
}

static void print_row(struct report *report, const char *name, json_t *reasons)
{
	const char *reason;
	json_t *names, *cache = json_object_get(report->caches, name);
	bool first = true;

	html(report->out, "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td>\n"
	     "<td class=\"text\">", name, word_of(cache, "merge"));
	print_names(report, json_object_get(reasons, "shares"));
	html(report->out, "</td><td class=\"text\">");
	json_object_foreach(reasons, reason, names) {
		if (!strcmp(reason, "shares"))
			continue;
		html(report->out, "%s%s (", first ? "" : "; ", reason);
		print_names(report, names);
		html(report->out, ")");
		first = false;
	}
	html(report->out, "</td></tr>\n");
}

/* Count a pair once, though both of its caches tell of it. */
static void count_pairs(json_t *sums, const char *name, json_t *reasons,
			json_t *caches)
{
	const char *reason;
	json_t *names, *other;
	size_t i;

	json_object_foreach(reasons, reason, names) {
		long long nr = count_of(sums, reason);

		json_array_foreach(names, i, other) {
			const char *text = json_string_value(other);

			if (!text || !json_object_get(caches, text) ||
			    strcmp(name, text) < 0)
				nr++;
		}
		json_object_set_new(sums, reason, json_integer(nr));
	}
}

struct sum {
	const char *reason;
	long long nr;
};

/* Those that share first, then the most frequent reason. */
static int compare_sums(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	bool shares = !strcmp(x->reason, "shares");

	if (shares || !strcmp(y->reason, "shares"))
		return shares ? -1 : 1;
	if (x->nr != y->nr)
		return x->nr < y->nr ? 1 : -1;
	return strcmp(x->reason, y->reason);
}

static void print_pair(struct report *report, const struct sum *sum,
		       long long most)
{
	char count[UNIT_LEN];
	struct segment segment = {
		strcmp(sum->reason, "shares") ? "cached" : "payload",
		unit_count(count, sum->nr), sum->nr
	};

	report_bar(report, &(struct bar){
		.name = sum->reason, .label = sum->reason, .segments = &segment,
		.nr = 1, .scale = most, .print = html_count, .value = sum->nr,
	});
}

static void print_pairs(struct report *report, json_t *pairs)
{
	struct sum *sums = calloc(json_object_size(pairs), sizeof(*sums));
	long long all = 0, most = 0;
	size_t nr = 0, i;
	const char *reason;
	json_t *number;

	if (!sums)
		abort();
	json_object_foreach(pairs, reason, number) {
		sums[nr] = (struct sum){ reason, json_integer_value(number) };
		all += sums[nr].nr;
		most = sums[nr].nr > most ? sums[nr].nr : most;
		nr++;
	}
	qsort(sums, nr, sizeof(*sums), compare_sums);
	html(report->out, "<h3>Why pairs of caches share slots, or not</h3>\n<p>");
	html_count(report->out, all);
	html(report->out, " pair%s, by the first reason that the kernel names.</p>\n",
	     all == 1 ? "" : "s");
	for (i = 0; i < nr; i++)
		print_pair(report, &sums[i], most);
	free(sums);
}

static void print_refusals(struct report *report, json_t *all, json_t *sums)
{
	const char *name;
	json_t *reasons;

	print_pairs(report, sums);
	html(report->out, "<details><summary>Cache by cache</summary>\n");
	report_scroll(report, "Why caches share slots or not");
	html(report->out, "<table><thead><tr><th>cache</th><th class=\"text\">merge\n"
	     "</th><th class=\"text\">may share with</th>\n"
	     "<th class=\"text\">not with, because</th></tr></thead>\n<tbody>");
	json_object_foreach(all, name, reasons)
		print_row(report, name, reasons);
	html(report->out, "</tbody></table>");
	report_scroll_end(report);
	html(report->out, "</details>\n");
}

/* Why caches share slots or not. */
void report_refusals(struct report *report)
{
	json_t *all = json_object(), *sums = json_object(), *cache;
	const char *name;
	int err = 0;

	json_object_foreach(report->caches, name, cache) {
		json_t *reasons = refusals_read(name);

		if (!reasons) {
			err = errno;
			continue;
		}
		count_pairs(sums, name, reasons, report->caches);
		json_object_set_new(all, name, reasons);
	}
	if (err && !json_object_size(all))
		report_missing(report, "Why caches do not share slots", err);
	else if (json_object_size(sums))
		print_refusals(report, all, sums);
	json_decref(all);
	json_decref(sums);
}
