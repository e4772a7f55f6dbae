// SPDX-License-Identifier: GPL-2.0
/*
 * Code that was written for kmem_cache: what of it hslab_compat_kmem.h takes over, and
 * what it leaves alone.
 */
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "hslab_kunit.h"

#ifdef kmem_cache_create
#define HAS_ARGS	/* kmem_cache_create() takes a struct kmem_cache_args too */
#endif

/* The kernel's own functions, while they have their names. */
static struct kmem_cache *slub_create(const char *name)
{
	return kmem_cache_create(name, 48, 8, SLAB_HWCACHE_ALIGN, NULL);
}

static void slub_free(const void *object)
{
	kfree(object);
}

#include <linux/hslab_compat_kmem.h>

struct thing {
	u64 number;
	u8 secret[24], open[8];
	struct rcu_head rcu;
};

static void thing_ctor(void *object)
{
	((struct thing *)object)->number = 42;
}

KUNIT_DEFINE_ACTION_WRAPPER(destroy, kmem_cache_destroy, struct kmem_cache *);

/* Take over a cache that a test made. It has to be hslab's. */
static struct hslab_cache *ours(struct kunit *test, struct kmem_cache *s)
{
	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy, s));
	KUNIT_ASSERT_NOT_NULL(test, hslab_kmem_ours(s));
	return hslab_kmem_ours(s);
}

static struct kmem_cache *make(struct kunit *test, const char *name)
{
	struct kmem_cache *s = kmem_cache_create(name, sizeof(struct thing), 0,
						 0, NULL);

	ours(test, s);
	return s;
}

static void *get(struct kunit *test, struct kmem_cache *s)
{
	void *object = kmem_cache_alloc(s, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	return object;
}

/* All that was allocated has come back, and all is well. */
static void expect_all_back(struct kunit *test, struct kmem_cache *s, u64 allocs)
{
	struct hslab_cache *cache = hslab_kmem_ours(s);
	struct hslab_counts sum;

	hslab_test_counts(cache, &sum);
	KUNIT_EXPECT_EQ(test, allocs, sum.allocs);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * MAKING
 */
struct made {
	const char *name;
	unsigned int size, align, useroffset, usersize;
	slab_flags_t flags;
	void (*ctor)(void *object);
};

static void expect_made(struct kunit *test, struct kmem_cache *s,
			const struct made *as)
{
	struct hslab_cache *cache = ours(test, s);

	KUNIT_EXPECT_STREQ(test, as->name, cache->name);
	KUNIT_EXPECT_STREQ(test, "hslab_kunit", cache->owner);
	KUNIT_EXPECT_EQ(test, as->size, kmem_cache_size(s));
	KUNIT_EXPECT_EQ(test, as->align, cache->geometry.align);
	KUNIT_EXPECT_EQ(test, as->useroffset, cache->geometry.useroffset);
	KUNIT_EXPECT_EQ(test, as->usersize, cache->geometry.usersize);
	KUNIT_EXPECT_EQ(test, (__force unsigned int)as->flags,
			(__force unsigned int)cache->geometry.flags);
	KUNIT_EXPECT_PTR_EQ(test, as->ctor, cache->ctor);
	KUNIT_EXPECT_EQ(test, 0, kmem_cache_shrink(s));
}

static void make_by_five(struct kunit *test)
{
	const struct made as = {
		.name = "kunit-five", .size = 100, .align = 64,
		.flags = SLAB_RECLAIM_ACCOUNT, .ctor = thing_ctor,
	};
	struct thing *thing;

	expect_made(test, kmem_cache_create(as.name, as.size, as.align, as.flags,
					    as.ctor), &as);

	/* The same by the other name; a constructor is run. */
	thing = get(test, make(test, "kunit-no-ctor"));
	kfree(thing);
}

static void make_by_args(struct kunit *test)
{
#ifdef HAS_ARGS
	const struct made as = {
		.name = "kunit-args", .size = sizeof(struct thing), .align = 32,
		.useroffset = offsetof(struct thing, open), .usersize = 8,
		.flags = SLAB_HWCACHE_ALIGN | SLAB_TYPESAFE_BY_RCU,
	};
	const struct made plain = {
		.name = "kunit-none", .size = 24, .align = 8,
	};
	struct kmem_cache_args args = {
		.align = as.align, .useroffset = as.useroffset,
		.usersize = as.usersize, .use_freeptr_offset = true,
	};
	struct made as_made = as;

	as_made.align = cache_line_size();
	expect_made(test, kmem_cache_create(as.name, as.size, &args, as.flags),
		    &as_made);
	expect_made(test, kmem_cache_create(plain.name, plain.size, NULL, 0),
		    &plain);
#else
	kunit_skip(test, "this kernel has no struct kmem_cache_args");
#endif
}

static void make_by_macros(struct kunit *test)
{
	struct made as = {
		.name = "thing", .size = sizeof(struct thing), .align = 8,
	};

	expect_made(test, KMEM_CACHE(thing, 0), &as);
	as.name = "thing-2";
	as.useroffset = offsetof(struct thing, open);
	as.usersize = 8;
	expect_made(test, KMEM_CACHE_USERCOPY(thing, 0, open), &as);
}

static void make_by_usercopy(struct kunit *test)
{
	const struct made as = {
		.name = "kunit-usercopy", .size = 96, .align = 16,
		.useroffset = 8, .usersize = 32,
	};

	expect_made(test, kmem_cache_create_usercopy(as.name, as.size, as.align, 0,
						     as.useroffset, as.usersize,
						     NULL), &as);
}

/* Any name will do, several times over; 12 bytes of alignment are 16. */
static void names_and_numbers(struct kunit *test)
{
	static const char longest[] =
		"kunit-0123456789012345678901234567890123456789012345678901234567";
	static const struct {
		const char *asked, *got;
	} names[] = {
		{ "kunit-many", "kunit-many" },
		{ "kunit-many", "kunit-many-2" },
		{ "kunit-many", "kunit-many-3" },
		{ "kunit/slash\n", "kunit!slash!" },
		{ "..", "!." },
		{ NULL, "(unnamed)" },
		{ longest, "kunit-012345678901234567890123456789012345678901234567890123456" },
		{ longest, "kunit-0123456789012345678901234567890123456789012345678901234-2" },
	};
	struct hslab_cache *cache;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		cache = ours(test, kmem_cache_create(names[i].asked, 32, 12, 0,
						     NULL));
		KUNIT_EXPECT_STREQ(test, names[i].got, cache->name);
		KUNIT_EXPECT_EQ(test, 16, cache->geometry.align);
	}
}

/* What slub_debug's flags ask for is had by policies; what is not known, is not. */
static void debug_flags(struct kunit *test)
{
	const struct hslab_policy *policy;
	struct hslab_cache *cache;

	cache = ours(test, kmem_cache_create("kunit-flags", 32, 0,
					     SLAB_POISON | SLAB_STORE_USER |
					     SLAB_RED_ZONE | SLAB_PANIC |
					     (__force slab_flags_t)0x80000000U,
					     NULL));
	policy = &cache->policy;
	KUNIT_EXPECT_EQ(test, 0, (__force unsigned int)cache->geometry.flags);
	KUNIT_EXPECT_EQ(test, HSLAB_FILL_BYTE, policy->poison);
	KUNIT_EXPECT_EQ(test, POISON_FREE, policy->poison_byte);
	KUNIT_EXPECT_EQ(test, HSLAB_VERIFY_FULL, policy->verify);
	KUNIT_EXPECT_TRUE(test, policy->track);
	KUNIT_EXPECT_TRUE(test, policy->check);
}

static void failure_is_null(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, kmem_cache_create("kunit-0", 0, 0, 0, NULL));
	KUNIT_EXPECT_NULL(test, kmem_cache_create("kunit-huge", UINT_MAX, 0, 0,
						  NULL));
	KUNIT_EXPECT_NULL(test, kmem_cache_create_usercopy("kunit-window", 8, 0,
							   0, 4, 8, NULL));
	kmem_cache_destroy(NULL);
}

/*
 * ALLOCATING AND FREEING
 */
static void allocate_in_every_way(struct kunit *test)
{
	struct kmem_cache *s = make(test, "kunit-alloc");
	void *bulk[3] = {};
	struct thing *thing;

	thing = kmem_cache_alloc(s, GFP_KERNEL);
	memset(thing, 0xee, sizeof(*thing));
	kmem_cache_free(s, thing);
	thing = kmem_cache_zalloc(s, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, thing);
	KUNIT_EXPECT_NULL(test, memchr_inv(thing, 0, sizeof(*thing)));
	kmem_cache_free(s, thing);
	thing = kmem_cache_alloc_node(s, GFP_KERNEL, numa_node_id());
	kmem_cache_free(s, thing);
	thing = kmem_cache_alloc_lru(s, NULL, GFP_KERNEL);
	kmem_cache_free(s, thing);
	expect_all_back(test, s, 4);

	KUNIT_EXPECT_TRUE(test, kmem_cache_alloc_bulk(s, GFP_KERNEL, 3, bulk) ==
				(HSLAB_KMEM_BULK)3);
	KUNIT_EXPECT_EQ(test, 3, hslab_cache_live(hslab_kmem_ours(s)));
	kmem_cache_free_bulk(s, 3, bulk);
	expect_all_back(test, s, 7);
}

/* A list_lru, and the super block of which alloc_inode_sb() takes it. */
static void allocate_for_lru(struct kunit *test)
{
	struct super_block *sb = kunit_kzalloc(test, sizeof(*sb), GFP_KERNEL);
	struct kmem_cache *s = kmem_cache_create("kunit-lru", 64, 0,
						 SLAB_ACCOUNT, NULL);
	void *object;

	ours(test, s);
	KUNIT_ASSERT_NOT_NULL(test, sb);
	KUNIT_ASSERT_EQ(test, 0, list_lru_init(&sb->s_inode_lru));
	object = alloc_inode_sb(sb, s, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, object);
	kmem_cache_free(s, object);
	list_lru_destroy(&sb->s_inode_lru);
	expect_all_back(test, s, 1);
}

static void free_without_cache(struct kunit *test)
{
	struct kmem_cache *s = make(test, "kunit-free");
	struct thing *thing;
	void *bulk[3];
	unsigned int i;

	kfree(get(test, s));
	kvfree(get(test, s));
	kmem_cache_free(NULL, get(test, s));
	for (i = 0; i < ARRAY_SIZE(bulk); i++)
		bulk[i] = get(test, s);
	kfree_bulk(ARRAY_SIZE(bulk), bulk);
	{
		void *a __free(kfree) = get(test, s);
		void *b __free(kvfree) = get(test, s);
		void *c __free(kfree) = ERR_PTR(-ENOMEM);

		KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(hslab_kmem_ours(s)));
		KUNIT_EXPECT_FALSE(test, !a || !b || !c);
	}
	expect_all_back(test, s, 8);

	/* What it leaves is zeros, whatever the policy. */
	hslab_test_policy(test, hslab_kmem_ours(s), "poison", "off");
	thing = get(test, s);
	memset(thing, 0xee, sizeof(*thing));
	kfree_sensitive(thing);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(thing, 0, sizeof(*thing)));
	expect_all_back(test, s, 9);
}

/* Of two caches that share a store the one that has the object gets it back. */
static void free_finds_owner(struct kunit *test)
{
	struct kmem_cache *a = make(test, "kunit-a"), *b = make(test, "kunit-b");
	void *of_a, *of_b;

	hslab_test_policy(test, hslab_kmem_ours(a), "merge", "any");
	hslab_test_policy(test, hslab_kmem_ours(b), "merge", "any");
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(hslab_kmem_ours(a)),
			    hslab_test_store(hslab_kmem_ours(b)));
	of_a = get(test, a);
	of_b = get(test, b);
	kfree(of_a);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(hslab_kmem_ours(a)));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(hslab_kmem_ours(b)));
	kfree(of_b);
	expect_all_back(test, a, 1);
	expect_all_back(test, b, 1);
}

static void free_after_grace_period(struct kunit *test)
{
	struct hslab_reader *reader = hslab_test_reader(test);
	struct kmem_cache *s = make(test, "kunit-rcu");
	struct hslab_cache *cache = hslab_kmem_ours(s);
	struct thing *thing[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(thing); i++) {
		thing[i] = get(test, s);
		thing[i]->number = i;
	}
	kfree_rcu(thing[0], rcu);
	kvfree_rcu(thing[1], rcu);
	kvfree_rcu_mightsleep(thing[2]);
	/* What 6.1's kfree_rcu() comes to. */
	KUNIT_EXPECT_TRUE(test,
			  hslab_kmem_free_rcu(&thing[3]->rcu,
					      (void *)offsetof(struct thing, rcu)));
	KUNIT_EXPECT_EQ(test, 4,
			hslab_rcu_objects(hslab_test_route(cache)));
	for (i = 0; i < ARRAY_SIZE(thing); i++)
		KUNIT_EXPECT_EQ(test, i, READ_ONCE(thing[i]->number));
	hslab_test_reader_leaves(reader);
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(!hslab_cache_live(cache)));
	expect_all_back(test, s, 4);
}

static void mempools(struct kunit *test)
{
	struct kmem_cache *s = make(test, "kunit-pool");
	struct hslab_cache *cache = hslab_kmem_ours(s);
	mempool_t *pool, inside = {};
	void *object;

	pool = mempool_create_slab_pool(2, s);
	KUNIT_ASSERT_NOT_NULL(test, pool);
	KUNIT_EXPECT_EQ(test, 0, mempool_init_slab_pool(&inside, 3, s));
	KUNIT_EXPECT_EQ(test, 5, hslab_cache_live(cache));
	object = mempool_alloc(pool, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, 6, hslab_cache_live(cache));
	mempool_free(object, pool);
	mempool_destroy(pool);
	mempool_exit(&inside);

	pool = mempool_create(1, mempool_alloc_slab, mempool_free_slab, s);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	mempool_destroy(pool);
	expect_all_back(test, s, 7);
}

/* What is SLUB's stays SLUB's. */
static void leave_others_alone(struct kunit *test)
{
	struct kmem_cache *s = slub_create("kunit-slub");
	struct { struct rcu_head rcu; } *waits;
	struct hslab_identity id;
	mempool_t *pool;
	void *bulk[2], *object;

	KUNIT_ASSERT_NOT_NULL(test, s);
	KUNIT_EXPECT_NULL(test, hslab_kmem_ours(s));
	KUNIT_EXPECT_EQ(test, 48, kmem_cache_size(s));
	object = kmem_cache_alloc(s, GFP_KERNEL);
	rcu_read_lock();
	KUNIT_EXPECT_FALSE(test, hslab_identify(object, &id));
	rcu_read_unlock();
	kmem_cache_free(s, object);
	kfree(kmem_cache_zalloc(s, GFP_KERNEL));
	kmem_cache_free(NULL, kmem_cache_alloc_node(s, GFP_KERNEL, NUMA_NO_NODE));
	kmem_cache_free(s, kmem_cache_alloc_lru(s, NULL, GFP_KERNEL));
	if (kmem_cache_alloc_bulk(s, GFP_KERNEL, 2, bulk))
		kmem_cache_free_bulk(s, 2, bulk);
	pool = mempool_create_slab_pool(1, s);
	mempool_destroy(pool);
	KUNIT_EXPECT_TRUE(test, kmem_cache_shrink(s) >= 0);
	kmem_cache_destroy(s);

	kfree(kmalloc(100, GFP_KERNEL));
	kfree(kmalloc(100000, GFP_KERNEL));
	kfree(NULL);
	kfree(ZERO_SIZE_PTR);
	kvfree(vmalloc(PAGE_SIZE));
	kfree_sensitive(kmalloc(10, GFP_KERNEL));
	kmem_cache_free(NULL, NULL);
	waits = kmalloc(sizeof(*waits), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, waits);
	kfree_rcu(waits, rcu);
	kvfree_rcu_mightsleep(vmalloc(PAGE_SIZE));
}

/*
 * FAULTS
 */
static noinline void free_thing(void *thing)
{
	kfree(thing);
	barrier();		/* no tail call: it is the caller that is told */
}

/* Who frees without a cache is judged as who names it. */
static void faults_found(struct kunit *test)
{
	struct kmem_cache *s = make(test, "kunit-faults");
	struct hslab_cache *cache = hslab_kmem_ours(s);
	struct hslab_expect expect = {
		.cache = cache, .nr = 1, .caller = free_thing,
	};
	void *anchor, *thing;

	hslab_test_victim(test, cache, &anchor, &thing);
	expect.object = thing;

	free_thing(thing + 8);
	expect.kind = "invalid-free";
	expect.offset = 8;
	expect.more = "pointer is 8 bytes into it";
	hslab_test_expect(test, &expect);

	free_thing(thing);
	free_thing(thing);
	expect.kind = "double-free";
	expect.offset = -1;
	expect.more = NULL;
	hslab_test_expect(test, &expect);

	hslab_plant_byte(anchor + sizeof(struct thing), 0);
	free_thing(anchor);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, 3, hslab_test_all_faults(cache));
}

static noinline void free_to_nobody(void *what)
{
	kmem_cache_free(NULL, what);
	barrier();
}

/* A page is no object of any cache. */
static void strays(struct kunit *test)
{
	static const struct hslab_cache none = { .name = "(none)" };
	unsigned long page = __get_free_page(GFP_KERNEL);
	s64 before = atomic64_read(&hslab_nr_faults);
	struct hslab_expect expect = {
		.kind = "invalid-free", .cache = &none, .offset = -1,
		.object = (void *)page, .more = "not an object of any cache",
		.nr = 1, .caller = free_to_nobody,
	};

	KUNIT_ASSERT_NE(test, 0, page);
	free_to_nobody((void *)page);
	hslab_test_expect(test, &expect);
	KUNIT_EXPECT_EQ(test, before + 1, atomic64_read(&hslab_nr_faults));
	free_page(page);
}

/*
 * DUMPS
 */
static void identities(struct kunit *test)
{
	struct kmem_cache *s = make(test, "kunit-dump");
	struct hslab_cache *cache = hslab_kmem_ours(s);
	void *anchor, *thing, *other = kmalloc(32, GFP_KERNEL);
	struct hslab_identity id;

	hslab_test_victim(test, cache, &anchor, &thing);
	rcu_read_lock();
	KUNIT_EXPECT_TRUE(test, hslab_identify(thing + 9, &id));
	KUNIT_EXPECT_PTR_EQ(test, cache, id.cache);
	KUNIT_EXPECT_PTR_EQ(test, thing, id.start);
	KUNIT_EXPECT_EQ(test, HSLAB_LIVE, id.state);
	kmem_cache_free(s, thing);
	KUNIT_EXPECT_TRUE(test, hslab_identify(thing, &id));
	KUNIT_EXPECT_PTR_EQ(test, thing, id.start);
	KUNIT_EXPECT_NE(test, HSLAB_LIVE, id.state);
	KUNIT_EXPECT_FALSE(test, hslab_identify(&id, &id));
	KUNIT_EXPECT_FALSE(test, hslab_identify(NULL, &id));
	rcu_read_unlock();

	KUNIT_EXPECT_TRUE(test, kmem_dump_obj(anchor));
	KUNIT_EXPECT_TRUE(test, kmem_dump_obj(other));
	KUNIT_EXPECT_FALSE(test, kmem_dump_obj(&id));
	slub_free(other);
	kmem_cache_free(s, anchor);
}

static struct kunit_case kmem_tests[] = {
	KUNIT_CASE(make_by_five),
	KUNIT_CASE(make_by_args),
	KUNIT_CASE(make_by_macros),
	KUNIT_CASE(make_by_usercopy),
	KUNIT_CASE(names_and_numbers),
	KUNIT_CASE(debug_flags),
	KUNIT_CASE(failure_is_null),
	KUNIT_CASE(allocate_in_every_way),
	KUNIT_CASE(allocate_for_lru),
	KUNIT_CASE(free_without_cache),
	KUNIT_CASE(free_finds_owner),
	KUNIT_CASE_SLOW(free_after_grace_period),
	KUNIT_CASE(mempools),
	KUNIT_CASE(leave_others_alone),
	KUNIT_CASE(faults_found),
	KUNIT_CASE(strays),
	KUNIT_CASE(identities),
	{}
};

static struct kunit_suite kmem_suite = {
	.name = "hslab_kmem",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = kmem_tests,
};

kunit_test_suite(kmem_suite);
