// SPDX-License-Identifier: GPL-2.0
/*
 * hslab: the ways of an object, allocation and free, and the module itself.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/module.h>
#include <linux/rculist.h>

#include "hslab_attach.h"
#include "hslab_internal.h"

/* How many damaged objects an allocation sets aside before it gives up. */
#define HSLAB_TRIES	64

/*
 * ALLOCATION AND FREE
 *
 * The hot path. Nothing may be added here that writes memory which other CPUs
 * write, or costs anything while the policy that wants it is off. `make bench`
 * counts the instructions.
 */

/* Take an object from this CPU's magazine. Preemption is off. */
static __always_inline void *hslab_pop(struct hslab_route *route)
{
	struct hslab_cpu *c = this_cpu_ptr(route->cpu);
	void *object = NULL;
	unsigned long i;

	if (unlikely(!hslab_magazine_enter(c)))
		return NULL;
	i = c->nr - 1;
	if (likely(i < READ_ONCE(route->magazine))) {	/* neither empty nor closed */
		object = c->objects[i];
		c->nr = i;
	}
	hslab_magazine_leave(c);
	return object;
}

/* Put an object into this CPU's magazine. Preemption is off. */
static __always_inline bool hslab_push(struct hslab_route *route, void *object)
{
	struct hslab_cpu *c = this_cpu_ptr(route->cpu);
	unsigned long i;
	bool room;

	if (unlikely(!hslab_magazine_enter(c)))
		return false;
	i = c->nr;
	room = i < READ_ONCE(route->magazine);	/* neither full nor closed */
	if (likely(room)) {
		c->objects[i] = object;
		c->nr = i + 1;
	}
	hslab_magazine_leave(c);
	return room;
}

static noinline void *hslab_failed_alloc(struct hslab_route *route)
{
	this_cpu_inc(route->cpu->counts.fails);
	this_cpu_inc(route->cpu->counts.headroom);
	return NULL;
}

/*
 * SLUB has no object. One in quarantine will do, unless it was charged to a memory
 * cgroup, which may not be the new owner's.
 */
static noinline void *hslab_last_resort(struct hslab_route *route)
{
	void *object = NULL;

	if (READ_ONCE(route->quarantine) && !in_nmi() &&
	    !(route->cache->geometry.flags & SLAB_ACCOUNT))
		object = hslab_quarantine_take(route);
	return object ? object : hslab_failed_alloc(route);
}

/* Give the bytes between the end of an object and its tag a value to check. */
static void hslab_set_padding(const struct hslab_route *route, u64 *words)
{
	const u8 *padding = (const u8 *)&route->padding;
	unsigned int i;

	/* Not the whole word: readers of a TYPESAFE object may write to the rest. */
	for (i = route->cache->size % sizeof(u64); i < sizeof(u64); i++)
		((u8 *)&words[route->words - 1])[i] = padding[i];
}

/*
 * The plain tag of an object that SLUB handed out, XORed with that of one which
 * this cache freed without a fill: what is left are the fill bits, the former
 * owner, and damage.
 */
static __always_inline u64 hslab_mark(const struct hslab_route *route,
				      const u64 *words)
{
	return (READ_ONCE(words[route->words]) * route->inverse) ^
	       (u64)words ^ route->live_key ^ HSLAB_FLIP;
}

/* Does a mark tell of an object that hslab has itself, though SLUB handed it out? */
static bool hslab_mark_kept(u64 mark)
{
	u64 state = (mark & ~(HSLAB_FILL_MASK | HSLAB_CACHE_MASK)) ^ HSLAB_FREE;

	return state == HSLAB_QUARANTINED || state == HSLAB_PINNED ||
	       state == HSLAB_ASIDE;
}

/*
 * Make an object that SLUB handed out fit for its new owner.
 *
 * Return: false if it is damaged: hslab_judge_held() finds out how.
 */
static noinline bool hslab_make_fit(struct hslab_route *route, u64 *words,
				    u64 mark, gfp_t gfp)
{
	struct hslab_cache *cache = route->cache;
	u64 policy = READ_ONCE(route->policy);
	bool kept = !mark, zeroed = false;

	if (unlikely(mark & ~(HSLAB_FILL_MASK | HSLAB_CACHE_MASK))) {
		if ((policy & HSLAB_POL_CHECK) || hslab_mark_kept(mark) ||
		    hslab_is_suspect(route->store, words) ||
		    hslab_rcu_waits(route->store, words))
			return false;
		if ((mark & ~(HSLAB_FILL_MASK | HSLAB_CACHE_MASK)) == HSLAB_FLIP)
			hslab_credit_owner(route, mark ^ HSLAB_FLIP ^
						  route->live_key ^
						  route->store->key);
		mark = hslab_fill_bits(HSLAB_FILL_FRESH, 0);
	}

	if ((policy & (HSLAB_POL_HEAD | HSLAB_POL_FULL)) &&
	    hslab_filled(mark)) {
		u64 pattern = hslab_pattern(mark, route->random);

		this_cpu_inc(route->cpu->counts.verified);
		if (unlikely(!hslab_fill_sound(words, route->words, pattern,
					       policy)))
			return false;
		zeroed = !pattern;
	}

	if ((policy & HSLAB_POL_ZERO) || (gfp & __GFP_ZERO)) {
		if (zeroed) {
			this_cpu_inc(route->cpu->counts.zero_skipped);
		} else {
			hslab_fill(words, route->words, 0);
			kept = false;
		}
	}
	if (unlikely(cache->ctor) && !kept)
		cache->ctor(words);
	if (policy & HSLAB_POL_PAD)
		hslab_set_padding(route, words);
	if (policy & HSLAB_POL_TRACK)
		hslab_track_alloc(route, words);
	WRITE_ONCE(words[route->words], hslab_live_word(route, words));
	return true;
}

/* hslab_slub_alloc(), and the object's page may get a pin. */
static noinline void *hslab_pinned_alloc(struct hslab_route *route, gfp_t gfp,
					 int node, struct list_lru *lru)
{
	void *object = hslab_slub_alloc(route, gfp, node, lru);

	return object ? hslab_pin_page(route, object, gfp, node, lru) :
			NULL;
}

static noinline void *hslab_from_slub(struct hslab_route *route, gfp_t gfp,
				      int node, struct list_lru *lru)
{
	if (WARN_ON_ONCE(in_nmi()))
		return NULL;
	gfp &= ~__GFP_ZERO;	/* on a new page it would wipe the tag */
	if (!(route->cache->geometry.flags & SLAB_ACCOUNT))
		gfp &= ~__GFP_ACCOUNT;	/* the next owner may be in another cgroup */
	if (unlikely(READ_ONCE(route->pins)))
		return hslab_pinned_alloc(route, gfp, node, lru);
	return hslab_slub_alloc(route, gfp, node, lru);
}

/* An object is damaged: judge it, and find another. */
static noinline void *hslab_retry(struct hslab_route *route, void *object,
				  gfp_t gfp, int node, struct list_lru *lru,
				  unsigned long caller)
{
	unsigned int tries;

	for (tries = 0; tries < HSLAB_TRIES; tries++) {
		hslab_judge_held(route, object, HSLAB_FREE, caller);
		object = hslab_from_slub(route, gfp, node, lru);
		if (!object)
			break;
		if (hslab_make_fit(route, object, hslab_mark(route, object),
				   gfp))
			return object;
	}
	if (object)
		hslab_judge_held(route, object, HSLAB_FREE, caller);
	return hslab_failed_alloc(route);
}

static __always_inline void *hslab_do_alloc(struct hslab_cache *cache,
					    gfp_t gfp, int node,
					    struct list_lru *lru,
					    unsigned long caller)
{
	struct hslab_cpu __percpu *cpu;
	struct hslab_route *route;
	u64 *words = NULL, mark;
	bool over;

	hslab_compat_might_alloc(gfp);
	preempt_disable();
	route = rcu_dereference_sched(cache->route);
	cpu = route->cpu;
	this_cpu_inc(cpu->counts.allocs);	/* this keeps the route */
	this_cpu_dec(cpu->counts.headroom);
	over = this_cpu_read(cpu->counts.headroom) < 0;
	if (node == NUMA_NO_NODE)
		words = hslab_pop(route);
	preempt_enable();

	if (unlikely(!words)) {
		words = hslab_from_slub(route, gfp, node, lru);
		if (unlikely(!words))
			words = hslab_last_resort(route);
		if (unlikely(!words))
			return NULL;
	}
	if (unlikely(over))
		hslab_new_peak(route);
	mark = hslab_mark(route, words);
	if (!(mark | (READ_ONCE(route->policy) & HSLAB_POL_ALLOC_WORK) |
	      (__force u64)(gfp & __GFP_ZERO)))
		WRITE_ONCE(words[route->words], hslab_live_word(route, words));
	else if (unlikely(!hslab_make_fit(route, words, mark, gfp)))
		return hslab_retry(route, words, gfp, node, lru, caller);
	return words;
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
	return hslab_do_alloc(cache, gfp, NUMA_NO_NODE, NULL, _RET_IP_);
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
	return hslab_do_alloc(cache, gfp, node, NULL, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_alloc_node);

/**
 * hslab_alloc_lru() - allocate an object that will be on a list_lru
 * @cache: the cache
 * @lru: the list, or NULL
 * @gfp: allocation flags
 *
 * With %SLAB_ACCOUNT the object is charged to a memory cgroup, and list_lru_add()
 * needs @lru to have a list for that: it is made here, as kmem_cache_alloc_lru()
 * makes it.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the object, or NULL.
 */
void *hslab_alloc_lru(struct hslab_cache *cache, struct list_lru *lru, gfp_t gfp)
{
	return hslab_do_alloc(cache, gfp, NUMA_NO_NODE, lru, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_alloc_lru);

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
		objects[i] = hslab_do_alloc(cache, gfp, NUMA_NO_NODE, NULL,
					    _RET_IP_);
		if (!objects[i]) {
			hslab_free_bulk(cache, i, objects);
			return 0;
		}
	}
	return nr;
}
EXPORT_SYMBOL_GPL(hslab_alloc_bulk);

/*
 * Take a live object from its owner: the one place where a tag leaves LIVE, for
 * @next. Two racing frees cannot both succeed.
 */
static __always_inline bool hslab_take(struct hslab_route *route, u64 *words,
				       u64 policy, u64 next)
{
	u64 live = hslab_live_word(route, words), word;
	u64 *tag = &words[route->words];

	if (!hslab_compat_in_lowmem(tag) ||
	    !hslab_compat_tag_read(tag, &word) || word != live)
		return false;
	/* A page that was given back keeps its tags: it must still be the store's. */
	if (unlikely(!hslab_page_stays(route, words)))
		return false;
	if ((policy & HSLAB_POL_PAD) && !hslab_padding_whole(route, words))
		return false;
	return hslab_compat_tag_cmpxchg(tag, &live, next);
}

/* The same with check off: the tag tells the route, and is kept for later. */
static __always_inline bool hslab_take_trusting(struct hslab_route *route,
						u64 *words, u64 next)
{
	u64 *tag = &words[route->words];

	if (READ_ONCE(*tag) != hslab_live_word(route, words))
		return false;
	WRITE_ONCE(*tag, next);
	return true;
}

static __always_inline bool hslab_take_either(struct hslab_route *route,
					      u64 *words, u64 policy, u64 next)
{
	if (policy & HSLAB_POL_CHECK)
		return hslab_take(route, words, policy, next);
	return hslab_take_trusting(route, words, next);
}

/*
 * Keep a FREE object for this CPU, or give it to SLUB. What was in quarantine is
 * none of KFENCE's.
 */
static __always_inline void hslab_keep(struct hslab_route *route, void *object,
				       bool quarantined)
{
	bool kept;

	preempt_disable();
	kept = (quarantined || !hslab_compat_is_kfence(object)) &&
	       hslab_push(route, object);
	preempt_enable();
	if (unlikely(!kept))
		hslab_magazine_put(route, object);
}

static __always_inline void hslab_fill_free(struct hslab_route *route,
					    void *object, u64 policy)
{
	if (policy & HSLAB_FILL_MASK)
		hslab_fill(object, route->words,
			   hslab_pattern(policy, route->random));
}

static __always_inline void hslab_do_let_go(struct hslab_route *route,
					    void *object, u64 policy)
{
	hslab_fill_free(route, object, policy);
	if (policy & HSLAB_POL_QUARANTINE) {
		object = hslab_quarantine_put(route, object, policy);
		if (object)
			hslab_keep(route, object, true);
	} else {
		hslab_keep(route, object, false);
	}
	this_cpu_inc(route->cpu->counts.headroom);
}

/**
 * hslab_let_go() - let go of an object that was taken from its owner
 * @route: the object's route
 * @object: the object; its tag tells of the fill in @policy, and is QUARANTINED
 *	if @policy has %HSLAB_POL_QUARANTINE, else FREE
 * @policy: the policy word that the tag was made of
 *
 * It is filled, and goes into quarantine, a magazine or to SLUB.
 *
 * Context: any but NMI. @route may be gone when this returns.
 */
void hslab_let_go(struct hslab_route *route, void *object, u64 policy)
{
	hslab_do_let_go(route, object, policy);
}

/* What of a cache's policy holds for an object of this route. */
u64 hslab_policy_for(const struct hslab_route *route, const void *object,
		     u64 policy)
{
	/* A closed route keeps nothing, and KFENCE has to see a free at once. */
	if (unlikely(!READ_ONCE(route->quarantine)) ||
	    unlikely(hslab_compat_is_kfence(object)))
		policy &= ~HSLAB_POL_QUARANTINE;
	return policy;
}

/*
 * Take an object that is a sound live one of @route from its owner, to be freed
 * now or (@defer) after a grace period. *@policy becomes what holds for it.
 */
static __always_inline bool hslab_take_for(struct hslab_route *route,
					   void *object, u64 *policy, bool defer)
{
	u64 next;

	*policy = hslab_policy_for(route, object, *policy);
	if (defer)
		next = hslab_encode(route->store, object, HSLAB_RCU);
	else
		next = hslab_free_word(route, object, *policy);
	return hslab_take_either(route, object, *policy, next);
}

/* The same, and free it. */
static bool hslab_free_to(struct hslab_route *route, void *object, u64 policy,
			  bool defer)
{
	if (!hslab_take_for(route, object, &policy, defer))
		return false;
	if (unlikely(route->tracked))
		hslab_track_free(route, object);
	if (defer)
		hslab_rcu_put(route, object);
	else
		hslab_let_go(route, object, policy);
	return true;
}

/*
 * With check off, an object of another cache in the same store is freed as that
 * cache's: SLUB would not tell merged caches apart either.
 */
static bool hslab_free_for_owner(struct hslab_cache *cache, void *object,
				 u64 policy, bool defer)
{
	struct hslab_route *route, *owner;

	if (!hslab_compat_in_slab(object))
		return false;
	list_for_each_entry_rcu(route, &cache->routes, in_cache)
		list_for_each_entry_rcu(owner, &route->store->routes, in_store)
			if (hslab_free_to(owner, object, policy, defer))
				return true;
	return false;
}

/*
 * An object that is not a sound live one of the current route. It may belong to
 * a route that drains. With check off what is not understood is left to SLUB,
 * but for what hslab has itself.
 */
static noinline void hslab_free_odd(struct hslab_cache *cache, void *object,
				    bool defer, unsigned long caller)
{
	struct hslab_route *route;
	u64 policy;
	bool check;

	rcu_read_lock();
	policy = READ_ONCE(rcu_dereference(cache->route)->policy);
	check = policy & HSLAB_POL_CHECK;
	if (hslab_compat_in_slab(object)) {
		list_for_each_entry_rcu(route, &cache->routes, in_cache)
			if (hslab_free_to(route, object, policy, defer))
				goto unlock;
	}
	if (check || hslab_already_free(cache, object)) {
		hslab_judge_free(cache, object, caller);
	} else if (!hslab_free_for_owner(cache, object, policy, defer)) {
		route = rcu_dereference(cache->route);
		if (defer && hslab_compat_in_slab(object) &&
		    hslab_slab_is_slot(route->store, object)) {
			hslab_rcu_put(route, object);
			goto unlock;
		}
		kmem_cache_free(route->kmem, object);
		this_cpu_inc(route->cpu->counts.headroom);
	}
unlock:
	rcu_read_unlock();
}

static __always_inline void hslab_free_work(struct hslab_cache *cache,
					    struct hslab_route *route,
					    void *object, bool defer,
					    unsigned long caller)
{
	u64 policy = READ_ONCE(route->policy);
	bool taken;

	taken = hslab_take_for(route, object, &policy, defer);
	preempt_enable();
	if (unlikely(!taken)) {
		hslab_free_odd(cache, object, defer, caller);
		return;
	}
	if (unlikely(route->tracked))
		hslab_track_free(route, object);
	if (defer)
		hslab_rcu_put(route, object);
	else
		hslab_do_let_go(route, object, policy);
}

/*
 * A free after a grace period. @route is the current one, and preemption is off; on
 * return it is on.
 */
static noinline void hslab_free_later(struct hslab_cache *cache,
				      struct hslab_route *route, void *object,
				      unsigned long caller)
{
	hslab_free_work(cache, route, object, true, caller);
}

/* The same for a free with more to do than fill the object. */
static noinline void hslab_free_slowly(struct hslab_cache *cache,
				       struct hslab_route *route, void *object,
				       unsigned long caller)
{
	if (unlikely(READ_ONCE(route->policy) & HSLAB_POL_DEFER))
		hslab_free_later(cache, route, object, caller);
	else
		hslab_free_work(cache, route, object, false, caller);
}

static __always_inline void hslab_do_free(struct hslab_cache *cache,
					  void *object, unsigned long caller)
{
	struct hslab_route *route;
	bool taken;
	u64 policy;

	preempt_disable();
	route = rcu_dereference_sched(cache->route);
	policy = READ_ONCE(route->policy);
	if (unlikely(policy & HSLAB_POL_FREE_WORK)) {
		hslab_free_slowly(cache, route, object, caller);
		return;
	}
	taken = hslab_take_either(route, object, policy,
				  hslab_free_word(route, object, policy));
	preempt_enable();
	if (unlikely(!taken)) {
		hslab_free_odd(cache, object, false, caller);
		return;
	}
	hslab_fill_free(route, object, policy);
	hslab_keep(route, object, false);
	this_cpu_inc(route->cpu->counts.headroom);
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

/* The same for @caller, whom reports name. */
void hslab_free_for(struct hslab_cache *cache, void *object, unsigned long caller)
{
	hslab_do_free(cache, object, caller);
}

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

static __always_inline void hslab_do_free_rcu(struct hslab_cache *cache,
					      void *object,
					      unsigned long caller)
{
	preempt_disable();
	hslab_free_later(cache, rcu_dereference_sched(cache->route), object,
			 caller);
}

/**
 * hslab_free_rcu() - free an object after a grace period
 * @cache: the cache that it was allocated from
 * @object: the object, or NULL
 *
 * Readers in an RCU read-side critical section that began before may use the
 * object until they leave it. It needs no memory, and cannot fail. What is not
 * a live object of @cache is reported and not freed.
 *
 * Context: any but NMI.
 */
void hslab_free_rcu(struct hslab_cache *cache, void *object)
{
	if (likely(object))
		hslab_do_free_rcu(cache, object, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_free_rcu);

/* The same for @caller, whom reports name. */
void hslab_free_rcu_for(struct hslab_cache *cache, void *object,
			unsigned long caller)
{
	hslab_do_free_rcu(cache, object, caller);
}

/**
 * hslab_free_rcu_bulk() - free several objects after a grace period
 * @cache: the cache that they were allocated from
 * @nr: how many
 * @objects: the objects; NULLs are passed over
 *
 * Context: any but NMI.
 */
void hslab_free_rcu_bulk(struct hslab_cache *cache, size_t nr, void **objects)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (objects[i])
			hslab_do_free_rcu(cache, objects[i], _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_free_rcu_bulk);

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

	hslab_slab_init();
	err = hslab_symbol_init();
	if (err)
		return err;
	err = hslab_sysfs_init();
	if (err)
		goto symbol;
	hslab_debugfs_init();
	err = hslab_cache_init();
	if (err)
		goto debugfs;
	err = hslab_magazine_init();
	if (err)
		goto cache;
	err = hslab_quarantine_init();
	if (err)
		goto magazine;
	err = hslab_rcu_init();
	if (err)
		goto quarantine;
	err = hslab_kmalloc_init();
	if (err)
		goto rcu;
	err = hslab_attach_init(hslab_kobj);
	if (err)
		goto kmalloc;
	pr_info("version " HSLAB_VERSION "\n");
	hslab_seal_init();	/* the last, since it keeps the module */
	return 0;

kmalloc:
	hslab_kmalloc_exit();
rcu:
	hslab_rcu_exit();
quarantine:
	hslab_quarantine_exit();
magazine:
	hslab_magazine_exit();
cache:
	hslab_cache_exit();
	hslab_event_exit();
debugfs:
	hslab_debugfs_exit();
	hslab_sysfs_exit();
symbol:
	hslab_symbol_exit();
	return err;
}

static void __exit hslab_exit(void)
{
	hslab_attach_exit(hslab_kobj);
	hslab_kmalloc_exit();
	hslab_rcu_exit();
	hslab_quarantine_exit();
	hslab_magazine_exit();
	hslab_cache_exit();
	hslab_event_exit();
	hslab_debugfs_exit();
	hslab_sysfs_exit();
	hslab_symbol_exit();
}

module_init(hslab_init);
module_exit(hslab_exit);

MODULE_DESCRIPTION("Hardened slab caches with per-cache, run-time policies");
MODULE_LICENSE("GPL");
MODULE_VERSION(HSLAB_VERSION);
