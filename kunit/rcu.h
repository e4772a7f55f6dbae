/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites of hslab_rcu.c share.
 */
#ifndef HSLAB_KUNIT_RCU_H
#define HSLAB_KUNIT_RCU_H

#include <linux/delay.h>

#include "hslab_kunit.h"

#define SIZE	40		/* bytes of most of the objects here */
#define DIRT	0xee		/* what their owners write */

static inline struct hslab_cache *
rcu_cache(struct kunit *test, const char *name)
{
	struct hslab_args args = { .profile = "debug" };

	return hslab_test_cache(test, name, SIZE, &args);
}

/* How many objects of a cache wait, on all its routes; ~0 if only a worker is busy. */
static inline unsigned long nr_waiting(struct hslab_cache *cache)
{
	struct hslab_route *route;
	unsigned long nr = 0;
	bool busy = false;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(route, &cache->routes, in_cache) {
		nr += hslab_rcu_objects(route);
		busy |= hslab_rcu_busy(route);
	}
	mutex_unlock(&hslab_mutex);
	return nr ? nr : busy ? ~0UL : 0;
}

/* Wait until no object of a cache waits any more. */
static inline void settle(struct kunit *test, struct hslab_cache *cache)
{
	unsigned int i;

	for (i = 0; i < 500 && nr_waiting(cache); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 0, nr_waiting(cache));
}

/* Time for a grace period to end, if nothing keeps it. */
static inline void linger(void)
{
	mdelay(30);
}

static inline u64 state_of(const struct hslab_cache *cache, const void *object)
{
	return hslab_test_plain(cache, object) & HSLAB_STATE_MASK;
}

/* Does @object, of the cache's current store, wait, with no other behind it? */
static inline bool waits_alone(const struct hslab_cache *cache,
			       const void *object)
{
	return hslab_test_plain(cache, object) == HSLAB_RCU;
}

#endif /* HSLAB_KUNIT_RCU_H */
