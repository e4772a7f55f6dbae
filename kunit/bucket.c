// SPDX-License-Identifier: GPL-2.0
/*
 * Bucket sets: what can be had from them, and that they share nothing.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

static const unsigned int class_sizes[] = {
	16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192
};

KUNIT_DEFINE_ACTION_WRAPPER(destroy, hslab_bucket_destroy,
			    struct hslab_bucket *);

static struct hslab_bucket *test_bucket(struct kunit *test, const char *name)
{
	struct hslab_bucket *bucket = hslab_bucket_create(name, 0, 0, 0);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(bucket), "%pe", bucket);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, destroy, bucket));
	return bucket;
}

static struct hslab_cache *find_cache(const char *name)
{
	struct hslab_cache *cache, *found = NULL;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		if (!strcmp(cache->name, name))
			found = cache;
	mutex_unlock(&hslab_mutex);
	return found;
}

static unsigned int nr_caches(const char *prefix)
{
	struct hslab_cache *cache;
	unsigned int nr = 0;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		nr += !strncmp(cache->name, prefix, strlen(prefix));
	mutex_unlock(&hslab_mutex);
	return nr;
}

static struct hslab_cache *class_of(struct kunit *test, const char *set,
				    unsigned int size)
{
	char name[HSLAB_NAME_LEN];
	struct hslab_cache *cache;

	snprintf(name, sizeof(name), "%s-%u", set, size);
	cache = find_cache(name);
	KUNIT_ASSERT_NOT_NULL_MSG(test, cache, "%s", name);
	return cache;
}

static void classes_are_there(struct kunit *test)
{
	unsigned int i;

	test_bucket(test, "kunit-set");
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(class_sizes), nr_caches("kunit-set-"));
	for (i = 0; i < ARRAY_SIZE(class_sizes); i++) {
		struct hslab_cache *cache = class_of(test, "kunit-set",
						     class_sizes[i]);

		KUNIT_EXPECT_EQ(test, class_sizes[i], hslab_cache_size(cache));
		KUNIT_EXPECT_STREQ(test, "hslab_kunit", cache->owner);
		KUNIT_EXPECT_FALSE(test, cache->internal);
	}
}

/* Each size comes from the smallest class that holds it. */
static void sizes(struct kunit *test)
{
	struct hslab_bucket *bucket = test_bucket(test, "kunit-set");
	unsigned int i, size, least = 1;
	void *object;

	KUNIT_EXPECT_PTR_EQ(test, ZERO_SIZE_PTR,
			    hslab_bucket_alloc(bucket, 0, GFP_KERNEL));
	hslab_bucket_free(bucket, ZERO_SIZE_PTR);
	hslab_bucket_free(bucket, NULL);
	KUNIT_EXPECT_NULL(test, hslab_bucket_alloc(bucket, 8193, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, hslab_bucket_alloc(bucket, SIZE_MAX, GFP_KERNEL));
	KUNIT_EXPECT_NULL(test, hslab_bucket_alloc(bucket, 8,
						   GFP_KERNEL | GFP_DMA));

	for (i = 0; i < ARRAY_SIZE(class_sizes); i++) {
		struct hslab_cache *cache = class_of(test, "kunit-set",
						     class_sizes[i]);
		unsigned int ends[2] = { least, class_sizes[i] }, e;

		for (e = 0; e < ARRAY_SIZE(ends); e++) {
			size = ends[e];
			object = hslab_bucket_zalloc(bucket, size, GFP_KERNEL);
			KUNIT_ASSERT_NOT_NULL(test, object);
			KUNIT_EXPECT_EQ_MSG(test, 1, hslab_cache_live(cache),
					    "%u bytes", size);
			KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0, size));
			memset(object, 0xee, size);
			hslab_bucket_free(bucket, object);
			KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
			KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
		}
		least = class_sizes[i] + 1;
	}
}

static const void *page_of(const void *object)
{
	return page_address(virt_to_head_page(object));
}

static struct kmem_cache *kmem_of(struct kunit *test, const char *set,
				  unsigned int size)
{
	return hslab_test_route(class_of(test, set, size))->kmem;
}

/*
 * Under merge=any, with objects of two sets and of hslab_kmalloc() allocated in
 * turn: no page has two of them.
 */
static void sets_share_nothing(struct kunit *test)
{
	enum { NR = 200, SETS = 3 };
	struct hslab_bucket *a = test_bucket(test, "kunit-a");
	struct hslab_bucket *b = test_bucket(test, "kunit-b");
	static const char *const names[] = { "kunit-a", "kunit-b", "hslab" };
	unsigned int i, j, k, s, shared, wrong = 0;
	struct kmem_cache *kmem[SETS];
	void *(*object)[SETS];

	object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, object);
	for (i = 0; i < ARRAY_SIZE(class_sizes); i++) {
		unsigned int size = class_sizes[i];

		for (s = 0; s < SETS; s++)
			hslab_test_policy(test, class_of(test, names[s], size),
					  "merge", "any");
		for (s = 0; s < SETS; s++)
			kmem[s] = kmem_of(test, names[s], size);
		KUNIT_EXPECT_PTR_NE(test, kmem[0], kmem[1]);
		for (j = 0; j < NR; j++) {
			object[j][0] = hslab_bucket_alloc(a, size, GFP_KERNEL);
			object[j][1] = hslab_bucket_alloc(b, size, GFP_KERNEL);
			object[j][2] = hslab_kmalloc(size, GFP_KERNEL);
			for (s = 0; s < SETS; s++)
				KUNIT_ASSERT_NOT_NULL(test, object[j][s]);
		}
		for (j = shared = 0; j < NR; j++)
			for (k = 0; k < NR; k++)
				for (s = 0; s < SETS; s++)
					shared += page_of(object[j][s]) ==
						  page_of(object[k][(s + 1) % SETS]);
		KUNIT_EXPECT_EQ_MSG(test, 0, shared, "%u bytes", size);
		for (j = 0; j < NR; j++) {
			for (s = 0; s < SETS && hslab_slab_cache_off; s++)
				wrong += hslab_slab_cache(object[j][s]) !=
					 kmem[s];
			hslab_bucket_free(a, object[j][0]);
			hslab_bucket_free(b, object[j][1]);
			hslab_kfree(object[j][2]);
		}
		KUNIT_EXPECT_EQ_MSG(test, 0, wrong, "%u bytes", size);
		for (s = 0; s < SETS; s++) {
			struct hslab_cache *cache = class_of(test, names[s],
							     size);

			KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
			hslab_test_policy(test, cache, "merge", "never");
		}
	}
}

/* Reported by the first class of the set it was freed to; freed it is not. */
static void wrong_set_is_reported(struct kunit *test)
{
	struct hslab_bucket *a = test_bucket(test, "kunit-a");
	struct hslab_bucket *b = test_bucket(test, "kunit-b");
	struct hslab_cache *first = class_of(test, "kunit-b", 16);
	void *object = hslab_bucket_alloc(a, 64, GFP_KERNEL);
	struct hslab_expect expect = {
		.kind = "cross-cache-free", .cache = first, .object = object,
		.offset = -1, .more = "it belongs to cache kunit-a-64",
		.nr = 1, .caller = NULL,
	};

	KUNIT_ASSERT_NOT_NULL(test, object);
	hslab_bucket_free(b, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(first, HSLAB_CROSS_FREE));
	hslab_test_expect(test, &expect);
	hslab_kfree(object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(class_of(test, "hslab", 16),
						   HSLAB_CROSS_FREE));
	KUNIT_EXPECT_EQ(test, 1,
			hslab_cache_live(class_of(test, "kunit-a", 64)));
	hslab_bucket_free(a, object);
	KUNIT_EXPECT_EQ(test, 0,
			hslab_cache_live(class_of(test, "kunit-a", 64)));
	hslab_bucket_free(a, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(class_of(test, "kunit-a", 64),
						   HSLAB_DOUBLE_FREE));
}

struct name_case {
	const char *name;
	int err;
};

#define CHARS_50 "12345678901234567890123456789012345678901234567890"

static const struct name_case name_cases[] = {
	{ "x", 0 },
	{ CHARS_50 "12345678", 0 },
	{ CHARS_50 "123456789", -EINVAL },
	{ CHARS_50 CHARS_50 CHARS_50, -EINVAL },
	{ "", -EINVAL },
	{ "a/b", -EINVAL },
	{ NULL, -EINVAL },
	{ "hslab", -EEXIST },
};

static void names(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(name_cases); i++) {
		const struct name_case *c = &name_cases[i];
		unsigned int before = nr_caches("");
		struct hslab_bucket *bucket = hslab_bucket_create(c->name, 0,
								  0, 0);

		KUNIT_EXPECT_EQ_MSG(test, c->err, PTR_ERR_OR_ZERO(bucket),
				    "name %s", c->name ? c->name : "NULL");
		if (!IS_ERR(bucket))
			hslab_bucket_destroy(bucket);
		KUNIT_EXPECT_EQ(test, before, nr_caches(""));
	}
}

static void bad_arguments(struct kunit *test)
{
	static const struct {
		slab_flags_t flags;
		unsigned int useroffset, usersize;
	} cases[] = {
		{ SLAB_TYPESAFE_BY_RCU, 0, 0 },
		{ SLAB_POISON, 0, 0 },
		{ 0, 8, 0 },
		{ 0, 8193, 1 },
		{ 0, 0, 8193 },
		{ 0, 8, 8185 },
		{ 0, 8, UINT_MAX },
	};
	unsigned int i, before = nr_caches("");
	struct hslab_bucket *bucket;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		bucket = hslab_bucket_create("kunit-set", cases[i].flags,
					     cases[i].useroffset,
					     cases[i].usersize);
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, PTR_ERR_OR_ZERO(bucket),
				    "case %u", i);
	}
	KUNIT_EXPECT_EQ(test, before, nr_caches(""));
}

/* A class has of the window what lies within it. */
static void usercopy_window(struct kunit *test)
{
	static const struct {
		unsigned int size, useroffset, usersize;
	} cases[] = {
		{ 16, 0, 0 }, { 32, 20, 12 }, { 64, 20, 44 }, { 96, 20, 76 },
		{ 128, 20, 100 }, { 8192, 20, 100 },
	};
	struct hslab_bucket *bucket = hslab_bucket_create("kunit-set",
							  SLAB_ACCOUNT, 20, 100);
	unsigned int i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(bucket));
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, destroy, bucket));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct hslab_geometry *g =
			&class_of(test, "kunit-set", cases[i].size)->geometry;

		KUNIT_EXPECT_EQ(test, cases[i].useroffset, g->useroffset);
		KUNIT_EXPECT_EQ(test, cases[i].usersize, g->usersize);
		KUNIT_EXPECT_EQ(test, SLAB_ACCOUNT, g->flags);
	}
}

/* One class cannot be had: none is left. */
static void failure_leaves_nothing(struct kunit *test)
{
	struct hslab_cache *obstacle = hslab_test_cache(test, "kunit-set-256",
							8, NULL);
	unsigned int before = nr_caches("");
	struct hslab_bucket *bucket;

	bucket = hslab_bucket_create("kunit-set", 0, 0, 0);
	KUNIT_EXPECT_EQ(test, -EEXIST, PTR_ERR_OR_ZERO(bucket));
	KUNIT_EXPECT_EQ(test, before, nr_caches(""));
	KUNIT_EXPECT_EQ(test, 1, nr_caches("kunit-set"));
	hslab_test_destroy(test, obstacle);
	test_bucket(test, "kunit-set");
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(class_sizes), nr_caches("kunit-set-"));
}

/* Memory that is live when its set is destroyed can still be freed. */
static void destroy_with_live_memory(struct kunit *test)
{
	struct hslab_bucket *bucket = hslab_bucket_create("kunit-set", 0, 0, 0);
	unsigned int ids[2], i, j;
	void *object[2];

	KUNIT_ASSERT_FALSE(test, IS_ERR(bucket));
	for (i = 0; i < 2; i++) {
		unsigned int size = i ? 1000 : 60;

		object[i] = hslab_bucket_alloc(bucket, size, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		ids[i] = hslab_test_store(class_of(test, "kunit-set",
						   i ? 1024 : 64))->id;
	}
	hslab_bucket_destroy(bucket);
	KUNIT_EXPECT_EQ(test, 0, nr_caches("kunit-set"));
	msleep(200);		/* the other classes are gone by now */
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_NOT_NULL(test,
				      READ_ONCE(hslab_store_of_ctor[ids[i]]));
		hslab_bucket_free(bucket, object[i]);
		for (j = 0; j < 100 && READ_ONCE(hslab_store_of_ctor[ids[i]]);
		     j++)
			msleep(50);
		KUNIT_EXPECT_NULL(test, READ_ONCE(hslab_store_of_ctor[ids[i]]));
	}
}

static void cleanup_helper(struct kunit *test)
{
	{
		struct hslab_bucket *bucket __free(hslab_bucket_destroy) =
			hslab_bucket_create("kunit-set", 0, 0, 0);
		struct hslab_bucket *fails __free(hslab_bucket_destroy) =
			hslab_bucket_create("kunit-set", 0, 0, 0);

		KUNIT_EXPECT_FALSE(test, IS_ERR(bucket));
		KUNIT_EXPECT_TRUE(test, IS_ERR(fails));
	}
	KUNIT_EXPECT_EQ(test, 0, nr_caches("kunit-set"));
}

static struct kunit_case bucket_tests[] = {
	KUNIT_CASE(classes_are_there),
	KUNIT_CASE(sizes),
	KUNIT_CASE_SLOW(sets_share_nothing),
	KUNIT_CASE_SLOW(wrong_set_is_reported),
	KUNIT_CASE_SLOW(names),
	KUNIT_CASE(bad_arguments),
	KUNIT_CASE_SLOW(usercopy_window),
	KUNIT_CASE_SLOW(failure_leaves_nothing),
	KUNIT_CASE_SLOW(destroy_with_live_memory),
	KUNIT_CASE_SLOW(cleanup_helper),
	{}
};

static struct kunit_suite bucket_suite = {
	.name = "hslab_bucket",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = bucket_tests,
};

kunit_test_suite(bucket_suite);
