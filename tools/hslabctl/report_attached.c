// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: the kmem_caches that hslab is attached to. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const struct {
	const char *heading, *file;	/* in stats/ */
} columns[] = {
	{ "frees", "frees" },
	{ "in bulk", "bulk" },
	{ "filled", "filled" },
	{ "swept", "swept" },
	{ "held", "held" },
	{ "set aside", "aside" },
	{ "KFENCE\u2019s", "kfence" },
	{ "astray", "astray" },
};

static size_t reports_of(const struct report *report, const char *name)
{
	json_t *fault;
	size_t i, nr = 0;

	json_array_foreach(report->faults, i, fault)
		nr += !strcmp(word_of(fault, "cache"), name);
	return nr;
}

static void print_frees(struct report *report, const char *name,
			const json_t *stats, long long scale)
{
	long long frees = count_of(stats, "frees");
	long long filled = count_of(stats, "filled");
	char a[UNIT_LEN], b[UNIT_LEN], texts[2][2 * UNIT_LEN], *label;
	struct segment segments[] = {
		{ "payload", texts[0], filled },
		{ "cached", texts[1], frees - filled },
	};

	snprintf(texts[0], sizeof(texts[0]), "filled %s", unit_count(a, filled));
	snprintf(texts[1], sizeof(texts[1]), "not filled %s",
		 unit_count(b, frees - filled));
	if (asprintf(&label, "%s: %s, %s", name, texts[0], texts[1]) < 0)
		abort();
	report_bar(report, &(struct bar){
		.name = name, .label = label, .segments = segments,
		.nr = ARRAY_SIZE(segments), .scale = scale,
		.print = html_count, .value = frees,
	});
	free(label);
}

static void print_row(struct report *report, const char *name,
		      const json_t *attached)
{
	const json_t *stats = json_object_get(attached, "stats");
	size_t i;

	html(report->out, "<tr><th scope=\"row\">%s</th><td class=\"text\">%s</td>\n"
	     "<td>%lld</td>", name, word_of(attached, "mode"),
	     count_of(attached, "object_size"));
	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		html(report->out, "<td>");
		if (json_object_get(stats, columns[i].file))
			html_count(report->out, count_of(stats, columns[i].file));
		else
			html(report->out, "not known");
		html(report->out, "</td>");
	}
	if (report->faults)
		html(report->out, "<td>%zu</td>", reports_of(report, name));
	else
		html(report->out, "<td>not known</td>");
	html(report->out, "<td class=\"text\">%s</td></tr>\n",
	     word_of(attached, "aliases"));
}

static void print_table(struct report *report, json_t *all)
{
	const char *name;
	json_t *attached;
	size_t i;

	report_scroll(report, "Attached caches");
	html(report->out, "<table><thead><tr><th>kmem_cache</th>\n"
	     "<th class=\"text\">mode</th><th>bytes</th>");
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		html(report->out, "<th>%s</th>", columns[i].heading);
	html(report->out, "<th>reports above</th><th class=\"text\">also called</th>\n"
	     "</tr></thead>\n<tbody>");
	json_object_foreach(all, name, attached)
		print_row(report, name, attached);
	html(report->out, "</tbody></table>");
	report_scroll_end(report);
}

static void print_bars(struct report *report, json_t *all)
{
	long long scale = 0, frees;
	const char *name;
	json_t *attached;

	json_object_foreach(all, name, attached) {
		frees = count_of(json_object_get(attached, "stats"), "frees");
		scale = frees > scale ? frees : scale;
	}
	if (!scale)
		return;
	html(report->out, "<p>Frees that hslab has seen:</p><ul class=\"legend\">\n"
	     "<li><span class=\"key payload\"></span>wiped or poisoned</li>\n"
	     "<li><span class=\"key cached\"></span>not filled</li></ul>\n");
	json_object_foreach(all, name, attached)
		print_frees(report, name, json_object_get(attached, "stats"),
			    scale);
}

/* What hslab is attached to. */
void report_attached(struct report *report)
{
	json_t *all = json_object_get(report->root, "attached");

	if (!json_object_size(all)) {
		html(report->out, "<p>hslab is attached to no cache of others.</p>\n");
		return;
	}
	if (!report->counts_attached)
		report_missing(report, "What was freed", EACCES);
	print_bars(report, all);
	print_table(report, all);
}
