// SPDX-License-Identifier: GPL-2.0
/*
 * hslab: the ways of an object, allocation and free, and the module itself.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/module.h>
#include <linux/rculist.h>

#include "hslab_internal.h"

/* How many damaged objects an allocation sets aside before it gives up. */
#define HSLAB_TRIES	64

/* A live tag becomes a free one, and back, by flipping these bits. */
#define HSLAB_FLIP	((u64)(HSLAB_LIVE ^ HSLAB_FREE))

/*
 * ALLOCATION AND FREE
 *
 * The hot path. Nothing may be added here that writes memory which other CPUs
 * write, or costs anything while the policy that wants it is off. `make bench`
 * counts the instructions.
 */

/* Count an allocation on the cache's current route, which keeps the route. */
static __always_inline struct hslab_route *
hslab_begin_alloc(struct hslab_cache *cache)
{
	struct hslab_route *route;
	bool over;

	preempt_disable();
	route = rcu_dereference_sched(cache->route);
	this_cpu_inc(route->counts->allocs);
	this_cpu_dec(route->counts->headroom);
	over = this_cpu_read(route->counts->headroom) < 0;
	preempt_enable();
	if (unlikely(over))
		hslab_new_peak(route);
	return route;
}

static noinline void *hslab_failed_alloc(struct hslab_route *route)
{
	this_cpu_inc(route->counts->fails);
	this_cpu_inc(route->counts->headroom);
	return NULL;
}

static __always_inline u64 hslab_live_word(const struct hslab_route *route,
					   const void *object)
{
	return ((u64)object ^ route->live_key) * route->multiplier;
}

/*
 * Does an object hold the fill that its mark tells of? *@zeroed is set when
 * that fill is zero and was looked at.
 */
static __always_inline bool hslab_verify(struct hslab_route *route,
					 const u64 *words, u64 mark, u64 policy,
					 bool *zeroed)
{
	u64 pattern = hslab_pattern(mark, route->random);

	this_cpu_inc(route->counts->verified);
	*zeroed = !pattern;
	if (policy & HSLAB_POL_FULL)
		return hslab_intact(words, route->words, pattern);
	return hslab_intact_head(words, route->words, pattern);
}

/* Give the bytes between the end of an object and its tag a value to check. */
static void hslab_set_padding(const struct hslab_route *route, u64 *words)
{
	u64 mask = route->cache->pad_mask;
	u64 *last = &words[route->words - 1];

	*last = (*last & ~mask) | (route->padding & mask);
}

static bool hslab_padding_whole(const struct hslab_route *route,
				const u64 *words)
{
	return !((words[route->words - 1] ^ route->padding) &
		 route->cache->pad_mask);
}

/*
 * Make an object that SLUB handed out fit for its new owner. @mark is its plain
 * tag, XORed with that of an object which this cache freed without a fill: what
 * is left are the fill bits, the former owner, and damage.
 *
 * Return: false if the object is damaged and was set aside.
 */
static __always_inline bool hslab_make_fit(struct hslab_route *route,
					   void *object, u64 mark, gfp_t gfp,
					   unsigned long caller)
{
	struct hslab_cache *cache = route->cache;
	u64 policy = READ_ONCE(cache->policy_word);
	bool kept, zeroed = false;
	u64 *words = object;

	if (unlikely(mark & ~(HSLAB_FILL_MASK | HSLAB_CACHE_MASK))) {
		if (policy & HSLAB_POL_CHECK) {
			hslab_bad_tag(route, object, caller);
			return false;
		}
		mark = hslab_fill_bits(HSLAB_FILL_FRESH, 0);
	}
	kept = !mark;

	if ((policy & (HSLAB_POL_HEAD | HSLAB_POL_FULL)) &&
	    (hslab_fill_kind(mark) == HSLAB_FILL_BYTE ||
	     hslab_fill_kind(mark) == HSLAB_FILL_RANDOM) &&
	    unlikely(!hslab_verify(route, words, mark, policy, &zeroed))) {
		hslab_bad_fill(route, object, mark & HSLAB_FILL_MASK, caller);
		return false;
	}

	if ((policy & HSLAB_POL_ZERO) || (gfp & __GFP_ZERO)) {
		if (zeroed) {
			this_cpu_inc(route->counts->zero_skipped);
		} else {
			hslab_fill(words, route->words, 0);
			kept = false;
		}
	}
	if (unlikely(cache->ctor) && !kept)
		cache->ctor(object);
	if (policy & HSLAB_POL_PAD)
		hslab_set_padding(route, words);
	WRITE_ONCE(*hslab_tag(object, route->tag_off),
		   hslab_live_word(route, object));
	return true;
}

static __always_inline void *hslab_from_slub(struct hslab_route *route,
					     gfp_t gfp, int node)
{
	gfp &= ~__GFP_ZERO;	/* on a new page it would wipe the tag */
	if (node == NUMA_NO_NODE)
		return kmem_cache_alloc(route->kmem, gfp);
	return kmem_cache_alloc_node(route->kmem, gfp, node);
}

static __always_inline u64 hslab_mark(const struct hslab_route *route,
				      const void *object)
{
	u64 word = READ_ONCE(*hslab_tag(object, route->tag_off));

	return (word * route->inverse) ^ (u64)object ^ route->live_key ^
	       HSLAB_FLIP;
}

/* An object was damaged and is set aside: find another. */
static noinline void *hslab_retry(struct hslab_route *route, gfp_t gfp,
				  int node, unsigned long caller)
{
	unsigned int tries;

	for (tries = 0; tries < HSLAB_TRIES; tries++) {
		void *object = hslab_from_slub(route, gfp, node);

		if (!object)
			break;
		if (hslab_make_fit(route, object, hslab_mark(route, object),
				   gfp, caller))
			return object;
	}
	return hslab_failed_alloc(route);
}

static noinline void *hslab_prepare(struct hslab_route *route, void *object,
				    u64 mark, gfp_t gfp, int node,
				    unsigned long caller)
{
	if (likely(hslab_make_fit(route, object, mark, gfp, caller)))
		return object;
	return hslab_retry(route, gfp, node, caller);
}

static __always_inline void *hslab_do_alloc(struct hslab_cache *cache,
					    gfp_t gfp, int node,
					    unsigned long caller)
{
	struct hslab_route *route = hslab_begin_alloc(cache);
	void *object = hslab_from_slub(route, gfp, node);
	u64 mark;

	if (unlikely(!object))
		return hslab_failed_alloc(route);
	mark = hslab_mark(route, object);
	if (mark | (READ_ONCE(cache->policy_word) & HSLAB_POL_ALLOC_WORK) |
	    (__force u64)(gfp & __GFP_ZERO))
		return hslab_prepare(route, object, mark, gfp, node, caller);
	WRITE_ONCE(*hslab_tag(object, route->tag_off),
		   hslab_live_word(route, object));
	return object;
}

/**
 * hslab_alloc() - allocate an object
 * @cache: the cache
 * @gfp: allocation flags
 *
 * An object that turns out to be damaged is reported and set aside, and
 * another is tried.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the object, or NULL.
 */
void *hslab_alloc(struct hslab_cache *cache, gfp_t gfp)
{
	return hslab_do_alloc(cache, gfp, NUMA_NO_NODE, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_alloc);

/**
 * hslab_alloc_node() - allocate an object on a NUMA node
 * @cache: the cache
 * @gfp: allocation flags
 * @node: preferred node, or NUMA_NO_NODE
 *
 * Context: as @gfp says; any but NMI.
 * Return: the object, or NULL.
 */
void *hslab_alloc_node(struct hslab_cache *cache, gfp_t gfp, int node)
{
	return hslab_do_alloc(cache, gfp, node, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_alloc_node);

/**
 * hslab_alloc_bulk() - allocate several objects
 * @cache: the cache
 * @gfp: allocation flags
 * @nr: how many
 * @objects: where to put them
 *
 * Context: as @gfp says; any but NMI.
 * Return: @nr, or 0 when not all of them could be had; then none is allocated.
 */
int hslab_alloc_bulk(struct hslab_cache *cache, gfp_t gfp, size_t nr,
		     void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		objects[i] = hslab_do_alloc(cache, gfp, NUMA_NO_NODE, _RET_IP_);
		if (!objects[i]) {
			hslab_free_bulk(cache, i, objects);
			return 0;
		}
	}
	return nr;
}
EXPORT_SYMBOL_GPL(hslab_alloc_bulk);

/*
 * Take a live object from its owner: the one place where a tag goes from LIVE
 * to FREE. With @check two racing frees cannot both succeed.
 */
static __always_inline bool hslab_take(struct hslab_route *route, void *object,
				       u64 policy)
{
	u64 live = hslab_live_word(route, object);
	u64 *tag = hslab_tag(object, route->tag_off);
	u64 free;

	if (hslab_compat_tag_read(tag) != live)
		return false;
	free = ((u64)object ^ route->live_key ^ HSLAB_FLIP ^
		(policy & HSLAB_FILL_MASK)) * route->multiplier;
	if ((policy & HSLAB_POL_PAD) && (policy & HSLAB_POL_CHECK) &&
	    !hslab_padding_whole(route, object))
		return false;
	if (policy & HSLAB_POL_CHECK)
		return hslab_compat_tag_cmpxchg(tag, &live, free);
	WRITE_ONCE(*tag, free);
	return true;
}

static __always_inline void hslab_to_slub(struct hslab_route *route,
					  void *object, u64 policy)
{
	if (policy & HSLAB_FILL_MASK)
		hslab_fill(object, route->words,
			   hslab_pattern(policy, route->random));
	kmem_cache_free(route->kmem, object);
	this_cpu_inc(route->counts->headroom);
}

/*
 * An object that is not a live one of the current route. It may belong to a
 * route that drains; with check off, what is not understood is left to SLUB.
 */
static noinline void hslab_free_odd(struct hslab_cache *cache, void *object,
				    u64 policy, unsigned long caller)
{
	struct hslab_route *route;

	if (hslab_compat_in_slab(object)) {
		rcu_read_lock();
		list_for_each_entry_rcu(route, &cache->routes, in_cache) {
			if (hslab_take(route, object, policy)) {
				rcu_read_unlock();
				hslab_to_slub(route, object, policy);
				return;
			}
		}
		rcu_read_unlock();
	}
	if (policy & HSLAB_POL_CHECK) {
		hslab_judge_free(cache, object, caller);
		return;
	}
	rcu_read_lock();
	route = rcu_dereference(cache->route);
	kmem_cache_free(route->kmem, object);
	this_cpu_inc(route->counts->headroom);
	rcu_read_unlock();
}

static __always_inline void hslab_do_free(struct hslab_cache *cache,
					  void *object, unsigned long caller)
{
	u64 policy = READ_ONCE(cache->policy_word);
	struct hslab_route *route;
	bool taken;

	preempt_disable();
	route = rcu_dereference_sched(cache->route);
	taken = (!(policy & HSLAB_POL_CHECK) ||
		 hslab_compat_in_lowmem(object)) &&
		hslab_take(route, object, policy);
	preempt_enable();
	if (unlikely(!taken)) {
		hslab_free_odd(cache, object, policy, caller);
		return;
	}
	hslab_to_slub(route, object, policy);
}

/**
 * hslab_free() - free an object
 * @cache: the cache that it was allocated from
 * @object: the object, or NULL
 *
 * What is not a live object of @cache is reported and not freed.
 *
 * Context: any but NMI.
 */
void hslab_free(struct hslab_cache *cache, void *object)
{
	if (likely(object))
		hslab_do_free(cache, object, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_free);

/**
 * hslab_free_bulk() - free several objects
 * @cache: the cache that they were allocated from
 * @nr: how many
 * @objects: the objects; NULLs are passed over
 *
 * Context: any but NMI.
 */
void hslab_free_bulk(struct hslab_cache *cache, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (objects[i])
			hslab_do_free(cache, objects[i], _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_free_bulk);

void *hslab_mempool_alloc(gfp_t gfp, void *cache)
{
	return hslab_alloc(cache, gfp);
}
EXPORT_SYMBOL_GPL(hslab_mempool_alloc);

void hslab_mempool_free(void *object, void *cache)
{
	hslab_free(cache, object);
}
EXPORT_SYMBOL_GPL(hslab_mempool_free);

/*
 * THE MODULE
 */
static int __init hslab_init(void)
{
	int err;

	err = hslab_sysfs_init();
	if (err)
		return err;
	hslab_debugfs_init();
	err = hslab_kmalloc_init();
	if (err)
		goto out;
	pr_info("version " HSLAB_VERSION "\n");
	return 0;

out:
	hslab_debugfs_exit();
	hslab_sysfs_exit();
	return err;
}

static void __exit hslab_exit(void)
{
	hslab_kmalloc_exit();
	hslab_cache_exit();
	hslab_debugfs_exit();
	hslab_sysfs_exit();
}

module_init(hslab_init);
module_exit(hslab_exit);

MODULE_DESCRIPTION("Hardened slab caches with per-cache, run-time policies");
MODULE_LICENSE("GPL");
MODULE_VERSION(HSLAB_VERSION);
