// SPDX-License-Identifier: GPL-2.0
/*
 * What is left of a cache that was destroyed with objects live.
 *
 * Some of these may not be live at all: kfree() and kmem_cache_free() of an object go
 * past hslab, which counts it as live for good, and would keep the store, and this
 * module, for good. While the cache lives such an object is found when SLUB hands
 * it out again. Nobody allocates from one that was destroyed, so they are looked
 * for here:
 *
 * 1. Objects in SLUB's hands with a LIVE tag, by taking all free objects out of
 *    SLUB, and giving the others back.
 * 2. Objects whose slab page was given back: as many as are counted as live, less
 *    the LIVE tags that there are.
 *
 * Nothing may be taken for gone that is live, as the store would go while somebody
 * uses it. So nothing is done where any doubt is left, see hslab_leak_certain() and
 * hslab_leak_gone(). What remains was leaked: it is reported, with who allocated
 * it when that was tracked, and may still come home.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/jiffies.h>
#include <linux/nodemask.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "hslab_internal.h"

/* How often to look, at most and at least. */
#define HSLAB_LEAK_MIN		HZ
#define HSLAB_LEAK_MAX		(60UL * HZ)

/* Distinct stacks in a report of leaked objects. */
#define HSLAB_LEAK_STACKS	16

/* What a walk over a store found. */
struct hslab_census {
	u64 live;			/* plain tag of the cache's live objects */
	unsigned long nr_live;
	unsigned long nr_odd;		/* whose tag tells nothing: may be live */
};

static void hslab_census_object(struct hslab_store *store, void *object,
				void *arg)
{
	struct hslab_census *c = arg;
	u64 plain, word;

	if (!hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word))
		return;		/* KFENCE's, and free */
	plain = hslab_decode(store, object, word);
	if (plain == c->live)
		c->nr_live++;
	else if (!hslab_tag_whole(plain, store->plain))
		c->nr_odd++;
}

static bool hslab_census(struct hslab_route *route, struct hslab_census *c,
			 long *slots)
{
	*c = (struct hslab_census){
		.live = route->live_key ^ route->store->key,
	};
	*slots = hslab_slab_walk(route->store, hslab_census_object, c);
	return *slots >= 0;
}

/**
 * hslab_leak_none_live() - is nobody left who has an object of a route?
 * @route: a closed route with objects that are counted as live
 *
 * All pages of the system are looked at, so when the answer was no the next one
 * is no, too, for a while.
 *
 * Context: process context, with hslab_mutex; may sleep.
 * Return: true if no object of the store has a LIVE tag of the route's, nor, but for
 * suspects, one that tells nothing, and may have been LIVE.
 */
bool hslab_leak_none_live(struct hslab_route *route)
{
	unsigned long start = jiffies;
	struct hslab_census c;
	long slots;

	lockdep_assert_held(&hslab_mutex);

	if (route->settle && time_before(start, route->settle))
		return false;
	if (hslab_census(route, &c, &slots) && !c.nr_live &&
	    c.nr_odd <= READ_ONCE(route->store->nr_suspects))
		return true;
	/* A hundredth of the time at most is spent on this. */
	route->settle = (jiffies + max_t(unsigned long, HZ,
					 100 * (jiffies - start))) | 1;
	return false;
}

/* Is nothing under way that would blur the picture? */
static bool hslab_leak_certain(const struct hslab_route *route)
{
	return hslab_slab_cache_off && HSLAB_COMPAT_CAN_WAIT_FOR_TASKS &&
	       !READ_ONCE(route->store->nr_suspects) &&
	       !hslab_rcu_objects(route);
}

/*
 * How many objects are counted as live, and have gone with their pages? A live
 * object whose tag was overwritten looks as one that has gone: each tag that tells
 * nothing may be of one.
 *
 * The count must be the same before and after the walk: then no free was counted
 * meanwhile. And still the same when every task that was within hslab_free() has
 * left it: then none was between tag and count either.
 */
static unsigned long hslab_leak_gone(struct hslab_route *route)
{
	struct hslab_census c;
	s64 live, found;
	long slots;

	live = hslab_route_live(route);
	if (!hslab_census(route, &c, &slots))
		return 0;
	found = c.nr_live + c.nr_odd;
	if (live <= found)
		return 0;
	hslab_compat_wait_for_tasks();
	if (hslab_route_live(route) != live || !hslab_leak_certain(route))
		return 0;
	return live - found;
}

/* Report objects that have gone, and count them as live no more. */
static void hslab_leak_credit(struct hslab_route *route, unsigned long gone)
{
	struct hslab_cache *cache = route->cache;
	struct hslab_fault fault = {
		.kind = HSLAB_NOT_FREED,
		.action = READ_ONCE(cache->action),
		.size = cache->size,
		.state = HSLAB_LIVE,
		.offset = -1,
		.gone = gone,
		.caller = _THIS_IP_,
	};

	strscpy(fault.cache, cache->name, sizeof(fault.cache));
	this_cpu_add(route->cpu->counts.headroom, gone);
	fault.nr = atomic64_add_return(gone, &cache->faults[HSLAB_NOT_FREED]);
	atomic64_add(gone - 1, &hslab_nr_faults);
	hslab_report(&fault);
}

/*
 * Since 7.3 SLUB moves objects of old and new pages into a sheaf together, and takes
 * the new ones first: so many more than there are slots must be taken, at most, to
 * have had all.
 */
static unsigned long hslab_leak_slack(const struct hslab_store *store)
{
	return clamp(SZ_256K / hslab_slot_size(&store->geometry), 16, 256);
}

/*
 * Take what SLUB has in slab pages that there are, and little more: the others are
 * given back as they are. An object with a LIVE tag among them was freed around
 * hslab, and is judged as at any allocation. Nobody else uses the store.
 */
static void hslab_leak_take(struct hslab_route *route, unsigned long slots,
			    int node)
{
	u64 live = route->live_key ^ route->store->key;
	struct hslab_store *store = route->store;
	unsigned long i, nr = 0, kept = 0;
	void **objects;

	slots += hslab_leak_slack(store);
	objects = kvmalloc_array(slots, sizeof(*objects), GFP_KERNEL);
	if (!objects)
		return;
	/* What SLUB keeps for a CPU it does not give to another. */
	migrate_disable();
	while (nr < slots) {
		objects[nr] = kmem_cache_alloc_node(store->kmem,
						    GFP_KERNEL | __GFP_NOWARN,
						    node);
		if (!objects[nr])
			break;
		nr++;
		cond_resched();
	}
	migrate_enable();
	for (i = 0; i < nr; i++) {
		u64 word = READ_ONCE(*hslab_tag(objects[i], store->tag_off));
		u64 plain = hslab_decode(store, objects[i], word);

		if (plain == live || (!hslab_tag_whole(plain, store->plain) &&
				      hslab_slab_astray(store, objects[i])))
			hslab_judge_held(route, objects[i], HSLAB_FREE,
					 _THIS_IP_);
		else
			objects[kept++] = objects[i];
	}
	while (kept)
		kmem_cache_free(store->kmem, objects[--kept]);
	kvfree(objects);
}

static void hslab_leak_settle_route(struct hslab_route *route)
{
	struct hslab_census c;
	unsigned long gone;
	long slots;
	int node;

	if (!hslab_route_live(route) || !hslab_leak_certain(route))
		return;
	kmem_cache_shrink(route->kmem);
	/* Taking objects of others, if for a moment, would make them allocate more. */
	if (READ_ONCE(route->store->nr_routes) == 1 &&
	    hslab_census(route, &c, &slots) && c.nr_live && slots)
		for_each_node_state(node, N_MEMORY)
			hslab_leak_take(route, slots, node);
	gone = hslab_leak_gone(route);
	if (gone)
		hslab_leak_credit(route, gone);
}

/* Find out which live objects of a cache are none: from time to time, less and less. */
static void hslab_leak_settle(struct hslab_cache *cache)
{
	struct hslab_leak *leak = &cache->leak;
	unsigned long start = jiffies;
	struct hslab_route *route;

	if (leak->delay && time_before(start, leak->next))
		return;
	list_for_each_entry(route, &cache->routes, in_cache)
		hslab_leak_settle_route(route);
	leak->delay = clamp(2 * leak->delay, HSLAB_LEAK_MIN, HSLAB_LEAK_MAX);
	/* A hundredth of the time at most is spent on this. */
	leak->next = jiffies + max(leak->delay, 100 * (jiffies - start));
}

/*
 * THE REPORT
 */
static void hslab_leak_stacks(const struct hslab_cache *cache,
			      const struct hslab_traces *t)
{
	unsigned int i;

	for (i = 0; i < min_t(unsigned int, t->nr, HSLAB_LEAK_STACKS); i++) {
		const struct hslab_trace *trace = &t->traces[i];
		u64 age = t->now > trace->min_when ? t->now - trace->min_when : 0;

		if (trace->track.known != HSLAB_RECORDED) {
			pr_warn("  %lu objects of %u bytes, allocated by unknown: the record is damaged\n",
				trace->nr, cache->size);
			continue;
		}
		pr_warn("  %lu object%s of %u bytes, allocated by pid %u on CPU %u, %llu.%03llu s ago, at:\n",
			trace->nr, trace->nr == 1 ? "" : "s", cache->size,
			trace->track.pid, trace->track.cpu, age / NSEC_PER_SEC,
			age % NSEC_PER_SEC / NSEC_PER_MSEC);
		hslab_stack_print(NULL, true, "hslab:     ", &trace->track);
	}
	if (t->nr > i)
		pr_warn("  and from %u other places\n", t->nr - i);
}

/* Tell, once, of the objects that a destroyed cache has left. */
static void hslab_leak_report(struct hslab_cache *cache)
{
	s64 live = hslab_cache_live(cache);
	struct hslab_route *route;
	struct hslab_traces t;

	if (cache->leak.reported || !live)
		return;
	cache->leak.reported = true;
	pr_warn("cache %s: destroyed with %lld of its objects live; they can still be freed, and these stores stay for them:\n",
		cache->name, live);
	list_for_each_entry(route, &cache->routes, in_cache) {
		live = hslab_route_live(route);
		if (live)
			pr_warn("  store %u: %lld%s\n", route->store->id, live,
				route->store->geometry.tracked ? "" :
				", not tracked");
	}
	if (hslab_traces_collect(&t, cache, HSLAB_EV_ALLOC)) {
		pr_warn("  no memory to tell who allocated them\n");
		return;
	}
	if (t.tracked && t.status)
		pr_warn("  who allocated them cannot be told on this kernel\n");
	else
		hslab_leak_stacks(cache, &t);
	hslab_traces_free(&t);
}

/* Have all routes of a destroyed cache been looked at by hslab_drain()? */
static bool hslab_leak_drained(const struct hslab_cache *cache,
			       unsigned long epoch)
{
	struct hslab_route *route;

	list_for_each_entry(route, &cache->routes, in_cache)
		if (route->closed > epoch)
			return false;
	return true;
}

/**
 * hslab_leak_drain() - see to the objects that destroyed caches have left
 * @zombies: these caches; hslab_mutex protects the list
 * @epoch: of hslab_drain(), which has emptied magazines and quarantine of the routes
 *	closed before
 *
 * That takes its time, and is done without the mutex: only hslab_drain() takes a
 * cache off the list, and its routes off the cache, and frees them and their stores.
 *
 * Context: hslab_drain().
 */
void hslab_leak_drain(struct list_head *zombies, unsigned long epoch)
{
	struct hslab_cache *cache;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, zombies, zombie) {
		mutex_unlock(&hslab_mutex);
		if (hslab_leak_drained(cache, epoch)) {
			hslab_leak_settle(cache);
			hslab_leak_report(cache);
		}
		mutex_lock(&hslab_mutex);
	}
	mutex_unlock(&hslab_mutex);
}
