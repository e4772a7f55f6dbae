// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of include/linux/hslab.h: what can be created, what cannot,
 * and that every byte of what is allocated can be used.
 */
#include <linux/cpumask.h>
#include <linux/mempool.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

static u64 nr_reports(void)
{
	return atomic64_read(&hslab_nr_faults);
}

/*
 * SIZES AND ALIGNMENTS
 */

/* Use objects of a new cache to the last byte, and destroy it. */
static void use_cache(struct kunit *test, unsigned int size, unsigned int align)
{
	struct hslab_args args = { .align = align };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-use", size,
						     &args);
	u64 reports = nr_reports();
	unsigned int i, nr = size < SZ_64K ? 3 : 1;
	void *object[3];

	KUNIT_EXPECT_EQ(test, size, hslab_cache_size(cache));
	for (i = 0; i < nr; i++) {
		object[i] = hslab_zalloc(cache, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL_MSG(test, object[i], "size %u", size);
		if (!IS_ALIGNED((unsigned long)object[i], max(align, 8U)))
			KUNIT_FAIL(test, "size %u: %p is not aligned to %u",
				   size, object[i], align);
		if (!hslab_peek_all(object[i], 0, size))
			KUNIT_FAIL(test, "size %u: not zeroed", size);
		memset(object[i], 0xa0 + i, size);
	}
	for (i = 0; i < nr; i++) {
		if (!hslab_peek_all(object[i], 0xa0 + i, size))
			KUNIT_FAIL(test, "size %u: content was changed", size);
		hslab_free(cache, object[i]);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, nr, hslab_cache_peak(cache));
	hslab_test_destroy(test, cache);
	KUNIT_EXPECT_EQ_MSG(test, reports, nr_reports(), "size %u, align %u",
			    size, align);
}

static void small_sizes(struct kunit *test)
{
	unsigned int size;

	for (size = 1; size <= 33; size++)
		use_cache(test, size, 0);
}

/* A size, one less and one more. */
struct size_case {
	unsigned int size;
};

static const struct size_case size_cases[] = {
	{ 64 }, { 128 }, { 192 }, { 256 }, { 1000 }, { 2048 }, { 4096 },
	{ 8192 }, { 100000 }, { 1048576 }, { HSLAB_MAX_SIZE - 1 },
};

static void size_desc(const struct size_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "about %u bytes", c->size);
}

KUNIT_ARRAY_PARAM(size, size_cases, size_desc);

static void larger_sizes(struct kunit *test)
{
	const struct size_case *c = test->param_value;
	int i;

	for (i = -1; i <= 1; i++)
		use_cache(test, c->size + i, 0);
}

static void alignments(struct kunit *test)
{
	static const unsigned int sizes[] = { 1, 100, 4096 };
	unsigned int align, i;

	for (align = 1; align <= 4096; align *= 2)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			use_cache(test, sizes[i], align);
}

/* Objects are as far from each other as hslab_slot_size() says. */
static void slots_are_as_computed(struct kunit *test)
{
	enum { NR = 64 };
	static const struct {
		unsigned int size, align;
	} cases[] = {
		{ 1, 0 }, { 24, 0 }, { 48, 64 }, { 64, 64 }, { 100, 16 },
		{ 500, 0 }, { 1024, 0 }, { 1000, 1024 },
	};
	unsigned int c, i, j;

	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		struct hslab_args args = { .align = cases[c].align };
		struct hslab_cache *cache =
			hslab_test_cache(test, "kunit-slot", cases[c].size,
					 &args);
		unsigned int slot = hslab_slot_size(&cache->geometry);
		size_t least = SIZE_MAX;
		void *object[NR];

		for (i = 0; i < NR; i++) {
			object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
			for (j = 0; j < i; j++)
				least = min_t(size_t, least,
					      abs(object[i] - object[j]));
		}
		/* KASAN has its red zones between them. */
		if (IS_ENABLED(CONFIG_KASAN))
			KUNIT_EXPECT_GE_MSG(test, least, slot, "size %u",
					    cases[c].size);
		else
			KUNIT_EXPECT_EQ_MSG(test, least, slot, "size %u",
					    cases[c].size);
		hslab_free_bulk(cache, NR, object);
		hslab_test_destroy(test, cache);
	}
}

static void cache_line_alignment(struct kunit *test)
{
	struct hslab_args args = { .flags = SLAB_HWCACHE_ALIGN };
	struct hslab_cache *cache;
	void *object;
	int i;

	cache = hslab_test_cache(test, "kunit-line", 100, &args);
	for (i = 0; i < 10; i++) {
		object = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)object,
						   cache_line_size()));
		hslab_free(cache, object);
	}
}

/* Every flag that is taken gives a cache that works. */
struct flag_case {
	const char *name;
	slab_flags_t flag;
	gfp_t gfp;
};

static const struct flag_case flag_cases[] = {
	{ "SLAB_HWCACHE_ALIGN", SLAB_HWCACHE_ALIGN, GFP_KERNEL },
	{ "SLAB_ACCOUNT", SLAB_ACCOUNT, GFP_KERNEL_ACCOUNT },
	{ "SLAB_RECLAIM_ACCOUNT", SLAB_RECLAIM_ACCOUNT, GFP_KERNEL },
	{ "SLAB_CACHE_DMA", SLAB_CACHE_DMA, GFP_KERNEL },
	{ "SLAB_TYPESAFE_BY_RCU", SLAB_TYPESAFE_BY_RCU, GFP_KERNEL },
	{ "SLAB_PANIC", SLAB_PANIC, GFP_KERNEL },
	{ "SLAB_NOLEAKTRACE", SLAB_NOLEAKTRACE, GFP_KERNEL },
	{ "SLAB_NO_MERGE", HSLAB_COMPAT_NO_MERGE, GFP_KERNEL },
};

KUNIT_ARRAY_PARAM_DESC(flag, flag_cases, name);

static void flag_is_taken(struct kunit *test)
{
	const struct flag_case *c = test->param_value;
	struct hslab_args args = { .flags = c->flag };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-flag", 50,
						     &args);
	u64 reports = nr_reports();
	void *object[10];
	unsigned int round;

	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_EQ(test, ARRAY_SIZE(object),
				hslab_alloc_bulk(cache, c->gfp,
						 ARRAY_SIZE(object), object));
		hslab_free_bulk(cache, ARRAY_SIZE(object), object);
	}
	KUNIT_EXPECT_EQ(test, reports, nr_reports());
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* SLAB_NO_MERGE asks for merge=never, whatever the profile says. */
static void no_merge_is_never(struct kunit *test)
{
	struct hslab_args args = {
		.flags = HSLAB_COMPAT_NO_MERGE,
		.profile = "off",
	};
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-no-merge",
						     50, &args);

	if (args.flags)
		KUNIT_EXPECT_EQ(test, cache->policy.merge, HSLAB_MERGE_NEVER);
	args.flags = 0;
	cache = hslab_test_cache(test, "kunit-may-merge", 50, &args);
	KUNIT_EXPECT_EQ(test, cache->policy.merge, HSLAB_MERGE_ANY);
}

/*
 * WHAT CANNOT BE HAD
 */
#define NAME_63 "123456789-123456789-123456789-123456789-123456789-123456789-123"

struct wrong_case {
	const char *what;
	const char *name;		/* NULL: a good one */
	unsigned int size;
	struct hslab_args args;
};

static const struct wrong_case wrong_cases[] = {
	{ "size 0", NULL, 0 },
	{ "size one too big", NULL, HSLAB_MAX_SIZE + 1 },
	{ "size 4 GiB - 1", NULL, UINT_MAX },
	{ "align 3", NULL, 64, { .align = 3 } },
	{ "align 24", NULL, 64, { .align = 24 } },
	{ "align 4097", NULL, 64, { .align = 4097 } },
	{ "align too big", NULL, 64, { .align = 2 * KMALLOC_MAX_SIZE } },
	{ "SLAB_POISON", NULL, 64, { .flags = SLAB_POISON } },
	{ "SLAB_RED_ZONE", NULL, 64, { .flags = SLAB_RED_ZONE } },
	{ "SLAB_STORE_USER", NULL, 64, { .flags = SLAB_STORE_USER } },
	{ "SLAB_CONSISTENCY_CHECKS", NULL, 64,
	  { .flags = SLAB_CONSISTENCY_CHECKS } },
	{ "SLAB_TRACE", NULL, 64, { .flags = SLAB_TRACE } },
	{ "SLAB_POISON with a good flag", NULL, 64,
	  { .flags = SLAB_POISON | SLAB_HWCACHE_ALIGN } },
	{ "window behind the object", NULL, 64,
	  { .useroffset = 64, .usersize = 1 } },
	{ "window over the end", NULL, 64,
	  { .useroffset = 60, .usersize = 5 } },
	{ "window larger than the object", NULL, 64, { .usersize = 65 } },
	{ "window into the padding", NULL, 61, { .usersize = 62 } },
	{ "window that wraps", NULL, 64,
	  { .useroffset = 0xfffffff0, .usersize = 0x20 } },
	{ "window of no size", NULL, 64, { .useroffset = 8 } },
	{ "no name", "", 64 },
	{ "name of 64 characters", NAME_63 "4", 64 },
	{ "name with a slash", "a/b", 64 },
	{ "name with a newline", "a\nb", 64 },
	{ "name with a DEL", "a\177", 64 },
	{ "name .", ".", 64 },
	{ "name ..", "..", 64 },
	{ "profile that is none", NULL, 64, { .profile = "turbo" } },
	{ "profile custom", NULL, 64, { .profile = "custom" } },
	{ "profile of no letters", NULL, 64, { .profile = "" } },
};

KUNIT_ARRAY_PARAM_DESC(wrong, wrong_cases, what);

static unsigned int nr_caches(void)
{
	unsigned int nr;

	mutex_lock(&hslab_mutex);
	nr = list_count_nodes(&hslab_caches);
	mutex_unlock(&hslab_mutex);
	return nr;
}

static void expect_no_cache(struct kunit *test, struct hslab_cache *cache,
			    long err)
{
	KUNIT_EXPECT_TRUE(test, IS_ERR(cache));
	if (IS_ERR(cache))
		KUNIT_EXPECT_EQ(test, err, PTR_ERR(cache));
	else
		hslab_cache_destroy(cache);
}

static void wrong_argument(struct kunit *test)
{
	const struct wrong_case *c = test->param_value;
	unsigned int before = nr_caches();

	expect_no_cache(test, hslab_cache_create(c->name ?: "kunit-wrong",
						 c->size, &c->args), -EINVAL);
	KUNIT_EXPECT_EQ(test, before, nr_caches());
}

static void no_name_at_all(struct kunit *test)
{
	expect_no_cache(test, hslab_cache_create(NULL, 64, NULL), -EINVAL);
}

/* What is just within the limits. */
static void barely_right(struct kunit *test)
{
	struct hslab_args args = { .useroffset = 60, .usersize = 4 };

	hslab_test_destroy(test, hslab_test_cache(test, NAME_63, 64, &args));
	args = (struct hslab_args) { .usersize = 61 };
	hslab_test_destroy(test, hslab_test_cache(test, "kunit 61", 61, &args));
	args = (struct hslab_args) { .align = 4096 };
	hslab_test_destroy(test, hslab_test_cache(test, "...", 1, &args));
}

static void name_is_taken(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-name", 64,
						     NULL);

	expect_no_cache(test, hslab_cache_create("kunit-name", 64, NULL),
			-EEXIST);
	expect_no_cache(test, hslab_cache_create("kunit-name", 128, NULL),
			-EEXIST);
	expect_no_cache(test, hslab_cache_create("hslab-64", 64, NULL),
			-EEXIST);
	hslab_test_destroy(test, cache);
	cache = hslab_test_cache(test, "kunit-name", 128, NULL);
	KUNIT_EXPECT_EQ(test, 128, hslab_cache_size(cache));
}

/*
 * LIFE AND DEATH
 */
static void destroy_nothing(struct kunit *test)
{
	hslab_cache_destroy(NULL);
}

static void free_nothing(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-nothing", 64,
						     NULL);
	void *object[3] = {};

	hslab_free(cache, NULL);
	hslab_free_bulk(cache, 0, object);
	hslab_free_bulk(cache, ARRAY_SIZE(object), object);
	object[1] = hslab_test_alloc(test, cache, GFP_KERNEL);
	hslab_free_bulk(cache, ARRAY_SIZE(object), object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_alloc_bulk(cache, GFP_KERNEL, 0,
						  object));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* The store of a destroyed cache goes when its last object has come home. */
static void free_after_destroy(struct kunit *test)
{
	enum { NR = 10 };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-late", 64,
						     NULL);
	struct hslab_cache *again;
	u64 reports = nr_reports();
	struct hslab_store *store;
	unsigned int i, id;
	void *object[NR];

	for (i = 0; i < NR; i++)
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	store = hslab_test_store(cache);
	id = store->id;
	hslab_test_destroy(test, cache);
	KUNIT_EXPECT_PTR_EQ(test, store, hslab_store_of_ctor[id]);
	KUNIT_EXPECT_EQ(test, NR, hslab_cache_live(cache));

	/* The name is free, and the new cache has nothing of the old one. */
	again = hslab_test_cache(test, "kunit-late", 64, NULL);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(again));
	KUNIT_EXPECT_PTR_NE(test, store, hslab_test_store(again));

	for (i = 0; i < NR; i++) {
		memset(object[i], 0xee, 64);
		hslab_free(cache, object[i]);
	}
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(READ_ONCE(hslab_store_of_ctor[id]) !=
						      store));
	KUNIT_EXPECT_EQ(test, reports, nr_reports());
}

/* Bulk and node variants give objects that are sound and distinct. */
static void bulk_and_node(struct kunit *test)
{
	enum { NR = 200 };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-bulk", 40,
						     NULL);
	struct hslab_counts counts;
	u64 **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL, NR,
						   (void **)object));
	for (i = 0; i < NR; i++)
		memset64(object[i], i, 5);
	KUNIT_EXPECT_EQ(test, NR, hslab_cache_live(cache));
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_TRUE(test, hslab_intact(object[i], 5, i));
	hslab_free_bulk(cache, NR, (void **)object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));

	object[0] = hslab_alloc_node(cache, GFP_KERNEL, numa_node_id());
	object[1] = hslab_alloc_node(cache, GFP_KERNEL, NUMA_NO_NODE);
	KUNIT_EXPECT_NOT_NULL(test, object[0]);
	KUNIT_EXPECT_NOT_NULL(test, object[1]);
	hslab_free_bulk(cache, 2, (void **)object);
	hslab_test_counts(cache, &counts);
	KUNIT_EXPECT_EQ(test, NR + 2, counts.allocs - counts.fails);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* While all is done on one CPU a peak below 64 is exact. */
static void live_and_peak(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-peak", 40,
						     NULL);
	void *object[60];
	unsigned int i, n;

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	for (n = 1; n <= ARRAY_SIZE(object); n++) {
		for (i = 0; i < n; i++)
			object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_EQ(test, n, hslab_cache_live(cache));
		hslab_free_bulk(cache, n, object);
		KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
		KUNIT_EXPECT_EQ(test, n, hslab_cache_peak(cache));
	}
}

/*
 * FAILURE
 */

/* Let the @nth of this task's next allocations by kmem_cache_alloc() fail. */
static void fail_nth(struct kunit *test, unsigned int nth)
{
#ifdef CONFIG_FAILSLAB
	current->fail_nth = nth;
#else
	kunit_skip(test, "needs CONFIG_FAILSLAB");
#endif
}

/* One that may fail, and says nothing when it does. */
#define GFP_MAY_FAIL	(GFP_NOWAIT | __GFP_NOWARN)

/* More than hslab and SLUB keep ready of a cache. */
#define MANY		1000

/* Allocate till SLUB, asked for an object, fails. Return: the number of objects. */
static unsigned int exhaust(struct kunit *test, struct hslab_cache *cache,
			    void **object)
{
	unsigned int nr;

	for (nr = 0; nr < MANY; nr++) {
		fail_nth(test, 1);
		object[nr] = hslab_alloc(cache, GFP_MAY_FAIL);
		fail_nth(test, 0);
		if (!object[nr])
			break;
	}
	KUNIT_EXPECT_LT_MSG(test, nr, MANY, "no allocation failed");
	return nr;
}

static void allocation_fails(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-fail", 64,
						     NULL);
	void **object = kunit_kcalloc(test, MANY, sizeof(*object), GFP_KERNEL);
	struct hslab_counts counts;
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, object);
	nr = exhaust(test, cache, object);
	hslab_test_counts(cache, &counts);
	KUNIT_EXPECT_EQ(test, nr + 1, counts.allocs);
	KUNIT_EXPECT_EQ(test, 1, counts.fails);
	KUNIT_EXPECT_EQ(test, nr, hslab_cache_live(cache));
	hslab_free_bulk(cache, nr, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));

	/* Of a bulk all or none: what hslab itself keeps is not enough. */
	fail_nth(test, 1);
	nr = hslab_alloc_bulk(cache, GFP_MAY_FAIL, MANY, object);
	fail_nth(test, 0);
	KUNIT_EXPECT_EQ(test, 0, nr);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	hslab_test_counts(cache, &counts);
	KUNIT_EXPECT_EQ(test, 2, counts.fails);

	/* After which all is well. */
	nr = hslab_alloc_bulk(cache, GFP_MAY_FAIL, MANY, object);
	KUNIT_EXPECT_EQ(test, MANY, nr);
	hslab_free_bulk(cache, nr, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * OTHER WAYS TO ALLOCATE
 */
static void kmalloc_sizes(struct kunit *test)
{
	u64 reports = nr_reports();
	size_t size;

	for (size = 1; size <= HSLAB_KMALLOC_MAX; size++) {
		u8 *object = hslab_kmalloc(size, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL_MSG(test, object, "size %zu", size);
		memset(object, 0xee, size);
		hslab_kfree(object);
	}
	KUNIT_EXPECT_EQ(test, reports, nr_reports());
}

static void kmalloc_limits(struct kunit *test)
{
	u64 reports = nr_reports();

	KUNIT_EXPECT_PTR_EQ(test, hslab_kmalloc(0, GFP_KERNEL), ZERO_SIZE_PTR);
	KUNIT_EXPECT_PTR_EQ(test, hslab_kzalloc(0, GFP_KERNEL), ZERO_SIZE_PTR);
	KUNIT_EXPECT_NULL(test, hslab_kmalloc(HSLAB_KMALLOC_MAX + 1,
					      GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, hslab_kmalloc(SIZE_MAX, GFP_KERNEL));
	hslab_kfree(NULL);
	hslab_kfree(ZERO_SIZE_PTR);
	KUNIT_EXPECT_EQ(test, reports, nr_reports());
}

static void kmalloc_many(struct kunit *test)
{
	enum { NR = 200 };
	u8 **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	u64 reports = nr_reports();
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, object);
	for (i = 0; i < NR; i++) {
		size_t size = 1 + i * 41;

		object[i] = hslab_kzalloc(size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED((unsigned long)object[i],
						   8));
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[i], 0, size));
		memset(object[i], i, size);
	}
	for (i = 0; i < NR; i++)
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[i], i,
						       1 + i * 41));
	for (i = 0; i < NR; i++)
		hslab_kfree(object[i]);
	KUNIT_EXPECT_EQ(test, reports, nr_reports());
}

static void mempool(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-pool", 64,
						     NULL);
	mempool_t *pool = hslab_mempool_create(4, cache);
	void *object[10];
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_EXPECT_EQ(test, 4, hslab_cache_live(cache));
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = mempool_alloc(pool, GFP_KERNEL);
		KUNIT_EXPECT_NOT_NULL(test, object[i]);
		memset(object[i], 0xee, 64);
	}
	KUNIT_EXPECT_EQ(test, 14, hslab_cache_live(cache));
	for (i = 0; i < ARRAY_SIZE(object); i++)
		mempool_free(object[i], pool);
	KUNIT_EXPECT_EQ(test, 4, hslab_cache_live(cache));
	mempool_destroy(pool);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* When nothing is left the pool gives its reserve. */
static void mempool_has_a_reserve(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-pool", 64,
						     NULL);
	void **object = kunit_kcalloc(test, MANY, sizeof(*object), GFP_KERNEL);
	mempool_t *pool = hslab_mempool_create(1, cache);
	unsigned int nr;
	void *reserve;

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	nr = exhaust(test, cache, object);
	fail_nth(test, 1);
	reserve = mempool_alloc(pool, GFP_MAY_FAIL);
	fail_nth(test, 0);
	KUNIT_EXPECT_NOT_NULL(test, reserve);
	KUNIT_EXPECT_EQ(test, 1 + nr, hslab_cache_live(cache));
	mempool_free(reserve, pool);
	mempool_destroy(pool);
	hslab_free_bulk(cache, nr, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static struct kunit_case cache_tests[] = {
	KUNIT_CASE(small_sizes),
	KUNIT_CASE_PARAM(larger_sizes, size_gen_params),
	KUNIT_CASE(alignments),
	KUNIT_CASE(slots_are_as_computed),
	KUNIT_CASE(cache_line_alignment),
	KUNIT_CASE_PARAM(flag_is_taken, flag_gen_params),
	KUNIT_CASE(no_merge_is_never),
	KUNIT_CASE_PARAM(wrong_argument, wrong_gen_params),
	KUNIT_CASE(no_name_at_all),
	KUNIT_CASE(barely_right),
	KUNIT_CASE(name_is_taken),
	KUNIT_CASE(destroy_nothing),
	KUNIT_CASE(free_nothing),
	KUNIT_CASE(free_after_destroy),
	KUNIT_CASE(bulk_and_node),
	KUNIT_CASE(live_and_peak),
	KUNIT_CASE(allocation_fails),
	KUNIT_CASE(kmalloc_sizes),
	KUNIT_CASE(kmalloc_limits),
	KUNIT_CASE(kmalloc_many),
	KUNIT_CASE(mempool),
	KUNIT_CASE(mempool_has_a_reserve),
	{}
};

static struct kunit_suite cache_suite = {
	.name = "hslab_cache",
	.test_cases = cache_tests,
};

kunit_test_suite(cache_suite);
