// SPDX-License-Identifier: GPL-2.0
/*
 * Quarantine: freed objects that are kept from reuse for a while, so that a
 * write after free or a second free meets them here.
 *
 * Each CPU has a part of a route's quarantine:
 *
 *	free --> front: a slot at random --> queue: first in, first out --> SLUB
 *	         (its former content moves on)                       (or a magazine)
 *
 * An object stays for as many frees as the queue is long, and for a number of
 * further ones that is geometrically distributed, with the number of slots in
 * front as its mean.
 *
 * The bound is one of bytes of slots, over all CPUs. A CPU reserves some of
 * them before it keeps more objects, so one that frees alone may have them all;
 * when another finds nothing left, hslab_balance() takes back what is more
 * than a fair share.
 *
 * CONCURRENCY
 *
 * A part is protected by its lock, a bit spinlock (which is inline) that is held
 * for a few instructions; fills, checks and SLUB are left to the time after. A free
 * only ever tries for the lock, so it needs no interrupts off: one that has
 * interrupted the holder takes another CPU's part. What is taken out is in the
 * hands of who took it. An object that is being scrubbed stays in its place
 * with HSLAB_BUSY set; who takes it out leaves it to the scrub.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/processor.h>
#include <linux/bit_spinlock.h>
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "hslab_internal.h"
#include "hslab_queue.h"

#define HSLAB_FRONT		256	/* slots, a power of two */
#define HSLAB_BATCH		16	/* objects that are taken out at a time */
#define HSLAB_ROUND		1024	/* of them until others may run */
#define HSLAB_BUSY		1UL	/* in a pointer: it is being scrubbed */

struct hslab_quarantine_cpu {
	unsigned long lock;		/* bit 0 */
	bool closed;			/* takes nothing any more */
	bool full;			/* nothing was left to reserve; WRITE_ONCE */
	unsigned int mask;		/* slots in front that are used, less one */
	u64 random;			/* state of a generator, odd */
	unsigned long nr;		/* objects, front and queue; others READ_ONCE it */
	unsigned long quota;		/* objects it has reserved room for */
	unsigned long skipped;		/* left early, for want of memory or the lock */

	struct hslab_queue queue;
	void *front[HSLAB_FRONT];
};

struct hslab_quarantine {
	struct hslab_quarantine_cpu __percpu *cpu;
	unsigned int slot;		/* bytes that an object takes */
};

static void hslab_balance(struct work_struct *work);
static DECLARE_DELAYED_WORK(hslab_balance_work, hslab_balance);

static void hslab_balance_soon(void)
{
	if (!delayed_work_pending(&hslab_balance_work))
		queue_delayed_work(hslab_wq, &hslab_balance_work, HZ / 10);
}

static __always_inline bool hslab_part_trylock(struct hslab_quarantine_cpu *c)
{
	return bit_spin_trylock(0, &c->lock);
}

static __always_inline void hslab_part_lock(struct hslab_quarantine_cpu *c)
{
	bit_spin_lock(0, &c->lock);
}

static __always_inline void hslab_part_unlock(struct hslab_quarantine_cpu *c)
{
	__bit_spin_unlock(0, &c->lock);
}

/*
 * ONE CPU'S PART. Under its lock.
 */

/* @object leaves its place; NULL if a scrub has it, and will see to it. */
static __always_inline void *hslab_part_leaves(struct hslab_quarantine_cpu *c,
					       void *object)
{
	c->nr--;
	return (unsigned long)object & HSLAB_BUSY ? NULL : object;
}

/* The same of the front, for when the queue is empty. */
static noinline void *hslab_front_pop(struct hslab_quarantine_cpu *c)
{
	unsigned int i;
	void *object;

	for (i = 0; c->nr && i < HSLAB_FRONT; i++) {
		object = c->front[i];
		c->front[i] = NULL;
		if (object)
			object = hslab_part_leaves(c, object);
		if (object)
			return object;
	}
	return NULL;
}

/* Take the object out that has been there for longest; NULL if there is none. */
static __always_inline void *hslab_part_pop(struct hslab_quarantine_cpu *c)
{
	void *object;

	while (likely(!hslab_queue_empty(&c->queue))) {
		object = hslab_queue_pop(&c->queue);
		if (likely(object))
			object = hslab_part_leaves(c, object);
		if (likely(object))
			return object;
	}
	return hslab_front_pop(c);
}

/* An object of the front has to move, and the queue has no room, or a scrub has it. */
static noinline void *hslab_part_displaced(struct hslab_quarantine_cpu *c,
					   void *object)
{
	object = hslab_part_leaves(c, object);
	if (object)
		c->skipped++;
	return object;
}

static_assert(HSLAB_FRONT <= 256, "a slot is drawn by 8 bits");

/*
 * A slot of the front, at random: multiplication by the number of Knuth's MMIX, which
 * is 5 modulo 8, has a period of 2^62 on odd numbers, and the upper bits are good.
 */
static __always_inline void **hslab_part_slot(struct hslab_quarantine_cpu *c)
{
	c->random *= 6364136223846793005ULL;
	return &c->front[(c->random >> 56) & c->mask];
}

static void hslab_unreserve(struct hslab_route *route,
			    struct hslab_quarantine_cpu *c, unsigned long quota)
{
	if (c->quota <= quota)
		return;
	atomic_long_sub((c->quota - quota) * route->quarantine->slot,
			&route->cache->quarantine_reserved);
	c->quota = quota;
}

/* Of the bound, what a CPU may have when all want to; objects. */
static unsigned long hslab_fair_share(const struct hslab_route *route)
{
	unsigned long bound = READ_ONCE(route->cache->quarantine_bound);

	return bound / route->quarantine->slot / num_online_cpus();
}

/*
 * Reserve room for more objects: a part of the bound, or what is left. False if
 * nothing is left; the part is full then, until hslab_part_try_again().
 */
static noinline bool hslab_reserve(struct hslab_route *route,
				   struct hslab_quarantine_cpu *c)
{
	struct hslab_cache *cache = route->cache;
	unsigned long bound = READ_ONCE(cache->quarantine_bound);
	unsigned long slot = route->quarantine->slot;
	long reserved = atomic_long_read(&cache->quarantine_reserved);
	unsigned long nr;

	if (c->closed)
		return false;
	do {
		if (reserved + slot > bound) {
			WRITE_ONCE(c->full, true);
			if (c->quota < hslab_fair_share(route))
				hslab_balance_soon();
			return false;
		}
		nr = max(bound / 16 / slot, 1UL);
		nr = min(nr, (bound - reserved) / slot);
	} while (!atomic_long_try_cmpxchg(&cache->quarantine_reserved,
					  &reserved, reserved + nr * slot));
	c->quota += nr;
	return true;
}

/*
 * There may be something to reserve again, for whichever route of the cache: they
 * share the bound.
 */
static void hslab_parts_try_again(struct hslab_cache *cache)
{
	struct hslab_quarantine *q;
	struct hslab_route *route;
	int cpu;

	rcu_read_lock();
	list_for_each_entry_rcu(route, &cache->routes, in_cache) {
		q = READ_ONCE(route->quarantine);
		if (!q)
			continue;
		for_each_possible_cpu(cpu)
			WRITE_ONCE(per_cpu_ptr(q->cpu, cpu)->full, false);
	}
	rcu_read_unlock();
}

/*
 * COMING AND GOING
 */

/* Get the queue of a part that is short of room another block. */
static noinline void hslab_part_feed(struct hslab_quarantine_cpu *c)
{
	struct hslab_block *block;

	block = kmalloc(sizeof(*block), GFP_NOWAIT | __GFP_NOWARN);
	if (!block)
		return;
	if (!hslab_part_trylock(c)) {
		kfree(block);
		return;
	}
	hslab_queue_feed(&c->queue, block);
	hslab_part_unlock(c);
}

/* The same as hslab_quarantine_leave(), for a tag of another policy, or a damaged one. */
static noinline void *hslab_leave_odd(struct hslab_route *route, void *object)
{
	u64 *tag = hslab_tag(object, route->store->tag_off);
	u64 plain, word;

	if (unlikely(!hslab_page_stays(route, object))) {
		hslab_judge_gone(route, object, HSLAB_QUARANTINED, _RET_IP_);
		return NULL;
	}
	word = READ_ONCE(*tag);
	plain = hslab_decode(route->store, object, word);
	if (hslab_tag_whole(plain, route->store->plain) &&
	    (plain & HSLAB_STATE_MASK) == HSLAB_QUARANTINED &&
	    hslab_compat_tag_cmpxchg(tag, &word,
				     hslab_encode(route->store, object,
						  plain ^ HSLAB_POL_QUARANTINE)))
		return object;
	hslab_judge_held(route, object, HSLAB_QUARANTINED, _RET_IP_);
	return NULL;
}

/*
 * An object that was taken out is FREE from now on; NULL if it is damaged, and
 * was set aside, or is not ours any more.
 */
static __always_inline void *hslab_quarantine_leave(struct hslab_route *route,
						    void *object, u64 policy)
{
	u64 word = hslab_free_word(route, object,
				   policy | HSLAB_POL_QUARANTINE);

	if (likely(hslab_page_stays(route, object)) &&
	    likely(hslab_compat_tag_cmpxchg((u64 *)object + route->words, &word,
					    hslab_free_word(route, object,
							    policy & ~HSLAB_POL_QUARANTINE))))
		return object;
	return hslab_leave_odd(route, object);
}

/* The lock of a part is taken: lock that of another CPU, or give up. */
static noinline struct hslab_quarantine_cpu *
hslab_part_other(struct hslab_quarantine *q)
{
	struct hslab_quarantine_cpu *c;
	int cpu;

	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(q->cpu, cpu);
		if (hslab_part_trylock(c)) {
			__release(bitlock);	/* for sparse: see the caller */
			return c;
		}
	}
	raw_cpu_inc(q->cpu->skipped);	/* a lost race loses a count */
	return NULL;
}

/*
 * A part that is full, and nothing out of the ordinary: @object comes in, and what has
 * been there for longest leaves. NULL, and nothing has changed, if it is not so.
 */
static __always_inline void *hslab_part_turn(struct hslab_quarantine_cpu *c,
					     void *object)
{
	void **slot = hslab_part_slot(c), *moves = *slot, *leaves;

	if (unlikely(!c->full) || unlikely(!moves) ||
	    unlikely(!hslab_queue_has_room(&c->queue)))
		return NULL;
	leaves = hslab_queue_peek(&c->queue);
	if (unlikely(!leaves) ||
	    unlikely(((unsigned long)moves | (unsigned long)leaves) &
		     HSLAB_BUSY))
		return NULL;
	hslab_queue_turn(&c->queue, moves);
	*slot = object;
	return leaves;
}

/* What leaves when @object comes in; NULL if there is room for it. Under the lock. */
static void *hslab_part_put(struct hslab_route *route,
			    struct hslab_quarantine_cpu *c, void *object)
{
	void **slot = hslab_part_slot(c), *moves = *slot, *leaves = NULL;

	*slot = object;
	c->nr++;
	if (moves && (((unsigned long)moves & HSLAB_BUSY) ||
		      !hslab_queue_push(&c->queue, moves)))
		leaves = hslab_part_displaced(c, moves);
	if (c->nr > c->quota && (c->full || !hslab_reserve(route, c)) && !leaves)
		leaves = hslab_part_pop(c);
	return leaves;
}

/* Put an object into this CPU's part, or another; NULL if there is room for it. */
static noinline void *hslab_put_slowly(struct hslab_route *route, void *object)
{
	struct hslab_quarantine_cpu *c = raw_cpu_ptr(route->quarantine->cpu);
	void *leaves;

	if (READ_ONCE(c->queue.low))
		hslab_part_feed(c);
	if (!hslab_part_trylock(c)) {
		c = hslab_part_other(route->quarantine);
		if (!c)
			return object;
		__acquire(bitlock);
	}
	leaves = hslab_part_put(route, c, object);
	hslab_part_unlock(c);
	return leaves;
}

/**
 * hslab_quarantine_put() - keep a freed object from reuse
 * @route: the object's route, which has a quarantine
 * @object: the object, QUARANTINED and filled
 * @policy: the policy word that its tag was made of
 *
 * When there is no room, the object that has been there for longest leaves for
 * it; it is verified when it leaves for SLUB, or is handed out.
 *
 * Context: any but NMI.
 * Return: an object that is FREE, for a magazine or SLUB, or NULL.
 */
void *hslab_quarantine_put(struct hslab_route *route, void *object, u64 policy)
{
	struct hslab_quarantine_cpu *c = raw_cpu_ptr(route->quarantine->cpu);
	void *leaves = NULL;

	if (likely(hslab_part_trylock(c))) {
		leaves = hslab_part_turn(c, object);
		hslab_part_unlock(c);
	}
	if (unlikely(!leaves)) {
		leaves = hslab_put_slowly(route, object);
		if (!leaves)
			return NULL;
	}
	return hslab_quarantine_leave(route, leaves, policy);
}

/**
 * hslab_quarantine_take() - take an object back that is in quarantine
 * @route: a route that has a quarantine
 *
 * For when SLUB has none: better one that was free for too short a time than none.
 *
 * Context: any but NMI.
 * Return: an object that is FREE, and was verified, or NULL.
 */
void *hslab_quarantine_take(struct hslab_route *route)
{
	u64 policy = READ_ONCE(route->policy);
	struct hslab_quarantine_cpu *c;
	void *object;
	int cpu;

	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(route->quarantine->cpu, cpu);
		while (READ_ONCE(c->nr) && hslab_part_trylock(c)) {
			object = hslab_part_pop(c);
			hslab_part_unlock(c);
			if (object && hslab_still_sound(route, object,
							HSLAB_QUARANTINED))
				object = hslab_quarantine_leave(route, object,
								policy);
			else
				object = NULL;
			if (object)
				return object;
		}
	}
	return NULL;
}

/* Take up to @max objects out of a part that has more than @keep. */
static unsigned long hslab_part_take(struct hslab_route *route,
				     struct hslab_quarantine_cpu *c,
				     unsigned long keep, void **objects,
				     unsigned long max)
{
	unsigned long taken = 0;

	hslab_part_lock(c);
	while (taken < max && c->nr > keep) {
		objects[taken] = hslab_part_pop(c);
		if (objects[taken])
			taken++;
	}
	hslab_unreserve(route, c, max(c->nr, keep));
	hslab_part_unlock(c);
	return taken;
}

/*
 * Let objects go from a part until it has @keep, verified; at most @max of
 * them. How many have gone.
 */
static unsigned long hslab_part_drain(struct hslab_route *route, int cpu,
				      unsigned long keep, unsigned long max)
{
	struct hslab_quarantine_cpu *c =
		per_cpu_ptr(route->quarantine->cpu, cpu);
	u64 policy = READ_ONCE(route->policy);
	void *objects[HSLAB_BATCH];
	unsigned long i, nr, taken, sum = 0;

	do {
		taken = hslab_part_take(route, c, keep, objects,
					min_t(unsigned long, max - sum,
					      HSLAB_BATCH));
		for (i = 0, nr = 0; i < taken; i++) {
			void *object = objects[i];

			if (!hslab_still_sound(route, object,
					       HSLAB_QUARANTINED))
				continue;
			objects[nr] = hslab_quarantine_leave(route, object,
							     policy);
			if (objects[nr])
				nr++;
		}
		if (nr)
			kmem_cache_free_bulk(route->kmem, nr, objects);
		sum += taken;
	} while (taken == HSLAB_BATCH && sum < max);
	hslab_parts_try_again(route->cache);
	return sum;
}

/*
 * The same for all that a part has by now. What comes meanwhile is not waited for:
 * it may come as fast.
 */
static void hslab_part_empty(struct hslab_route *route, int cpu,
			     unsigned long keep)
{
	struct hslab_quarantine_cpu *c =
		per_cpu_ptr(route->quarantine->cpu, cpu);
	unsigned long left = max(READ_ONCE(c->nr), READ_ONCE(c->quota)), nr;

	do {
		nr = min_t(unsigned long, left, HSLAB_ROUND);
		left -= nr;
		nr -= hslab_part_drain(route, cpu, keep, nr);
		cond_resched();
	} while (left && !nr);
}

/*
 * Free the spare blocks of a part, but for one. With hslab_mutex: a scrub, which has
 * it as well, remembers places in blocks that the queue has left behind.
 */
static void hslab_part_trim(struct hslab_quarantine_cpu *c)
{
	struct hslab_block *block, *next;

	hslab_part_lock(c);
	block = hslab_queue_trim(&c->queue);
	hslab_part_unlock(c);
	for (; block; block = next) {
		next = block->next;
		kfree(block);
		cond_resched();
	}
}

/**
 * hslab_quarantine_empty() - let all objects of a route's quarantine go
 * @route: the route
 *
 * Objects that are freed meanwhile may stay. The memory of the lists is given back.
 *
 * Context: process context, with hslab_mutex; may sleep.
 */
void hslab_quarantine_empty(struct hslab_route *route)
{
	int cpu;

	lockdep_assert_held(&hslab_mutex);

	if (!route->quarantine)
		return;
	for_each_possible_cpu(cpu) {
		hslab_part_empty(route, cpu, 0);
		hslab_part_trim(per_cpu_ptr(route->quarantine->cpu, cpu));
	}
}

/* Let all go that a CPU has which is dead. Context: any that may take locks. */
void hslab_quarantine_dead(struct hslab_route *route, int cpu)
{
	if (READ_ONCE(route->quarantine))
		hslab_part_drain(route, cpu, 0, ULONG_MAX);
}

/*
 * Take nothing any more (@closed), or take objects again. When all are about to leave
 * (@out) nothing is reserved for them: from now on as many leave as come.
 */
static void hslab_quarantine_gate(struct hslab_route *route, bool closed,
				  bool out, unsigned int mask)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hslab_quarantine_cpu *c =
			per_cpu_ptr(route->quarantine->cpu, cpu);

		hslab_part_lock(c);
		c->closed = closed;
		c->full = false;
		c->mask = mask;
		if (out)
			hslab_unreserve(route, c, 0);
		hslab_part_unlock(c);
	}
}

/**
 * hslab_quarantine_close() - empty the quarantine of a closed route for good
 * @route: the route
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_quarantine_close(struct hslab_route *route)
{
	lockdep_assert_held(&hslab_mutex);

	if (!route->quarantine)
		return;
	hslab_quarantine_gate(route, true, true, 0);
	hslab_quarantine_empty(route);
}

/* Free what hslab_quarantine_prepare() made. The route is nobody's any more. */
void hslab_quarantine_free(struct hslab_route *route)
{
	struct hslab_quarantine *q = route->quarantine;
	int cpu;

	if (!q)
		return;
	for_each_possible_cpu(cpu)
		hslab_queue_free(&per_cpu_ptr(q->cpu, cpu)->queue);
	free_percpu(q->cpu);
	kfree(q);
}

/*
 * SETTING THE BOUND
 */

/**
 * hslab_quarantine_prepare() - get a route what it needs for a quarantine
 * @route: the route
 * @kb: the bound to come, in KiB
 *
 * Context: process context, with hslab_mutex.
 * Return: 0 or -ENOMEM.
 */
int hslab_quarantine_prepare(struct hslab_route *route, unsigned int kb)
{
	struct hslab_quarantine *q;
	int cpu;

	lockdep_assert_held(&hslab_mutex);

	if (!kb || route->quarantine)
		return 0;
	q = kzalloc(sizeof(*q), GFP_KERNEL);
	if (!q)
		return -ENOMEM;
	q->slot = hslab_slot_size(&route->store->geometry);
	q->cpu = alloc_percpu(struct hslab_quarantine_cpu);
	if (!q->cpu) {
		kfree(q);
		return -ENOMEM;
	}
	for_each_possible_cpu(cpu) {
		struct hslab_quarantine_cpu *c = per_cpu_ptr(q->cpu, cpu);

		c->queue.low = true;
		c->random = get_random_u64() | 1;
	}
	/* A free may find it by the policy of another route. */
	smp_store_release(&route->quarantine, q);
	return 0;
}

/*
 * Slots in front for a bound of @nr objects, less one: half of them, but no more
 * than there are.
 */
static unsigned int hslab_front_mask(unsigned long nr)
{
	if (nr < 4)
		return 0;
	return min_t(unsigned long, rounddown_pow_of_two(nr / 2),
		     HSLAB_FRONT) - 1;
}

/**
 * hslab_quarantine_commit() - set the bound of a quarantine
 * @route: a route that was prepared for it
 * @kb: the bound in KiB; 0 for none
 *
 * When the bound is lowered, all that are in quarantine leave. So do those of a
 * route that is to be the current one again: the bound they came under may have
 * been lowered meanwhile, on another route.
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_quarantine_commit(struct hslab_route *route, unsigned int kb)
{
	unsigned long bound = (unsigned long)kb * SZ_1K, before;
	struct hslab_cache *cache = route->cache;
	bool out;

	lockdep_assert_held(&hslab_mutex);

	before = cache->quarantine_bound;
	WRITE_ONCE(cache->quarantine_bound, bound);
	if (!route->quarantine)
		return;
	out = bound < before || route != hslab_current_route(cache);
	hslab_quarantine_gate(route, false, out,
			      hslab_front_mask(bound / route->quarantine->slot));
	if (out)
		hslab_quarantine_empty(route);
}

/* How many objects are in a route's quarantine. */
unsigned long hslab_quarantine_objects(const struct hslab_route *route)
{
	unsigned long sum = 0;
	int cpu;

	if (!route->quarantine)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(route->quarantine->cpu, cpu)->nr);
	return sum;
}

/* How many objects did not get in, or not for long, since memory was short. */
unsigned long hslab_quarantine_skipped(const struct hslab_route *route)
{
	unsigned long sum = 0;
	int cpu;

	if (!route->quarantine)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(route->quarantine->cpu,
					     cpu)->skipped);
	return sum;
}

/*
 * FOR ALL CACHES
 */

/* Empty every quarantine, for the file purge. */
void hslab_quarantine_purge(void)
{
	struct hslab_cache *cache;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		hslab_quarantine_empty(hslab_current_route(cache));
	mutex_unlock(&hslab_mutex);
}

/* Take from the CPUs that have more than a fair share what is more. */
static void hslab_balance(struct work_struct *work)
{
	struct hslab_cache *cache;
	int cpu;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node) {
		struct hslab_route *route = hslab_current_route(cache);
		unsigned long share;

		if (!route->quarantine)
			continue;
		share = hslab_fair_share(route);
		if (atomic_long_read(&cache->quarantine_reserved) +
		    route->quarantine->slot <= cache->quarantine_bound) {
			/* It was given back, maybe before it was found missing. */
			hslab_parts_try_again(cache);
			continue;
		}
		for_each_possible_cpu(cpu)
			hslab_part_empty(route, cpu, share);
	}
	mutex_unlock(&hslab_mutex);
}

/*
 * Memory is short: let quarantined objects go. The mutex may be held by somebody
 * who waits for memory, so lists are walked under RCU.
 */
static unsigned long hslab_quarantine_count(struct shrinker *shrinker,
					    struct shrink_control *sc)
{
	struct hslab_cache *cache;
	unsigned long sum = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(cache, &hslab_caches, node)
		sum += hslab_quarantine_objects(rcu_dereference(cache->route));
	rcu_read_unlock();
	return sum ? sum : SHRINK_EMPTY;
}

static unsigned long hslab_quarantine_scan(struct shrinker *shrinker,
					   struct shrink_control *sc)
{
	unsigned long sum = 0;
	struct hslab_cache *cache;
	int cpu;

	rcu_read_lock();
	list_for_each_entry_rcu(cache, &hslab_caches, node) {
		struct hslab_route *route = rcu_dereference(cache->route);

		if (!READ_ONCE(route->quarantine))
			continue;
		for_each_possible_cpu(cpu) {
			if (sum >= sc->nr_to_scan)
				break;
			sum += hslab_part_drain(route, cpu, 0,
						sc->nr_to_scan - sum);
		}
	}
	rcu_read_unlock();
	return sum ? sum : SHRINK_STOP;
}

static struct shrinker *hslab_shrinker;

int __init hslab_quarantine_init(void)
{
	hslab_shrinker = hslab_compat_shrinker_add("hslab-quarantine",
						   hslab_quarantine_count,
						   hslab_quarantine_scan);
	return hslab_shrinker ? 0 : -ENOMEM;
}

void hslab_quarantine_exit(void)
{
	hslab_compat_shrinker_remove(hslab_shrinker);
	cancel_delayed_work_sync(&hslab_balance_work);
}

/*
 * SCRUBBING
 */

/* Claim the object in a place for a scrub; NULL if there is none. Under the lock. */
static void *hslab_scrub_claim(void **place)
{
	void *object = *place;

	if (object)
		*place = (void *)((unsigned long)object | HSLAB_BUSY);
	return object;
}

/*
 * Verify an object that was claimed, and put it back in its place: in the front
 * (@seq is 0), or where the queue has number @seq. If it has left meanwhile, or
 * is not sound, it does not come back.
 */
static void hslab_scrub_object(struct hslab_route *route,
			       struct hslab_quarantine_cpu *c, void **place,
			       unsigned long seq, void *object)
{
	void *busy = (void *)((unsigned long)object | HSLAB_BUSY);
	bool sound = hslab_still_sound(route, object, HSLAB_QUARANTINED);
	bool there;

	hslab_part_lock(c);
	there = (!seq || seq >= hslab_queue_first(&c->queue)) && *place == busy;
	if (there) {
		*place = sound ? object : NULL;
		if (!sound)
			c->nr--;
	}
	hslab_part_unlock(c);
	if (!there && sound) {
		object = hslab_quarantine_leave(route, object,
						READ_ONCE(route->policy));
		if (object)
			hslab_to_slub(route, 1, &object);
	}
}

static unsigned long hslab_scrub_front(struct hslab_route *route,
				       struct hslab_quarantine_cpu *c)
{
	unsigned long sum = 0;
	unsigned int i;
	void *object;

	for (i = 0; i < HSLAB_FRONT; i++) {
		hslab_part_lock(c);
		object = hslab_scrub_claim(&c->front[i]);
		hslab_part_unlock(c);
		if (!object)
			continue;
		hslab_scrub_object(route, c, &c->front[i], 0, object);
		sum++;
		cond_resched();
	}
	return sum;
}

/* What is freed meanwhile is too new to be looked at: @nr objects at most. */
static unsigned long hslab_scrub_queue(struct hslab_route *route,
				       struct hslab_quarantine_cpu *c)
{
	unsigned long seq = 0, left = READ_ONCE(c->nr), sum = 0;
	struct hslab_block *block = NULL;
	void *object, **place;

	for (; left; left--, seq++) {
		hslab_part_lock(c);
		place = hslab_queue_place(&c->queue, &block, &seq);
		object = place ? hslab_scrub_claim(place) : NULL;
		hslab_part_unlock(c);
		if (!place)
			break;
		if (!object)
			continue;
		hslab_scrub_object(route, c, place, seq, object);
		sum++;
		cond_resched();
	}
	return sum;
}

/**
 * hslab_quarantine_scrub() - verify what is in a route's quarantine
 * @route: the route
 *
 * Context: process context, with hslab_mutex; nobody else scrubs.
 * Return: how many objects were verified.
 */
unsigned long hslab_quarantine_scrub(struct hslab_route *route)
{
	unsigned long sum = 0;
	int cpu;

	lockdep_assert_held(&hslab_mutex);

	if (!route->quarantine)
		return 0;
	for_each_possible_cpu(cpu) {
		struct hslab_quarantine_cpu *c =
			per_cpu_ptr(route->quarantine->cpu, cpu);

		sum += hslab_scrub_front(route, c);
		sum += hslab_scrub_queue(route, c);
	}
	return sum;
}
