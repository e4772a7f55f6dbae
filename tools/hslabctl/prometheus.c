// SPDX-License-Identifier: GPL-2.0
/*
 * prometheus: the counts in Prometheus' text format, for node_exporter's textfile
 * collector. Documentation/monitoring.rst has a table of what is here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hslabctl.h"

enum unit {
	ONE,
	KIB,	/* to bytes */
	NS,	/* to seconds */
};

struct metric {
	const char *name, *type, *help;
	const char *file;	/* in the folder of the cache */
	enum unit unit;
};

/* A metric that is 1, and whose labels have what files say. */
struct info {
	const char *name, *help;
	const char *const *files;
};

/* Of hslab's own caches, or of what it is attached to. */
struct family {
	const char *folder;	/* in sysfs */
	struct info info;
	const struct metric *metrics;
	size_t nr_metrics;
	const char *violations;
};

static const struct metric machine_metrics[] = {
	{ "hslab_sealed", "gauge",
	  "1 if policies can only be tightened until reboot.", "seal", ONE },
	{ "hslab_faults_total", "counter",
	  "Violations found, in caches that are gone as well.", "faults", ONE },
};

static const struct metric cache_metrics[] = {
	{ "hslab_allocations_total", "counter", "Objects allocated.",
	  "stats/allocs", ONE },
	{ "hslab_frees_total", "counter", "Objects freed.", "stats/frees", ONE },
	{ "hslab_allocation_failures_total", "counter",
	  "Allocations that failed.", "stats/fails", ONE },
	{ "hslab_verified_allocations_total", "counter",
	  "Allocations whose fill was verified.", "stats/verified", ONE },
	{ "hslab_zeroing_skipped_total", "counter",
	  "Allocations that had to be zeroed and already were.",
	  "stats/zero_skipped", ONE },
	{ "hslab_live_objects", "gauge", "Objects allocated now.",
	  "stats/live", ONE },
	{ "hslab_peak_objects", "gauge",
	  "The highest number of objects that were allocated at one time.",
	  "stats/peak", ONE },
	{ "hslab_cached_objects", "gauge",
	  "Free objects that the CPUs keep for the next allocations.",
	  "stats/cached", ONE },
	{ "hslab_rcu_pending_objects", "gauge",
	  "Freed objects that wait for a grace period.",
	  "stats/rcu_pending", ONE },
	{ "hslab_slot_size_bytes", "gauge",
	  "Bytes that an object takes in a slab page.", "slot_size", ONE },
	{ "hslab_payload_bytes", "gauge", "Bytes of objects allocated now.",
	  "stats/payload_bytes", ONE },
	{ "hslab_tag_bytes", "gauge", "Bytes of the tags of these objects.",
	  "stats/tag_bytes", ONE },
	{ "hslab_quarantine_objects", "gauge", "Freed objects in quarantine.",
	  "stats/quarantined", ONE },
	{ "hslab_quarantine_bytes", "gauge",
	  "Bytes of slots in quarantine.", "stats/quarantine_bytes", ONE },
	{ "hslab_quarantine_limit_bytes", "gauge",
	  "Bound of hslab_quarantine_bytes, of the cache over all CPUs; 0: no quarantine.",
	  "quarantine_kb", KIB },
	{ "hslab_quarantine_skipped_total", "counter",
	  "Freed objects that left early since there was no memory to list them.",
	  "stats/quarantine_skipped", ONE },
	{ "hslab_pinned_pages", "gauge", "Slab pages that are pinned.",
	  "stats/pinned_pages", ONE },
	{ "hslab_pinned_limit_pages", "gauge",
	  "Bound of hslab_pinned_pages; 0: none is pinned.", "pin", ONE },
	{ "hslab_pinned_bytes", "gauge", "Bytes of pinned slab pages.",
	  "stats/pinned_bytes", ONE },
	{ "hslab_pins_skipped_total", "counter",
	  "Objects that came from a page without a pin below the bound.",
	  "stats/pins_skipped", ONE },
	{ "hslab_scrubs_total", "counter", "Scrubs.", "stats/scrubs", ONE },
	{ "hslab_scrubbed_objects_total", "counter",
	  "Objects that scrubs have verified.", "stats/scrubbed", ONE },
	{ "hslab_scrub_seconds_total", "counter", "Time that scrubs took.",
	  "stats/scrub_ns", NS },
	{ "hslab_aside_objects", "gauge", "Damaged objects set aside.",
	  "stats/aside", ONE },
};

static const struct metric attached_metrics[] = {
	{ "hslab_attached_frees_total", "counter",
	  "Objects whose free was seen.", "stats/frees", ONE },
	{ "hslab_attached_bulk_frees_total", "counter",
	  "How many of these were freed in bulk.", "stats/bulk", ONE },
	{ "hslab_attached_filled_frees_total", "counter",
	  "How many of these were wiped or poisoned.", "stats/filled", ONE },
	{ "hslab_attached_kfence_frees_total", "counter",
	  "How many of these were left to KFENCE.", "stats/kfence", ONE },
	{ "hslab_attached_astray_frees_total", "counter",
	  "How many of these pointed to no start of an object.",
	  "stats/astray", ONE },
	{ "hslab_attached_swept_objects_total", "counter",
	  "Free objects that sweep has filled.", "stats/swept", ONE },
	{ "hslab_attached_object_size_bytes", "gauge", "Size of an object.",
	  "object_size", ONE },
	{ "hslab_attached_quarantine_objects", "gauge",
	  "Freed objects in quarantine.", "stats/held", ONE },
	{ "hslab_attached_quarantine_limit_bytes", "gauge",
	  "Bytes of slots that the quarantine keeps, each CPU an equal part; 0: no quarantine.",
	  "quarantine_kb", KIB },
};

static const char *const cache_labels[] = { "owner", "profile", "on_violation",
	NULL };
static const char *const attached_labels[] = { "mode", "on_violation", NULL };

static const struct family families[] = {
	{ "caches",
	  { "hslab_cache_info", "Owner and policies of a cache.", cache_labels },
	  cache_metrics, ARRAY_SIZE(cache_metrics), "hslab_violations_total" },
	{ "attached",
	  { "hslab_attached_info", "How hslab is attached to a cache.",
	    attached_labels },
	  attached_metrics, ARRAY_SIZE(attached_metrics),
	  "hslab_attached_violations_total" },
};

/* A metric's lines, which begin with its head when the first sample comes. */
struct writer {
	FILE *out;
	const char *name, *type, *help;
	unsigned int nr_samples, nr_labels;
};

static struct writer metric_begin(FILE *out, const char *name, const char *type,
				  const char *help)
{
	return (struct writer){ out, name, type, help, 0, 0 };
}

static void sample_begin(struct writer *w)
{
	if (!w->nr_samples++)
		fprintf(w->out, "# HELP %s %s\n# TYPE %s %s\n", w->name,
			w->help, w->name, w->type);
	fputs(w->name, w->out);
	w->nr_labels = 0;
}

static void sample_label(struct writer *w, const char *label, const char *value)
{
	fprintf(w->out, "%c%s=\"", w->nr_labels++ ? ',' : '{', label);
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', w->out);
		if (*value == '\n')
			fputs("\\n", w->out);
		else
			putc(*value, w->out);
	}
	putc('"', w->out);
}

static void sample_end(struct writer *w, long long value, enum unit unit)
{
	if (w->nr_labels)
		putc('}', w->out);
	if (unit == NS)
		fprintf(w->out, " %lld.%09lld\n", value / 1000000000,
			value % 1000000000);
	else
		fprintf(w->out, " %lld\n", unit == KIB ? value * 1024 : value);
}

/* The value of a file, such as pin or stats/live; NULL if it is not there. */
static json_t *value_of(const json_t *folder, const char *file)
{
	if (!strncmp(file, "stats/", 6)) {
		folder = json_object_get(folder, "stats");
		file += 6;
	}
	return json_object_get(folder, file);
}

/* @cache is its name, or NULL for what is of the machine. */
static void print_value(struct writer *w, const char *cache,
			const json_t *folder, const struct metric *metric)
{
	json_t *value = value_of(folder, metric->file);

	if (!json_is_integer(value))
		return;
	sample_begin(w);
	if (cache)
		sample_label(w, "cache", cache);
	sample_end(w, json_integer_value(value), metric->unit);
}

static void print_info(struct writer *w, const char *cache,
		       const json_t *folder, const char *const *files)
{
	sample_begin(w);
	if (cache)
		sample_label(w, "cache", cache);
	for (; *files; files++) {
		const char *value = json_string_value(value_of(folder, *files));

		if (value)
			sample_label(w, *files, value);
	}
	sample_end(w, 1, ONE);
}

static void print_violations(struct writer *w, const char *cache,
			     const json_t *folder)
{
	const char *key;
	json_t *value;

	json_object_foreach(json_object_get(folder, "stats"), key, value) {
		if (strncmp(key, "faults_", 7))
			continue;
		sample_begin(w);
		sample_label(w, "cache", cache);
		sample_label(w, "kind", key + 7);
		sample_end(w, json_integer_value(value), ONE);
	}
}

static void print_family(FILE *out, const struct family *family, json_t *root)
{
	json_t *folders = json_object_get(root, family->folder), *folder;
	struct writer w = metric_begin(out, family->info.name, "gauge",
				       family->info.help);
	const char *name;
	size_t i;

	json_object_foreach(folders, name, folder)
		print_info(&w, name, folder, family->info.files);
	for (i = 0; i < family->nr_metrics; i++) {
		const struct metric *metric = &family->metrics[i];

		w = metric_begin(out, metric->name, metric->type, metric->help);
		json_object_foreach(folders, name, folder)
			print_value(&w, name, folder, metric);
	}
	w = metric_begin(out, family->violations, "counter",
			 "Violations found.");
	json_object_foreach(folders, name, folder)
		print_violations(&w, name, folder);
}

/* @root is a snapshot, or NULL: there is no hslab. */
static void print_metrics(FILE *out, json_t *root)
{
	static const char *const labels[] = { "version", "profile", NULL };
	struct writer w = metric_begin(out, "hslab_up", "gauge",
				       "1 if the module hslab is loaded, else 0.");
	size_t i;

	sample_begin(&w);
	sample_end(&w, root ? 1 : 0, ONE);
	if (!root)
		return;
	w = metric_begin(out, "hslab_info", "gauge",
			 "Version of the module, and profile of the defaults.");
	print_info(&w, NULL, root, labels);
	for (i = 0; i < ARRAY_SIZE(machine_metrics); i++) {
		const struct metric *metric = &machine_metrics[i];

		w = metric_begin(out, metric->name, metric->type, metric->help);
		print_value(&w, NULL, root, metric);
	}
	for (i = 0; i < ARRAY_SIZE(families); i++)
		print_family(out, &families[i], root);
}

/* A bound that holds in mode quarantine alone is 0 in the others. */
static void mend_attached(json_t *root)
{
	json_t *attached;
	const char *name, *mode;

	json_object_foreach(json_object_get(root, "attached"), name, attached) {
		mode = json_string_value(json_object_get(attached, "mode"));
		if (mode && strcmp(mode, "quarantine"))
			json_object_set_new(attached, "quarantine_kb",
					    json_integer(0));
	}
}

/* A file that is replaced is for all to read. 0, or -1 after saying why not. */
static int write_metrics(const char *file, json_t *root)
{
	struct output output;

	if (output_open(&output, file))
		return -1;
	if (output.temporary && fchmod(fileno(output.file), 0644)) {
		complain("%s: %s", file, strerror(errno));
		return output_close(&output, false);
	}
	print_metrics(output.file, root);
	return output_close(&output, true);
}

/* That there is no hslab is what a fleet wants to know, and no error. */
int cmd_prometheus(int argc, char **argv)
{
	const char *file = "-";
	json_t *root = NULL;
	int c, err;

	while ((c = getopt(argc, argv, "o:")) >= 0) {
		if (c != 'o')
			return EXIT_USAGE;
		file = optarg;
	}
	if (optind < argc) {
		complain("prometheus takes no '%s'", argv[optind]);
		return EXIT_USAGE;
	}
	if (tree_exists()) {
		root = snapshot("*");
		mend_attached(root);
	}
	if (snapshot_hidden()) {
		complain("prometheus: counts are for root alone");
		err = -1;
	} else {
		err = write_metrics(file, root);
	}
	json_decref(root);
	return err ? EXIT_REFUSED : EXIT_OK;
}
