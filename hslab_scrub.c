// SPDX-License-Identifier: GPL-2.0
/*
 * Scrubbing: looking, now or from time to time, at the free objects that hslab
 * has kept, so that damage is found although nobody allocates them.
 */
#include <linux/sched/clock.h>

#include "hslab_internal.h"

/*
 * The time that the current task has had a CPU, from some moment on. It does not
 * sleep in a scrub, so that is all but what it waited for one. (The scheduler's
 * own count, sum_exec_runtime, is of the last tick or switch, and not exact enough
 * for a scrub of microseconds.)
 */
static u64 hslab_scrub_clock(void)
{
	u64 now;

	preempt_disable();	/* both of the same moment */
	now = local_clock() - hslab_compat_waited();
	preempt_enable();
	return now;
}

/**
 * hslab_scrub() - verify the quarantined and pinned objects of a cache
 * @cache: the cache
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_scrub(struct hslab_cache *cache)
{
	struct hslab_route *route = hslab_current_route(cache);
	u64 begin = hslab_scrub_clock();
	s64 spent;

	lockdep_assert_held(&hslab_mutex);

	cache->scrub.objects += hslab_quarantine_scrub(route);
	cache->scrub.objects += hslab_pin_scrub(route);
	cache->scrub.runs++;
	spent = hslab_scrub_clock() - begin;
	if (spent > 0)		/* clocks of two CPUs may differ a little */
		cache->scrub.ns += spent;
}

static void hslab_scrub_again(struct work_struct *work)
{
	struct hslab_cache *cache = container_of(to_delayed_work(work),
						 struct hslab_cache, scrub.work);

	mutex_lock(&hslab_mutex);
	if (!cache->dying && cache->scrub.interval) {
		hslab_scrub(cache);
		queue_delayed_work(hslab_wq, &cache->scrub.work,
				   msecs_to_jiffies(cache->scrub.interval));
	}
	mutex_unlock(&hslab_mutex);
}

/*
 * Scrub every @ms milliseconds from now on; 0 is never. With hslab_mutex. Each
 * change of a policy comes here; those of others do not put a scrub off.
 */
void hslab_scrub_set_interval(struct hslab_cache *cache, unsigned int ms)
{
	lockdep_assert_held(&hslab_mutex);

	if (cache->scrub.interval == ms)
		return;
	cache->scrub.interval = ms;
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
