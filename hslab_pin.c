// SPDX-License-Identifier: GPL-2.0
/*
 * Pins: one object of each slab page that is kept, so that the page is never
 * given back, and no other cache ever gets it.
 */
#include "hslab_internal.h"

int hslab_pin_prepare(struct hslab_route *route, unsigned int pages)
{
	return 0;
}

void hslab_pin_commit(struct hslab_route *route, unsigned int pages)
{
}

void *hslab_pin_page(struct hslab_route *route, void *object, gfp_t gfp,
		     int node)
{
	return object;
}

void hslab_pin_release(struct hslab_route *route)
{
}

void hslab_pin_free(struct hslab_route *route)
{
}

unsigned long hslab_pin_scrub(struct hslab_route *route)
{
	return 0;
}

unsigned long hslab_pin_pages(const struct hslab_route *route)
{
	return 0;
}

unsigned long hslab_pin_bytes(const struct hslab_route *route)
{
	return 0;
}
