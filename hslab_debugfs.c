// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/hslab: tables for people. Every file is in
 * Documentation/ABI/testing/debugfs-hslab. Nothing here changes anything.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#include "hslab_internal.h"

static struct dentry *hslab_debugfs;
static struct dentry *hslab_debugfs_caches;
static struct dentry *hslab_debugfs_attached;

static s64 hslab_cache_faults(const struct hslab_cache *cache)
{
	unsigned int kind;
	s64 sum = 0;

	for (kind = 0; kind < HSLAB_NR_KINDS; kind++)
		sum += atomic64_read(&cache->faults[kind]);
	return sum;
}

/* A line a cache: what it is, what it does, what it holds, what it found. */
static int hslab_summary_show(struct seq_file *seq, void *unused)
{
	struct hslab_cache *cache;

	seq_printf(seq, "%-24s %7s %5s %5s %-8s %-12s %-6s %-4s %-6s %-5s %10s %10s %12s %6s\n",
		   "cache", "size", "slot", "store", "profile", "merge",
		   "poison", "zero", "verify", "check", "live", "peak",
		   "allocs", "faults");
	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node) {
		char values[HSLAB_NR_FIELDS][HSLAB_VALUE_LEN];
		struct hslab_store *store = hslab_current_route(cache)->store;
		struct hslab_counts sum;
		unsigned int i;

		for (i = 0; i < HSLAB_NR_FIELDS; i++)
			hslab_fields[i].format(&cache->policy, values[i]);
		hslab_cache_counts(cache, &sum);
		seq_printf(seq, "%-24s %7u %5u %5u %-8s %-12s %-6s %-4s %-6s %-5s %10lld %10lld %12llu %6lld\n",
			   cache->name, cache->size,
			   hslab_slot_size(&store->geometry), store->id,
			   values[HSLAB_FIELD_PROFILE],
			   values[HSLAB_FIELD_MERGE],
			   values[HSLAB_FIELD_POISON],
			   values[HSLAB_FIELD_ZERO],
			   values[HSLAB_FIELD_VERIFY],
			   values[HSLAB_FIELD_CHECK],
			   sum.limit - sum.headroom, hslab_cache_peak(cache),
			   sum.allocs - sum.fails, hslab_cache_faults(cache));
	}
	mutex_unlock(&hslab_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hslab_summary);

static int hslab_faults_file_show(struct seq_file *seq, void *unused)
{
	hslab_faults_show(seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hslab_faults_file);

static void hslab_show_domain(struct seq_file *seq,
			      const struct hslab_domain *domain)
{
	switch (domain->merge) {
	case HSLAB_MERGE_NEVER:
		seq_puts(seq, "one cache");
		break;
	case HSLAB_MERGE_OWNER:
		seq_printf(seq, "owner %s", domain->name);
		break;
	case HSLAB_MERGE_GROUP:
		seq_printf(seq, "group %s", domain->name);
		break;
	default:
		seq_puts(seq, "any");
		break;
	}
}

/* A line a store: whom it takes in, and who is there. */
static int hslab_stores_show(struct seq_file *seq, void *unused)
{
	struct hslab_store *store;
	struct hslab_route *route;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(store, &hslab_stores, node) {
		seq_printf(seq, "store %u: %s, slots of %u bytes, %lu set aside, takes ",
			   store->id, store->kmem_name,
			   hslab_slot_size(&store->geometry),
			   READ_ONCE(store->nr_aside));
		hslab_show_domain(seq, &store->domain);
		seq_putc(seq, '\n');
		list_for_each_entry(route, &store->routes, in_store)
			seq_printf(seq, "  %s: %lld live%s\n",
				   route->cache->name, hslab_route_live(route),
				   route->cache->dying ? ", cache destroyed" :
				   route == hslab_current_route(route->cache) ? "" :
				   ", draining");
	}
	mutex_unlock(&hslab_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hslab_stores);

/* With whom a cache shares its slots, and why not with the others. */
static int hslab_merge_show(struct seq_file *seq, void *unused)
{
	struct hslab_cache *cache = seq->private, *other;
	struct hslab_domain mine, theirs;
	struct hslab_geometry my, their;

	mutex_lock(&hslab_mutex);
	hslab_domain_of(&mine, cache);
	hslab_geometry_for(&my, cache, &cache->policy);
	list_for_each_entry(other, &hslab_caches, node) {
		enum hslab_refusal refusal;

		if (other == cache)
			continue;
		hslab_domain_of(&theirs, other);
		hslab_geometry_for(&their, other, &other->policy);
		refusal = hslab_merge_decide(&my, &mine, &their, &theirs);
		seq_printf(seq, "%s: %s\n", other->name,
			   hslab_refusal_names[refusal]);
	}
	mutex_unlock(&hslab_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hslab_merge);

void hslab_debugfs_add_cache(struct hslab_cache *cache)
{
	cache->debugfs = debugfs_create_dir(cache->name, hslab_debugfs_caches);
	debugfs_create_file("merge", 0400, cache->debugfs, cache,
			    &hslab_merge_fops);
	hslab_traces_add_files(cache);
}

/* Returns when nobody is in the cache's files any more. Without hslab_mutex. */
void hslab_debugfs_del_cache(struct hslab_cache *cache)
{
	debugfs_remove_recursive(cache->debugfs);
}

/* A folder for a cache that is attached to; debugfs_remove_recursive() it. */
struct dentry *hslab_debugfs_add_attached(const char *name)
{
	return debugfs_create_dir(name, hslab_debugfs_attached);
}

void __init hslab_debugfs_init(void)
{
	hslab_debugfs = debugfs_create_dir("hslab", NULL);
	debugfs_create_file("summary", 0400, hslab_debugfs, NULL,
			    &hslab_summary_fops);
	debugfs_create_file("faults", 0400, hslab_debugfs, NULL,
			    &hslab_faults_file_fops);
	debugfs_create_file("stores", 0400, hslab_debugfs, NULL,
			    &hslab_stores_fops);
	hslab_debugfs_caches = debugfs_create_dir("caches", hslab_debugfs);
	hslab_debugfs_attached = debugfs_create_dir("attached", hslab_debugfs);
}

void hslab_debugfs_exit(void)
{
	debugfs_remove_recursive(hslab_debugfs);
}
