// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that were freed, and wait for a grace period.
 *
 * While an object waits, readers may look at all of it but its tag. So that is
 * where it is linked to the next one: to free it takes no memory, and it is
 * otherwise as its owner left it.
 *
 * Each CPU has a part of a route's waiting objects:
 *
 *	hslab_rcu_put() --> filling --(part is idle)--> waiting --> hslab_rcu_work()
 *	                       ^                                         |
 *	                       +------- the next batch, if any ----------+
 *
 * One batch of a part waits at a time, for one grace period; what is freed
 * meanwhile is the next. A worker, and not the RCU callback, lets the objects go:
 * there may be any number of them, and each is filled. A batch is spread over
 * some chains, so that damage which breaks one loses only a part of it.
 *
 * CONCURRENCY
 *
 * A part is protected by its lock, a raw spinlock that is held for a few
 * instructions. While it is armed its waiting chains belong to the one who armed
 * it, and then to the worker. An object counts as live until it is let go, and
 * the worker looks at the part after that; so a route whose live objects are
 * none can be freed only when hslab_rcu_busy() says no as well.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/rculist.h>
#include <linux/wait.h>

#include "hslab_internal.h"

static struct workqueue_struct *hslab_rcu_wq;
static DECLARE_WAIT_QUEUE_HEAD(hslab_rcu_idle);

/*
 * LINKS
 */

/* Can @object be one of @store: is there a tag of it, on a slab page of its own? */
static bool hslab_rcu_in_store(const struct hslab_store *store,
			       const void *object)
{
	return hslab_compat_in_slab(object) &&
	       (!hslab_slab_cache_off ||
		hslab_slab_cache(object) == store->kmem) &&
	       hslab_compat_to_slab_end(object) >=
		       store->tag_off + HSLAB_TAG_SIZE;
}

static u64 hslab_rcu_encode(const struct hslab_store *store, const void *object,
			    const void *next)
{
	u64 link = next ? (u64)next - PAGE_OFFSET : 0;

	return hslab_encode(store, object, HSLAB_RCU | link);
}

/*
 * The object that the tag @word of @object links to, in @next; NULL if it is the
 * last. Nothing is believed: false if @word is no link to what can be an object.
 */
static bool hslab_rcu_decode(const struct hslab_store *store, const void *object,
			     u64 word, void **next)
{
	u64 link = hslab_decode(store, object, word);

	*next = NULL;
	if ((link & HSLAB_LINK_MASK) != HSLAB_RCU ||
	    link >= (u64)high_memory - PAGE_OFFSET)
		return false;
	if (!link)
		return true;
	*next = (void *)(PAGE_OFFSET + link);
	return hslab_rcu_in_store(store, *next);
}

/**
 * hslab_rcu_waits() - does an object wait for a grace period?
 * @store: the store that it may be of
 * @object: the object, in a slab page
 *
 * Context: any but NMI.
 * Return: true if its tag says so.
 */
bool hslab_rcu_waits(const struct hslab_store *store, const void *object)
{
	void *next;
	u64 word;

	return hslab_rcu_in_store(store, object) &&
	       hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word) &&
	       hslab_rcu_decode(store, object, word, &next);
}

/**
 * hslab_rcu_undamaged() - what a tag was before one of its bytes was overwritten
 * @store: the object's store
 * @object: an object that waits
 * @word: its tag, which is no link
 *
 * Each change of one byte is tried. Of the 2048 words, one that is a link by
 * chance, and to an object that waits, is as good as impossible.
 *
 * Context: any but NMI.
 * Return: the tag, or 0 (which is none) if it cannot be told.
 */
u64 hslab_rcu_undamaged(const struct hslab_store *store, const void *object,
			u64 word)
{
	unsigned int shift, byte;

	for (shift = 0; shift < 64; shift += 8) {
		u64 rest = word & ~(0xffULL << shift);

		for (byte = 0; byte < 256; byte++) {
			u64 tag = rest | (u64)byte << shift;
			void *next;

			if (hslab_rcu_decode(store, object, tag, &next) &&
			    (!next || hslab_rcu_waits(store, next)))
				return tag;
		}
	}
	return 0;
}

/*
 * PUTTING
 */

/* What has been put so far is the batch that waits. Under the lock, armed. */
static void hslab_rcu_advance(struct hslab_rcu *part)
{
	memcpy(part->waiting, part->filling, sizeof(part->waiting));
	memset(part->filling, 0, sizeof(part->filling));
}

/**
 * hslab_rcu_put() - let go of an object after a grace period
 * @route: the object's route
 * @object: the object, taken from its owner; its tag is in state RCU, or damaged
 *
 * Context: any but NMI. @route may be gone when this returns.
 */
void hslab_rcu_put(struct hslab_route *route, void *object)
{
	struct hslab_rcu *part = raw_cpu_ptr(route->rcu);
	const struct hslab_store *store = route->store;
	struct hslab_chain *chain;
	unsigned long flags;
	bool arm;

	raw_spin_lock_irqsave(&part->lock, flags);
	chain = &part->filling[part->turn++ % HSLAB_CHAINS];
	WRITE_ONCE(*hslab_tag(object, store->tag_off),
		   hslab_rcu_encode(store, object, chain->first));
	chain->first = object;
	chain->nr++;
	arm = !part->armed;
	if (arm) {
		part->armed = true;
		hslab_rcu_advance(part);
	}
	raw_spin_unlock_irqrestore(&part->lock, flags);
	/* The worker has not begun, so the object is there, and keeps the route. */
	if (arm)
		queue_rcu_work(hslab_rcu_wq, &part->work);
}

/*
 * LETTING GO
 */

/* The tag of an object is no link. The next one, if the damage lets see it. */
static noinline void *hslab_rcu_damaged(struct hslab_route *route, void *object,
					u64 word)
{
	u64 tag = hslab_rcu_undamaged(route->store, object, word);
	void *next = NULL;

	if (tag)
		hslab_rcu_decode(route->store, object, tag, &next);
	if (!hslab_judge_waiting(route, object, word, tag, _RET_IP_)) {
		hslab_lose(route->store, 1);
		atomic64_inc(&route->cache->aside);
	}
	this_cpu_inc(route->cpu->counts.headroom);
	return next;
}

/*
 * Somebody else has freed the object, and its page is not the store's any more. What
 * is there now is not touched, but may still hold the link.
 */
static noinline void *hslab_rcu_gone(struct hslab_route *route, void *object)
{
	const struct hslab_store *store = route->store;
	void *next = NULL;
	u64 word;

	if (hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word) &&
	    !hslab_rcu_decode(store, object, word, &next))
		next = NULL;
	hslab_judge_gone(route, object, HSLAB_RCU, _RET_IP_);
	this_cpu_inc(route->cpu->counts.headroom);
	return next;
}

/* An object has waited for long enough. Return: the one that it links to. */
static void *hslab_rcu_release(struct hslab_route *route, void *object)
{
	const struct hslab_store *store = route->store;
	u64 *tag = hslab_tag(object, store->tag_off);
	u64 word, policy, freed;
	void *next;

	if (unlikely(!hslab_page_stays(route, object)))
		return hslab_rcu_gone(route, object);
	word = READ_ONCE(*tag);
	rcu_read_lock();
	policy = READ_ONCE(rcu_dereference(route->cache->route)->policy);
	policy = hslab_policy_for(route, object, policy);
	freed = hslab_free_word(route, object, policy);
	if (likely(hslab_rcu_decode(store, object, word, &next) &&
		   hslab_compat_tag_cmpxchg(tag, &word, freed)))
		hslab_let_go(route, object, policy);
	else
		next = hslab_rcu_damaged(route, object, word);
	rcu_read_unlock();
	return next;
}

/* Those that come after a damaged object cannot be found. */
static noinline void hslab_rcu_broken(struct hslab_route *route,
				      unsigned long nr)
{
	struct hslab_cache *cache = route->cache;

	pr_err("cache %s: %lu object%s waited behind one with a damaged tag, and %s lost\n",
	       cache->name, nr, nr == 1 ? "" : "s", nr == 1 ? "is" : "are");
	hslab_lose(route->store, nr);
	atomic64_add(nr, &cache->aside);
	this_cpu_add(route->cpu->counts.headroom, nr);
}

/* Let all of a chain go. */
static void hslab_rcu_walk(struct hslab_route *route, struct hslab_chain *chain)
{
	void *object = chain->first;

	while (object && chain->nr) {
		object = hslab_rcu_release(route, object);
		WRITE_ONCE(chain->nr, chain->nr - 1);
		cond_resched();
	}
	if (unlikely(chain->nr)) {
		hslab_rcu_broken(route, chain->nr);
		WRITE_ONCE(chain->nr, 0);
	}
}

/* A grace period is over. */
static void hslab_rcu_work(struct work_struct *work)
{
	struct hslab_rcu *part = container_of(to_rcu_work(work),
					      struct hslab_rcu, work);
	bool more = false;
	unsigned int i;

	for (i = 0; i < HSLAB_CHAINS; i++)
		hslab_rcu_walk(part->route, &part->waiting[i]);

	raw_spin_lock_irq(&part->lock);
	for (i = 0; i < HSLAB_CHAINS; i++)
		more |= part->filling[i].nr;
	if (more)
		hslab_rcu_advance(part);
	else
		part->armed = false;
	raw_spin_unlock_irq(&part->lock);
	if (more)
		queue_rcu_work(hslab_rcu_wq, &part->work);
	else
		wake_up_all(&hslab_rcu_idle);	/* the part may be gone */
}

/*
 * ROUTES
 */

/**
 * hslab_rcu_busy() - does a batch of a route wait, or is one being let go?
 * @route: the route
 *
 * A grace period after this said no, and no object of the route was live any
 * more, nobody looks at its parts.
 *
 * Context: process context.
 * Return: true if so.
 */
bool hslab_rcu_busy(const struct hslab_route *route)
{
	bool busy = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hslab_rcu *part = per_cpu_ptr(route->rcu, cpu);

		raw_spin_lock_irq(&part->lock);
		busy |= part->armed;
		raw_spin_unlock_irq(&part->lock);
	}
	return busy;
}

/* How many objects of a route wait. */
unsigned long hslab_rcu_objects(const struct hslab_route *route)
{
	unsigned long sum = 0;
	unsigned int i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hslab_rcu *part = per_cpu_ptr(route->rcu, cpu);

		raw_spin_lock_irq(&part->lock);
		for (i = 0; i < HSLAB_CHAINS; i++)
			sum += part->filling[i].nr +
			       READ_ONCE(part->waiting[i].nr);
		raw_spin_unlock_irq(&part->lock);
	}
	return sum;
}

static bool hslab_rcu_cache_busy(const struct hslab_cache *cache)
{
	struct hslab_route *route;
	bool busy = false;

	rcu_read_lock();
	list_for_each_entry_rcu(route, &cache->routes, in_cache)
		busy |= hslab_rcu_busy(route);
	rcu_read_unlock();
	return busy;
}

/**
 * hslab_rcu_flush() - wait until no object of a cache waits for a grace period
 * @cache: the cache
 *
 * Other caches' are not waited for.
 *
 * Context: process context, without hslab_mutex; may sleep.
 */
void hslab_rcu_flush(struct hslab_cache *cache)
{
	wait_event(hslab_rcu_idle, !hslab_rcu_cache_busy(cache));
}

/* Give a new route its parts. Return: 0 or -ENOMEM. */
int hslab_rcu_add(struct hslab_route *route)
{
	int cpu;

	route->rcu = alloc_percpu(struct hslab_rcu);
	if (!route->rcu)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct hslab_rcu *part = per_cpu_ptr(route->rcu, cpu);

		raw_spin_lock_init(&part->lock);
		INIT_RCU_WORK(&part->work, hslab_rcu_work);
		part->route = route;
	}
	return 0;
}

/* Free what hslab_rcu_add() made. */
void hslab_rcu_del(struct hslab_route *route)
{
	free_percpu(route->rcu);
}

int __init hslab_rcu_init(void)
{
	/* With a rescuer: what it does is to give memory back. */
	hslab_rcu_wq = alloc_workqueue("hslab_rcu",
				       WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return hslab_rcu_wq ? 0 : -ENOMEM;
}

/* No route is left; a worker may still be returning from hslab_rcu_work(). */
void hslab_rcu_exit(void)
{
	destroy_workqueue(hslab_rcu_wq);
}
