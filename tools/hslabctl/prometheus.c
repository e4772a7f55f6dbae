// SPDX-License-Identifier: GPL-2.0
/* prometheus: the counts in Prometheus' text format. */
#include <stdio.h>
#include <string.h>

#include "hslabctl.h"

struct metric {
	const char *name, *type, *help;
	const char *file;	/* in stats/ */
};

static const struct metric metrics[] = {
	{ "hslab_allocations_total", "counter", "Objects allocated.", "allocs" },
	{ "hslab_frees_total", "counter", "Objects freed.", "frees" },
	{ "hslab_allocation_failures_total", "counter",
	  "Allocations that failed.", "fails" },
	{ "hslab_live_objects", "gauge", "Objects allocated now.", "live" },
	{ "hslab_payload_bytes", "gauge", "Bytes of objects allocated now.",
	  "payload_bytes" },
	{ "hslab_quarantine_bytes", "gauge", "Bytes in quarantine.",
	  "quarantine_bytes" },
	{ "hslab_pinned_bytes", "gauge", "Bytes of pinned slab pages.",
	  "pinned_bytes" },
	{ "hslab_aside_objects", "gauge", "Damaged objects set aside.",
	  "aside" },
};

static void print_label(const char *value)
{
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			putchar('\\');
		putchar(*value);
	}
}

static void print_sample(const char *metric, const char *cache,
			 const char *kind, const json_t *value)
{
	printf("%s{cache=\"", metric);
	print_label(cache);
	if (kind)
		printf("\",kind=\"%s", kind);
	printf("\"} %lld\n", (long long)json_integer_value(value));
}

static void print_head(const char *name, const char *type, const char *help)
{
	printf("# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_metric(const struct metric *metric, json_t *caches)
{
	const char *name;
	json_t *cache, *value;

	print_head(metric->name, metric->type, metric->help);
	json_object_foreach(caches, name, cache) {
		value = json_object_get(json_object_get(cache, "stats"),
					metric->file);
		if (value)
			print_sample(metric->name, name, NULL, value);
	}
}

static void print_violations(json_t *caches)
{
	const char *name, *key;
	json_t *cache, *value;

	print_head("hslab_violations_total", "counter", "Violations found.");
	json_object_foreach(caches, name, cache) {
		json_object_foreach(json_object_get(cache, "stats"), key, value)
			if (!strncmp(key, "faults_", 7))
				print_sample("hslab_violations_total", name,
					     key + 7, value);
	}
}

int cmd_prometheus(int argc, char **argv)
{
	json_t *root, *caches;
	size_t i;

	if (argc != 1) {
		complain("prometheus takes no '%s'", argv[1]);
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	root = snapshot("*");
	caches = json_object_get(root, "caches");
	for (i = 0; i < ARRAY_SIZE(metrics); i++)
		print_metric(&metrics[i], caches);
	print_violations(caches);
	snapshot_hint();
	json_decref(root);
	return EXIT_OK;
}
