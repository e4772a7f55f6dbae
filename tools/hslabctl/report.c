// SPDX-License-Identifier: GPL-2.0
/* report: a page with pictures, in one file that needs no other. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report.h"

static const struct section {
	const char *id, *title;
	void (*print)(struct report *report);
} sections[] = {
	{ "memory", "Memory", report_memory },
	{ "stores", "Merging", report_stores },
	{ "faults", "Violations", report_faults },
	{ "lifetimes", "Lifetimes", report_lifetimes },
	{ "attached", "Attached", report_attached },
};

/* A number of a folder; 0 when it is none. */
long long count_of(const json_t *folder, const char *name)
{
	return json_integer_value(json_object_get(folder, name));
}

/* A word of a folder; "" when it is none. */
const char *word_of(const json_t *folder, const char *name)
{
	const char *word = json_string_value(json_object_get(folder, name));

	return word ? word : "";
}

/**
 * report_missing() - say that a part of the page is not there
 * @report: the page
 * @what: begins the sentence, of one thing or several
 * @err: why
 */
void report_missing(struct report *report, const char *what, int err)
{
	const char *why = strerror(err);

	if (err == EACCES || err == EPERM)
		why = "only root may read that; run hslabctl report as root";
	else if (err == ENOENT)
		why = "there is no such file; is debugfs mounted on /sys/kernel/debug?";
	html(report->out, "<p class=\"missing\"><b>Not on this page:</b> %s: %s</p>\n",
	     what, why);
	report->nr_missing++;
}

/* A bar with a name before it and its value behind it. */
void report_bar(struct report *report, const struct bar *bar)
{
	html(report->out, "<div class=\"bar-row\"><span class=\"name\">%s</span>\n"
	     "<span class=\"size\">", bar->name);
	bar->print(report->out, bar->value);
	html(report->out, "</span>");
	svg_bar(report->out, bar->label, bar->segments, bar->nr, bar->scale,
		bar->below);
	html(report->out, "</div>\n");
}

/* What is too wide for a small screen is moved in a frame of its own. */
void report_scroll(struct report *report, const char *label)
{
	html(report->out, "<div class=\"scroll\" role=\"region\" tabindex=\"0\"\n"
	     "aria-label=\"%s\">", label);
}

void report_scroll_end(struct report *report)
{
	html(report->out, "</div>\n");
}

/* The first line of a file of /proc; to be freed. */
static char *proc_line(const char *file)
{
	char *text = tree_read_at(tree_proc, "%s", file);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	return text;
}

/* When: now, or what SOURCE_DATE_EPOCH says, for pages that are made again. */
static void print_date(struct report *report)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch ? strtoll(epoch, NULL, 10) : time(NULL);
	struct tm *when = epoch ? gmtime(&now) : localtime(&now);
	char machine[64], text[64];

	if (!when)
		return;
	strftime(machine, sizeof(machine), "%Y-%m-%dT%H:%M:%S%z", when);
	strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", when);
	html(report->out, "<div><dt>made</dt> <dd><time datetime=\"%s\">%s</time>\n"
	     "</dd></div>", machine, text);
}

static void print_facts(struct report *report, const char *host)
{
	char *release = proc_line("sys/kernel/osrelease");
	char *uptime = proc_line("uptime");
	char text[UNIT_LEN];

	html(report->out, "<header><h1>hslab on %s</h1>\n<dl class=\"facts\">\n"
	     "<div><dt>kernel</dt> <dd>%s</dd></div>\n<div><dt>hslab</dt> <dd>%s</dd>\n"
	     "</div>\n", host,
	     release ? release : "not known", word_of(report->root, "version"));
	if (uptime)
		html(report->out, "<div><dt>up for</dt> <dd>%s</dd></div>\n",
		     unit_seconds(text, strtod(uptime, NULL)));
	print_date(report);
	html(report->out, "</dl>\n");
	free(uptime);
	free(release);
}

static void print_tile(struct report *report, const char *what, const char *value,
		       const char *class)
{
	html(report->out, "<div class=\"tile %s\"><dt>%s</dt><dd>%s</dd></div>\n",
	     class, what, value);
}

static void print_tiles(struct report *report)
{
	long long faults = count_of(report->root, "faults"), live = 0, bytes = 0;
	const char *name;
	char text[UNIT_LEN];
	json_t *cache;

	json_object_foreach(report->caches, name, cache) {
		const json_t *stats = json_object_get(cache, "stats");

		live += count_of(stats, "live");
		bytes += count_of(stats, "payload_bytes");
	}
	html(report->out, "<dl class=\"tiles\">\n");
	print_tile(report, "caches",
		   unit_count(text, json_object_size(report->caches)), "");
	print_tile(report, "live objects",
		   report->counts ? unit_count(text, live) : "not known", "");
	print_tile(report, "bytes in them",
		   report->counts ? unit_bytes(text, bytes) : "not known", "");
	print_tile(report, "violations", unit_count(text, faults),
		   faults ? "bad" : "good");
	print_tile(report, "profile", word_of(report->root, "profile"), "");
	print_tile(report, "sealed",
		   count_of(report->root, "seal") ? "yes" : "no", "");
	html(report->out, "</dl>\n");
}

static void print_navigation(struct report *report)
{
	size_t i;

	html(report->out, "<nav aria-label=\"Parts of this page\">");
	for (i = 0; i < ARRAY_SIZE(sections); i++)
		html(report->out, "<a href=\"#%s\">%s</a> ", sections[i].id,
		     sections[i].title);
	html(report->out, "</nav></header>\n");
}

static void print_page(struct report *report)
{
	char *line = proc_line("sys/kernel/hostname");
	const char *host = line ? line : "an unknown host";
	size_t i;

	html(report->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	     "<meta charset=\"utf-8\"/>\n"
	     "<meta http-equiv=\"Content-Security-Policy\"\n"
	     "content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n"
	     "<meta name=\"viewport\" content=\"width=device-width,\n"
	     "initial-scale=1\"/>\n"
	     "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
	     "<meta name=\"generator\" content=\"hslabctl " VERSION "\"/>\n"
	     "<title>hslab on %s</title>\n<style>\n", host);
	fputs(report_style, report->out);
	html(report->out, "</style>\n</head>\n<body>\n");
	svg_defs(report->out);
	print_facts(report, host);
	print_tiles(report);
	print_navigation(report);
	html(report->out, "<main>\n");
	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		html(report->out, "<section id=\"%s\">\n<h2>%s</h2>\n",
		     sections[i].id, sections[i].title);
		sections[i].print(report);
		html(report->out, "</section>\n");
	}
	html(report->out, "</main>\n<footer>Made by <code>hslabctl report</code>.\n"
	     "Sizes are as the kernel counts them: 1 KiB is 1024 bytes.</footer>\n"
	     "</body>\n</html>\n");
	free(line);
}

/* Are there counts of any of these? */
static bool have_counts(json_t *folders)
{
	const char *name;
	json_t *folder;

	json_object_foreach(folders, name, folder)
		if (json_object_size(json_object_get(folder, "stats")))
			return true;
	return false;
}

static int write_report(const char *name)
{
	json_t *root = snapshot("*");
	struct report report = { .root = json_sorted(root) };
	struct output output;
	int err;

	json_decref(root);
	report.caches = json_object_get(report.root, "caches");
	report.counts = have_counts(report.caches);
	report.counts_attached =
		have_counts(json_object_get(report.root, "attached"));
	report.faults = faults_read();
	report.faults_errno = errno;
	err = output_open(&output, name);
	if (!err) {
		report.out = output.file;
		print_page(&report);
		err = output_close(&output, true);
	}
	if (!err && report.nr_missing)
		complain("report: %u part%s missing; the page says why",
			 report.nr_missing, report.nr_missing == 1 ? " is" : "s are");
	json_decref(report.faults);
	json_decref(report.root);
	return err ? EXIT_REFUSED : EXIT_OK;
}

int cmd_report(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ }
	};
	const char *name = NULL;
	int c;

	while ((c = getopt_long(argc, argv, "o:", longs, NULL)) >= 0) {
		if (c != 'o')
			return EXIT_USAGE;
		name = optarg;
	}
	if (optind < argc) {
		complain("report: unexpected '%s'; did you mean -o '%s'?",
			 argv[optind], argv[optind]);
		return EXIT_USAGE;
	}
	if (!name && isatty(STDOUT_FILENO)) {
		complain("report: a page is nothing for a terminal; expected -o FILE");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	return write_report(name ? name : "-");
}
