// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel's own test of SLUB (lib/slub_kunit.c) does to a cache with
 * slub_debug, done to one of hslab: the same faults, and what hslab makes of them.
 *
 * SLUB finds them when somebody has its caches validated. hslab looks at an object
 * when it changes hands, so a live one is judged when it is freed, one in SLUB's
 * hands when it is allocated, and what hslab itself keeps by a scrub as well.
 *
 * krealloc_redzone_zeroing has no counterpart: there is no krealloc() of hslab's, and
 * no size but that of the class that could be between two sizes. What takes its
 * place is kmalloc_has_no_rest().
 */
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/swab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/printk.h>

#include "hslab_kunit.h"

#define SIZE	64
#define ODD	61			/* three bytes of padding before the tag */
#define LINK	(SIZE + HSLAB_TAG_SIZE)	/* where SLUB's free pointer is */
#define DIRT	0xee			/* what owners write */

/*
 * WHAT THE TESTS SHARE
 */
static const char *const profiles[] = { "debug", "paranoid" };

static void profile_desc(const char *const *profile, char *desc)
{
	strscpy(desc, *profile, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(profile, profiles, profile_desc);

static struct hslab_cache *slub_cache(struct kunit *test, unsigned int size,
				      const char *profile, slab_flags_t flags)
{
	struct hslab_args args = { .profile = profile, .flags = flags };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-slub", size,
						     &args);

	KUNIT_ASSERT_EQ(test, SIZE, hslab_test_store(cache)->tag_off);
	return cache;
}

static u64 state_of(const struct hslab_cache *cache, const void *object)
{
	return hslab_test_plain(cache, object) & HSLAB_STATE_MASK;
}

/* Change all bits of a byte: it differs, whatever it was. */
static void clobber(u8 *at)
{
	u8 byte;

	hslab_peek(&byte, at, 1);
	hslab_plant_byte(at, ~byte);
}

static void scrub_now(struct hslab_cache *cache)
{
	mutex_lock(&hslab_mutex);
	hslab_scrub(cache);
	mutex_unlock(&hslab_mutex);
}

/* Is @object one of the next @nr that are allocated? */
static bool comes_back(struct kunit *test, struct hslab_cache *cache,
		       const void *object)
{
	enum { NR = 300 };
	void **other = kunit_kcalloc(test, NR, sizeof(*other), GFP_KERNEL);
	unsigned int i, again = 0;

	KUNIT_ASSERT_NOT_NULL(test, other);
	hslab_cache_shrink(cache);
	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL, NR,
						   other));
	for (i = 0; i < NR; i++)
		again += other[i] == object;
	hslab_free_bulk(cache, NR, other);
	kunit_kfree(test, other);
	return again;
}

/*
 * A violation: @reports had been made before, this one is as @expect says, the
 * object is nobody's any more, and it is neither reported nor handed out again.
 */
static void expect_contained(struct kunit *test, struct hslab_cache *cache,
			     enum hslab_kind kind, unsigned long reports,
			     const struct hslab_expect *expect)
{
	u64 found = hslab_test_faults(cache, kind);

	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, expect->nr, found);
	KUNIT_EXPECT_EQ(test, expect->nr, hslab_test_all_faults(cache));
	hslab_test_expect(test, expect);
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, expect->object));
	KUNIT_EXPECT_EQ(test, expect->nr, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, expect->nr, hslab_test_store(cache)->nr_aside);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_suspects);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_lost);

	scrub_now(cache);
	KUNIT_EXPECT_FALSE(test, comes_back(test, cache, expect->object));
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, expect->object));
	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, expect->nr, hslab_test_all_faults(cache));
}

/*
 * CLOBBER_ZONE: a live object is written past its end
 */
struct zone_case {
	const char *name, *profile;
	unsigned int size, offset;
	const char *marks;
};

static const struct zone_case zone_cases[] = {
	{ "debug, first byte", "debug", SIZE, SIZE, "!......." },
	{ "debug, last byte of the tag", "debug", SIZE, SIZE + 7, "!" },
	{ "debug, padding", "debug", ODD, ODD, "!.........." },
	{ "paranoid, first byte", "paranoid", SIZE, SIZE, "!......." },
	{ "paranoid, last byte of the tag", "paranoid", SIZE, SIZE + 7, "!" },
	{ "paranoid, padding", "paranoid", ODD, ODD, "!.........." },
};

KUNIT_ARRAY_PARAM_DESC(zone, zone_cases, name);

/* A tag takes the place of a red zone. It is looked at when the object is freed. */
static void clobber_zone(struct kunit *test)
{
	const struct zone_case *c = test->param_value;
	struct hslab_cache *cache = slub_cache(test, c->size, c->profile, 0);
	unsigned long reports = hslab_nr_reports();
	u8 *anchor, *object;

	hslab_test_victim(test, cache, (void **)&anchor, (void **)&object);
	clobber(object + c->offset);
	/* Nobody has let go of it: its owner may be at work. */
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(cache));

	hslab_free(cache, object);
	expect_contained(test, cache, HSLAB_OVERFLOW, reports,
			 &(struct hslab_expect) {
		.kind = "overflow", .cache = cache, .object = object,
		.offset = c->offset, .more = "written past its end",
		.marks = c->marks, .nr_bad = 1, .aside = true, .nr = 1,
		.caller = clobber_zone,
	});
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/*
 * What an alignment leaves between SLUB's free pointer and the next object holds
 * nothing, and nobody looks at it. SLUB, with its padding poisoned, does.
 */
static void slack_is_nobodys(struct kunit *test)
{
	const char *const *profile = test->param_value;
	struct hslab_args args = { .profile = *profile, .align = 2 * SIZE };
	unsigned long reports = hslab_nr_reports();
	struct hslab_cache *cache;
	void *anchor, *object;
	unsigned int i;

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN has its own there");
	cache = hslab_test_cache(test, "kunit-slub", SIZE, &args);
	KUNIT_ASSERT_EQ(test, 2 * SIZE, hslab_slot_size(&cache->geometry));
	hslab_test_victim(test, cache, &anchor, &object);
	KUNIT_ASSERT_EQ(test, 0, (u64)object % (2 * SIZE));
	for (i = LINK + sizeof(void *); i < 2 * SIZE; i++)
		clobber(object + i);
	hslab_free(cache, object);
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/*
 * FIRST_WORD, CLOBBER_50TH_BYTE, CLOBBER_REDZONE_FREE: a free object is written to
 */
struct free_case {
	const char *name, *profile;
	unsigned int size, offset;
	const char *marks;
};

static const struct free_case free_cases[] = {
	{ "debug, first_word", "debug", SIZE, 0, "!..............." },
	{ "debug, clobber_50th_byte", "debug", SIZE, 50, "!............." },
	{ "debug, padding", "debug", ODD, ODD, "!.." },
	{ "debug, clobber_redzone_free", "debug", SIZE, SIZE, "!......." },
	{ "paranoid, first_word", "paranoid", SIZE, 0, "!..............." },
	{ "paranoid, clobber_50th_byte", "paranoid", SIZE, 50,
	  "!............." },
	{ "paranoid, padding", "paranoid", ODD, ODD, "!.." },
	{ "paranoid, clobber_redzone_free", "paranoid", SIZE, SIZE,
	  "!......." },
};

KUNIT_ARRAY_PARAM_DESC(free, free_cases, name);

/*
 * Padding is filled as the payload is when the object is freed, and so a part of it
 * then. Under debug the object is SLUB's, and found when it is allocated; under
 * paranoid it is in quarantine, and a scrub finds it.
 */
static void clobber_free(struct kunit *test)
{
	const struct free_case *c = test->param_value;
	struct hslab_cache *cache = slub_cache(test, c->size, c->profile, 0);
	bool kept = !strcmp(c->profile, "paranoid"), tag = c->offset >= SIZE;
	enum hslab_kind kind = tag ? HSLAB_BAD_TAG : HSLAB_WRITE_AFTER_FREE;
	unsigned long reports = hslab_nr_reports();
	u8 *anchor, *object;

	hslab_test_victim(test, cache, (void **)&anchor, (void **)&object);
	hslab_free(cache, object);
	KUNIT_ASSERT_EQ(test, kept ? HSLAB_QUARANTINED : HSLAB_FREE,
			state_of(cache, object));
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());

	clobber(object + c->offset);
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, reports + kept, hslab_nr_reports());
	if (!kept)
		hslab_test_find(test, cache, kind);
	expect_contained(test, cache, kind, reports, &(struct hslab_expect) {
		.kind = tag ? "bad-tag" : "write-after-free",
		.cache = cache, .object = object, .offset = c->offset,
		.more = tag ? "tag overwritten while it was free" :
			      "written after cache kunit-slub freed it",
		.marks = c->marks, .nr_bad = 1, .aside = true, .nr = 1,
		.caller = kept ? NULL : hslab_test_find,
	});
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/*
 * NEXT_POINTER: SLUB's free pointer is overwritten
 *
 * It lies behind the tag, and is no concern of hslab's. Who writes from the object
 * on up to there has met the tag before; these write to it alone.
 */
struct link_case {
	const char *name, *profile;
	bool free;			/* it is when it is written to */
};

static const struct link_case link_cases[] = {
	{ "debug, live", "debug", false },
	{ "debug, in a magazine", "debug", true },
	{ "paranoid, live", "paranoid", false },
	{ "paranoid, in quarantine", "paranoid", true },
};

KUNIT_ARRAY_PARAM_DESC(link, link_cases, name);

/* While SLUB does not have the object it is no pointer, and SLUB sets it anew. */
static void next_pointer_is_none(struct kunit *test)
{
	const struct link_case *c = test->param_value;
	struct hslab_cache *cache = slub_cache(test, SIZE, c->profile, 0);
	unsigned long reports = hslab_nr_reports();
	void *anchor, *object;
	unsigned int i;

	hslab_test_victim(test, cache, &anchor, &object);
	if (c->free)
		hslab_free(cache, object);
	for (i = 0; i < sizeof(void *); i++)
		clobber(object + LINK + i);
	if (!c->free)
		hslab_free(cache, object);
	scrub_now(cache);
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	KUNIT_EXPECT_EQ(test, HSLAB_LIVE, state_of(cache, object));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/*
 * In SLUB's hands it is what SLUB follows, and wherever it leads is what the
 * allocation after the next is about to get. A random value is an oops then, which
 * nobody can help. One that is chosen well, and leads to an object that somebody
 * has, is what hslab is there for.
 */

/* How SLUB keeps a pointer to @next at @at; @secret is nothing if it is not hardened. */
static u64 link_word(u64 secret, const void *next, const void *at)
{
	if (!IS_ENABLED(CONFIG_SLAB_FREELIST_HARDENED))
		return (u64)next;
	return (u64)next ^ secret ^ swab64((u64)at);
}

static u64 link_of(const void *object)
{
	u64 word;

	hslab_peek(&word, object + LINK, sizeof(word));
	return word;
}

static void set_link(void *object, u64 secret, const void *next)
{
	u64 word = link_word(secret, next, object + LINK);

	hslab_plant(object + LINK, &word, sizeof(word));
}

/*
 * Free three of four objects, so that SLUB's list goes from the first to the second
 * and the third; gives SLUB's secret. Skips where it is not so.
 */
static u64 free_three(struct kunit *test, struct hslab_cache *cache,
		      void *const *object)
{
	u64 secret;

	hslab_free(cache, object[2]);
	hslab_free(cache, object[1]);
	hslab_free(cache, object[0]);
	secret = link_word(link_of(object[0]), object[1], object[0] + LINK);
	if (link_of(object[0]) != link_word(secret, object[1],
					    object[0] + LINK) ||
	    link_of(object[1]) != link_word(secret, object[2],
					    object[1] + LINK))
		kunit_skip(test, "SLUB keeps free objects in another way");
	return secret;
}

/* A cache with @nr objects of one slab page allocated, and nothing else. */
static struct hslab_cache *listed_cache(struct kunit *test, void **object,
					unsigned int nr)
{
	struct hslab_cache *cache;
	unsigned int i;

	if (IS_ENABLED(CONFIG_KASAN))
		kunit_skip(test, "KASAN keeps free objects from SLUB");
	set_cpus_allowed_ptr(current,
			     cpumask_of(cpumask_first(cpu_online_mask)));
	/* Charged objects are in no magazine: SLUB has them at once. */
	cache = slub_cache(test, SIZE, "debug", SLAB_ACCOUNT);
	for (i = 0; i < nr; i++) {
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		memset(object[i], DIRT, SIZE);
	}
	return cache;
}

static void next_pointer_to_live(struct kunit *test)
{
	unsigned long reports = hslab_nr_reports();
	void *object[4], *again[2], *live;
	struct hslab_cache *cache;
	u64 secret;

	cache = listed_cache(test, object, ARRAY_SIZE(object));
	live = object[3];
	secret = free_three(test, cache, object);

	/* The first, the live one, the second, and on as it was. */
	set_link(live, secret, object[1]);
	set_link(object[0], secret, live);
	again[0] = hslab_test_alloc(test, cache, GFP_KERNEL);
	KUNIT_EXPECT_PTR_EQ(test, object[0], again[0]);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(cache));
	again[1] = hslab_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_PTR_EQ(test, object[1], again[1]);

	/* Two owners are worse than none: the former is nobody's from now on. */
	expect_contained(test, cache, HSLAB_NOT_FREED, reports,
			 &(struct hslab_expect) {
		.kind = "not-freed", .cache = cache, .object = live,
		.offset = -1, .aside = true, .nr = 1,
		.more =
		"cache kunit-slub has it: freed around hslab, or given out twice",
		.caller = next_pointer_to_live,
	});
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(cache));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(live, DIRT, SIZE));

	hslab_free(cache, live);
	KUNIT_EXPECT_EQ(test, reports + 2, hslab_nr_reports());
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "double-free", .cache = cache, .object = live,
		.offset = -1, .more = "it was set aside", .nr = 1,
		.caller = next_pointer_to_live,
	});
	hslab_free_bulk(cache, ARRAY_SIZE(again), again);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 2, hslab_test_all_faults(cache));
}

/* Where there is no object of the cache's. */
static u8 astray[4 * SIZE];

static void *in_module(struct kunit *test, void **object, unsigned int nr)
{
	memset(astray, DIRT, sizeof(astray));
	return astray;
}

static void *in_others(struct kunit *test, void **object, unsigned int nr)
{
	void *memory = kunit_kmalloc(test, sizeof(astray), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memset(memory, DIRT, sizeof(astray));
	return memory;
}

/* 16 bytes into a live object, so that the tag and the link are the next one's. */
static void *in_object(struct kunit *test, void **object, unsigned int nr)
{
	unsigned int i, j;

	for (i = 3; i < nr; i++)
		for (j = 3; j < nr; j++)
			if (object[i] + LINK + sizeof(void *) == object[j])
				return object[i] + 16;
	KUNIT_ASSERT_TRUE_MSG(test, false, "no two objects are in turn");
	return NULL;
}

struct astray_case {
	const char *name;
	void *(*place)(struct kunit *test, void **object, unsigned int nr);
};

static const struct astray_case astray_cases[] = {
	{ "module data", in_module },
	{ "another cache's", in_others },
	{ "inside of an object", in_object },
};

KUNIT_ARRAY_PARAM_DESC(astray, astray_cases, name);

/* It is not handed out, and as it is none of hslab's, it is not even written to. */
static void next_pointer_astray(struct kunit *test)
{
	enum { NR = 40 };
	const struct astray_case *c = test->param_value;
	unsigned long reports = hslab_nr_reports();
	struct hslab_cache *cache;
	void *object[NR], *place;
	u64 secret, link;

	cache = listed_cache(test, object, NR);
	place = c->place(test, object, NR);
	link = link_of(place);
	secret = free_three(test, cache, object);
	set_link(place, secret, object[1]);
	set_link(object[0], secret, place);
	KUNIT_EXPECT_PTR_EQ(test, object[0], hslab_alloc(cache, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_PTR_EQ(test, object[1], hslab_alloc(cache, GFP_KERNEL));
	hslab_plant(place + LINK, &link, sizeof(link));

	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "not-freed", .cache = cache, .object = place,
		.offset = -1, .nr = 1,
		.more = "no object of the cache: SLUB's free list is damaged",
		.caller = next_pointer_astray,
	});
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_aside);
	if (c->place != in_object)
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(place, DIRT,
						       sizeof(astray)));
	else
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(place + SIZE, DIRT,
						       SIZE));

	object[2] = NULL;		/* the one that is still free */
	KUNIT_EXPECT_EQ(test, NR - 1, hslab_cache_live(cache));
	hslab_free_bulk(cache, NR, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_FALSE(test, comes_back(test, cache, place));
	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
}

/*
 * KMALLOC_REDZONE_ACCESS: memory is written to beyond the size that was asked for
 */
#define ASKED	18
#define OF_CLASS	32

static struct hslab_cache *class_cache(struct kunit *test)
{
	struct hslab_cache *cache, *found = NULL;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		if (!strcmp(cache->name, "hslab-" __stringify(OF_CLASS)))
			found = cache;
	mutex_unlock(&hslab_mutex);
	KUNIT_ASSERT_NOT_NULL(test, found);
	return found;
}

static void *class_object(struct kunit *test)
{
	u8 *object = hslab_kmalloc(ASKED, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, object);
	OPTIMIZER_HIDE_VAR(object);	/* the compiler would know its size */
	return object;
}

/*
 * hslab does not keep what was asked for: all of the class is the caller's, and what
 * is found is a write beyond that.
 */
static void kmalloc_redzone_access(struct kunit *test)
{
	struct hslab_cache *cache = class_cache(test);
	u64 before = hslab_test_faults(cache, HSLAB_OVERFLOW);
	s64 aside = atomic64_read(&cache->aside);
	s64 live = hslab_cache_live(cache);
	unsigned long reports = hslab_nr_reports();
	u8 *object = class_object(test);

	object[ASKED] = 0xab;
	object[ASKED + 1] = 0xab;
	object[OF_CLASS - 1] = 0xab;
	hslab_kfree(object);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
	KUNIT_EXPECT_EQ(test, live, hslab_cache_live(cache));

	object = class_object(test);
	clobber(object + OF_CLASS);
	hslab_kfree(object);
	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "overflow", .cache = cache, .object = object,
		.offset = OF_CLASS, .more = "written past its end",
		.marks = "!.......", .nr_bad = 1, .aside = true,
		.nr = before + 1,
	});
	KUNIT_EXPECT_EQ(test, before + 1,
			hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, aside + 1, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, object));
	KUNIT_EXPECT_EQ(test, live, hslab_cache_live(cache));
	KUNIT_EXPECT_FALSE(test, comes_back(test, cache, object));
	KUNIT_EXPECT_EQ(test, reports + 1, hslab_nr_reports());
}

/*
 * As all of the class is the caller's, all of it is zeroed, and a caller that goes
 * on to use the rest finds nothing of a former owner there.
 */
static void kmalloc_has_no_rest(struct kunit *test)
{
	u8 *object[40];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = class_object(test);
		memset(object[i], 0xff, OF_CLASS);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		hslab_kfree(object[i]);
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = hslab_kzalloc(ASKED, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[i], 0, OF_CLASS));
	}
	for (i = 0; i < ARRAY_SIZE(object); i++)
		hslab_kfree(object[i]);
}

/*
 * KFREE_RCU: a cache is destroyed while its objects wait for a grace period
 */

/* What is left of a cache that was destroyed. */
struct remains {
	struct hslab_cache *cache;	/* not to be followed */
	struct hslab_store *store;
	unsigned int id;		/* of the store */
};

static void remember(struct remains *r, struct hslab_cache *cache)
{
	r->cache = cache;
	r->store = hslab_test_store(cache);
	r->id = r->store->id;
}

/* Is the cache in the registry? */
static bool is_registered(const struct remains *r)
{
	struct hslab_cache *cache;
	bool found = false;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node)
		found |= cache == r->cache;
	mutex_unlock(&hslab_mutex);
	return found;
}

/* Nothing gives a store a number that is taken, so this one is there if that is it. */
static bool has_store(const struct remains *r)
{
	return READ_ONCE(hslab_store_of_ctor[r->id]) == r->store;
}

/* No rcu_head is needed: the smallest object will do. */
static const unsigned int rcu_sizes[] = { 1, sizeof(struct rcu_head), SIZE };

static void rcu_desc(const unsigned int *size, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes", *size);
}

KUNIT_ARRAY_PARAM(rcu, rcu_sizes, rcu_desc);

static void kfree_rcu_and_destroy(struct kunit *test)
{
	const unsigned int *size = test->param_value;
	unsigned long reports = hslab_nr_reports();
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(profiles); i++) {
		struct hslab_args args = { .profile = profiles[i] };
		struct hslab_cache *cache = hslab_test_cache(test, "kunit-slub",
							     *size, &args);
		struct remains r;

		remember(&r, cache);
		hslab_free_rcu(cache, hslab_test_alloc(test, cache,
						       GFP_KERNEL));
		hslab_test_destroy(test, cache);
		KUNIT_EXPECT_FALSE(test, is_registered(&r));
		/* The store goes with the last object. */
		KUNIT_EXPECT_TRUE(test, hslab_test_eventually(!has_store(&r)));
	}
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
}

/*
 * KFREE_RCU_WQ_DESTROY: the same, by a worker that memory reclaim may wait for
 */
struct destroyer {
	struct work_struct work;
	struct hslab_cache *cache;
	bool shrink;
};

static void destroy_work(struct work_struct *work)
{
	struct destroyer *d = container_of(work, struct destroyer, work);

	if (d->shrink)
		hslab_cache_shrink(d->cache);
	hslab_cache_destroy(d->cache);
}

KUNIT_DEFINE_ACTION_WRAPPER(destroy_wq, destroy_workqueue,
			    struct workqueue_struct *);

static struct workqueue_struct *reclaim_wq(struct kunit *test)
{
	struct workqueue_struct *wq =
		alloc_workqueue("hslab-kunit",
				WQ_HIGHPRI | WQ_UNBOUND | WQ_MEM_RECLAIM, 0);

	KUNIT_ASSERT_NOT_NULL(test, wq);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, destroy_wq, wq));
	return wq;
}

/* A cache with @nr objects on their way, which a worker is about to destroy. */
static void on_their_way(struct kunit *test, struct destroyer *d,
			 struct remains *r, const char *profile,
			 unsigned int nr)
{
	struct hslab_args args = { .profile = profile };
	void *object[50];

	KUNIT_ASSERT_LE(test, nr, ARRAY_SIZE(object));
	d->cache = hslab_cache_create("kunit-slub", sizeof(struct rcu_head),
				      &args);
	KUNIT_ASSERT_FALSE(test, IS_ERR(d->cache));
	remember(r, d->cache);
	KUNIT_ASSERT_EQ(test, nr,
			hslab_alloc_bulk(d->cache, GFP_KERNEL, nr, object));
	hslab_free_rcu_bulk(d->cache, nr, object);
}

/* At whatever stage the objects are. */
static void kfree_rcu_wq_destroy(struct kunit *test)
{
	static const unsigned int delays[] = { 0, 0, 1, 2, 3, 5, 8, 13, 30, 60 };
	const char *const *profile = test->param_value;
	struct workqueue_struct *wq = reclaim_wq(test);
	unsigned long reports = hslab_nr_reports();
	struct destroyer d = { };
	struct remains r;
	unsigned int i;

	INIT_WORK_ONSTACK(&d.work, destroy_work);
	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		d.shrink = i % 2;
		on_their_way(test, &d, &r, *profile, i % 3 ? 50 : 1);
		msleep(delays[i]);
		queue_work(wq, &d.work);
		flush_work(&d.work);
		KUNIT_EXPECT_FALSE(test, is_registered(&r));
		KUNIT_EXPECT_TRUE_MSG(test,
				      hslab_test_eventually(!has_store(&r)),
				      "%u ms", delays[i]);
	}
	destroy_work_on_stack(&d.work);
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
}

/* While they certainly wait: somebody reads. The destroyer waits with them. */
static void wq_destroy_waits(struct kunit *test)
{
	const char *const *profile = test->param_value;
	struct workqueue_struct *wq = reclaim_wq(test);
	unsigned long reports = hslab_nr_reports(), waiting;
	struct hslab_reader *reader = hslab_test_reader(test);
	struct destroyer d = { };
	struct remains r;
	bool there;
	s64 live;

	INIT_WORK_ONSTACK(&d.work, destroy_work);
	on_their_way(test, &d, &r, *profile, 50);
	waiting = hslab_rcu_objects(hslab_test_route(d.cache));
	queue_work(wq, &d.work);
	msleep(100);
	there = has_store(&r) && work_busy(&d.work);
	live = there ? hslab_cache_live(d.cache) : 0;
	hslab_test_reader_leaves(reader);
	flush_work(&d.work);
	destroy_work_on_stack(&d.work);

	KUNIT_EXPECT_EQ(test, 50, waiting);
	KUNIT_EXPECT_TRUE(test, there);
	KUNIT_EXPECT_EQ(test, 50, live);
	KUNIT_EXPECT_FALSE(test, is_registered(&r));
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(!has_store(&r)));
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
}

/*
 * LEAK_DESTROY: a cache is destroyed with an object live
 */

/* What is printed of the cache, by whom ever. */
#define LEAKY		"kunit-leaky"
#define LEAK_START	"hslab: cache " LEAKY ": "

static struct {
	raw_spinlock_t lock;		/* printk() may be anywhere */
	bool on;
	struct hslab_lines lines;
} console = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(console.lock),
};

static void probe_console(void *unused, const char *text, size_t len)
{
	unsigned long flags;

	if (!READ_ONCE(console.on))
		return;
	raw_spin_lock_irqsave(&console.lock, flags);
	if ((console.lines.nr ? strnstr(text, "hslab: ", len) :
				strnstr(text, LEAK_START, len)) == text &&
	    console.lines.nr < HSLAB_LINES)
		strscpy(console.lines.line[console.lines.nr++], text,
			min_t(size_t, len + 1, HSLAB_LINE_LEN));
	raw_spin_unlock_irqrestore(&console.lock, flags);
}

static void listen(bool on)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&console.lock, flags);
	if (on)
		memset(&console.lines, 0, sizeof(console.lines));
	WRITE_ONCE(console.on, on);
	raw_spin_unlock_irqrestore(&console.lock, flags);
}

static noinline void *leak_one(struct hslab_cache *cache)
{
	void *object = hslab_alloc(cache, GFP_KERNEL);

	barrier();		/* no tail call: it is the caller that is told */
	return object;
}

struct leak_case {
	const char *name, *profile, *track;
};

static const struct leak_case leak_cases[] = {
	{ "debug", "debug", "0" },
	{ "debug, tracked", "debug", "1" },
	{ "paranoid", "paranoid", "0" },
	{ "paranoid, tracked", "paranoid", "1" },
};

KUNIT_ARRAY_PARAM_DESC(leak, leak_cases, name);

/* Which cache, which store, and how many; and who allocated it, when that is known. */
static void expect_leak(struct kunit *test, const struct remains *r,
			bool tracked)
{
	unsigned int i, cpu = ~0, secs, ms, named = 0, read;
	char should[HSLAB_LINE_LEN];
	int end = 0;

	KUNIT_ASSERT_GE(test, console.lines.nr, tracked ? 4 : 2);
	KUNIT_EXPECT_TRUE_MSG(test, strstarts(console.lines.line[0], LEAK_START
					      "destroyed with 1 of its objects live; "),
			      "%s", console.lines.line[0]);
	snprintf(should, sizeof(should), "hslab:   store %u: 1%s", r->id,
		 tracked ? "" : ", not tracked");
	KUNIT_EXPECT_STREQ(test, console.lines.line[1], should);
	for (i = 0; i < console.lines.nr; i++)
		KUNIT_EXPECT_NULL(test, strstr(console.lines.line[i], "BUG: "));
	if (!tracked) {
		KUNIT_EXPECT_EQ(test, 2, console.lines.nr);
		return;
	}
	snprintf(should, sizeof(should),
		 "hslab:   1 object of %u bytes, allocated by pid %d on CPU %%u, %%u.%%u s ago, at:%%n",
		 SIZE, task_pid_nr(current));
	read = sscanf(console.lines.line[2], should, &cpu, &secs, &ms, &end);
	KUNIT_EXPECT_EQ(test, 3, read);
	KUNIT_EXPECT_LT(test, cpu, nr_cpu_ids);
	KUNIT_EXPECT_EQ(test, end, (int)strlen(console.lines.line[2]));
	for (i = 3; i < console.lines.nr; i++)
		named += strstarts(console.lines.line[i],
				   "hslab:     leak_one+0x");
	KUNIT_EXPECT_EQ(test, 1, named);
}

/* The object is told by where it comes from; SLUB prints its address. */
static void leak_destroy(struct kunit *test)
{
	const struct leak_case *c = test->param_value;
	struct hslab_args args = { .profile = c->profile };
	struct hslab_cache *cache = hslab_cache_create(LEAKY, SIZE, &args);
	unsigned long reports = hslab_nr_reports();
	struct remains r;
	void *object;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cache));
	hslab_test_policy(test, cache, "track", c->track);
	remember(&r, cache);
	object = leak_one(cache);
	KUNIT_ASSERT_NOT_NULL(test, object);
	memset(object, DIRT, SIZE);
	listen(true);
	hslab_cache_destroy(cache);
	listen(false);

	expect_leak(test, &r, c->track[0] == '1');
	KUNIT_EXPECT_FALSE(test, is_registered(&r));
	KUNIT_ASSERT_TRUE(test, has_store(&r));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, HSLAB_LIVE, state_of(cache, object));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, DIRT, SIZE));

	/* SLUB would never get rid of the cache; here it may still come home. */
	listen(true);
	hslab_free(cache, object);
	KUNIT_EXPECT_TRUE(test, hslab_test_eventually(!has_store(&r)));
	listen(false);
	KUNIT_EXPECT_EQ(test, 1, console.lines.nr);
	KUNIT_EXPECT_STREQ(test, console.lines.line[0],
			   LEAK_START "the last of its objects came home");
	KUNIT_EXPECT_EQ(test, reports, hslab_nr_reports());
}

static int slub_suite_init(struct kunit_suite *suite)
{
	hslab_suite_provokes(suite);
	return register_trace_console(probe_console, NULL);
}

static void slub_suite_exit(struct kunit_suite *suite)
{
	unregister_trace_console(probe_console, NULL);
	tracepoint_synchronize_unregister();
	hslab_suite_provoked(suite);
}

static struct kunit_case slub_tests[] = {
	KUNIT_CASE_PARAM(clobber_zone, zone_gen_params),
	KUNIT_CASE_PARAM(slack_is_nobodys, profile_gen_params),
	KUNIT_CASE_PARAM(clobber_free, free_gen_params),
	KUNIT_CASE_PARAM(next_pointer_is_none, link_gen_params),
	KUNIT_CASE(next_pointer_to_live),
	KUNIT_CASE_PARAM(next_pointer_astray, astray_gen_params),
	KUNIT_CASE(kmalloc_redzone_access),
	KUNIT_CASE(kmalloc_has_no_rest),
	KUNIT_CASE_PARAM(kfree_rcu_and_destroy, rcu_gen_params),
	KUNIT_CASE_PARAM(kfree_rcu_wq_destroy, profile_gen_params),
	KUNIT_CASE_PARAM(wq_destroy_waits, profile_gen_params),
	KUNIT_CASE_PARAM(leak_destroy, leak_gen_params),
	{}
};

static struct kunit_suite slub_suite = {
	.name = "hslab_slub",
	.suite_init = slub_suite_init,
	.suite_exit = slub_suite_exit,
	.test_cases = slub_tests,
};

kunit_test_suite(slub_suite);
