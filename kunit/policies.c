// SPDX-License-Identifier: GPL-2.0
/*
 * What the policies do to real caches, switched while there are objects.
 */
#include <linux/list.h>

#include "hslab_kunit.h"

#define SIZE	200		/* bytes of most of the objects here */

static struct hslab_cache *cache_with(struct kunit *test, const char *name,
				      const char *profile)
{
	struct hslab_args args = { .profile = profile };

	return hslab_test_cache(test, name, SIZE, &args);
}

/* What a freed object holds under a value of poison. */
struct fill_case {
	const char *poison;
	bool kept;
	bool random;
	u8 byte;
};

static const struct fill_case fill_cases[] = {
	{ "off",	.kept = true },
	{ "zero",	.byte = 0x00 },
	{ "0x01",	.byte = 0x01 },
	{ "0x6b",	.byte = 0x6b },
	{ "0xff",	.byte = 0xff },
	{ "random",	.random = true },
};

KUNIT_ARRAY_PARAM_DESC(fill, fill_cases, poison);

static bool holds_fill(const struct fill_case *c,
		       const struct hslab_cache *cache, const void *object)
{
	u64 word[SIZE / sizeof(u64)];

	if (!c->random)
		return hslab_peek_all(object, c->kept ? 0xee : c->byte, SIZE);
	hslab_peek(word, object, SIZE);
	return hslab_intact(word, SIZE / sizeof(u64),
			    hslab_test_store(cache)->random);
}

static void poison_fills(struct kunit *test)
{
	const struct fill_case *c = test->param_value;
	struct hslab_cache *cache = cache_with(test, "kunit-fill", "fast");
	void *anchor, *object;

	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, 0xee, SIZE);
	hslab_test_policy(test, cache, "poison", c->poison);
	hslab_test_policy(test, cache, "zero", "0");
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0xee, SIZE));
	hslab_free(cache, object);
	KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));

	/* It comes back as it is, and whole to every verification. */
	hslab_test_policy(test, cache, "verify", "full");
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* What was freed under one value is verified as what it is under the next. */
static void poison_is_switched(struct kunit *test)
{
	const struct fill_case *c = test->param_value;
	struct hslab_cache *cache = cache_with(test, "kunit-switch", "debug");
	void *anchor, *object;
	unsigned int i;

	hslab_test_policy(test, cache, "poison", c->poison);
	for (i = 0; i < ARRAY_SIZE(fill_cases); i++) {
		hslab_test_victim(test, cache, &anchor, &object);
		memset(object, 0xee, SIZE);
		hslab_free(cache, object);
		hslab_test_policy(test, cache, "poison", fill_cases[i].poison);
		KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
		KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));
		hslab_free(cache, anchor);
		hslab_test_policy(test, cache, "poison", c->poison);
		hslab_free(cache, object);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* Which damage of a poisoned object which value of verify finds. */
struct verify_case {
	const char *name, *verify, *poison;
	int offset;			/* of the damaged byte */
	bool found;
};

static const struct verify_case verify_cases[] = {
	{ "full, first byte",	   "full", "0x6b",   0,	  true },
	{ "full, byte 8",	   "full", "0x6b",   8,	  true },
	{ "full, byte 100",	   "full", "zero",   100, true },
	{ "full, byte 191",	   "full", "random", 191, true },
	{ "full, last byte",	   "full", "random", 199, true },
	{ "head, first byte",	   "head", "0x6b",   0,	  true },
	{ "head, byte 7",	   "head", "random", 7,	  true },
	{ "head, byte 8",	   "head", "0x6b",   8,	  false },
	{ "head, byte 191",	   "head", "zero",   191, false },
	{ "head, byte 192",	   "head", "zero",   192, true },
	{ "head, last byte",	   "head", "0x6b",   199, true },
	{ "off, first byte",	   "off",  "0x6b",   0,	  false },
	{ "off, last byte",	   "off",  "random", 199, false },
	{ "full, not poisoned",	   "full", "off",    0,	  false },
};

KUNIT_ARRAY_PARAM_DESC(verify, verify_cases, name);

static void verify_finds(struct kunit *test)
{
	const struct verify_case *c = test->param_value;
	struct hslab_cache *cache = cache_with(test, "kunit-verify", "fast");
	void *anchor, *object;
	u8 byte;

	hslab_test_policy(test, cache, "zero", "0");
	hslab_test_policy(test, cache, "poison", c->poison);
	hslab_test_policy(test, cache, "verify", c->verify);
	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	hslab_peek(&byte, object + c->offset, 1);
	hslab_plant_byte(object + c->offset, byte ^ 0x10);
	if (c->found) {
		hslab_test_find(test, cache, HSLAB_WRITE_AFTER_FREE);
		KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
		KUNIT_EXPECT_EQ(test, 1, atomic64_read(&cache->aside));
	} else {
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
		KUNIT_EXPECT_EQ(test, byte ^ 0x10, ((u8 *)object)[c->offset]);
		hslab_free(cache, object);
		KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	}
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* When an allocation zeroes, and when it finds that it need not. */
struct zero_case {
	const char *name, *poison, *verify, *zero;
	gfp_t gfp;
	u64 verified, skipped;
	bool is_zero;
};

static const struct zero_case zero_cases[] = {
	{ "zeros, verified in full", "zero", "full", "1", 0, 1, 1, true },
	{ "zeros, head verified", "zero", "head", "1", 0, 1, 1, true },
	{ "zeros, not verified", "zero", "off", "1", 0, 0, 0, true },
	{ "another byte", "0x6b", "full", "1", 0, 1, 0, true },
	{ "random", "random", "full", "1", 0, 1, 0, true },
	{ "nothing", "off", "full", "1", 0, 0, 0, true },
	{ "zero=0", "0x6b", "full", "0", 0, 1, 0, false },
	{ "zero=0, nothing", "off", "full", "0", 0, 0, 0, false },
	{ "zero=0, zeros", "zero", "full", "0", 0, 1, 0, true },
	{ "__GFP_ZERO, zeros", "zero", "head", "0", __GFP_ZERO, 1, 1, true },
	{ "__GFP_ZERO, not verified", "zero", "off", "0", __GFP_ZERO, 0, 0,
	  true },
	{ "__GFP_ZERO, another byte", "0x6b", "head", "0", __GFP_ZERO, 1, 0,
	  true },
	{ "__GFP_ZERO, nothing", "off", "off", "0", __GFP_ZERO, 0, 0, true },
};

KUNIT_ARRAY_PARAM_DESC(zero, zero_cases, name);

/*
 * Counted over many objects, so that it does not matter which ones SLUB hands
 * out: all were freed the same way.
 */
static void zero_is_skipped(struct kunit *test)
{
	enum { NR = 100 };
	const struct zero_case *c = test->param_value;
	struct hslab_cache *cache = cache_with(test, "kunit-zero", "fast");
	struct hslab_counts before, after;
	unsigned int i, zero = 0, round;
	void *anchor, *object[NR];

	hslab_test_policy(test, cache, "poison", c->poison);
	hslab_test_policy(test, cache, "verify", c->verify);
	hslab_test_policy(test, cache, "zero", c->zero);
	for (round = 0; round < 2; round++) {
		hslab_test_victim(test, cache, &anchor, &object[0]);
		memset(object[0], 0xee, SIZE);
		hslab_free(cache, object[0]);
		hslab_test_take_back(test, cache, GFP_KERNEL | c->gfp,
				     object[0]);
		KUNIT_EXPECT_EQ(test, c->is_zero,
				hslab_peek_all(object[0], 0, SIZE));
		hslab_free(cache, object[0]);
		hslab_free(cache, anchor);
	}

	hslab_test_counts(cache, &before);
	for (i = 0; i < NR; i++) {
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL | c->gfp);
		zero += hslab_peek_all(object[i], 0, SIZE);
		memset(object[i], 0xee, SIZE);
	}
	hslab_test_counts(cache, &after);
	KUNIT_EXPECT_EQ(test, after.allocs - before.allocs, NR);
	KUNIT_EXPECT_EQ(test, after.verified - before.verified,
			NR * c->verified);
	KUNIT_EXPECT_EQ(test, after.zero_skipped - before.zero_skipped,
			NR * c->skipped);
	if (c->is_zero)
		KUNIT_EXPECT_EQ(test, zero, NR);
	hslab_free_bulk(cache, NR, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* zero=auto does as the kernel's init_on_alloc does. */
static void zero_is_automatic(struct kunit *test)
{
	struct hslab_cache *cache = cache_with(test, "kunit-auto", "fast");
	bool zeroed = want_init_on_alloc(0);
	void *anchor, *object;

	kunit_info(test, "init_on_alloc=%d", zeroed);
	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, 0xee, SIZE);
	hslab_free(cache, object);
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, zeroed ? 0 : 0xee,
					       SIZE));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
}

/* Under check=0 a damaged tag is nobody's business. */
static void check_is_off(struct kunit *test)
{
	struct hslab_cache *cache = cache_with(test, "kunit-check", "debug");
	struct hslab_counts counts;
	void *anchor, *object;

	hslab_test_policy(test, cache, "check", "0");

	/* Damaged while it is free. */
	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	hslab_plant_byte(object + SIZE + 3, 0);
	hslab_plant_byte(object + SIZE + 4, 0);
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(cache));

	/* Damaged while it is live. */
	hslab_plant_byte(object + SIZE + 5, 0);
	hslab_plant_byte(object + SIZE + 6, 0);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_test_take_back(test, cache, GFP_KERNEL, object);

	/* What was allocated without is whole with it. */
	hslab_test_policy(test, cache, "check", "1");
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	hslab_test_counts(cache, &counts);
	KUNIT_EXPECT_EQ(test, counts.limit, counts.headroom);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&cache->aside));
}

static unsigned int nr_routes(struct hslab_cache *cache)
{
	unsigned int nr;

	mutex_lock(&hslab_mutex);
	nr = list_count_nodes(&cache->routes);
	mutex_unlock(&hslab_mutex);
	return nr;
}

/* Routes drain behind our back, after a grace period or two. */
static void expect_drained(struct kunit *test, struct hslab_cache *cache)
{
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(nr_routes(cache) == 1));
}

/* New objects go where merge says, old ones home to where they came from. */
static void merge_moves(struct kunit *test)
{
	struct hslab_cache *a = cache_with(test, "kunit-a", "debug");
	struct hslab_cache *b = cache_with(test, "kunit-b", "debug");
	struct hslab_cache *smaller = hslab_test_cache(test, "kunit-c",
						       SIZE - 8, NULL);
	void *in_own, *in_shared, *of_b;

	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(a), hslab_test_store(b));
	in_own = hslab_test_alloc(test, a, GFP_KERNEL);
	hslab_test_policy(test, b, "merge", "group=kunit");
	hslab_test_policy(test, smaller, "merge", "group=kunit");
	hslab_test_policy(test, a, "merge", "group=kunit");
	KUNIT_EXPECT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(a), hslab_test_store(smaller));
	KUNIT_EXPECT_EQ(test, 2, nr_routes(a));

	in_shared = hslab_test_alloc(test, a, GFP_KERNEL);
	of_b = hslab_test_alloc(test, b, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(a));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(b));
	hslab_free(a, in_own);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(a));
	expect_drained(test, a);

	hslab_test_policy(test, a, "merge", "never");
	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(a), hslab_test_store(b));
	hslab_free(a, in_shared);
	hslab_free(b, of_b);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(b));
	expect_drained(test, a);

	hslab_test_policy(test, a, "merge", "owner");
	hslab_test_policy(test, b, "merge", "owner");
	KUNIT_EXPECT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	hslab_test_policy(test, b, "merge", "any");
	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(a), hslab_test_store(b));
	hslab_test_policy(test, a, "merge", "group=kunit2");
	hslab_test_policy(test, b, "merge", "group=kunit3");
	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(a), hslab_test_store(b));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(b));
}

/* Switched back before the old store is empty, a cache has its old store again. */
static void merge_comes_back(struct kunit *test)
{
	struct hslab_cache *a = cache_with(test, "kunit-a", "debug");
	struct hslab_cache *b = cache_with(test, "kunit-b", "debug");
	struct hslab_store *shared;
	void *object;

	hslab_test_policy(test, a, "merge", "group=kunit");
	hslab_test_policy(test, b, "merge", "group=kunit");
	shared = hslab_test_store(b);
	object = hslab_test_alloc(test, b, GFP_KERNEL);
	hslab_test_policy(test, b, "merge", "never");
	KUNIT_EXPECT_PTR_NE(test, hslab_test_store(b), shared);
	hslab_test_policy(test, b, "merge", "group=kunit");
	KUNIT_EXPECT_PTR_EQ(test, hslab_test_store(b), shared);
	hslab_free(b, object);
	expect_drained(test, b);
	KUNIT_EXPECT_PTR_EQ(test, hslab_test_store(b), shared);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(b));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(b));
}

/* Two caches in one store still tell their objects apart. */
static void merge_keeps_owners(struct kunit *test)
{
	struct hslab_cache *a = cache_with(test, "kunit-a", "debug");
	struct hslab_cache *b = cache_with(test, "kunit-b", "debug");
	void *anchor, *object;

	hslab_test_policy(test, a, "merge", "group=kunit");
	hslab_test_policy(test, b, "merge", "group=kunit");
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	hslab_test_victim(test, a, &anchor, &object);
	hslab_free(b, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(b, HSLAB_CROSS_FREE));
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(b));

	/* What a freed, and keeps no longer, b may have: it then is b's. */
	hslab_free(a, object);
	hslab_cache_shrink(a);
	hslab_test_take_back(test, b, GFP_KERNEL, object);
	KUNIT_EXPECT_EQ(test, b->id,
			hslab_cache_id(hslab_test_plain(b, object)));
	hslab_free(a, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(a, HSLAB_CROSS_FREE));
	hslab_free(b, object);
	hslab_free(a, anchor);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(a));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(b));
}

/* The constructor writes a pattern, and counts. */
#define CONSTRUCTED	0xc0

static unsigned int nr_constructed, size_constructed;

static void construct(void *object)
{
	memset(object, CONSTRUCTED, size_constructed);
	nr_constructed++;
}

/* When a constructor has to run on an object that comes back. */
struct ctor_case {
	const char *name, *poison, *verify, *zero;
	gfp_t gfp;
	bool typesafe, odd;
	bool runs;
};

static const struct ctor_case ctor_cases[] = {
	{ "kept", "off", "full", "0" },
	{ "kept, zero=auto", "off", "off", "auto" },
	{ "kept, odd size", "off", "full", "0", .odd = true },
	{ "kept, zero=1", "off", "off", "1", .runs = true },
	{ "kept, __GFP_ZERO", "off", "off", "0", __GFP_ZERO, .runs = true },
	{ "zeros", "zero", "head", "0", .runs = true },
	{ "zeros, odd size", "zero", "head", "0", .odd = true, .runs = true },
	{ "zeros, zero=1", "zero", "head", "1", .runs = true },
	{ "0x6b", "0x6b", "full", "0", .runs = true },
	{ "0x6b, not verified", "0x6b", "off", "0", .runs = true },
	{ "random", "random", "full", "auto", .runs = true },
	{ "typesafe, poison=0x6b", "0x6b", "full", "0", .typesafe = true },
	{ "typesafe, odd size", "zero", "head", "1", .typesafe = true,
	  .odd = true },
};

KUNIT_ARRAY_PARAM_DESC(ctor, ctor_cases, name);

static void ctor_runs(struct kunit *test)
{
	enum { NR = 100 };
	const struct ctor_case *c = test->param_value;
	struct hslab_args args = {
		.flags = c->typesafe ? SLAB_TYPESAFE_BY_RCU : 0,
		.ctor = construct,
		.profile = "fast",
	};
	unsigned int size = c->odd ? SIZE - 3 : SIZE;
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-ctor", size,
						     &args);
	void *anchor, *object, *others[NR];
	unsigned int i;

	hslab_test_policy(test, cache, "poison", c->poison);
	hslab_test_policy(test, cache, "verify", c->verify);
	hslab_test_policy(test, cache, "zero", c->zero);

	size_constructed = size;

	/* Of new objects each one is constructed, once. */
	nr_constructed = 0;
	for (i = 0; i < NR; i++) {
		others[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_EQ(test, i + 1, nr_constructed);
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(others[i], CONSTRUCTED,
						       size));
	}
	hslab_free_bulk(cache, NR, others);
	KUNIT_EXPECT_EQ(test, NR, nr_constructed);

	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, 0xee, size);
	hslab_free(cache, object);
	nr_constructed = 0;
	hslab_test_take_back(test, cache, GFP_KERNEL | c->gfp, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, c->runs ? CONSTRUCTED :
							     0xee, size));
	/* Any that came first, and it. */
	if (c->runs)
		KUNIT_EXPECT_GE(test, nr_constructed, 1);
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* In a store that is shared, content that another cache left is not a constructed one. */
static void ctor_runs_on_foreign(struct kunit *test)
{
	struct hslab_args args = { .ctor = construct, .profile = "fast" };
	struct hslab_cache *a = hslab_test_cache(test, "kunit-a", SIZE, &args);
	struct hslab_cache *b = cache_with(test, "kunit-b", "fast");
	void *anchor, *object;

	hslab_test_policy(test, a, "merge", "group=kunit");
	hslab_test_policy(test, b, "merge", "group=kunit");
	hslab_test_policy(test, b, "zero", "0");
	size_constructed = SIZE;
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	hslab_test_victim(test, b, &anchor, &object);
	memset(object, 0xee, SIZE);
	hslab_free(b, object);
	hslab_cache_shrink(b);
	hslab_test_take_back(test, a, GFP_KERNEL, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, CONSTRUCTED, SIZE));
	hslab_free(a, object);
	hslab_free(b, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(b));
}

/* Nor is what a cache left that has been destroyed since, with its number free again. */
static void ctor_runs_on_heritage(struct kunit *test)
{
	struct hslab_args args = { .ctor = construct, .profile = "fast" };
	struct hslab_cache *a = hslab_test_cache(test, "kunit-a", SIZE, &args);
	struct hslab_cache *b = cache_with(test, "kunit-b", "fast");
	struct hslab_cache *c;
	void *anchor, *object;

	hslab_test_policy(test, a, "merge", "group=kunit");
	hslab_test_policy(test, b, "merge", "group=kunit");
	size_constructed = SIZE;
	hslab_test_victim(test, b, &anchor, &object);
	hslab_free(b, object);
	hslab_cache_shrink(b);
	hslab_test_take_back(test, a, GFP_KERNEL, object);
	memset(object, 0xee, SIZE);
	hslab_free(a, object);
	hslab_test_destroy(test, a);

	c = hslab_test_cache(test, "kunit-c", SIZE, &args);
	hslab_test_policy(test, c, "merge", "group=kunit");
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(c), hslab_test_store(b));
	hslab_test_take_back(test, c, GFP_KERNEL, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, CONSTRUCTED, SIZE));
	hslab_free(c, object);
	hslab_free(b, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(c));
}

/* Content of a SLAB_TYPESAFE_BY_RCU object is relied on across its reuse. */
static void typesafe_keeps(struct kunit *test)
{
	static const char *const profiles[] = {
		"off", "fast", "balanced", "debug", "paranoid",
	};
	struct hslab_args args = { .flags = SLAB_TYPESAFE_BY_RCU };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-typesafe",
						     SIZE, &args);
	void *anchor, *object;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		hslab_test_policy(test, cache, "profile", profiles[i]);
		hslab_test_victim(test, cache, &anchor, &object);
		memset(object, 0xee, SIZE);
		hslab_free(cache, object);
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0xee, SIZE));
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
		KUNIT_EXPECT_TRUE_MSG(test, hslab_peek_all(object, 0xee, SIZE),
				      "%s", profiles[i]);
		hslab_free(cache, object);
		hslab_free(cache, anchor);
	}
	/* Who asks for zeros gets them all the same. */
	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, 0xee, SIZE);
	hslab_free(cache, object);
	hslab_test_take_back(test, cache, GFP_KERNEL | __GFP_ZERO, object);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0, SIZE));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* hslab_set_policy(): a wrong name or value changes nothing. */
static void wrong_policy(struct kunit *test)
{
	struct hslab_cache *cache = cache_with(test, "kunit-wrong", "debug");
	struct hslab_policy before = cache->policy;
	u64 word = hslab_test_route(cache)->policy;

	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_set_policy(cache, "colour", "1"));
	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_set_policy(cache, "", ""));
	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_set_policy(cache, "check", "2"));
	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_set_policy(cache, "poison", ""));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			hslab_set_policy(cache, "profile", "custom"));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			hslab_set_policy(cache, "merge", "group="));
	KUNIT_EXPECT_MEMEQ(test, &cache->policy, &before, sizeof(before));
	KUNIT_EXPECT_EQ(test, hslab_test_route(cache)->policy, word);
}

static struct kunit_case policies_tests[] = {
	KUNIT_CASE_PARAM(poison_fills, fill_gen_params),
	KUNIT_CASE_PARAM(poison_is_switched, fill_gen_params),
	KUNIT_CASE_PARAM(verify_finds, verify_gen_params),
	KUNIT_CASE_PARAM(zero_is_skipped, zero_gen_params),
	KUNIT_CASE(zero_is_automatic),
	KUNIT_CASE(check_is_off),
	KUNIT_CASE(merge_moves),
	KUNIT_CASE(merge_comes_back),
	KUNIT_CASE(merge_keeps_owners),
	KUNIT_CASE_PARAM(ctor_runs, ctor_gen_params),
	KUNIT_CASE(ctor_runs_on_foreign),
	KUNIT_CASE(ctor_runs_on_heritage),
	KUNIT_CASE(typesafe_keeps),
	KUNIT_CASE(wrong_policy),
	{}
};

static struct kunit_suite policies_suite = {
	.name = "hslab_policies",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = policies_tests,
};

kunit_test_suite(policies_suite);
