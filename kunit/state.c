// SPDX-License-Identifier: GPL-2.0
/*
 * The tag: every change of state on real caches, every damage of it, and frees
 * that race.
 */
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>

#include "hslab_kunit.h"

/* The kinds of cache on which a tag is looked at. */
struct state_case {
	const char *name;
	unsigned int size;
	const char *poison;
	u64 fill;			/* fill bits of the tag of a freed object */
};

#define BYTE_FILL(byte) \
	((u64)HSLAB_FILL_BYTE << HSLAB_KIND_SHIFT | \
	 (u64)(byte) << HSLAB_BYTE_SHIFT)
#define RANDOM_FILL	((u64)HSLAB_FILL_RANDOM << HSLAB_KIND_SHIFT)

static const struct state_case state_cases[] = {
	{ "64 bytes, zero",	64,	"zero",		BYTE_FILL(0) },
	{ "61 bytes, 0x6b",	61,	"0x6b",		BYTE_FILL(0x6b) },
	{ "8 bytes, off",	8,	"off",		0 },
	{ "1 byte, random",	1,	"random",	RANDOM_FILL },
	{ "1000 bytes, 0xff",	1000,	"0xff",		BYTE_FILL(0xff) },
};

KUNIT_ARRAY_PARAM_DESC(state, state_cases, name);

static struct hslab_cache *state_cache(struct kunit *test)
{
	const struct state_case *c = test->param_value;
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-state",
						     c->size, NULL);

	hslab_test_policy(test, cache, "profile", "debug");
	hslab_test_policy(test, cache, "poison", c->poison);
	return cache;
}

/* The plain tag that an object of @cache should have. */
static u64 plain_of(const struct hslab_cache *cache, enum hslab_state state,
		    u64 fill)
{
	return state | fill | (u64)cache->id << HSLAB_CACHE_SHIFT |
	       (u64)hslab_test_store(cache)->id << HSLAB_STORE_SHIFT;
}

static u8 *tag_of(const struct hslab_cache *cache, const void *object)
{
	return (u8 *)object + round_up(cache->size, 8);
}

static void live_and_free(struct kunit *test)
{
	const struct state_case *c = test->param_value;
	struct hslab_cache *cache = state_cache(test);
	void *anchor, *object;
	unsigned int round;

	hslab_test_victim(test, cache, &anchor, &object);
	for (round = 0; round < 3; round++) {
		KUNIT_EXPECT_EQ(test, hslab_test_plain(cache, object),
				plain_of(cache, HSLAB_LIVE, 0));
		hslab_free(cache, object);
		KUNIT_EXPECT_EQ(test, hslab_test_plain(cache, object),
				plain_of(cache, HSLAB_FREE, c->fill));
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
	}
	KUNIT_EXPECT_EQ(test, 2, hslab_cache_live(cache));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void double_free_is_refused(struct kunit *test)
{
	const struct state_case *c = test->param_value;
	struct hslab_cache *cache = state_cache(test);
	struct hslab_counts counts;
	void *anchor, *object;
	unsigned int i;

	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	for (i = 1; i <= 3; i++) {
		hslab_free(cache, object);
		KUNIT_EXPECT_EQ(test, i,
				hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
		KUNIT_EXPECT_EQ(test, hslab_test_plain(cache, object),
				plain_of(cache, HSLAB_FREE, c->fill));
		KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	}
	KUNIT_EXPECT_EQ(test, 3, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&cache->aside));

	/* SLUB has it once: it comes back, and only once. */
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	for (i = 0; i < 100; i++) {
		void *other = hslab_test_alloc(test, cache, GFP_KERNEL);

		KUNIT_EXPECT_PTR_NE(test, other, object);
		hslab_free(cache, other);
	}
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	hslab_test_counts(cache, &counts);
	KUNIT_EXPECT_EQ(test, counts.limit, counts.headroom);
	KUNIT_EXPECT_EQ(test, 3, hslab_test_all_faults(cache));
}

/* LIVE to ASIDE: an overflow. The object is never seen again. */
static void aside_is_for_ever(struct kunit *test)
{
	struct hslab_cache *cache = state_cache(test);
	void *anchor, *object, *other;
	unsigned int i;
	u8 *tag;

	hslab_test_victim(test, cache, &anchor, &object);
	tag = tag_of(cache, object);
	hslab_plant_byte(tag, 0);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_store(cache)->nr_aside);
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE,
			hslab_test_plain(cache, object) & HSLAB_STATE_MASK);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));

	/* ASIDE to ASIDE: another free of it is a double one. */
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_store(cache)->nr_aside);

	hslab_cache_shrink(cache);
	for (i = 0; i < 200; i++) {
		other = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_PTR_NE(test, other, object);
		hslab_free(cache, other);
	}
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 2, hslab_test_all_faults(cache));
}

/* Several objects are set aside, and each free of one again is a double free. */
static void aside_is_a_list(struct kunit *test)
{
	enum { NR = 40 };	/* more than one chunk of the list has */
	struct hslab_cache *cache = state_cache(test);
	struct hslab_store *store = hslab_test_store(cache);
	void *object[NR];
	int i;

	for (i = 0; i < NR; i++)
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	for (i = 0; i < NR; i++) {
		u8 *byte = tag_of(cache, object[i]) + i % HSLAB_TAG_SIZE;

		hslab_plant_byte(byte, ~*byte);
		hslab_free(cache, object[i]);
	}
	KUNIT_EXPECT_EQ(test, NR, store->nr_aside);
	KUNIT_EXPECT_EQ(test, NR, hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, 0, store->nr_suspects);
	KUNIT_EXPECT_EQ(test, 0, store->nr_lost);
	for (i = 0; i < NR; i++)
		hslab_free(cache, object[i]);
	KUNIT_EXPECT_EQ(test, NR, store->nr_aside);
	KUNIT_EXPECT_EQ(test, NR, hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

static void destroy_tag(struct hslab_cache *cache, void *object)
{
	u64 tag;

	hslab_peek(&tag, tag_of(cache, object), sizeof(tag));
	tag = ~tag;
	hslab_plant(tag_of(cache, object), &tag, sizeof(tag));
}

/*
 * A free object whose whole tag was overwritten is freed again: nothing tells it
 * from a live one that ran over. It must not be given back to SLUB twice.
 */
static void suspect_comes_up(struct kunit *test)
{
	struct hslab_cache *cache = state_cache(test);
	struct hslab_store *store = hslab_test_store(cache);
	void *anchor, *object, *other[200];
	unsigned int i;

	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	destroy_tag(cache, object);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, 1, store->nr_suspects);

	hslab_cache_shrink(cache);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_PTR_NE(test, other[i], object);
	}
	hslab_free_bulk(cache, ARRAY_SIZE(other), other);
	KUNIT_EXPECT_EQ(test, 0, store->nr_suspects);
	KUNIT_EXPECT_EQ(test, 1, store->nr_aside);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* The same, and the cache goes before the object comes up. */
static void suspect_goes_with_its_store(struct kunit *test)
{
	struct hslab_cache *cache = state_cache(test);
	void *anchor, *object;

	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	destroy_tag(cache, object);
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	hslab_test_destroy(test, cache);
}

/* A live object that ran over its whole tag, alone in its slab page. */
static void large_overflow(struct kunit *test)
{
	struct hslab_args args = { .profile = "balanced" };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-large", 20000,
						     &args);
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	destroy_tag(cache, object);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_OVERFLOW));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&cache->aside));
	/* It still counts, until it is known that it was live; then the cache goes. */
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* Neither the slack behind the last slot of a page, nor the middle of one, is an object. */
static void slack_is_no_object(struct kunit *test)
{
	struct hslab_args args = { .profile = "balanced" };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-slack", 200,
						     &args);
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
	void *page = page_address(virt_to_head_page(object));
	unsigned int stride = hslab_test_store(cache)->stride;
	size_t size = page_size(virt_to_head_page(object));

	KUNIT_ASSERT_GT(test, stride, 200);
	hslab_free(cache, page + hslab_test_store(cache)->phase % stride +
			  (size - hslab_test_store(cache)->phase % stride) /
			  stride * stride);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_INVALID_FREE));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_aside);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* Is an object from @next on, still live, in the slab page of @object? */
static bool page_stays(void *const *next, void *const *end, const void *object)
{
	for (; next < end; next++)
		if (virt_to_head_page(*next) == virt_to_head_page(object))
			return true;
	return false;
}

/*
 * The first byte of a tag in memory is odd, so a terminating NUL, and any even
 * byte, shows in it.
 */
static void first_byte_is_odd(struct kunit *test)
{
	enum { NR = 2000 };
	const struct state_case *c = test->param_value;
	struct hslab_cache *cache = state_cache(test);
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	unsigned int i, even = 0, wrong = 0, seen = 0;
	u8 first;

	KUNIT_ASSERT_NOT_NULL(test, object);
	for (i = 0; i < NR; i++) {
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		hslab_peek(&first, tag_of(cache, object[i]), 1);
		even += !(first & 1);
		wrong += hslab_test_plain(cache, object[i]) !=
			 plain_of(cache, HSLAB_LIVE, 0);
	}
	for (i = 0; i < NR; i++) {
		hslab_free(cache, object[i]);
		if (!page_stays(object + i + 1, object + NR, object[i]))
			continue;
		hslab_peek(&first, tag_of(cache, object[i]), 1);
		even += !(first & 1);
		wrong += hslab_test_plain(cache, object[i]) !=
			 plain_of(cache, HSLAB_FREE, c->fill);
		seen++;
	}
	KUNIT_EXPECT_EQ(test, 0, even);
	KUNIT_EXPECT_EQ(test, 0, wrong);
	KUNIT_EXPECT_GT(test, seen, NR / 2);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* No two objects have the same tag, and no object the same in two stores. */
static void tags_are_secret(struct kunit *test)
{
	struct hslab_cache *a = hslab_test_cache(test, "kunit-a", 64, NULL);
	struct hslab_cache *b = hslab_test_cache(test, "kunit-b", 64, NULL);
	const struct hslab_store *sa = hslab_test_store(a), *sb = hslab_test_store(b);
	u64 word[64];
	unsigned int i, j;

	KUNIT_EXPECT_NE(test, sa->id, sb->id);
	KUNIT_EXPECT_NE(test, sa->key, sb->key);
	KUNIT_EXPECT_NE(test, sa->multiplier, sb->multiplier);
	KUNIT_EXPECT_NE(test, sa->padding, sb->padding);
	KUNIT_EXPECT_NE(test, sa->random, sb->random);
	KUNIT_EXPECT_EQ(test, 1, sa->key & 1);
	KUNIT_EXPECT_EQ(test, 1, sa->multiplier & 1);
	KUNIT_EXPECT_EQ(test, 1, sa->multiplier * sa->inverse);
	KUNIT_EXPECT_EQ(test, 1, sb->multiplier * sb->inverse);
	for (i = 0; i < sizeof(sa->padding); i++)
		KUNIT_EXPECT_NE(test, 0, ((u8 *)&sa->padding)[i]);
	for (i = 0; i < ARRAY_SIZE(word); i++) {
		void *object = (void *)PAGE_OFFSET + i * 80;

		word[i] = hslab_encode(sa, object, HSLAB_LIVE | sa->plain);
		KUNIT_EXPECT_EQ(test, hslab_decode(sa, object, word[i]),
				HSLAB_LIVE | sa->plain);
		KUNIT_EXPECT_FALSE(test,
				   hslab_tag_whole(hslab_decode(sb, object,
								word[i]),
						   sb->plain));
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_NE(test, word[i], word[j]);
	}
}

/*
 * DAMAGE
 */

/* What is done to a byte of a tag. */
struct damage_case {
	const char *name;
	u8 keep, flip;			/* byte = (byte & keep) ^ flip */
};

static const struct damage_case damage_cases[] = {
	{ "lowest bit",		0xff,	0x01 },
	{ "a bit amid",		0xff,	0x10 },
	{ "highest bit",	0xff,	0x80 },
	{ "all bits",		0xff,	0xff },
	{ "made NUL",		0x00,	0x00 },
	{ "made 0x41",		0x00,	0x41 },
};

KUNIT_ARRAY_PARAM_DESC(damage, damage_cases, name);

/* Damage a byte. Return: whether that changed it. */
static bool damage(const struct damage_case *c, u8 *byte)
{
	u8 before, after;

	hslab_peek(&before, byte, 1);
	after = (before & c->keep) ^ c->flip;
	hslab_plant_byte(byte, after);
	return after != before;
}

/* The marks of a tag with one bad byte: those from there to its end. */
static void marks_from(unsigned int byte, char *marks)
{
	strscpy(marks, "!.......", HSLAB_TAG_SIZE - byte + 1);
}

static void damage_while_live(struct kunit *test)
{
	const struct damage_case *c = test->param_value;
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-damage", 61,
						     NULL);
	unsigned int byte, nr = 0;
	void *anchor = hslab_test_alloc(test, cache, GFP_KERNEL);

	for (byte = 0; byte < HSLAB_TAG_SIZE; byte++) {
		void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
		char marks[HSLAB_TAG_SIZE + 1];

		if (!damage(c, tag_of(cache, object) + byte)) {
			/* By chance it had that value, and is sound. */
			KUNIT_EXPECT_NE(test, 0, byte + c->keep + c->flip);
			hslab_free(cache, object);
			continue;
		}
		hslab_free(cache, object);
		nr++;
		marks_from(byte, marks);
		hslab_test_expect(test, &(struct hslab_expect) {
			.kind = "overflow",
			.cache = cache,
			.object = object,
			.offset = 64 + byte,
			.more = "written past its end",
			.marks = marks,
			.nr_bad = 1,
			.aside = true,
			.nr = nr,
			.caller = damage_while_live,
		});
	}
	KUNIT_EXPECT_EQ(test, nr, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, nr, hslab_test_store(cache)->nr_aside);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_free(cache, anchor);
}

/* The same for the bytes between the end of the object and its tag. */
static void damage_of_padding(struct kunit *test)
{
	const struct damage_case *c = test->param_value;
	struct hslab_cache *cache;
	unsigned int size;
	char name[20];

	for (size = 57; size < 64; size += 3) {
		unsigned int offset, nr = 0;

		snprintf(name, sizeof(name), "kunit-pad-%u", size);
		cache = hslab_test_cache(test, name, size, NULL);
		for (offset = size; offset < 64; offset++) {
			u8 *object = hslab_test_alloc(test, cache, GFP_KERNEL);
			char marks[HSLAB_SHOWN + 1] = "!...............";

			if (!damage(c, object + offset)) {
				/* No byte of the padding is NUL. */
				KUNIT_EXPECT_NE(test, 0, c->keep + c->flip);
				hslab_free(cache, object);
				continue;
			}
			hslab_free(cache, object);
			nr++;
			marks[64 + HSLAB_TAG_SIZE - offset] = '\0';
			hslab_test_expect(test, &(struct hslab_expect) {
				.kind = "overflow",
				.cache = cache,
				.object = object,
				.offset = offset,
				.more = "written past its end",
				.marks = marks,
				.nr_bad = 1,
				.aside = true,
				.nr = nr,
				.caller = damage_of_padding,
			});
		}
		KUNIT_EXPECT_EQ(test, nr, hslab_test_all_faults(cache));
		KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	}
}

static void damage_while_free(struct kunit *test)
{
	const struct damage_case *c = test->param_value;
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-damage", 61,
						     NULL);
	unsigned int byte, nr = 0;

	for (byte = 0; byte < HSLAB_TAG_SIZE; byte++) {
		char marks[HSLAB_TAG_SIZE + 1];
		void *anchor, *object;
		bool damaged;

		hslab_test_victim(test, cache, &anchor, &object);
		hslab_free(cache, object);
		damaged = damage(c, tag_of(cache, object) + byte);
		if (!damaged) {
			hslab_free(cache, anchor);
			continue;
		}
		hslab_test_find(test, cache, HSLAB_BAD_TAG);
		nr++;
		marks_from(byte, marks);
		hslab_test_expect(test, &(struct hslab_expect) {
			.kind = "bad-tag",
			.cache = cache,
			.object = object,
			.offset = 64 + byte,
			.more = "tag overwritten while it was free",
			.marks = marks,
			.nr_bad = 1,
			.aside = true,
			.nr = nr,
			.caller = hslab_test_find,
		});
		hslab_free(cache, anchor);
	}
	KUNIT_EXPECT_EQ(test, nr, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, nr, hslab_test_store(cache)->nr_aside);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/*
 * RACES
 */

/* A second thread, on another CPU, that frees when it is told to. */
struct race {
	struct hslab_cache *cache;
	void *object;
	unsigned int round;		/* set by the test */
	unsigned int done;		/* set by the thread */
};

static int race_thread(void *data)
{
	struct race *race = data;
	unsigned int round = 0;

	while (!kthread_should_stop()) {
		/* Pairs with the store in frees_race(): the object is set. */
		if (smp_load_acquire(&race->round) == round) {
			cpu_relax();
			continue;
		}
		round++;
		hslab_free(race->cache, race->object);
		/* Pairs with the load in frees_race(): it has been freed. */
		smp_store_release(&race->done, round);
	}
	return 0;
}

/* Two frees of one object at one moment: one succeeds, one is reported. */
static void frees_race(struct kunit *test)
{
	enum { ROUNDS = 1000, ENOUGH = 100 };
	unsigned long end = jiffies + 2 * HZ;
	const struct state_case *c = test->param_value;
	struct hslab_cache *cache = state_cache(test);
	struct race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	unsigned int round, i;
	unsigned int wrong_faults = 0, wrong_live = 0, twice = 0, wrong_tag = 0;
	void *object[3];

	KUNIT_ASSERT_NOT_NULL(test, race);
	race->cache = cache;
	object[0] = hslab_test_alloc(test, cache, GFP_KERNEL);
	object[1] = hslab_test_alloc(test, cache, GFP_KERNEL);
	hslab_test_on_other_cpu(test, race_thread, race);
	for (round = 1; round <= ROUNDS; round++) {
		/* A host that is busy elsewhere may take long over it. */
		if (round > ENOUGH && time_after(jiffies, end))
			break;
		race->object = object[round & 1];
		/* Pairs with the load in race_thread(). */
		smp_store_release(&race->round, round);
		/* Not always at the same distance from the other thread. */
		for (i = 0; i < round % 16; i++)
			cpu_relax();
		hslab_free(cache, race->object);
		/* Pairs with the store in race_thread(). */
		while (smp_load_acquire(&race->done) != round)
			cpu_relax();

		wrong_faults += hslab_test_all_faults(cache) != round;
		wrong_live += hslab_cache_live(cache) != 1;
		object[round & 1] = hslab_test_alloc(test, cache, GFP_KERNEL);
		object[2] = hslab_test_alloc(test, cache, GFP_KERNEL);
		twice += object[0] == object[1] || object[1] == object[2] ||
			 object[0] == object[2];
		wrong_tag += hslab_test_plain(cache, object[2]) !=
			     plain_of(cache, HSLAB_LIVE, 0);
		hslab_free(cache, object[2]);
	}
	round--;
	kunit_info(test, "%s: %u rounds", c->name, round);
	KUNIT_EXPECT_EQ(test, round,
			hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, round, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, wrong_faults);
	KUNIT_EXPECT_EQ(test, 0, wrong_live);
	KUNIT_EXPECT_EQ(test, 0, wrong_tag);
	KUNIT_EXPECT_EQ(test, 0, twice);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_store(cache)->nr_aside);
	hslab_free(cache, object[0]);
	hslab_free(cache, object[1]);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* Two threads that allocate, write their name all over it, look, and free. */
struct churn {
	struct hslab_cache *cache;
	u64 mine;
	unsigned long rounds, foreign, failed;
};

static void churn_once(struct churn *churn)
{
	u64 *object[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = hslab_alloc(churn->cache, GFP_KERNEL);
		if (!object[i]) {
			churn->failed++;
			continue;
		}
		memset64(object[i], churn->mine + i, 5);
	}
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		if (!object[i])
			continue;
		churn->foreign += !hslab_intact(object[i], 5, churn->mine + i);
		hslab_free(churn->cache, object[i]);
	}
	WRITE_ONCE(churn->rounds, churn->rounds + 1);
}

static int churn_thread(void *data)
{
	while (!kthread_should_stop()) {
		churn_once(data);
		cond_resched();
	}
	return 0;
}

struct toggle {
	const char *policy, *value;
};

/* One policy after the other, while objects come and go. */
static void toggles_race(struct kunit *test)
{
	static const struct toggle toggles[] = {
		{ "poison", "0x6b" }, { "verify", "full" }, { "merge", "any" },
		{ "poison", "random" }, { "zero", "1" }, { "merge", "owner" },
		{ "verify", "off" }, { "poison", "off" }, { "check", "0" },
		{ "merge", "group=kunit" }, { "poison", "zero" },
		{ "check", "1" }, { "verify", "head" }, { "merge", "never" },
		{ "zero", "auto" }, { "profile", "paranoid" },
		{ "profile", "off" }, { "profile", "balanced" },
	};
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-toggle", 40,
						     NULL);
	struct hslab_cache *other = hslab_test_cache(test, "kunit-other", 40,
						     NULL);
	enum { ENOUGH = 200 };
	unsigned long end = jiffies + 5 * HZ;
	struct churn *mine, *theirs;
	struct task_struct *thread;
	unsigned int round, i;

	mine = kunit_kzalloc(test, sizeof(*mine), GFP_KERNEL);
	theirs = kunit_kzalloc(test, sizeof(*theirs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mine);
	KUNIT_ASSERT_NOT_NULL(test, theirs);
	*mine = (struct churn) {
		.cache = other,
		.mine = 0x2222222222222200ULL,
	};
	*theirs = (struct churn) {
		.cache = cache,
		.mine = 0x1111111111111100ULL,
	};
	thread = hslab_test_on_other_cpu(test, churn_thread, theirs);
	for (round = 0; time_before(jiffies, end); round++) {
		const struct toggle *t = &toggles[round % ARRAY_SIZE(toggles)];

		if (round >= 4 * ARRAY_SIZE(toggles) &&
		    READ_ONCE(theirs->rounds) >= ENOUGH)
			break;

		hslab_test_policy(test, cache, t->policy, t->value);
		hslab_test_policy(test, other, t->policy, t->value);
		for (i = 0; i < 10; i++)
			churn_once(mine);
	}
	hslab_test_stop_other(test, thread);
	kunit_info(test, "%lu and %lu rounds", mine->rounds, theirs->rounds);
	KUNIT_EXPECT_GE(test, theirs->rounds, ENOUGH);
	KUNIT_EXPECT_EQ(test, 0, mine->foreign + theirs->foreign);
	KUNIT_EXPECT_EQ(test, 0, mine->failed + theirs->failed);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(other));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(other));
}

static struct kunit_case state_tests[] = {
	KUNIT_CASE_PARAM(live_and_free, state_gen_params),
	KUNIT_CASE_PARAM(double_free_is_refused, state_gen_params),
	KUNIT_CASE_PARAM(aside_is_for_ever, state_gen_params),
	KUNIT_CASE_PARAM(aside_is_a_list, state_gen_params),
	KUNIT_CASE_PARAM(suspect_comes_up, state_gen_params),
	KUNIT_CASE_PARAM(suspect_goes_with_its_store, state_gen_params),
	KUNIT_CASE(large_overflow),
	KUNIT_CASE(slack_is_no_object),
	KUNIT_CASE_PARAM(first_byte_is_odd, state_gen_params),
	KUNIT_CASE(tags_are_secret),
	KUNIT_CASE_PARAM(damage_while_live, damage_gen_params),
	KUNIT_CASE_PARAM(damage_of_padding, damage_gen_params),
	KUNIT_CASE_PARAM(damage_while_free, damage_gen_params),
	KUNIT_CASE_PARAM(frees_race, state_gen_params),
	KUNIT_CASE(toggles_race),
	{}
};

static struct kunit_suite state_suite = {
	.name = "hslab_state",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = state_tests,
};

kunit_test_suite(state_suite);
