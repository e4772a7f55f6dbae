// SPDX-License-Identifier: GPL-2.0
/*
 * Where policies, their changes and damage meet: a cache that moves while its
 * quarantine is full, and objects that somebody else frees while hslab keeps them.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmstat.h>

#include "hslab_kunit.h"

#define SIZE		256

/* Others on a CPU may change what it has, so a test, which has its own thread, stays. */
static void stay_on_first_cpu(void)
{
	set_cpus_allowed_ptr(current,
			     cpumask_of(cpumask_first(cpu_online_mask)));
}

/*
 * WHAT THE TESTS SHARE
 */
static struct hslab_cache *held_cache(struct kunit *test, unsigned int size,
				      const char *kb)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-mixed", size,
						     NULL);

	stay_on_first_cpu();
	hslab_test_policy(test, cache, "profile", "debug");
	hslab_test_policy(test, cache, "quarantine_kb", kb);
	return cache;
}

static unsigned long held(const struct hslab_cache *cache)
{
	return hslab_quarantine_objects(hslab_test_route(cache));
}

static unsigned long room(const struct hslab_cache *cache, unsigned long kb)
{
	return kb * SZ_1K / hslab_slot_size(&hslab_test_store(cache)->geometry);
}

static long reserved(const struct hslab_cache *cache)
{
	return atomic_long_read(&cache->quarantine_reserved);
}

static u64 state_of(const struct hslab_cache *cache, const void *object)
{
	return hslab_test_plain(cache, object) & HSLAB_STATE_MASK;
}

static void alloc_and_free(struct kunit *test, struct hslab_cache *cache,
			   unsigned int nr)
{
	void **objects = kunit_kcalloc(test, nr, sizeof(*objects), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, objects);
	KUNIT_ASSERT_EQ(test, nr,
			hslab_alloc_bulk(cache, GFP_KERNEL, nr, objects));
	hslab_free_bulk(cache, nr, objects);
	kunit_kfree(test, objects);
}

static bool store_is_there(unsigned int id, const struct hslab_store *store)
{
	return READ_ONCE(hslab_store_of_ctor[id]) == store;
}

/*
 * MOVING WITH A FULL QUARANTINE
 */

/*
 * The former quarantine has all of the bound when the first object is freed to the
 * new one, and gives it back later.
 */
static void full_one_is_left(struct kunit *test)
{
	struct hslab_cache *cache = held_cache(test, SIZE, "64");
	struct hslab_reader *reader;

	alloc_and_free(test, cache, 2 * room(cache, 64));
	KUNIT_ASSERT_EQ(test, held(cache), room(cache, 64));
	reader = hslab_test_reader(test);
	hslab_test_policy(test, cache, "track", "1");
	alloc_and_free(test, cache, 1);
	KUNIT_EXPECT_EQ(test, held(cache), 0);
	hslab_test_reader_leaves(reader);
	KUNIT_ASSERT_TRUE(test,
			  hslab_test_eventually(!reserved(cache)));

	/* hslab_balance(), which was asked for, may take what is not a fair share. */
	alloc_and_free(test, cache, 2 * room(cache, 64));
	KUNIT_EXPECT_GE(test, held(cache), room(cache, 64) / 4);
	KUNIT_EXPECT_LE(test, held(cache), room(cache, 64));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* The bound is lowered while the cache is away, and the cache comes back. */
static void full_one_is_met_again(struct kunit *test)
{
	static const char *const kb[] = { "4", "0" };
	static const unsigned long number[] = { 4, 0 };
	struct hslab_cache *cache = held_cache(test, SIZE, "64");
	struct hslab_route *route = hslab_test_route(cache);
	struct hslab_reader *reader;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kb); i++) {
		hslab_test_policy(test, cache, "quarantine_kb", "64");
		alloc_and_free(test, cache, 2 * room(cache, 64));
		KUNIT_ASSERT_EQ(test, held(cache), room(cache, 64));
		reader = hslab_test_reader(test);
		hslab_test_policy(test, cache, "track", "1");
		hslab_test_policy(test, cache, "quarantine_kb", kb[i]);
		hslab_test_policy(test, cache, "track", "0");
		KUNIT_ASSERT_PTR_EQ(test, hslab_test_route(cache), route);
		KUNIT_EXPECT_LE(test, held(cache), room(cache, number[i]));
		alloc_and_free(test, cache, room(cache, 64));
		KUNIT_EXPECT_LE(test, held(cache), room(cache, number[i]));
		KUNIT_EXPECT_LE(test, reserved(cache), number[i] * SZ_1K);
		hslab_test_reader_leaves(reader);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * A SUSPECT, AND AS MANY LIVE OBJECTS
 */
struct suspect_case {
	const char *name;
	bool destroyed;
};

static const struct suspect_case suspect_cases[] = {
	{ "the cache moves", false },
	{ "the cache is destroyed", true },
};

static void suspect_desc(const struct suspect_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(suspect, suspect_cases, suspect_desc);

/* A free object whose whole tag was overwritten is freed again; another is live. */
static void suspect_is_not_the_live_one(struct kunit *test)
{
	const struct suspect_case *c = test->param_value;
	struct hslab_args args = { .profile = "balanced" };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-mixed", SIZE,
						     &args);
	struct hslab_store *store = hslab_test_store(cache);
	unsigned int id = store->id;
	void *live, *object;
	u64 *tag, word;

	hslab_test_victim(test, cache, &live, &object);
	hslab_free(cache, object);
	tag = hslab_tag(object, store->tag_off);
	hslab_peek(&word, tag, sizeof(word));
	word = ~word;
	hslab_plant(tag, &word, sizeof(word));
	hslab_free(cache, object);
	KUNIT_ASSERT_EQ(test, 1, store->nr_suspects);
	KUNIT_ASSERT_EQ(test, 1, hslab_cache_live(cache));

	if (c->destroyed)
		hslab_test_destroy(test, cache);
	else
		hslab_test_policy(test, cache, "track", "1");
	msleep(500);
	KUNIT_ASSERT_TRUE_MSG(test, store_is_there(id, store),
			      "the store has gone while an object is live");
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	hslab_free(cache, live);
	KUNIT_EXPECT_TRUE(test,
			  hslab_test_eventually(!store_is_there(id, store)));
}

/*
 * FREED BY SOMEBODY ELSE WHILE HSLAB KEEPS IT
 */

/* With check off as well, what hslab has is not handed out. */
static void quarantined_is_ours(struct kunit *test)
{
	enum { NR = 200 };
	struct hslab_cache *cache = held_cache(test, SIZE, "1024");
	struct kmem_cache *kmem = hslab_test_route(cache)->kmem;
	void *anchor, *object, **other;
	unsigned int i;

	other = kunit_kcalloc(test, NR, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, other);
	hslab_test_victim(test, cache, &anchor, &object);
	hslab_test_policy(test, cache, "check", "0");
	hslab_free(cache, object);
	KUNIT_ASSERT_EQ(test, state_of(cache, object), HSLAB_QUARANTINED);
	kmem_cache_free(kmem, object);
	kmem_cache_shrink(kmem);	/* empties KASAN's quarantine */
	for (i = 0; i < NR; i++) {
		other[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_PTR_NE(test, other[i], object);
	}
	hslab_free_bulk(cache, NR, other);
	hslab_free(cache, anchor);
	hslab_quarantine_purge();
	/* It is reported once: when SLUB hands it out. */
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_NOT_FREED));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, held(cache));
}

/*
 * The same, and its slab page has gone, as it was alone there: what is in its place
 * is somebody else's, though it may still look like the object.
 */
#define ALONE		20000

static void free_around(struct kunit *test, struct kmem_cache *kmem,
			void *object)
{
	kmem_cache_free(kmem, object);
	kmem_cache_shrink(kmem);
	msleep(50);		/* SLUB frees slabs by RCU, or from a worker, too */
	kmem_cache_shrink(kmem);
	if (hslab_compat_in_slab(object) && hslab_slab_cache(object) == kmem)
		kunit_skip(test, "the page does not go");
}

static void expect_gone(struct kunit *test, const struct hslab_cache *cache)
{
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_NOT_FREED));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

static void page_goes_from_quarantine(struct kunit *test)
{
	struct hslab_cache *cache = held_cache(test, ALONE, "1024");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	hslab_free(cache, object);
	KUNIT_ASSERT_EQ(test, state_of(cache, object), HSLAB_QUARANTINED);
	free_around(test, hslab_test_route(cache)->kmem, object);
	hslab_quarantine_purge();
	expect_gone(test, cache);
	KUNIT_EXPECT_EQ(test, 0, held(cache));
}

/* It has to leave for others, and does not go to a magazine. */
static void page_goes_from_full_quarantine(struct kunit *test)
{
	struct hslab_cache *cache = held_cache(test, ALONE, "64");
	void *object[8];

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(object),
			hslab_alloc_bulk(cache, GFP_KERNEL, ARRAY_SIZE(object),
					 object));
	hslab_free(cache, object[0]);
	KUNIT_ASSERT_EQ(test, state_of(cache, object[0]), HSLAB_QUARANTINED);
	free_around(test, hslab_test_route(cache)->kmem, object[0]);
	hslab_free_bulk(cache, ARRAY_SIZE(object) - 1, object + 1);
	expect_gone(test, cache);
}

static void page_goes_while_it_waits(struct kunit *test)
{
	struct hslab_cache *cache = held_cache(test, ALONE, "0");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
	struct hslab_reader *reader = hslab_test_reader(test);

	hslab_free_rcu(cache, object);
	free_around(test, hslab_test_route(cache)->kmem, object);
	hslab_test_reader_leaves(reader);
	KUNIT_EXPECT_TRUE(test,
			  hslab_test_eventually(!hslab_cache_live(cache)));
	expect_gone(test, cache);
}

/*
 * MEMORY
 */
static long slab_pages(struct hslab_cache *cache)
{
	hslab_cache_shrink(cache);
	msleep(50);		/* SLUB frees slabs by RCU, or from a worker, too */
	hslab_cache_shrink(cache);
	return global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B);
}

/* Lists of what was held are given back as well: a third, of small objects. */
static void lists_go_too(struct kunit *test)
{
	struct hslab_cache *cache = held_cache(test, 8, "4096");
	unsigned long i, nr = 2 * room(cache, 4096);
	long before, after, lists = nr / 2 * sizeof(void *) / PAGE_SIZE;

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN keeps them from reuse itself");
	alloc_and_free(test, cache, 100);
	before = slab_pages(cache);
	for (i = 0; i < nr; i++) {
		hslab_free(cache, hslab_test_alloc(test, cache, GFP_KERNEL));
		if (!(i % 1024))
			cond_resched();
	}
	KUNIT_ASSERT_GT(test, held(cache), nr / 4);
	after = slab_pages(cache);
	KUNIT_EXPECT_EQ(test, held(cache), 0);
	KUNIT_EXPECT_LT_MSG(test, after - before, lists / 2,
			    "lists of %ld pages", lists);
}

static struct kunit_case mixed_tests[] = {
	KUNIT_CASE(full_one_is_left),
	KUNIT_CASE(full_one_is_met_again),
	KUNIT_CASE_PARAM(suspect_is_not_the_live_one, suspect_gen_params),
	KUNIT_CASE(quarantined_is_ours),
	KUNIT_CASE(page_goes_from_quarantine),
	KUNIT_CASE(page_goes_from_full_quarantine),
	KUNIT_CASE(page_goes_while_it_waits),
	KUNIT_CASE(lists_go_too),
	{}
};

static struct kunit_suite mixed_suite = {
	.name = "hslab_mixed",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = mixed_tests,
};

kunit_test_suite(mixed_suite);
