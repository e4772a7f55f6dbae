// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: what takes how much memory. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define SHOWN	12	/* bars; the rest is one */

struct usage {
	const char *name;
	long long live;
	long long payload;	/* of live objects */
	long long overhead;	/* their tags, SLUB's pointer and padding */
	long long cached;	/* free objects that the CPUs keep */
	long long quarantine;
	long long pinned;	/* slab pages, with what of the others is there */
	long long sum;		/* of all but what is pinned */
};

static long long greater(long long a, long long b)
{
	return a > b ? a : b;
}

static struct usage usage_of(const char *name, const json_t *cache)
{
	const json_t *stats = json_object_get(cache, "stats");
	long long slot = count_of(cache, "slot_size");
	struct usage usage = {
		.name		= name,
		.live		= count_of(stats, "live"),
		.payload	= count_of(stats, "payload_bytes"),
		.cached		= count_of(stats, "cached") * slot,
		.quarantine	= count_of(stats, "quarantine_bytes"),
		.pinned		= count_of(stats, "pinned_bytes"),
	};

	/* objects of a store that drains may have smaller slots */
	usage.overhead = greater(usage.live * slot - usage.payload,
				 count_of(stats, "tag_bytes"));
	usage.sum = usage.payload + usage.overhead + usage.cached +
		    usage.quarantine;
	return usage;
}

static void usage_add(struct usage *sum, const struct usage *usage)
{
	sum->live += usage->live;
	sum->payload += usage->payload;
	sum->overhead += usage->overhead;
	sum->cached += usage->cached;
	sum->quarantine += usage->quarantine;
	sum->pinned += usage->pinned;
	sum->sum += usage->sum;
}

static long long usage_size(const struct usage *usage)
{
	return greater(usage->sum, usage->pinned);
}

static int usage_compare(const void *a, const void *b)
{
	long long x = usage_size(a), y = usage_size(b);

	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(((const struct usage *)a)->name,
		      ((const struct usage *)b)->name);
}

static void print_bar(struct report *report, const struct usage *usage,
		      long long scale)
{
	static const char *const classes[] = { "payload", "overhead", "cached",
		"quarantine" };
	const long long values[] = { usage->payload, usage->overhead,
		usage->cached, usage->quarantine };
	char texts[ARRAY_SIZE(classes)][2 * UNIT_LEN], size[UNIT_LEN];
	struct segment segments[ARRAY_SIZE(classes)];
	struct bar bar = {
		.name = usage->name, .segments = segments,
		.nr = ARRAY_SIZE(classes), .scale = scale,
		.below = usage->pinned, .print = html_bytes, .value = usage->sum,
	};
	char *label;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		snprintf(texts[i], sizeof(texts[i]), "%s %s", classes[i],
			 unit_bytes(size, values[i]));
		segments[i] = (struct segment){ classes[i], texts[i], values[i] };
	}
	if (asprintf(&label, "%s: %s, %s, %s, %s; pinned %s", usage->name,
		     texts[0], texts[1], texts[2], texts[3],
		     unit_bytes(size, usage->pinned)) < 0)
		abort();
	bar.label = label;
	report_bar(report, &bar);
	free(label);
}

static void print_legend(struct report *report)
{
	html(report->out, "<ul class=\"legend\">\n"
	     "<li><span class=\"key payload\"></span>payload of live objects</li>\n"
	     "<li><span class=\"key overhead\"></span>their tags and padding</li>\n"
	     "<li><span class=\"key cached\"></span>free objects kept by CPUs</li>\n"
	     "<li><span class=\"key quarantine\"></span>quarantine</li>\n"
	     "<li><span class=\"key pinned\"></span>pinned slab pages: they may hold\n"
	     "any of the others, so they are not added</li></ul>\n");
}

static void print_row(struct report *report, const struct usage *usage)
{
	const long long sizes[] = { usage->sum, usage->payload, usage->overhead,
		usage->cached, usage->quarantine, usage->pinned };
	size_t i;

	html(report->out, "<tr><th scope=\"row\">%s</th><td>", usage->name);
	html_count(report->out, usage->live);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		html(report->out, "</td><td>");
		html_bytes(report->out, sizes[i]);
	}
	html(report->out, "</td></tr>\n");
}

static void print_table(struct report *report, const struct usage *usages,
			size_t nr, const struct usage *all)
{
	size_t i;

	html(report->out, nr <= 2 * SHOWN ? "<details open=\"open\">" : "<details>");
	html(report->out, "<summary>All %zu caches in numbers</summary>\n", nr);
	report_scroll(report, "Memory of each cache");
	html(report->out, "<table><thead><tr><th>cache</th><th>live objects</th>\n"
	     "<th>in all</th><th>payload</th><th>tags, padding</th>\n"
	     "<th>kept by CPUs</th><th>quarantine</th><th>pinned pages</th>\n"
	     "</tr></thead>\n<tbody>");
	for (i = 0; i < nr; i++)
		print_row(report, &usages[i]);
	html(report->out, "</tbody><tfoot>");
	print_row(report, all);
	html(report->out, "</tfoot></table>");
	report_scroll_end(report);
	html(report->out, "</details>\n");
}

static void print_usages(struct report *report, struct usage *usages, size_t nr)
{
	struct usage rest = { .name = "" }, all = { .name = "all caches" };
	size_t shown = nr > SHOWN + 1 ? SHOWN : nr, i;
	long long scale;
	char others[UNIT_LEN];

	qsort(usages, nr, sizeof(*usages), usage_compare);
	for (i = 0; i < nr; i++) {
		usage_add(&all, &usages[i]);
		if (i >= shown)
			usage_add(&rest, &usages[i]);
	}
	scale = greater(usage_size(&usages[0]), usage_size(&rest));
	print_legend(report);
	for (i = 0; i < shown; i++)
		print_bar(report, &usages[i], scale);
	if (shown < nr) {
		snprintf(others, sizeof(others), "and %zu others", nr - shown);
		rest.name = others;
		print_bar(report, &rest, scale);
	}
	print_table(report, usages, nr, &all);
}

/* A bar for each cache, and a table. */
void report_memory(struct report *report)
{
	size_t nr = json_object_size(report->caches), i = 0;
	struct usage *usages = calloc(nr + 1, sizeof(*usages));
	const char *name;
	json_t *cache;

	if (!usages)
		abort();
	json_object_foreach(report->caches, name, cache)
		usages[i++] = usage_of(name, cache);
	if (!nr)
		html(report->out, "<p>There are no caches.</p>\n");
	else if (!report->counts)
		report_missing(report, "What each cache takes", EACCES);
	else
		print_usages(report, usages, nr);
	free(usages);
}
