// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: per CPU while they are written, summed when they are read.
 */
#include <linux/cpumask.h>
#include <linux/rculist.h>

#include "hslab_internal.h"

/**
 * hslab_route_live() - objects of a route that are in consumers' hands
 * @route: the route
 *
 * Never too low while no allocation begins on the route: a zero is then final.
 * The headroom is read first, and hslab_new_peak() raises the limit first.
 *
 * Context: any.
 * Return: the number, allocations under way included.
 */
s64 hslab_route_live(const struct hslab_route *route)
{
	s64 live = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct hslab_counts *c =
			&per_cpu_ptr(route->cpu, cpu)->counts;

		live -= READ_ONCE(c->headroom);
		smp_rmb();	/* pairs with smp_wmb() in hslab_new_peak() */
		live += READ_ONCE(c->limit);
	}
	return live;
}

/* The same for all routes of a cache. */
s64 hslab_cache_live(const struct hslab_cache *cache)
{
	struct hslab_route *route;
	s64 live = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(route, &cache->routes, in_cache)
		live += hslab_route_live(route);
	rcu_read_unlock();
	return live;
}

/* The highest number of live objects seen, this moment's included. */
s64 hslab_cache_peak(struct hslab_cache *cache)
{
	s64 live = hslab_cache_live(cache);

	if (live > READ_ONCE(cache->peak))
		WRITE_ONCE(cache->peak, live);
	return READ_ONCE(cache->peak);
}

/**
 * hslab_new_peak() - look whether a cache has reached a new peak
 * @route: whose headroom on this CPU has run out
 *
 * While the peak rises by single objects the headroom is made just as small, so
 * a peak below 64 is exact where all is allocated and freed on one CPU; above,
 * it may be low by 1/64 a CPU. When there is no new peak, objects come and go on
 * different CPUs, and the headroom is made 64, so that the look does not become
 * a habit: the peak may then be low by 64 a CPU.
 *
 * Context: any but NMI.
 */
noinline void hslab_new_peak(struct hslab_route *route)
{
	struct hslab_cache *cache = route->cache;
	s64 live = hslab_cache_live(cache);
	struct hslab_counts *c;
	unsigned long flags;
	s64 more = 64;

	if (live > READ_ONCE(cache->peak)) {
		WRITE_ONCE(cache->peak, live);
		more = live / 64;
	}
	local_irq_save(flags);
	c = this_cpu_ptr(&route->cpu->counts);
	if (c->headroom < 0) {
		more -= c->headroom;
		WRITE_ONCE(c->limit, c->limit + more);
		smp_wmb();	/* pairs with smp_rmb() in hslab_route_live() */
		WRITE_ONCE(c->headroom, c->headroom + more);
	}
	local_irq_restore(flags);
}

static void hslab_counts_add(struct hslab_counts *sum,
			     const struct hslab_counts *c)
{
	sum->allocs += READ_ONCE(c->allocs);
	sum->headroom += READ_ONCE(c->headroom);
	sum->limit += READ_ONCE(c->limit);
	sum->fails += READ_ONCE(c->fails);
	sum->zero_skipped += READ_ONCE(c->zero_skipped);
	sum->verified += READ_ONCE(c->verified);
}

static void hslab_route_counts(const struct hslab_route *route,
			       struct hslab_counts *sum)
{
	int cpu;

	for_each_possible_cpu(cpu)
		hslab_counts_add(sum, &per_cpu_ptr(route->cpu, cpu)->counts);
}

/* The sums over all routes of a cache, those that are gone included. */
void hslab_cache_counts(const struct hslab_cache *cache,
			struct hslab_counts *sum)
{
	struct hslab_route *route;

	lockdep_assert_held(&hslab_mutex);

	*sum = cache->retired;
	list_for_each_entry(route, &cache->routes, in_cache)
		hslab_route_counts(route, sum);
}

/* Add a route that is about to go to its cache's retired counters. */
void hslab_counts_retire(struct hslab_route *route)
{
	lockdep_assert_held(&hslab_mutex);

	hslab_route_counts(route, &route->cache->retired);
}
