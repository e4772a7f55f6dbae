// SPDX-License-Identifier: GPL-2.0
/*
 * The registry of caches: creating, changing and destroying them, and the worker
 * that frees what nobody uses any more.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ctype.h>
#include <linux/idr.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "hslab_internal.h"

/* See LOCK ORDER in hslab_internal.h. */
DEFINE_MUTEX(hslab_mutex);
LIST_HEAD(hslab_caches);

/* Destroyed with objects still live. */
static LIST_HEAD(hslab_zombies);
static DEFINE_IDR(hslab_ids);

/*
 * DRAINING
 */
static void hslab_drain(struct work_struct *work);
static DECLARE_DELAYED_WORK(hslab_drain_work, hslab_drain);
struct workqueue_struct *hslab_wq;

/* How often to look whether a route has drained, in jiffies: less and less. */
#define HSLAB_DRAIN_MIN		(HZ / 20 + 1UL)
#define HSLAB_DRAIN_MAX		((unsigned long)HZ)

static unsigned long hslab_drain_delay = HSLAB_DRAIN_MIN;

void hslab_drain_soon(void)
{
	WRITE_ONCE(hslab_drain_delay, HSLAB_DRAIN_MIN);
	mod_delayed_work(hslab_wq, &hslab_drain_work, 0);
}

/*
 * Free what has drained: routes, the stores they led to, destroyed caches.
 *
 * An allocation or a free may have read cache->route before it was changed,
 * with preemption off. A grace period later it has been counted as live, or
 * has ended; so one is waited for before the routes are looked at, and one more
 * for those who still walk the lists.
 */
static void hslab_drain(struct work_struct *work)
{
	unsigned long delay = READ_ONCE(hslab_drain_delay);
	struct hslab_store *store, *next_store;
	struct hslab_route *route, *next_route;
	struct hslab_cache *cache, *next;
	unsigned long epoch;
	LIST_HEAD(routes);
	LIST_HEAD(stores);
	LIST_HEAD(caches);
	bool left = false;

	mutex_lock(&hslab_mutex);
	epoch = hslab_epoch++;
	mutex_unlock(&hslab_mutex);
	synchronize_rcu();

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		left |= hslab_routes_drain(cache, false, epoch, &routes);
	list_for_each_entry_safe(cache, next, &hslab_zombies, zombie) {
		left |= hslab_routes_drain(cache, true, epoch, &routes);
		if (list_empty(&cache->routes)) {
			if (cache->leak.reported)
				pr_info("cache %s: the last of its objects came home\n",
					cache->name);
			idr_remove(&hslab_ids, cache->id);
			list_move(&cache->zombie, &caches);
			hslab_bucket_forget(cache);
		}
	}
	list_splice_init(&hslab_unused_stores, &stores);
	mutex_unlock(&hslab_mutex);

	if (!list_empty(&routes) || !list_empty(&caches))
		synchronize_rcu();
	list_for_each_entry_safe(route, next_route, &routes, gone)
		hslab_route_free(route);
	list_for_each_entry_safe(store, next_store, &stores, node) {
		hslab_sysfs_del_store(store);
		hslab_store_destroy(store);
	}
	list_for_each_entry_safe(cache, next, &caches, zombie) {
		bool internal = cache->internal;

		hslab_track_free_cache(cache);
		kfree(cache);
		if (!internal)
			module_put(THIS_MODULE);
	}
	if (left) {
		hslab_leak_drain(&hslab_zombies, epoch);
		WRITE_ONCE(hslab_drain_delay, min(2 * delay, HSLAB_DRAIN_MAX));
		queue_delayed_work(hslab_wq, &hslab_drain_work, delay);
	}
}

/*
 * THE REGISTRY
 */
static struct hslab_cache *hslab_cache_find(const char *name)
{
	struct hslab_cache *cache;

	lockdep_assert_held(&hslab_mutex);

	list_for_each_entry(cache, &hslab_caches, node)
		if (!strcmp(cache->name, name))
			return cache;
	return NULL;
}

/* The cache of a number, NULL if it is gone. In an RCU read-side critical section. */
struct hslab_cache *hslab_cache_by_id(unsigned int id)
{
	return idr_find(&hslab_ids, id);
}

/* The name of a cache by its number, "?" if it is gone. Any context. */
void hslab_cache_name(unsigned int id, char *name)
{
	struct hslab_cache *cache;

	rcu_read_lock();
	cache = hslab_cache_by_id(id);
	strscpy(name, cache ? cache->name : "?", HSLAB_NAME_LEN);
	rcu_read_unlock();
}

static void hslab_geometry_of(struct hslab_geometry *geometry,
			      unsigned int size, const struct hslab_args *args)
{
	geometry->payload = round_up(size, sizeof(u64));
	geometry->align = hslab_alignment(args->align, args->flags,
					  geometry->payload + HSLAB_TAG_SIZE);
	geometry->tracked = false;
	geometry->flags = args->flags & HSLAB_FLAGS_PASSED;
	geometry->useroffset = args->useroffset;
	geometry->usersize = args->usersize;
}

/* It becomes a folder, a word in reports and a line in tables. */
static bool hslab_name_valid(const char *name)
{
	size_t i, len = name ? strnlen(name, HSLAB_NAME_LEN) : 0;

	if (!len || len >= HSLAB_NAME_LEN || !strcmp(name, ".") ||
	    !strcmp(name, ".."))
		return false;
	for (i = 0; i < len; i++)
		if (name[i] == '/' || iscntrl(name[i]))
			return false;
	return true;
}

static int hslab_args_check(const char *name, unsigned int size,
			    const struct hslab_args *args)
{
	slab_flags_t unknown = args->flags & ~HSLAB_FLAGS_KNOWN;
	struct hslab_geometry geometry;

	if (!hslab_name_valid(name)) {
		pr_warn("a cache's name needs 1 to %d characters without '/' and control characters, and is not . or ..\n",
			HSLAB_NAME_LEN - 1);
		return -EINVAL;
	}
	if (!size || size > HSLAB_MAX_SIZE) {
		pr_warn("cache %s: size %u is not in 1..%lu\n", name, size,
			(unsigned long)HSLAB_MAX_SIZE);
		return -EINVAL;
	}
	if (args->align &&
	    (!is_power_of_2(args->align) || args->align > KMALLOC_MAX_SIZE)) {
		pr_warn("cache %s: alignment %u is not a power of two up to %lu\n",
			name, args->align, (unsigned long)KMALLOC_MAX_SIZE);
		return -EINVAL;
	}
	if (unknown) {
		pr_warn("cache %s: flags %#x are not supported (slub_debug's would slow down every cache of the system)\n",
			name, (__force unsigned int)unknown);
		return -EINVAL;
	}
	hslab_geometry_of(&geometry, size, args);
	if (hslab_slot_size(&geometry) > KMALLOC_MAX_SIZE) {
		pr_warn("cache %s: %u bytes with alignment %u take more than a slab page can have (%lu)\n",
			name, size, geometry.align,
			(unsigned long)KMALLOC_MAX_SIZE);
		return -EINVAL;
	}
	if (args->usersize > size || args->useroffset > size - args->usersize ||
	    (args->useroffset && !args->usersize)) {
		pr_warn("cache %s: usercopy window of %u bytes at %u is not within %u bytes\n",
			name, args->usersize, args->useroffset, size);
		return -EINVAL;
	}
	return 0;
}

/* The bytes of the last word that are not the object's (little endian: the upper ones). */
static u64 hslab_pad_mask(unsigned int size)
{
	unsigned int used = size % sizeof(u64);

	if (!used)
		return 0;
	return (__force u64)cpu_to_le64(~0ULL << (used * 8));
}

/* Give a cache a name that no other has: NAME, NAME-2, NAME-3 ... */
static void hslab_cache_number(struct hslab_cache *cache)
{
	char tail[sizeof("-4294967295")], base[HSLAB_NAME_LEN];
	unsigned int nr = 1;

	strscpy(base, cache->name, sizeof(base));
	while (hslab_cache_find(cache->name)) {
		int len = snprintf(tail, sizeof(tail), "-%u", ++nr);

		snprintf(cache->name, sizeof(cache->name), "%.*s%s",
			 HSLAB_NAME_LEN - 1 - len, base, tail);
	}
}

/* Find a new cache a number and a store. */
static int hslab_cache_enter(struct hslab_cache *cache,
			     enum hslab_cache_kind kind)
{
	int err;

	lockdep_assert_held(&hslab_mutex);

	if (kind == HSLAB_CACHE_KMEM)
		hslab_cache_number(cache);
	if (hslab_cache_find(cache->name)) {
		pr_warn("cache %s: there is one of that name\n", cache->name);
		return -EEXIST;
	}
	hslab_rules_apply(&cache->policy, cache->name);
	cache->action = cache->policy.on_violation;
	err = idr_alloc_cyclic(&hslab_ids, cache, 1, HSLAB_CACHES_MAX + 1,
			       GFP_KERNEL);
	if (err < 0)
		return err;
	cache->id = err;

	err = hslab_reroute(cache);
	if (err) {
		idr_remove(&hslab_ids, cache->id);
		return err;
	}
	list_add_tail_rcu(&cache->node, &hslab_caches);
	hslab_scrub_set_interval(cache, cache->policy.scrub_interval_ms);
	return 0;
}

/* What of a new cache is known from its arguments alone. */
static int hslab_cache_fill_in(struct hslab_cache *cache, const char *name,
			       unsigned int size,
			       const struct hslab_args *args)
{
	strscpy(cache->name, name, sizeof(cache->name));
	cache->size = size;
	cache->pad_mask = hslab_pad_mask(size);
	cache->ctor = args->ctor;
	hslab_geometry_of(&cache->geometry, size, args);
	INIT_LIST_HEAD(&cache->routes);
	init_completion(&cache->kobj_gone);
	hslab_scrub_init(cache);

	mutex_lock(&hslab_mutex);
	cache->policy = hslab_defaults;
	mutex_unlock(&hslab_mutex);
	if (args->profile &&
	    hslab_policy_set(&cache->policy, &hslab_fields[HSLAB_FIELD_PROFILE],
			     args->profile)) {
		pr_warn("cache %s: there is no profile %s\n", name,
			args->profile);
		return -EINVAL;
	}
	if (args->flags & HSLAB_COMPAT_NO_MERGE)
		hslab_policy_set(&cache->policy,
				 &hslab_fields[HSLAB_FIELD_MERGE], "never");
	cache->policy.poison_typesafe |= args->poison_typesafe;
	return 0;
}

/* Make a cache for a consumer, or one of hslab's own. */
struct hslab_cache *hslab_cache_make(const char *name, unsigned int size,
				     const struct hslab_args *args,
				     const char *owner,
				     enum hslab_cache_kind kind)
{
	static const struct hslab_args no_args;
	struct hslab_cache *cache;
	int err;

	if (!args)
		args = &no_args;
	err = hslab_args_check(name, size, args);
	if (err)
		return ERR_PTR(err);

	cache = kzalloc(sizeof(*cache), GFP_KERNEL);
	if (!cache)
		return ERR_PTR(-ENOMEM);
	strscpy(cache->owner, owner, sizeof(cache->owner));
	cache->internal = kind == HSLAB_CACHE_INTERNAL;
	cache->alone = kind == HSLAB_CACHE_BUCKET;
	err = hslab_cache_fill_in(cache, name, size, args);
	if (err)
		goto free;

	mutex_lock(&hslab_mutex);
	err = hslab_cache_enter(cache, kind);
	mutex_unlock(&hslab_mutex);
	if (err)
		goto free;
	if (!cache->internal)
		__module_get(THIS_MODULE);

	err = hslab_sysfs_add_cache(cache);
	if (err) {
		hslab_cache_destroy(cache);
		return ERR_PTR(err);
	}
	hslab_debugfs_add_cache(cache);
	return cache;

free:
	hslab_track_free_cache(cache);
	kfree_rcu(cache, rcu);	/* hslab_cache_name() may be looking */
	return ERR_PTR(err);
}

/* hslab_cache_create() is the macro that says who the owner is. */
struct hslab_cache *__hslab_cache_create(const char *name, unsigned int size,
					 const struct hslab_args *args,
					 struct module *owner)
{
	struct hslab_cache *cache;

	cache = hslab_cache_make(name, size, args,
				 owner ? module_name(owner) : "kernel",
				 HSLAB_CACHE_PLAIN);
	if (IS_ERR(cache) && args && (args->flags & SLAB_PANIC))
		panic("hslab: cannot create cache %s: %pe\n", name, cache);
	return cache;
}
EXPORT_SYMBOL_GPL(__hslab_cache_create);

/*
 * Take a cache out of service. What is left of it goes when its last object has
 * come home and hslab_cache_flush(), or the worker, comes by.
 */
void hslab_cache_retire(struct hslab_cache *cache)
{
	mutex_lock(&hslab_mutex);
	cache->dying = true;
	mutex_unlock(&hslab_mutex);

	/* Wait for those in the cache's files, who may want the mutex. */
	hslab_debugfs_del_cache(cache);
	hslab_sysfs_del_cache(cache);
	hslab_scrub_stop(cache);
	hslab_rcu_flush(cache);

	mutex_lock(&hslab_mutex);
	list_del_rcu(&cache->node);
	list_add_tail(&cache->zombie, &hslab_zombies);
	hslab_route_close(hslab_current_route(cache));
	mutex_unlock(&hslab_mutex);
}

/* Let go of all that can go of retired caches. */
void hslab_cache_flush(void)
{
	hslab_drain_soon();
	flush_delayed_work(&hslab_drain_work);
}

/**
 * hslab_cache_destroy() - destroy a cache
 * @cache: the cache, or NULL
 *
 * Objects that are still live are reported. They may still be freed: their
 * store, and the module, stay until the last one comes home.
 *
 * Context: process context, may sleep, not from memory reclaim. Nobody may
 * allocate from @cache any more, nor change it.
 */
void hslab_cache_destroy(struct hslab_cache *cache)
{
	if (!cache)
		return;
	hslab_cache_retire(cache);
	hslab_cache_flush();
}
EXPORT_SYMBOL_GPL(hslab_cache_destroy);

/**
 * hslab_cache_shrink() - give unused slab pages back
 * @cache: the cache
 *
 * Context: process context, may sleep, not from memory reclaim.
 * Return: 0.
 */
int hslab_cache_shrink(struct hslab_cache *cache)
{
	struct hslab_route *route;

	mutex_lock(&hslab_mutex);
	hslab_quarantine_empty(hslab_current_route(cache));
	hslab_magazine_empty(hslab_current_route(cache));
	list_for_each_entry(route, &cache->routes, in_cache)
		kmem_cache_shrink(route->kmem);
	mutex_unlock(&hslab_mutex);
	return 0;
}
EXPORT_SYMBOL_GPL(hslab_cache_shrink);

/**
 * hslab_cache_size() - size of a cache's objects
 * @cache: the cache
 *
 * Context: any.
 * Return: bytes, as given to hslab_cache_create().
 */
unsigned int hslab_cache_size(const struct hslab_cache *cache)
{
	return cache->size;
}
EXPORT_SYMBOL_GPL(hslab_cache_size);

/*
 * Change a cache to @policy. A change of merge moves new allocations to another
 * store; objects of the former one go home to it. Nothing changes on an error.
 */
static int hslab_cache_change(struct hslab_cache *cache,
			      const struct hslab_policy *policy)
{
	struct hslab_policy before = cache->policy;
	int err;

	lockdep_assert_held(&hslab_mutex);

	err = hslab_seal_change(cache->name, &before, policy);
	if (err)
		return err;
	cache->policy = *policy;
	err = hslab_reroute(cache);
	hslab_drain_soon();
	if (err) {
		cache->policy = before;
		return err;
	}
	WRITE_ONCE(cache->action, policy->on_violation);
	hslab_scrub_set_interval(cache, policy->scrub_interval_ms);
	return 0;
}

/* Set one policy of a cache, from sysfs or hslab_set_policy(). */
int hslab_cache_set_policy(struct hslab_cache *cache,
			   const struct hslab_policy_field *field,
			   const char *value)
{
	struct hslab_policy policy;
	int err;

	mutex_lock(&hslab_mutex);
	policy = cache->policy;
	err = cache->dying ? -ENODEV : hslab_policy_set(&policy, field, value);
	if (err == -EINVAL)
		hslab_policy_complain(cache->name, field);
	if (!err)
		err = hslab_cache_change(cache, &policy);
	mutex_unlock(&hslab_mutex);
	return err;
}

/* Is there a cache that the seal keeps from such a change? */
static int hslab_may_set_everywhere(const struct hslab_policy_field *field,
				    const char *value)
{
	struct hslab_cache *cache;
	int err = 0;

	lockdep_assert_held(&hslab_mutex);

	list_for_each_entry(cache, &hslab_caches, node) {
		struct hslab_policy policy = cache->policy;

		err = hslab_policy_set(&policy, field, value);
		if (!err && !cache->dying)
			err = hslab_seal_change(cache->name, &cache->policy,
						&policy);
		if (err)
			break;
	}
	return err;
}

/*
 * Set the profile of the defaults and of every cache. -EINVAL and -EPERM (sealed,
 * and any of them would be looser) change nothing; another error is that of the
 * first cache that could not be moved to a store of its new merge policy, while
 * the others were.
 */
int hslab_set_profile_everywhere(const char *profile)
{
	const struct hslab_policy_field *field =
		&hslab_fields[HSLAB_FIELD_PROFILE];
	struct hslab_cache *cache;
	int err;

	mutex_lock(&hslab_mutex);
	err = hslab_may_set_everywhere(field, profile);
	if (!err)
		err = hslab_defaults_set(field, profile);
	if (err)
		goto unlock;
	list_for_each_entry(cache, &hslab_caches, node) {
		struct hslab_policy policy = cache->policy;
		int failed;

		if (cache->dying)
			continue;
		hslab_policy_set(&policy, field, profile);
		failed = hslab_cache_change(cache, &policy);
		err = err ? err : failed;
	}
unlock:
	mutex_unlock(&hslab_mutex);
	return err;
}

/* What one policy of a cache is, as sysfs shows it. */
void hslab_cache_policy(struct hslab_cache *cache,
			const struct hslab_policy_field *field, char *value)
{
	mutex_lock(&hslab_mutex);
	field->format(&cache->policy, value);
	mutex_unlock(&hslab_mutex);
}

/**
 * hslab_set_policy() - set one policy of a cache
 * @cache: the cache
 * @policy: which: a file's name in /sys/kernel/hslab/caches/<name>, such as
 *	"poison"
 * @value: what could be written to that file, such as "0x6b"
 *
 * Context: process context, may sleep.
 * Return: 0, or -EINVAL for what is no policy or no value of it, -EPERM when
 * hslab is sealed and @value is looser than what is set, -ENOSPC when no store is
 * left, -ENOMEM; nothing is changed then.
 */
int hslab_set_policy(struct hslab_cache *cache, const char *policy,
		     const char *value)
{
	const struct hslab_policy_field *field = hslab_field_find(policy);

	if (!field) {
		pr_warn("cache %s: there is no policy %s\n", cache->name,
			policy);
		return -EINVAL;
	}
	return hslab_cache_set_policy(cache, field, value);
}
EXPORT_SYMBOL_GPL(hslab_set_policy);

int __init hslab_cache_init(void)
{
	/* A worker that memory reclaim waits for may destroy a cache. */
	hslab_wq = alloc_workqueue("hslab", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return hslab_wq ? 0 : -ENOMEM;
}

/* At unload. References keep the module while any cache has an object live. */
void hslab_cache_exit(void)
{
	cancel_delayed_work_sync(&hslab_drain_work);
	destroy_workqueue(hslab_wq);
	WARN_ON(!list_empty(&hslab_caches) || !list_empty(&hslab_zombies));
	rcu_barrier();	/* hslab_store_free() */
	idr_destroy(&hslab_ids);
}
