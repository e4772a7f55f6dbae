// SPDX-License-Identifier: GPL-2.0
/*
 * Tracking: who allocated and who freed an object, when, and where.
 */
#include "hslab_internal.h"

void hslab_track_alloc(struct hslab_route *route, void *object)
{
}

void hslab_track_free(struct hslab_route *route, void *object)
{
}
