// SPDX-License-Identifier: GPL-2.0
/* hslabctl report: which caches share slots, and why the others do not. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

struct member {
	const char *name;
	json_t *cache;		/* NULL: there are objects of it, but it is gone */
	bool draining;
};

struct store {
	unsigned int id;
	const char *kmem_cache;	/* "" when it is not known */
	long long slot_size;
	long long slab_bytes;	/* -1: not known */
	struct member *members;
	size_t nr;
};

struct stores {
	struct store *list;
	size_t nr;
};

static struct store *store_get(struct stores *stores, unsigned int id)
{
	struct store *store;
	size_t i;

	for (i = 0; i < stores->nr; i++)
		if (stores->list[i].id == id)
			return &stores->list[i];
	stores->list = realloc(stores->list,
			       (stores->nr + 1) * sizeof(*stores->list));
	if (!stores->list)
		abort();
	store = &stores->list[stores->nr++];
	*store = (struct store){ .id = id, .kmem_cache = "", .slab_bytes = -1 };
	return store;
}

static void store_add(struct store *store, const char *name, json_t *cache,
		      bool draining)
{
	store->members = realloc(store->members,
				 (store->nr + 1) * sizeof(*store->members));
	if (!store->members)
		abort();
	store->members[store->nr++] = (struct member){ name, cache, draining };
}

/* What the caches say of where they are; that is for everybody. */
static void stores_of_caches(struct stores *stores, json_t *caches)
{
	const char *name;
	json_t *cache;

	json_object_foreach(caches, name, cache) {
		struct store *store = store_get(stores,
						count_of(cache, "store"));
		const char *list = word_of(cache, "stores_draining");
		char *end;

		store->slot_size = count_of(cache, "slot_size");
		store_add(store, name, cache, false);
		for (;; list = end) {
			unsigned int id = strtoul(list, &end, 10);

			if (end == list)
				break;
			store_add(store_get(stores, id), name, cache, true);
		}
	}
}

/* What the stores say; one without a cache has objects of caches that are gone. */
static void stores_of_sysfs(struct stores *stores, json_t *folders)
{
	const char *key;
	json_t *folder;

	json_object_foreach(folders, key, folder) {
		struct store *store = store_get(stores, strtoul(key, NULL, 10));

		store->kmem_cache = word_of(folder, "kmem_cache");
		store->slot_size = count_of(folder, "slot_size");
		if (!store->nr && *word_of(folder, "caches"))
			store_add(store, word_of(folder, "caches"), NULL, true);
	}
}

/* A line of /proc/slabinfo: how many bytes the slab pages of a store take. */
static void store_slab(struct stores *stores, char *line)
{
	unsigned long objects_per, pages_per, slabs;
	size_t len = strcspn(line, " "), i;
	char *data = strstr(line, ": slabdata ");

	if (!data || sscanf(line + len, " %*u %*u %*u %lu %lu", &objects_per,
			    &pages_per) != 2 ||
	    sscanf(data, ": slabdata %*u %lu", &slabs) != 1)
		return;
	line[len] = '\0';
	for (i = 0; i < stores->nr; i++)
		if (!strcmp(stores->list[i].kmem_cache, line))
			stores->list[i].slab_bytes = slabs * pages_per *
						     sysconf(_SC_PAGESIZE);
}

static void stores_of_slabinfo(struct stores *stores)
{
	char *text = tree_read_at(tree_proc, "slabinfo"), *next = text;

	while (next && *next)
		store_slab(stores, strsep(&next, "\n"));
	free(text);
}

static int store_compare(const void *a, const void *b)
{
	const struct store *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static struct stores stores_read(struct report *report)
{
	struct stores stores = { NULL, 0 };

	stores_of_caches(&stores, report->caches);
	stores_of_sysfs(&stores, json_object_get(report->root, "stores"));
	stores_of_slabinfo(&stores);
	if (stores.nr)
		qsort(stores.list, stores.nr, sizeof(*stores.list),
		      store_compare);
	return stores;
}

static void print_store(struct report *report, const struct store *store)
{
	html(report->out, "<div class=\"store\"><b>store %u</b>", store->id);
	if (*store->kmem_cache)
		html(report->out, " <code>%s</code>", store->kmem_cache);
	html(report->out, "<br/>slots of %lld bytes", store->slot_size);
	if (store->slab_bytes >= 0) {
		html(report->out, "<br/>slab memory ");
		html_bytes(report->out, store->slab_bytes);
	}
	html(report->out, "</div>");
}

static void print_member(struct report *report, const struct member *member)
{
	const json_t *stats = json_object_get(member->cache, "stats");

	html(report->out, "<li class=\"%s\"><b>%s</b> <span class=\"tag\">",
	     member->draining ? "draining" : "member", member->name);
	if (!member->cache)
		html(report->out, "destroyed; some of its objects are live");
	else if (member->draining)
		html(report->out, "draining: gets its new objects from store %lld",
		     count_of(member->cache, "store"));
	else
		html(report->out, "merge=%s", word_of(member->cache, "merge"));
	if (json_object_get(stats, "live") && !member->draining) {
		html(report->out, ", ");
		html_count(report->out, count_of(stats, "live"));
		html(report->out, " live");
	}
	html(report->out, "</span></li>");
}

/* A store on the left, on the right who is there. */
static void print_shared(struct report *report, const struct store *store)
{
	bool *dashed = calloc(store->nr, sizeof(*dashed));
	size_t i;

	if (!dashed)
		abort();
	html(report->out, "<div class=\"merge\">");
	print_store(report, store);
	html(report->out, "<div class=\"fan\">");
	for (i = 0; i < store->nr; i++)
		dashed[i] = store->members[i].draining;
	svg_fan(report->out, dashed, store->nr);
	html(report->out, "</div><ul>");
	for (i = 0; i < store->nr; i++)
		print_member(report, &store->members[i]);
	html(report->out, "</ul></div>\n");
	free(dashed);
}

static bool is_alone(const struct store *store)
{
	return store->nr < 2 && !(store->nr && store->members[0].draining);
}

static void print_alone(struct report *report, const struct stores *stores,
			size_t nr)
{
	size_t i;

	html(report->out, "<details><summary>%zu store%s with one cache\n"
	     "each</summary>\n<div class=\"alone\">", nr, nr == 1 ? "" : "s");
	for (i = 0; i < stores->nr; i++) {
		const struct store *store = &stores->list[i];

		if (!is_alone(store))
			continue;
		html(report->out, "<div>");
		print_store(report, store);
		html(report->out, "<ul>");
		if (store->nr)
			print_member(report, &store->members[0]);
		html(report->out, "</ul></div>\n");
	}
	html(report->out, "</div></details>\n");
}

/* The stores, those that several caches share before the others. */
void report_stores(struct report *report)
{
	struct stores stores = stores_read(report);
	size_t i, nr_alone = 0;

	for (i = 0; i < stores.nr; i++)
		nr_alone += is_alone(&stores.list[i]);
	if (!stores.nr)
		html(report->out, "<p>There are no stores.</p>\n");
	else if (nr_alone == stores.nr)
		html(report->out, "<p>No store is shared: each cache has slab\n"
		     "pages of its own.</p>\n");
	for (i = 0; i < stores.nr; i++)
		if (!is_alone(&stores.list[i]))
			print_shared(report, &stores.list[i]);
	if (nr_alone)
		print_alone(report, &stores, nr_alone);
	report_refusals(report);
	for (i = 0; i < stores.nr; i++)
		free(stores.list[i].members);
	free(stores.list);
}
