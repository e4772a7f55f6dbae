// SPDX-License-Identifier: GPL-2.0
/*
 * Routes: the ways from caches to stores. What a policy needs is prepared on a
 * route, which is then made the cache's current one; the former is closed, and
 * drains.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/rculist.h>

#include "hslab_internal.h"

/* Stores that no route leads to, for hslab_drain() to destroy. */
LIST_HEAD(hslab_unused_stores);

static void hslab_store_unused(struct hslab_store *store)
{
	lockdep_assert_held(&hslab_mutex);

	if (store->nr_routes)
		return;
	list_move(&store->node, &hslab_unused_stores);
	hslab_drain_soon();
}

static struct hslab_route *hslab_route_create(struct hslab_cache *cache,
					      struct hslab_store *store)
{
	struct hslab_route *route;

	lockdep_assert_held(&hslab_mutex);

	route = kzalloc(sizeof(*route), GFP_KERNEL);
	if (!route)
		return NULL;
	route->cpu = alloc_percpu(struct hslab_cpu);
	if (!route->cpu || hslab_rcu_add(route)) {
		free_percpu(route->cpu);
		kfree(route);
		return NULL;
	}
	route->kmem = store->kmem;
	route->live_key = store->key ^
			  (HSLAB_LIVE | store->plain |
			   (u64)cache->id << HSLAB_CACHE_SHIFT);
	route->multiplier = store->multiplier;
	route->inverse = store->inverse;
	route->random = store->random;
	route->padding = store->padding;
	route->words = store->tag_off / sizeof(u64);
	route->tracked = store->geometry.tracked;
	route->store = store;
	route->cache = cache;
	list_add_tail_rcu(&route->in_store, &store->routes);
	store->nr_routes++;
	list_add_rcu(&route->in_cache, &cache->routes);
	return route;
}

void hslab_route_free(struct hslab_route *route)
{
	hslab_quarantine_free(route);
	hslab_pin_free(route);
	hslab_rcu_del(route);
	free_percpu(route->cpu);
	kfree(route);
}

/*
 * hslab_drain() begins a new epoch each time before it waits for a grace period,
 * and then looks at the routes that were closed in those before. hslab_mutex.
 */
unsigned long hslab_epoch;

/* From now on the route is nobody's way to new objects. */
void hslab_route_close(struct hslab_route *route)
{
	lockdep_assert_held(&hslab_mutex);

	WRITE_ONCE(route->magazine, 0);
	route->closed = hslab_epoch;
}

/* What the constructor does to the objects of the store's next slab pages. */
static void hslab_set_fresh(struct hslab_store *store, u64 policy_word)
{
	u64 fresh = policy_word & HSLAB_FILL_MASK;

	if (hslab_fill_kind(fresh) == HSLAB_FILL_KEPT)
		fresh = hslab_fill_bits(HSLAB_FILL_FRESH, 0);
	WRITE_ONCE(store->fresh, fresh);
}

/* Give a new store its domain and its place; NULL-free: ERR_PTR on failure. */
static struct hslab_store *hslab_store_add(const char *name,
					   const struct hslab_geometry *geometry,
					   const struct hslab_domain *domain)
{
	struct hslab_store *store;
	int err;

	store = hslab_store_create(geometry, domain, name);
	if (IS_ERR(store))
		return store;
	err = hslab_sysfs_add_store(store);
	if (err) {
		hslab_store_destroy(store);
		return ERR_PTR(err);
	}
	list_add_tail(&store->node, &hslab_stores);
	return store;
}

/* Free the route of a cache that nobody has seen yet. */
static void hslab_route_drop(struct hslab_route *route)
{
	list_del_rcu(&route->in_cache);
	list_del_rcu(&route->in_store);
	route->store->nr_routes--;
	hslab_store_unused(route->store);
	synchronize_rcu();
	hslab_route_free(route);
}

/* Get what @policy needs of a route. Nothing else is changed, also on an error. */
static int hslab_route_prepare(struct hslab_route *route,
			       const struct hslab_policy *policy)
{
	int err;

	err = hslab_quarantine_prepare(route, policy->quarantine_kb);
	if (err)
		return err;
	err = hslab_track_prepare(route->cache, policy->track);
	if (err)
		return err;
	return hslab_pin_prepare(route, policy->pin);
}

/* Let @policy rule a route that is ready for it. */
static void hslab_route_commit(struct hslab_route *route,
			       const struct hslab_policy *policy)
{
	WRITE_ONCE(route->policy, hslab_policy_word(policy, route->cache));
	hslab_quarantine_commit(route, policy->quarantine_kb);
	hslab_pin_commit(route, policy->pin);
	hslab_set_fresh(route->store, route->policy);
}

/* What objects of a cache are like under a policy. */
void hslab_geometry_for(struct hslab_geometry *geometry,
			const struct hslab_cache *cache,
			const struct hslab_policy *policy)
{
	*geometry = cache->geometry;
	geometry->tracked = policy->track;
	geometry->align = hslab_alignment(geometry->align, geometry->flags,
					  geometry->payload +
					  hslab_tag_bytes(geometry));
}

/*
 * Find the route to a store of the kind that a cache's policy asks for, or make
 * one. Nothing is changed, but for a route that nobody uses on an error later.
 */
static struct hslab_route *hslab_route_for(struct hslab_cache *cache)
{
	struct hslab_route *route, *before = hslab_current_route(cache);
	struct hslab_geometry geometry;
	struct hslab_domain domain;
	struct hslab_store *store;

	lockdep_assert_held(&hslab_mutex);

	hslab_domain_of(&domain, cache);
	hslab_geometry_for(&geometry, cache, &cache->policy);
	if (before &&
	    hslab_merge_decide(&geometry, &domain, &before->store->geometry,
			       &before->store->domain) == HSLAB_SHARE)
		return before;

	store = hslab_store_find(&geometry, &domain);
	if (!store && before && before->store->nr_routes == 1 &&
	    before->store->geometry.tracked == geometry.tracked)
		return before;	/* the store is nobody else's: it changes with us */
	if (!store && hslab_slot_size(&geometry) > KMALLOC_MAX_SIZE) {
		pr_warn("cache %s: %u bytes and what is tracked of them take more than a slab page can have (%lu)\n",
			cache->name, cache->size,
			(unsigned long)KMALLOC_MAX_SIZE);
		return ERR_PTR(-EINVAL);
	}
	if (!store)
		store = hslab_store_add(cache->name, &geometry, &domain);
	if (IS_ERR(store))
		return ERR_CAST(store);

	list_for_each_entry(route, &cache->routes, in_cache)
		if (route->store == store)
			return route;
	route = hslab_route_create(cache, store);
	if (!route) {
		hslab_store_unused(store);
		return ERR_PTR(-ENOMEM);
	}
	hslab_route_close(route);	/* until it is published */
	return route;
}

/**
 * hslab_reroute() - follow a change of cache->policy
 * @cache: the cache
 *
 * cache->route leads to a store of the kind that the policy asks for, and the policy
 * rules it. On an error everything is as before.
 *
 * Context: process context, with hslab_mutex.
 * Return: 0, -ENOMEM, -ENOSPC when no store is left, or -EINVAL when there can be
 * none of that kind.
 */
int hslab_reroute(struct hslab_cache *cache)
{
	struct hslab_route *route, *before = hslab_current_route(cache);
	int err;

	lockdep_assert_held(&hslab_mutex);

	route = hslab_route_for(cache);
	if (IS_ERR(route))
		return PTR_ERR(route);
	err = hslab_route_prepare(route, &cache->policy);
	if (err) {
		if (!before)
			hslab_route_drop(route);
		return err;	/* hslab_drain() sees to one that is not in use */
	}
	hslab_route_commit(route, &cache->policy);
	if (route == before) {
		hslab_domain_of(&route->store->domain, cache);
		return 0;
	}
	WRITE_ONCE(route->magazine, hslab_magazine_size(&route->store->geometry));
	rcu_assign_pointer(cache->route, route);
	if (before)
		hslab_route_close(before);
	return 0;
}

/**
 * hslab_routes_drain() - unlink the routes of a cache that nothing needs any more
 * @cache: the cache
 * @all: it was destroyed, so its current route is closed as well
 * @epoch: routes that were closed in a later one are left for the next time
 * @routes: gets what was unlinked, to be freed a grace period later
 *
 * Context: process context, with hslab_mutex.
 * Return: true if there are closed routes left.
 */
bool hslab_routes_drain(struct hslab_cache *cache, bool all,
			unsigned long epoch, struct list_head *routes)
{
	struct hslab_route *route, *next;
	bool left = false;

	lockdep_assert_held(&hslab_mutex);

	list_for_each_entry_safe(route, next, &cache->routes, in_cache) {
		struct hslab_store *store = route->store;

		if (route == hslab_current_route(cache) && !all)
			continue;
		if (route->closed > epoch) {
			left = true;
			continue;
		}
		/* What waits may be a suspect. */
		if (hslab_rcu_busy(route)) {
			left = true;
			continue;
		}
		hslab_magazine_drain(route);
		hslab_quarantine_close(route);
		hslab_pin_release(route);
		hslab_settle_suspects(route);
		/* In this order: what is not live any more is not put there. */
		if (hslab_route_live(route) || hslab_rcu_busy(route)) {
			left = true;
			continue;
		}
		hslab_counts_retire(route);
		list_del_rcu(&route->in_cache);
		list_del_rcu(&route->in_store);
		list_add(&route->gone, routes);
		store->nr_routes--;
		if (!store->nr_routes)
			list_move(&store->node, &hslab_unused_stores);
	}
	return left;
}
