// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_provoke: frees after a grace period.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "provoke.h"

/* Free an object twice; which frees are hslab_free_rcu() is in v->at, as bits. */
#define FIRST_BY_RCU	1
#define SECOND_BY_RCU	2

static void provoke_free_by(struct hslab_cache *cache, void *object, bool by_rcu)
{
	if (by_rcu)
		hslab_free_rcu(cache, object);
	else
		hslab_free(cache, object);
}

static int provoke_free_twice(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	rcu_read_lock();	/* no grace period ends in between */
	provoke_free_by(cache, object, v->at & FIRST_BY_RCU);
	provoke_free_by(cache, object, v->at & SECOND_BY_RCU);
	rcu_read_unlock();
	return 0;
}

static int provoke_overflow_rcu(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	u8 *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object + v->at, 0, v->len);
	hslab_free_rcu(cache, object);
	return 0;
}

static const struct provoke_violation provoke_rcu_violations[] = {
	{ .name = "free-rcu-twice", .run = provoke_free_twice,
	  .at = FIRST_BY_RCU | SECOND_BY_RCU,
	  REPORTED("provoke", "double-free", -1),
	  .what = "hslab_free_rcu() of an object that waits for a grace period" },
	{ .name = "free-rcu-free", .run = provoke_free_twice,
	  .at = FIRST_BY_RCU,
	  REPORTED("provoke", "double-free", -1),
	  .what = "hslab_free() of such an object" },
	{ .name = "free-free-rcu", .run = provoke_free_twice,
	  .at = SECOND_BY_RCU,
	  REPORTED("provoke", "double-free", -1),
	  .what = "hslab_free_rcu() of a free object" },
	{ .name = "free-rcu-typesafe", .run = provoke_free_twice,
	  .at = FIRST_BY_RCU | SECOND_BY_RCU,
	  .id = PROVOKE_RCU, REPORTED("provoke-rcu", "double-free", -1),
	  .what = "hslab_free_rcu() twice in a SLAB_TYPESAFE_BY_RCU cache" },
	{ .name = "free-rcu-overflow", .run = provoke_overflow_rcu,
	  .at = PROVOKE_SIZE, .len = 1,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "hslab_free_rcu() of an object with a NUL behind its end" },
};

/* The object that "reader" has freed. */
static void *provoke_read;

static int provoke_reader(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	u8 *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object, PROVOKE_DIRT, c->size);
	provoke_read = object;
	rcu_read_lock();
	if (arg)
		hslab_free_rcu(c->cache, object);
	else
		hslab_free(c->cache, object);
	mdelay(50);
	provoke_describe(object, c->size, "");
	rcu_read_unlock();
	return 0;
}

static int provoke_after(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	if (!provoke_read)
		return -EINVAL;
	provoke_describe(provoke_read, c->size, "");
	return 0;
}

/* Free by hslab_free_rcu() what @objects has. How many a reader finds intact. */
static unsigned int provoke_free_all(struct hslab_cache *cache, unsigned int nr,
				     void **objects, u8 *damage)
{
	unsigned int i, intact = 0;

	for (i = 0; i < nr; i++)
		memset(objects[i], PROVOKE_DIRT, PROVOKE_ODD);
	rcu_read_lock();
	hslab_free_rcu_bulk(cache, nr, objects);
	if (damage)
		*damage ^= 0x10;
	mdelay(50);
	for (i = 0; i < nr; i++)
		intact += !memchr_inv(objects[i], PROVOKE_DIRT, PROVOKE_ODD);
	rcu_read_unlock();
	return intact;
}

static int provoke_rcu(struct provoke_cache *c, struct provoke_bank *bank,
		       char *arg)
{
	char *word = strsep(&arg, " ");
	unsigned int nr, byte;
	u8 *damage = NULL;

	if (bank->nr || provoke_number(word, PROVOKE_HELD, &nr) ||
	    (arg && (kstrtouint(arg, 10, &byte) || byte > 7)))
		return -EINVAL;
	if (!hslab_alloc_bulk(c->cache, GFP_KERNEL, nr, bank->objects))
		return -ENOMEM;
	if (arg)
		damage = (u8 *)provoke_tag(c, bank->objects[nr / 2]) + byte;
	provoke_say("intact=%u",
		    provoke_free_all(c->cache, nr, bank->objects, damage));
	return 0;
}

static int provoke_rcu_destroy(struct provoke_cache *c,
			       struct provoke_bank *bank, char *arg)
{
	void **objects = provoke_caches[PROVOKE_MAIN].banks[0].objects;
	struct hslab_cache *cache;
	unsigned int nr;
	int err = 0;

	if (provoke_caches[PROVOKE_MAIN].banks[0].nr ||
	    provoke_number(arg, PROVOKE_HELD, &nr))
		return -EINVAL;
	cache = hslab_cache_create("provoke-gone", PROVOKE_SIZE, NULL);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	if (hslab_alloc_bulk(cache, GFP_KERNEL, nr, objects))
		provoke_say("intact=%u",
			    provoke_free_all(cache, nr, objects, NULL));
	else
		err = -ENOMEM;
	hslab_cache_destroy(cache);
	return err;
}

static const struct provoke_action provoke_rcu_actions[] = {
	{ "reader", provoke_reader, true },
	{ "after", provoke_after, true },
	{ "rcu", provoke_rcu, true },
	{ "rcu-destroy", provoke_rcu_destroy, false },
};

const struct provoke_part provoke_rcu_part = {
	.violations	= provoke_rcu_violations,
	.nr_violations	= ARRAY_SIZE(provoke_rcu_violations),
	.actions	= provoke_rcu_actions,
	.nr_actions	= ARRAY_SIZE(provoke_rcu_actions),
};
