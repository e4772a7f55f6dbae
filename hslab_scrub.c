// SPDX-License-Identifier: GPL-2.0
/*
 * Scrubbing: looking, now or from time to time, at the free objects that hslab
 * has kept, so that damage is found although nobody allocates them.
 */
#include <linux/sched/clock.h>

#include "hslab_internal.h"

/**
 * hslab_scrub() - verify the quarantined and pinned objects of a cache
 * @cache: the cache
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_scrub(struct hslab_cache *cache)
{
	struct hslab_route *route = hslab_current_route(cache);
	u64 begin = local_clock();

	lockdep_assert_held(&hslab_mutex);

	cache->scrub.objects += hslab_quarantine_scrub(route);
	cache->scrub.objects += hslab_pin_scrub(route);
	cache->scrub.runs++;
	cache->scrub.ns += local_clock() - begin;
}

static void hslab_scrub_again(struct work_struct *work)
{
	struct hslab_cache *cache = container_of(to_delayed_work(work),
						 struct hslab_cache, scrub.work);

	mutex_lock(&hslab_mutex);
	if (!cache->dying && cache->policy.scrub_interval_ms) {
		hslab_scrub(cache);
		hslab_scrub_set_interval(cache, cache->policy.scrub_interval_ms);
	}
	mutex_unlock(&hslab_mutex);
}

/* Scrub every @ms milliseconds from now on; 0 is never. With hslab_mutex. */
void hslab_scrub_set_interval(struct hslab_cache *cache, unsigned int ms)
{
	lockdep_assert_held(&hslab_mutex);

	if (ms)
		mod_delayed_work(hslab_wq, &cache->scrub.work,
				 msecs_to_jiffies(ms));
	else
		cancel_delayed_work(&cache->scrub.work);
}

/* The cache is dying: no scrub after this. Without hslab_mutex. */
void hslab_scrub_stop(struct hslab_cache *cache)
{
	cancel_delayed_work_sync(&cache->scrub.work);
}

void hslab_scrub_init(struct hslab_cache *cache)
{
	INIT_DELAYED_WORK(&cache->scrub.work, hslab_scrub_again);
}
