// SPDX-License-Identifier: GPL-2.0
/*
 * Code that was written for kmalloc(): what of it hslab_compat_kmalloc.h takes over,
 * what it leaves to SLUB, and that krealloc(), ksize() and the frees tell them apart.
 */
#include <linux/hslab_compat_kmem.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "hslab_kunit.h"

/* The kernel's own function, while it has its name. */
static void *slub_kmalloc(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

#include <linux/hslab_compat_kmalloc.h>

/* The cache of hslab's that has @object, NULL if it is SLUB's. They do not go away. */
static struct hslab_cache *cache_of(void *object)
{
	struct hslab_identity id;
	bool ours;

	rcu_read_lock();
	ours = hslab_identify(object, &id);
	rcu_read_unlock();
	return ours ? id.cache : NULL;
}

static void expect_in(struct kunit *test, const char *name, void *object)
{
	struct hslab_cache *cache = cache_of(object);

	KUNIT_EXPECT_STREQ(test, name, cache ? cache->name : "SLUB's");
}

/* As large as this, aligned to this, from this cache */
static const struct size_class {
	size_t size, align;
	const char *cache;
} size_classes[] = {
	{ 1, 8, "hslab-16" },		{ 8, 8, "hslab-16" },
	{ 16, 16, "hslab-kmalloc-16" },	{ 24, 8, "hslab-32" },
	{ 32, 32, "hslab-kmalloc-32" },	{ 48, 16, "hslab-kmalloc-64" },
	{ 64, 64, "hslab-kmalloc-64" },	{ 96, 32, "hslab-kmalloc-96" },
	{ 100, 8, "hslab-128" },	{ 128, 128, "hslab-kmalloc-128" },
	{ 192, 64, "hslab-kmalloc-192" }, { 320, 64, "hslab-kmalloc-512" },
	{ 1000, 8, "hslab-1024" },	{ 1024, 1024, "hslab-kmalloc-1024" },
	{ 1536, 512, "hslab-kmalloc-2048" }, { 4096, 4096, "hslab-kmalloc-4096" },
	{ 8191, 8, "hslab-8192" },	{ 8192, 8192, "hslab-kmalloc-8192" },
};

static void size_class_desc(const struct size_class *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%zu bytes", c->size);
}

KUNIT_ARRAY_PARAM(size_class, size_classes, size_class_desc);

/* Each of several in a row is aligned, and they are of the cache's size. */
static void classes(struct kunit *test)
{
	const struct size_class *c = test->param_value;
	void *objects[20];
	unsigned int i;
	u64 faults;

	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = kmalloc(c->size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, objects[i]);
		expect_in(test, c->cache, objects[i]);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)objects[i],
						   c->align));
		memset(objects[i], 0xee, c->size);
	}
	KUNIT_EXPECT_EQ(test, hslab_cache_size(cache_of(objects[0])),
			ksize(objects[0]));
	faults = hslab_test_all_faults(cache_of(objects[0]));
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		kfree(objects[i]);
	KUNIT_EXPECT_EQ(test, faults,
			hslab_test_all_faults(cache_of(objects[0])));
}

/* Take over @object of 64 bytes; @zero: it has to be all zero. */
static void is_ours(struct kunit *test, void *object, bool zero)
{
	KUNIT_ASSERT_NOT_NULL(test, object);
	expect_in(test, "hslab-kmalloc-64", object);
	if (zero)
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0, 64));
	memset(object, 0xee, 64);
	kfree(object);
}

static void every_way(struct kunit *test)
{
	struct hslab_cache *cache;
	size_t size = 64, half = 2;
	int node = numa_node_id();
	void *object;

	OPTIMIZER_HIDE_VAR(size);
	OPTIMIZER_HIDE_VAR(half);
	object = kmalloc(size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	cache = cache_of(object);
	kfree(object);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	/* What is freed stays as it is, so that zeros must have been asked for. */
	hslab_test_policy(test, cache, "poison", "off");
	hslab_test_policy(test, cache, "zero", "0");

	is_ours(test, kmalloc(64, GFP_ATOMIC), false);
	is_ours(test, kmalloc(size, GFP_NOWAIT), false);
	is_ours(test, kmalloc_node(size, GFP_KERNEL, node), false);
	is_ours(test, kmalloc_array(32, half, GFP_KERNEL), false);
	is_ours(test, kmalloc_array_node(32, half, GFP_KERNEL, node), false);
	is_ours(test, krealloc(NULL, size, GFP_KERNEL), false);
	is_ours(test, krealloc(ZERO_SIZE_PTR, size, GFP_KERNEL), false);
	is_ours(test, krealloc_array(NULL, 32, half, GFP_KERNEL), false);
	is_ours(test, kzalloc(64, GFP_KERNEL), true);
	is_ours(test, kzalloc(size, GFP_KERNEL), true);
	is_ours(test, kzalloc_node(size, GFP_KERNEL, node), true);
	is_ours(test, kcalloc(32, half, GFP_KERNEL), true);
	is_ours(test, kcalloc_node(32, half, GFP_KERNEL, node), true);

	hslab_test_policy(test, cache, "profile", "balanced");

	KUNIT_EXPECT_PTR_EQ(test, ZERO_SIZE_PTR, kmalloc(size - 64, GFP_KERNEL));
	half = SIZE_MAX / 2;
	OPTIMIZER_HIDE_VAR(half);
	KUNIT_EXPECT_NULL(test, kmalloc_array(4, half, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, kcalloc_node(4, half, GFP_KERNEL, node));
	KUNIT_EXPECT_NULL(test, krealloc_array(NULL, 4, half, GFP_KERNEL));
}

/* Take over @object, which has to be SLUB's. */
static void is_slubs(struct kunit *test, void *object)
{
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_NULL(test, cache_of(object));
	KUNIT_EXPECT_NE(test, 0, ksize(object));
	kfree(object);
}

static void left_to_slub(struct kunit *test)
{
	s64 before = atomic64_read(&hslab_nr_faults);
	size_t large = HSLAB_KMALLOC_MAX + 1;
	void *area;

	OPTIMIZER_HIDE_VAR(large);
	is_slubs(test, kmalloc(HSLAB_KMALLOC_MAX + 1, GFP_KERNEL));
	is_slubs(test, kmalloc(large, GFP_KERNEL));
	is_slubs(test, kzalloc_node(large, GFP_KERNEL, NUMA_NO_NODE));
	is_slubs(test, kmalloc(64, GFP_KERNEL | GFP_DMA));
	is_slubs(test, kmalloc(64, GFP_KERNEL_ACCOUNT));
	is_slubs(test, kmalloc(64, GFP_KERNEL | __GFP_RECLAIMABLE));
	is_slubs(test, slub_kmalloc(64));
	is_slubs(test, kstrdup("kunit", GFP_KERNEL));
	is_slubs(test, kmemdup("kunit", 6, GFP_KERNEL));
	is_slubs(test, kasprintf(GFP_KERNEL, "kunit"));
	area = kvmalloc(64, GFP_KERNEL);
	KUNIT_EXPECT_NULL(test, cache_of(area));
	kvfree(area);
	area = kvmalloc(64, GFP_KERNEL);
	kvfree_sensitive(area, 64);
	KUNIT_EXPECT_EQ(test, before, atomic64_read(&hslab_nr_faults));
}

static u8 *resize(struct kunit *test, u8 *object, size_t size, gfp_t gfp)
{
	u8 *resized = krealloc(object, size, gfp);

	KUNIT_ASSERT_NOT_NULL(test, resized);
	return resized;
}

/* Larger and larger, and its content goes with it: hslab's until it is too large. */
static void reallocate(struct kunit *test)
{
	struct hslab_cache *small;
	u8 *object, *as_before;

	object = kzalloc(60, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	small = cache_of(object);
	memset(object, 0x11, 60);

	/* What fits stays, unless it would not be aligned as it has to be then. */
	as_before = object;
	object = resize(test, object, 62, GFP_KERNEL);
	KUNIT_ASSERT_PTR_EQ(test, as_before, object);
	object = resize(test, object, 64, GFP_KERNEL);
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)object, 64));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x11, 60));
	small = cache_of(object);
	as_before = object;
	memset(object, 0x22, 64);
	/* The rest of what was asked to be zero is. */
	object = resize(test, object, 40, GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_PTR_EQ(test, as_before, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x22, 40));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object + 40, 0, 24));

	object = resize(test, object, 512, GFP_KERNEL | __GFP_ZERO);
	expect_in(test, "hslab-kmalloc-512", object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(small));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x22, 40));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object + 40, 0, 512 - 40));

	object = krealloc_array(object, 5000, 2, GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_EXPECT_NULL(test, cache_of(object));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x22, 40));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object + 40, 0, 10000 - 40));

	/* SLUB's stays SLUB's. */
	object = resize(test, object, 20000, GFP_KERNEL);
	KUNIT_EXPECT_NULL(test, cache_of(object));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x22, 40));
	KUNIT_EXPECT_PTR_EQ(test, ZERO_SIZE_PTR, krealloc(object, 0, GFP_KERNEL));

	/* To a flag that hslab has not, and to nothing */
	object = kzalloc(64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	object = resize(test, object, 128, GFP_KERNEL_ACCOUNT);
	KUNIT_EXPECT_NULL(test, cache_of(object));
	kfree(object);
	object = kzalloc(64, GFP_KERNEL);
	KUNIT_EXPECT_PTR_EQ(test, ZERO_SIZE_PTR, krealloc(object, 0, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(small));
}

static void frees(struct kunit *test)
{
	static const char literal[] = "kunit";
	s64 before = atomic64_read(&hslab_nr_faults);
	struct { struct rcu_head rcu; u64 more[6]; } *waits;
	struct hslab_cache *cache;
	u8 *object;

	object = kmalloc(64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	cache = cache_of(object);
	kfree_const(object);
	kfree_const(kstrdup_const(literal, GFP_KERNEL));
	kfree_const(NULL);

	hslab_test_policy(test, cache, "poison", "off");
	object = kmalloc(64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	memset(object, 0xee, 64);
	kvfree_sensitive(object, 64);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0, 64));
	hslab_test_policy(test, cache, "profile", "balanced");

	waits = kmalloc(sizeof(*waits), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waits);
	kfree_rcu(waits, rcu);
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(!hslab_cache_live(cache)));
	{
		void *gone __free(kfree) = kmalloc(64, GFP_KERNEL);

		KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
		KUNIT_EXPECT_NOT_NULL(test, gone);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, before, atomic64_read(&hslab_nr_faults));
}

/* krealloc() of what is free, or inside, is judged as a free, and gives nothing. */
static void reallocate_freed(struct kunit *test)
{
	u8 *object = kmalloc(128, GFP_KERNEL);
	struct hslab_cache *cache;
	u64 doubles, invalids;

	KUNIT_ASSERT_NOT_NULL(test, object);
	cache = cache_of(object);
	doubles = hslab_test_faults(cache, HSLAB_DOUBLE_FREE);
	invalids = hslab_test_faults(cache, HSLAB_INVALID_FREE);
	KUNIT_EXPECT_EQ(test, 0, ksize(object + 8));
	KUNIT_EXPECT_NULL(test, krealloc(object + 8, 256, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, invalids + 1,
			hslab_test_faults(cache, HSLAB_INVALID_FREE));
	kfree(object);
	OPTIMIZER_HIDE_VAR(object);
	KUNIT_EXPECT_EQ(test, 0, ksize(object));
	KUNIT_EXPECT_NULL(test, krealloc(object, 256, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, doubles + 1,
			hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

static struct kunit_case kmalloc_tests[] = {
	KUNIT_CASE_PARAM(classes, size_class_gen_params),
	KUNIT_CASE(every_way),
	KUNIT_CASE(left_to_slub),
	KUNIT_CASE(reallocate),
	KUNIT_CASE_SLOW(frees),
	KUNIT_CASE(reallocate_freed),
	{}
};

static struct kunit_suite kmalloc_suite = {
	.name = "hslab_kmalloc",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = kmalloc_tests,
};

kunit_test_suite(kmalloc_suite);
