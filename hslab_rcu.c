// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that were freed, and wait for a grace period.
 */
#include "hslab_internal.h"

void hslab_rcu_put(struct hslab_route *route, void *object)
{
}

bool hslab_rcu_waits(const struct hslab_store *store, const void *object)
{
	return false;
}

void hslab_rcu_flush(struct hslab_cache *cache)
{
}

unsigned long hslab_rcu_objects(const struct hslab_route *route)
{
	return 0;
}
