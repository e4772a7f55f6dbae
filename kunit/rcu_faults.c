// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that wait for a grace period, and are freed again or damaged meanwhile.
 */
#include "rcu.h"

/*
 * MISTAKES
 */
static noinline void free_rcu_twice(struct hslab_cache *cache, u8 *object)
{
	hslab_free_rcu(cache, object);
	hslab_free_rcu(cache, object);
	barrier();		/* no tail call: it is the caller that is told */
}

static noinline void free_of_waiting(struct hslab_cache *cache, u8 *object)
{
	hslab_free_rcu(cache, object);
	hslab_free(cache, object);
	barrier();
}

static noinline void free_rcu_of_free(struct hslab_cache *cache, u8 *object)
{
	hslab_free(cache, object);
	hslab_free_rcu(cache, object);
	barrier();
}

static noinline void free_rcu_inside(struct hslab_cache *cache, u8 *object)
{
	hslab_free_rcu(cache, object);
	hslab_free_rcu(cache, object + 8);
	barrier();
}

static noinline void free_rcu_overrun(struct hslab_cache *cache, u8 *object)
{
	hslab_plant_byte(object + SIZE - 3, 0);
	hslab_free_rcu(cache, object);
	barrier();
}

static noinline void free_rcu_overflow(struct hslab_cache *cache, u8 *object)
{
	hslab_plant_byte(object + SIZE, 0);
	hslab_free_rcu(cache, object);
	barrier();
}

static const struct mistake_case {
	const char *name;
	void (*make)(struct hslab_cache *cache, u8 *object);
	const char *check;
	bool waits;			/* while a reader is there */
	struct hslab_expect expect;
} mistake_cases[] = {
	{ "free_rcu, free_rcu", free_rcu_twice, "1", true, {
		.kind = "double-free", .offset = -1,
		.more = "it waits for a grace period",
	} },
	{ "free_rcu, free", free_of_waiting, "1", true, {
		.kind = "double-free", .offset = -1,
		.more = "it waits for a grace period",
	} },
	{ "free, free_rcu", free_rcu_of_free, "1", false, {
		.kind = "double-free", .offset = -1,
	} },
	{ "free_rcu, free_rcu, check=0", free_rcu_twice, "0", true, {
		.kind = "double-free", .offset = -1,
		.more = "it waits for a grace period",
	} },
	{ "free_rcu, free, check=0", free_of_waiting, "0", true, {
		.kind = "double-free", .offset = -1,
		.more = "it waits for a grace period",
	} },
	{ "free_rcu, and 8 bytes into it", free_rcu_inside, "1", true, {
		.kind = "invalid-free", .offset = 8,
		.more = "pointer is 8 bytes into it",
	} },
	{ "free_rcu after an overrun", free_rcu_overrun, "1", false, {
		.kind = "overflow", .offset = SIZE - 3,
		.more = "written past its end",
		.marks = "!..........", .nr_bad = 1, .aside = true,
	} },
	{ "free_rcu after an overflow", free_rcu_overflow, "1", false, {
		.kind = "overflow", .offset = SIZE,
		.more = "written past its end",
		.marks = "!.......", .nr_bad = 1, .aside = true,
	} },
};

KUNIT_ARRAY_PARAM_DESC(mistake, mistake_cases, name);

static void mistakes(struct kunit *test)
{
	const struct mistake_case *c = test->param_value;
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-rcu",
						     SIZE - 3, NULL);
	struct hslab_expect expect = c->expect;
	u8 *anchor, *object;
	bool waits;

	hslab_test_policy(test, cache, "check", c->check);
	hslab_test_victim(test, cache, (void **)&anchor, (void **)&object);
	rcu_read_lock();
	c->make(cache, object);
	linger();
	waits = waits_alone(cache, object);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, c->waits, waits);
	settle(test, cache);
	expect.cache = cache;
	expect.object = object;
	expect.nr = 1;
	expect.caller = c->make;
	hslab_test_expect(test, &expect);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, expect.aside, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, expect.aside ? HSLAB_ASIDE : HSLAB_FREE,
			state_of(cache, object));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* A waiting object is freed to a cache that it is not of. */
static void cross_free_of_waiting(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	struct hslab_cache *other = rcu_cache(test, "kunit-other");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	rcu_read_lock();
	hslab_free_rcu(cache, object);
	hslab_free(other, object);
	rcu_read_unlock();
	settle(test, cache);
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "cross-cache-free", .cache = other, .object = object,
		.offset = -1, .more = "it belongs to cache kunit-rcu", .nr = 1,
		.caller = cross_free_of_waiting,
	});
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(other));
}

/* SLUB hands out what waits: it is left for when it has waited. */
static void freed_around_while_waiting(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	unsigned int nr = 0, i, again = 0;
	void *anchor, *object, *other[100];

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN finds that itself");
	hslab_test_victim(test, cache, &anchor, &object);
	for (i = 0; i < 2; i++) {
		hslab_test_policy(test, cache, "check", i ? "0" : "1");
		rcu_read_lock();
		hslab_free_rcu(cache, object);
		kmem_cache_free(hslab_test_route(cache)->kmem, object);
		for (nr = 0; nr < ARRAY_SIZE(other); nr++) {
			other[nr] = hslab_alloc(cache, GFP_ATOMIC);
			again += other[nr] == object;
			if (hslab_test_all_faults(cache) > i)
				break;
		}
		rcu_read_unlock();
		settle(test, cache);
		KUNIT_EXPECT_LT(test, nr, ARRAY_SIZE(other));
		hslab_test_expect(test, &(struct hslab_expect) {
			.kind = "not-freed", .cache = cache, .object = object,
			.offset = -1, .nr = i + 1,
			.more =
			"hslab has it, and it waits for a grace period: freed around hslab, or given out twice",
			.caller = freed_around_while_waiting,
		});
		KUNIT_EXPECT_EQ(test, 0, again);
		KUNIT_EXPECT_EQ(test, HSLAB_FREE, state_of(cache, object));
		hslab_free_bulk(cache, nr + 1, other);
		KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
	}
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 2, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&cache->aside));
}

/* With check=0 an object whose tag is gone is freed, and waits all the same. */
static void no_tag_no_check(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	void *anchor, *object;
	bool intact, waits;

	hslab_test_policy(test, cache, "check", "0");
	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, DIRT, SIZE);
	hslab_plant(object + SIZE, "overflow", HSLAB_TAG_SIZE);
	rcu_read_lock();
	hslab_free_rcu(cache, object);
	linger();
	intact = hslab_peek_all(object, DIRT, SIZE);
	waits = waits_alone(cache, object);
	rcu_read_unlock();
	KUNIT_EXPECT_TRUE(test, intact);
	KUNIT_EXPECT_TRUE(test, waits);
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, HSLAB_FREE, state_of(cache, object));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * DAMAGE
 */

/* The last report is of a bad tag at @offset, found by a worker. */
static void expect_bad_tag(struct kunit *test, const struct hslab_cache *cache,
			   const void *object, unsigned int offset,
			   const char *marks, unsigned int nr)
{
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);
	char should[HSLAB_LINE_LEN];
	unsigned int i = 2;

	KUNIT_ASSERT_NOT_NULL(test, lines);
	hslab_test_last_report(test, lines);
	snprintf(should, sizeof(should),
		 "BUG: hslab: bad-tag in cache %s, object %p of %u bytes, offset %u",
		 cache->name, object, cache->size, offset);
	KUNIT_EXPECT_STREQ(test, lines->line[0], should);
	KUNIT_EXPECT_STREQ(test, lines->line[1],
			   "hslab:   tag overwritten while it waited for a grace period");
	if (marks) {
		snprintf(should, sizeof(should),
			 "hslab:   offset %u: %s (1 byte differs)", offset,
			 marks);
		KUNIT_EXPECT_STREQ(test, lines->line[i++], should);
	}
	KUNIT_EXPECT_NOT_NULL(test, strstr(lines->line[i++],
					   " at hslab_rcu_work+0x"));
	snprintf(should, sizeof(should),
		 "hslab:   object set aside; %u of this kind in the cache", nr);
	KUNIT_EXPECT_STREQ(test, lines->line[i++], should);
	KUNIT_EXPECT_EQ(test, lines->nr, i);
	kunit_kfree(test, lines);
}

/* One byte: which one is told, and the chain behind it is found. */
static void one_byte_of_a_link(struct kunit *test)
{
	enum { NR = 40 };
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	unsigned int byte;
	void *object[NR];

	for (byte = 0; byte < HSLAB_TAG_SIZE; byte++) {
		u8 *victim, before;
		char marks[HSLAB_TAG_SIZE + 1];

		KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL,
							   NR, object));
		/* The first waits alone, as nothing else did. */
		victim = object[byte ? NR / 2 : 0];
		rcu_read_lock();
		hslab_free_rcu_bulk(cache, NR, object);
		hslab_peek(&before, victim + SIZE + byte, 1);
		hslab_plant_byte(victim + SIZE + byte, before ^ 0x10);
		rcu_read_unlock();
		settle(test, cache);
		strscpy(marks, "!.......", HSLAB_TAG_SIZE - byte + 1);
		expect_bad_tag(test, cache, victim, SIZE + byte, marks,
			       byte + 1);
		KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, victim));
		KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	}
	KUNIT_EXPECT_EQ(test, HSLAB_TAG_SIZE, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, HSLAB_TAG_SIZE, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, HSLAB_TAG_SIZE, hslab_test_store(cache)->nr_aside);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_lost);
}

/* All of it: what comes behind cannot be found, and is counted. */
static void a_whole_link(struct kunit *test)
{
	enum { NR = 400 };
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	struct hslab_store *store = hslab_test_store(cache);
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	unsigned int i, lost = 0;
	unsigned long waiting;
	void *anchor;

	KUNIT_ASSERT_NOT_NULL(test, object);
	anchor = hslab_test_alloc(test, cache, GFP_KERNEL);
	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL, NR,
						   object));
	migrate_disable();
	rcu_read_lock();
	hslab_free_rcu_bulk(cache, NR, object);
	hslab_plant(object[NR / 2] + SIZE, "overflow", HSLAB_TAG_SIZE);
	waiting = hslab_rcu_objects(rcu_dereference(cache->route));
	rcu_read_unlock();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, NR, waiting);
	settle(test, cache);
	expect_bad_tag(test, cache, object[NR / 2], SIZE, NULL, 1);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));

	/* Half of its chain, or nearly so. Put it right, or the module must stay. */
	KUNIT_EXPECT_EQ(test, store->nr_lost + 1, store->nr_aside);
	KUNIT_EXPECT_EQ(test, store->nr_lost + 1, atomic64_read(&cache->aside));
	for (i = 0; i < NR; i++) {
		u64 link = hslab_test_plain(cache, object[i]);

		/* No other tag, nor what is in a page by now, looks like that. */
		if ((link & HSLAB_LINK_MASK) != HSLAB_RCU || link >> 40)
			continue;
		lost++;
		kmem_cache_free(store->kmem, object[i]);
	}
	KUNIT_EXPECT_EQ(test, lost, store->nr_lost);
	KUNIT_EXPECT_GE(test, lost, NR / 2 / HSLAB_CHAINS - 1);
	KUNIT_EXPECT_LE(test, lost, NR / 2 / HSLAB_CHAINS + 1);
	store->nr_lost = 0;
	store->nr_aside = 1;
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* No link is taken for a tag of another state, or such a tag for a link. */
static void links_are_no_tags(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	u64 link = 0;

	for (; link < 1ULL << 40; link = link * 2 + 8) {
		KUNIT_EXPECT_FALSE(test, hslab_tag_whole(HSLAB_RCU | link, 0));
		KUNIT_EXPECT_FALSE(test,
				   hslab_tag_whole(HSLAB_RCU | link,
						   hslab_test_store(cache)->plain));
	}
	KUNIT_EXPECT_TRUE(test, hslab_tag_whole(HSLAB_QUARANTINED, 0));
}

static struct kunit_case rcu_faults_tests[] = {
	KUNIT_CASE_PARAM(mistakes, mistake_gen_params),
	KUNIT_CASE(cross_free_of_waiting),
	KUNIT_CASE(freed_around_while_waiting),
	KUNIT_CASE(no_tag_no_check),
	KUNIT_CASE(one_byte_of_a_link),
	KUNIT_CASE(a_whole_link),
	KUNIT_CASE(links_are_no_tags),
	{}
};

static struct kunit_suite rcu_faults_suite = {
	.name = "hslab_rcu_faults",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = rcu_faults_tests,
};

kunit_test_suite(rcu_faults_suite);
