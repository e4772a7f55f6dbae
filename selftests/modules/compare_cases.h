/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Errors of the heap, written for kmem_cache, to be committed on SLUB
 * (hslab_compare_slub.ko) and on hslab (hslab_compare.ko), for scripts/compare.
 *
 * /sys/kernel/debug/hslab_compare:
 *	run	takes the name of a case; or settle
 *	result	what the case saw: "kept" or "gone" of what was read after the free, else
 *		"done"
 *
 * Each case has caches of its own, which go with it. When it has done its damage
 * it allocates and frees several objects, so that what is found late is found.
 */
#include <linux/delay.h>

#define COMPARE_SIZE	200
#define COMPARE_MORE	256		/* objects */

#ifndef SLAB_NO_MERGE
#define SLAB_NO_MERGE	0		/* since 6.5 */
#endif

struct compare_case {
	const char *name;
	void (*run)(const struct compare_case *c);
	int at;				/* where it writes, from the object */
	unsigned int len;
};

static DEFINE_MUTEX(compare_mutex);
static char compare_result[16];
static struct kmem_cache *compare_a, *compare_b;

static void *compare_alloc(struct kmem_cache *s)
{
	return kmem_cache_alloc(s, GFP_KERNEL | __GFP_NOFAIL);
}

/* What is free is allocated, and freed again. */
static void compare_settle(struct kmem_cache *s)
{
	static void *objects[COMPARE_MORE];
	unsigned int i;

	for (i = 0; i < COMPARE_MORE; i++)
		objects[i] = s ? compare_alloc(s) :
				 kmalloc(1024, GFP_KERNEL | __GFP_NOFAIL);
	for (i = 0; i < COMPARE_MORE; i++) {
		if (s)
			kmem_cache_free(s, objects[i]);
		else
			kfree(objects[i]);
	}
}

/* Bytes that are neither zero nor what they were, and no pattern of poison */
static noinline void compare_write(u8 *at, unsigned int len)
{
	unsigned int i;

	OPTIMIZER_HIDE_VAR(at);
	for (i = 0; i < len; i++)
		WRITE_ONCE(at[i], READ_ONCE(at[i]) ^ 0x81);
}

static void compare_write_live(const struct compare_case *c)
{
	u8 *object = compare_alloc(compare_a);

	compare_write(object + c->at, c->len);
	kmem_cache_free(compare_a, object);
}

static void compare_write_free(const struct compare_case *c)
{
	u8 *object = compare_alloc(compare_a);

	memset(object, 0x5a, COMPARE_SIZE);
	kmem_cache_free(compare_a, object);
	compare_write(object + c->at, c->len);
}

static void compare_read_free(const struct compare_case *c)
{
	u8 *object = compare_alloc(compare_a);

	memset(object, 0x5a, COMPARE_SIZE);
	kmem_cache_free(compare_a, object);
	OPTIMIZER_HIDE_VAR(object);
	strscpy(compare_result,
		READ_ONCE(object[c->at]) == 0x5a ? "kept" : "gone",
		sizeof(compare_result));
}

static void compare_double(const struct compare_case *c)
{
	void *object = compare_alloc(compare_a);

	kmem_cache_free(compare_a, object);
	OPTIMIZER_HIDE_VAR(object);
	kmem_cache_free(compare_a, object);
}

static void compare_double_later(const struct compare_case *c)
{
	void *first = compare_alloc(compare_a), *second = compare_alloc(compare_a);

	kmem_cache_free(compare_a, first);
	kmem_cache_free(compare_a, second);
	OPTIMIZER_HIDE_VAR(first);
	kmem_cache_free(compare_a, first);
}

/* The first free is of an object that somebody else has got since. */
static void compare_double_reused(const struct compare_case *c)
{
	void *first = compare_alloc(compare_a), *others[64];
	unsigned int i;

	kmem_cache_free(compare_a, first);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = compare_alloc(compare_a);
	OPTIMIZER_HIDE_VAR(first);
	kmem_cache_free(compare_a, first);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		kmem_cache_free(compare_a, others[i]);
}

static void compare_cross(const struct compare_case *c)
{
	kmem_cache_free(compare_b, compare_alloc(compare_a));
}

static void compare_inside(const struct compare_case *c)
{
	u8 *object = compare_alloc(compare_a);

	kmem_cache_free(compare_a, object + c->at);
	kmem_cache_free(compare_a, object);
}

static void compare_page(const struct compare_case *c)
{
	unsigned long page = __get_free_page(GFP_KERNEL | __GFP_NOFAIL);

	kmem_cache_free(compare_a, (void *)page);
	free_page(page);
}

static void compare_leak(const struct compare_case *c)
{
	compare_alloc(compare_a);
}

static const struct compare_case compare_cases[] = {
	{ "overflow-1", compare_write_live, COMPARE_SIZE, 1 },
	{ "overflow-64", compare_write_live, COMPARE_SIZE, 64 },
	{ "underflow-1", compare_write_live, -1, 1 },
	{ "write-free-first", compare_write_free, 0, 1 },
	{ "write-free-middle", compare_write_free, COMPARE_SIZE / 2, 1 },
	{ "write-free-last", compare_write_free, COMPARE_SIZE - 1, 1 },
	{ "write-free-all", compare_write_free, 0, COMPARE_SIZE },
	{ "write-free-behind", compare_write_free, COMPARE_SIZE, 1 },
	{ "read-free", compare_read_free, 8, 1 },
	{ "double-free", compare_double },
	{ "double-free-later", compare_double_later },
	{ "double-free-reused", compare_double_reused },
	{ "cross-cache-free", compare_cross },
	{ "free-inside", compare_inside, 8 },
	{ "free-page", compare_page },
	{ "leak", compare_leak },
};

static int compare_make(void)
{
	compare_a = kmem_cache_create("compare-a", COMPARE_SIZE, 8,
				      SLAB_NO_MERGE, NULL);
	compare_b = kmem_cache_create("compare-b", COMPARE_SIZE, 8,
				      SLAB_NO_MERGE, NULL);
	return compare_a && compare_b ? 0 : -ENOMEM;
}

static int compare_run(char *line)
{
	const struct compare_case *c = NULL;
	unsigned int i;

	strscpy(compare_result, "done", sizeof(compare_result));
	if (!strcmp(line, "settle")) {
		compare_settle(NULL);
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(compare_cases); i++)
		if (!strcmp(line, compare_cases[i].name))
			c = &compare_cases[i];
	if (!c)
		return -EINVAL;
	if (!compare_make()) {
		usleep_range(3000, 4000);	/* KFENCE's next sample is due */
		c->run(c);
		compare_settle(compare_a);
		compare_settle(compare_b);
	}
	kmem_cache_destroy(compare_a);
	kmem_cache_destroy(compare_b);
	return 0;
}

static const struct command compare_command = {
	.run = compare_run, .mutex = &compare_mutex, .result = compare_result,
};

static struct dentry *compare_dir;

static int __init compare_init(void)
{
	compare_dir = command_create("hslab_compare", &compare_command);
	return 0;
}
module_init(compare_init);

static void __exit compare_exit(void)
{
	debugfs_remove_recursive(compare_dir);
}
module_exit(compare_exit);

MODULE_DESCRIPTION("Errors of the heap, for scripts/compare");
MODULE_LICENSE("GPL");
