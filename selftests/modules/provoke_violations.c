// SPDX-License-Identifier: GPL-2.0
/*
 * The violations of hslab_provoke: how each is committed, and the table that
 * says what hslab has to find.
 */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "provoke.h"

static int provoke_double_free(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(cache, object);
	hslab_free(cache, object);
	return 0;
}

static int provoke_double_free_bulk(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *objects[3] = { hslab_alloc(cache, GFP_KERNEL), NULL, NULL };

	if (!objects[0])
		return -ENOMEM;
	objects[2] = objects[0];
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return 0;
}

/* The object lies in a store that gets no new ones any more. */
static int provoke_double_free_drained(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *objects[2] = { hslab_alloc(cache, GFP_KERNEL),
			     hslab_alloc(cache, GFP_KERNEL) };
	int err = -ENOMEM;

	if (!objects[0] || !objects[1])
		goto out;
	err = hslab_set_policy(cache, "merge", "any");
	if (err)
		goto out;
	hslab_free(cache, objects[0]);
	hslab_free(cache, objects[0]);
	objects[0] = NULL;
	err = hslab_set_policy(cache, "merge", "group=provoke");
out:
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return err;
}

static int provoke_cross_free(const struct provoke_violation *v)
{
	struct hslab_cache *from = provoke_handle(v->from);
	void *object = hslab_alloc(from, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), object);
	hslab_free(from, object);
	return 0;
}

static int provoke_free_inside(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(cache, object + v->at);
	hslab_free(cache, object);
	return 0;
}

static int provoke_free_stack(const struct provoke_violation *v)
{
	u64 words[(PROVOKE_SIZE + 16) / 8] = { };

	hslab_free(provoke_handle(v->id), words);
	OPTIMIZER_HIDE_VAR(words[0]);
	return 0;
}

static int provoke_free_static(const struct provoke_violation *v)
{
	static u64 words[(PROVOKE_SIZE + 16) / 8];

	hslab_free(provoke_handle(v->id), words);
	return 0;
}

static int provoke_free_vmalloc(const struct provoke_violation *v)
{
	void *area = vzalloc(PAGE_SIZE);

	if (!area)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), area);
	vfree(area);
	return 0;
}

static int provoke_free_page(const struct provoke_violation *v)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), (void *)page);
	free_page(page);
	return 0;
}

static int provoke_free_kmalloc(const struct provoke_violation *v)
{
	void *object = kzalloc(256, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), object);
	kfree(object);
	return 0;
}

/* Where the tag of such an object would lie, there is no memory. */
static int provoke_free_memory_end(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), high_memory - 8);
	return 0;
}

static int provoke_free_error(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), ERR_PTR(-ENOMEM));
	return 0;
}

static int provoke_free_number(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), (void *)0x1234);
	return 0;
}

/* The first byte of a tag, and a byte of the padding, is never 0. */
static int provoke_overflow(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	u8 *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object, PROVOKE_DIRT, hslab_cache_size(cache));
	memset(object + v->at, 0, v->len);
	hslab_free(cache, object);
	return 0;
}

/* Overflow into the next object, which is held too, so that no other is hit. */
static int provoke_overflow_far(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	unsigned int slot = round_up(hslab_cache_size(cache), 8) + 16;
	void *objects[64] = { };
	u8 *object = NULL;
	unsigned int i, j;

	if (!hslab_alloc_bulk(cache, GFP_KERNEL, ARRAY_SIZE(objects), objects))
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(objects) && !object; i++)
		for (j = 0; j < ARRAY_SIZE(objects); j++)
			if (objects[j] == objects[i] + slot)
				object = objects[i];
	if (object)
		memset(object + v->at, 0, v->len);
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return object ? 0 : -EAGAIN;
}

/* A write to a free object: to its payload, or (at the tag) to the tag. */
static int provoke_write_after_free(const struct provoke_violation *v)
{
	struct provoke_cache *c = &provoke_caches[v->id];
	u8 *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(c->cache, object);
	object[v->at] ^= v->flip;
	return provoke_see_again(c, object);
}

static int provoke_kfree(const struct provoke_violation *v)
{
	struct provoke_cache *c = &provoke_caches[v->id];
	void *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kfree(object);
	return provoke_see_again(c, object);
}

/* The general-purpose caches */
static int provoke_hslab_kfree_twice(const struct provoke_violation *v)
{
	void *object = hslab_kmalloc(64, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_kfree(object);
	hslab_kfree(object);
	return 0;
}

static int provoke_hslab_kfree_overflow(const struct provoke_violation *v)
{
	u8 *object = hslab_kmalloc(64, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object + v->at, 0, v->len);
	hslab_kfree(object);
	return 0;
}

static int provoke_hslab_kfree_static(const struct provoke_violation *v)
{
	static u64 words[4];

	hslab_kfree(words);
	return 0;
}

static const struct provoke_violation provoke_violation_table[] = {
	{ .name = "double-free", .run = provoke_double_free,
	  REPORTED("provoke", "double-free", -1),
	  .what = "hslab_free() of a free object" },
	{ .name = "double-free-odd", .run = provoke_double_free,
	  .id = PROVOKE_PADDED, REPORTED("provoke-odd", "double-free", -1),
	  .what = "the same in a cache with padding" },
	{ .name = "double-free-rcu", .run = provoke_double_free,
	  .id = PROVOKE_RCU, REPORTED("provoke-rcu", "double-free", -1),
	  .what = "the same in a SLAB_TYPESAFE_BY_RCU cache" },
	{ .name = "double-free-bulk", .run = provoke_double_free_bulk,
	  REPORTED("provoke", "double-free", -1),
	  .what = "an object twice in one hslab_free_bulk()" },
	{ .name = "double-free-drained", .run = provoke_double_free_drained,
	  .id = PROVOKE_M1, REPORTED("provoke-m1", "double-free", -1),
	  .what = "an object of a store that the cache has left" },

	{ .name = "cross-cache-free", .run = provoke_cross_free,
	  .id = PROVOKE_B, .from = PROVOKE_MAIN,
	  REPORTED("provoke-b", "cross-cache-free", -1),
	  .what = "hslab_free() of an object of another cache" },
	{ .name = "cross-cache-free-size", .run = provoke_cross_free,
	  .id = PROVOKE_PADDED, .from = PROVOKE_MAIN,
	  REPORTED("provoke-odd", "cross-cache-free", -1),
	  .what = "the same, and the other cache has larger objects" },
	{ .name = "cross-cache-free-merged", .run = provoke_cross_free,
	  .id = PROVOKE_M2, .from = PROVOKE_M1,
	  REPORTED("provoke-m2", "cross-cache-free", -1),
	  .what = "the same, and both caches share a store" },

	{ .name = "invalid-free-inside", .run = provoke_free_inside, .at = 8,
	  REPORTED("provoke", "invalid-free", 8),
	  .what = "a pointer 8 bytes into an object" },
	{ .name = "invalid-free-end", .run = provoke_free_inside,
	  .at = PROVOKE_SIZE - 8,
	  REPORTED("provoke", "invalid-free", PROVOKE_SIZE - 8),
	  .what = "a pointer to the last 8 bytes of an object" },
	{ .name = "invalid-free-misaligned", .run = provoke_free_inside, .at = 1,
	  REPORTED("provoke", "invalid-free", 1),
	  .what = "a pointer 1 byte into an object" },
	{ .name = "invalid-free-stack", .run = provoke_free_stack,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a pointer to the stack" },
	{ .name = "invalid-free-static", .run = provoke_free_static,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a pointer to a module's static data" },
	{ .name = "invalid-free-vmalloc", .run = provoke_free_vmalloc,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "memory of vmalloc()" },
	{ .name = "invalid-free-page", .run = provoke_free_page,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a page of get_zeroed_page()" },
	{ .name = "invalid-free-kmalloc", .run = provoke_free_kmalloc,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "an object of kmalloc()" },
	{ .name = "invalid-free-memory-end", .run = provoke_free_memory_end,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "the last 8 bytes of the direct map" },
	{ .name = "invalid-free-error", .run = provoke_free_error,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "ERR_PTR(-ENOMEM)" },
	{ .name = "invalid-free-number", .run = provoke_free_number,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "the pointer 0x1234" },

	{ .name = "overflow-nul", .run = provoke_overflow,
	  .at = PROVOKE_SIZE, .len = 1,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "a NUL behind the end" },
	{ .name = "overflow-8", .run = provoke_overflow,
	  .at = PROVOKE_SIZE, .len = 8,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "8 bytes behind the end" },
	{ .name = "overflow-64", .run = provoke_overflow_far,
	  .at = PROVOKE_SIZE, .len = 64,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "64 bytes behind the end, into the next object" },
	{ .name = "overflow-padding", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD, .len = 1,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD),
	  .what = "a NUL into the first byte of the padding" },
	{ .name = "overflow-padding-end", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD + 2, .len = 1,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD + 2),
	  .what = "a NUL into the last byte of the padding" },
	{ .name = "overflow-padding-8", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD, .len = 8,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD),
	  .what = "8 bytes over the padding and into the tag" },
	{ .name = "overflow-rcu", .run = provoke_overflow,
	  .id = PROVOKE_RCU, .at = PROVOKE_SIZE, .len = 1,
	  REPORTED("provoke-rcu", "overflow", PROVOKE_SIZE),
	  .what = "a NUL behind the end in a SLAB_TYPESAFE_BY_RCU cache" },

	{ .name = "write-after-free-first", .run = provoke_write_after_free,
	  .at = 0, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", 0),
	  .what = "a write to the first byte of a free object" },
	{ .name = "write-after-free-last", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE - 1, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", PROVOKE_SIZE - 1),
	  .what = "a write to the last byte" },
	{ .name = "write-after-free-middle", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE / 2, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", PROVOKE_SIZE / 2),
	  .what = "a write in the middle (found with verify=full)" },
	{ .name = "write-after-free-bit", .run = provoke_write_after_free,
	  .at = 5, .flip = 0x10,
	  REPORTED("provoke", "write-after-free", 5),
	  .what = "one bit in the first word flips" },
	{ .name = "write-after-free-padding", .run = provoke_write_after_free,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD + 1, .flip = 0xff,
	  REPORTED("provoke-odd", "write-after-free", PROVOKE_ODD + 1),
	  .what = "a write to the padding of a free object" },
	{ .name = "write-after-free-ctor", .run = provoke_write_after_free,
	  .id = PROVOKE_CTOR, .at = 0, .flip = 0x01,
	  REPORTED("provoke-ctor", "write-after-free", 0),
	  .what = "a write to a free object of a cache with a constructor" },

	{ .name = "bad-tag", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE + 3, .flip = 0xff,
	  REPORTED("provoke", "bad-tag", PROVOKE_SIZE + 3),
	  .what = "a write to the tag of a free object" },
	{ .name = "bad-tag-rcu", .run = provoke_write_after_free,
	  .id = PROVOKE_RCU, .at = PROVOKE_SIZE, .flip = 0xff,
	  REPORTED("provoke-rcu", "bad-tag", PROVOKE_SIZE),
	  .what = "the same in a SLAB_TYPESAFE_BY_RCU cache" },

	{ .name = "not-freed", .run = provoke_kfree,
	  REPORTED("provoke", "not-freed", -1),
	  .what = "kfree() of an object, which is then allocated again" },

	{ .name = "hslab-kfree-twice", .run = provoke_hslab_kfree_twice,
	  REPORTED("hslab-64", "double-free", -1),
	  .what = "hslab_kfree() of free memory" },
	{ .name = "hslab-kfree-overflow", .run = provoke_hslab_kfree_overflow,
	  .at = 64, .len = 1,
	  REPORTED("hslab-64", "overflow", 64),
	  .what = "a NUL behind the end of hslab_kmalloc(64)" },
	{ .name = "hslab-kfree-static", .run = provoke_hslab_kfree_static,
	  REPORTED("hslab-16", "invalid-free", -1),
	  .what = "hslab_kfree() of a module's static data" },
};

const struct provoke_part provoke_violations = {
	.violations	= provoke_violation_table,
	.nr_violations	= ARRAY_SIZE(provoke_violation_table),
};
