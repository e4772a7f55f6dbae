// SPDX-License-Identifier: GPL-2.0
/*
 * Scrubbing: damage to kept objects is found although nobody allocates.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

#define SIZE	300
#define SLOT	320		/* of which a KiB of quarantine holds 3 */

static struct hslab_cache *scrubbed(struct kunit *test, const char *name,
				    const char *quarantine_kb, const char *pin)
{
	struct hslab_args args = { .profile = "debug" };
	struct hslab_cache *cache = hslab_test_cache(test, name, SIZE, &args);

	KUNIT_ASSERT_EQ(test, SLOT, hslab_slot_size(&cache->geometry));
	hslab_test_policy(test, cache, "quarantine_kb", quarantine_kb);
	hslab_test_policy(test, cache, "pin", pin);
	hslab_test_policy(test, cache, "scrub_interval_ms", "0");
	return cache;
}

static void scrub_now(struct hslab_cache *cache)
{
	mutex_lock(&hslab_mutex);
	hslab_scrub(cache);
	mutex_unlock(&hslab_mutex);
}

static enum hslab_state state_of(const struct hslab_cache *cache,
				 const void *object)
{
	return hslab_test_plain(cache, object) & HSLAB_STATE_MASK;
}

/* Free @nr objects in turn on one CPU, so that they are in quarantine in turn. */
static void quarantine(struct kunit *test, struct hslab_cache *cache,
		       void **object, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	migrate_disable();
	hslab_free_bulk(cache, nr, object);
	migrate_enable();
	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, HSLAB_QUARANTINED,
				state_of(cache, object[i]));
}

/* The pin of the page that @object is in. */
static void *pin_of(struct kunit *test, const struct hslab_cache *cache,
		    const void *object)
{
	const struct hslab_store *store = hslab_test_store(cache);
	void *page = page_address(virt_to_head_page(object)), *slot;
	void *end = page + page_size(virt_to_head_page(object));

	KUNIT_ASSERT_NE(test, 0, store->stride);
	for (slot = page + store->phase % store->stride;
	     slot + store->tag_off + HSLAB_TAG_SIZE <= end;
	     slot += store->stride)
		if (state_of(cache, slot) == HSLAB_PINNED)
			return slot;
	KUNIT_ASSERT_TRUE_MSG(test, false, "no pin in the page");
	return NULL;
}

/* A cache that has one page pinned, and nothing else; gives the pin. */
static void *pinned(struct kunit *test, struct hslab_cache *cache)
{
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
	void *pin = pin_of(test, cache, object);

	hslab_free(cache, object);
	return pin;
}

struct place_case {
	const char *name;
	const char *quarantine_kb, *pin;
	unsigned int victim;		/* of three that are freed; 3: the pin */
	unsigned int objects;		/* that a scrub verifies */
};

/* With room for three, one is in front, and the others in the queue. */
static const struct place_case place_cases[] = {
	{ "queue, the first", "1", "0", 0, 3 },
	{ "queue, the last", "1", "0", 1, 3 },
	{ "front", "1", "0", 2, 3 },
	{ "a large front", "1024", "0", 1, 3 },
	{ "pin", "0", "1", 3, 1 },
	{ "pin, beside a quarantine", "1", "1", 3, 4 },
};

static void place_desc(const struct place_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(place, place_cases, place_desc);

static void *kept_object(struct kunit *test, struct hslab_cache *cache,
			 const struct place_case *c)
{
	void *object[3], *pin = NULL;

	if (c->quarantine_kb[0] == '0')
		return pinned(test, cache);
	quarantine(test, cache, object, 3);
	if (c->pin[0] != '0')
		pin = pin_of(test, cache, object[0]);
	return c->victim < 3 ? object[c->victim] : pin;
}

/* The first line of the newest report */
static void expect_report(struct kunit *test, const struct hslab_cache *cache,
			  const char *kind, const void *object, int offset)
{
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);
	char line[HSLAB_LINE_LEN];

	KUNIT_ASSERT_NOT_NULL(test, lines);
	hslab_test_last_report(test, lines);
	snprintf(line, sizeof(line),
		 "BUG: hslab: %s in cache %s, object %p of %u bytes, offset %d",
		 kind, cache->name, object, cache->size, offset);
	KUNIT_EXPECT_STREQ(test, line, lines->line[0]);
	kunit_kfree(test, lines);
}

/* At each offset that matters, and exactly once. */
static void write_is_found(struct kunit *test)
{
	static const unsigned int offsets[] = { 0, 7, 8, 133, SIZE - 1, 303 };
	const struct place_case *c = test->param_value;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct hslab_cache *cache = scrubbed(test, "kunit-scrub",
						     c->quarantine_kb, c->pin);
		u8 *victim = kept_object(test, cache, c);
		u64 faults;

		scrub_now(cache);
		KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
		KUNIT_EXPECT_EQ(test, c->objects, cache->scrub.objects);
		hslab_plant_byte(victim + offsets[i], 0x41);
		scrub_now(cache);
		KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
		faults = hslab_test_faults(cache, HSLAB_WRITE_AFTER_FREE);
		KUNIT_EXPECT_EQ(test, 1, faults);
		KUNIT_EXPECT_EQ(test, 2 * c->objects, cache->scrub.objects);
		KUNIT_EXPECT_EQ(test, 2, cache->scrub.runs);
		KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, victim));

		expect_report(test, cache, "write-after-free", victim,
			      offsets[i]);

		/* It is set aside: no second report, and it is not verified. */
		scrub_now(cache);
		KUNIT_EXPECT_EQ(test, 3 * c->objects - 1, cache->scrub.objects);
		hslab_plant_byte(victim + SIZE + 4, 0x41);
		scrub_now(cache);
		KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
		hslab_test_destroy(test, cache);
	}
}

static void bad_tag_is_found(struct kunit *test)
{
	const struct place_case *c = test->param_value;
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub",
					     c->quarantine_kb, c->pin);
	u8 *victim = kept_object(test, cache, c), byte;

	hslab_peek(&byte, victim + 304 + 5, 1);
	hslab_plant_byte(victim + 304 + 5, byte ^ 0x10);
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_BAD_TAG));
	expect_report(test, cache, "bad-tag", victim, 304 + 5);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* The page of a damaged pin stays, and the pin is not given back. */
static void damaged_pin_keeps_its_page(struct kunit *test)
{
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", "0", "10");
	const struct hslab_route *route = hslab_test_route(cache);
	void *pin = pinned(test, cache);

	hslab_plant_byte(pin + 9, 0x41);
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 1, hslab_pin_pages(route));
	hslab_test_policy(test, cache, "pin", "1000");	/* another table */
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_pin_pages(route));
	hslab_test_policy(test, cache, "pin", "0");
	KUNIT_EXPECT_EQ(test, 0, hslab_pin_pages(route));
	hslab_cache_shrink(cache);
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, pin));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* Without a scrub it is found when the pin is given back. */
static void damaged_pin_is_found_at_release(struct kunit *test)
{
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", "0", "10");
	void *pin = pinned(test, cache);

	hslab_plant_byte(pin + 9, 0x41);
	hslab_test_policy(test, cache, "pin", "0");
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache,
						   HSLAB_WRITE_AFTER_FREE));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, HSLAB_ASIDE, state_of(cache, pin));
}

static void counts_are_exact(struct kunit *test)
{
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", "64", "100");
	void *object[150];
	u64 ns, nr;

	/* Nothing to do */
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 1, cache->scrub.runs);
	KUNIT_EXPECT_EQ(test, 0, cache->scrub.objects);

	quarantine(test, cache, object, ARRAY_SIZE(object));
	nr = ARRAY_SIZE(object) + hslab_pin_pages(hslab_test_route(cache));
	ns = cache->scrub.ns;
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, nr, cache->scrub.objects);
	KUNIT_EXPECT_GT(test, cache->scrub.ns, ns);
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 3, cache->scrub.runs);
	KUNIT_EXPECT_EQ(test, 2 * nr, cache->scrub.objects);
	hslab_cache_shrink(cache);
	scrub_now(cache);
	KUNIT_EXPECT_EQ(test, 3 * nr - ARRAY_SIZE(object),
			cache->scrub.objects);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static u64 runs(struct hslab_cache *cache)
{
	u64 nr;

	mutex_lock(&hslab_mutex);
	nr = cache->scrub.runs;
	mutex_unlock(&hslab_mutex);
	return nr;
}

static void scrubs_from_time_to_time(struct kunit *test)
{
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", "1", "1");
	void *object[3];
	unsigned int i;
	u64 before;

	quarantine(test, cache, object, 3);
	hslab_plant_byte(object[0] + 77, 0x41);
	msleep(100);
	KUNIT_EXPECT_EQ(test, 0, runs(cache));
	hslab_test_policy(test, cache, "scrub_interval_ms", "10");
	for (i = 0; i < 200 && !hslab_test_all_faults(cache); i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache,
						   HSLAB_WRITE_AFTER_FREE));
	for (i = 0; i < 200 && runs(cache) < 5; i++)
		msleep(20);
	KUNIT_EXPECT_GE(test, runs(cache), 5);

	hslab_test_policy(test, cache, "scrub_interval_ms", "0");
	before = runs(cache);
	msleep(200);
	KUNIT_EXPECT_EQ(test, before, runs(cache));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	/* Destroyed with a scrub due */
	hslab_test_policy(test, cache, "scrub_interval_ms", "10");
	hslab_test_destroy(test, cache);
}

/* Changes of other policies, one after the other, do not keep it from scrubbing. */
static void changes_put_no_scrub_off(struct kunit *test)
{
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", "1", "0");
	unsigned int i;

	hslab_test_policy(test, cache, "scrub_interval_ms", "300");
	for (i = 0; i < 100; i++) {
		hslab_test_policy(test, cache, "verify", i % 2 ? "full" : "head");
		msleep(20);
	}
	KUNIT_EXPECT_GE(test, runs(cache), 2);
}

struct scrub_racer {
	struct hslab_cache *cache;
	u64 wrong;
};

static int race_thread(void *data)
{
	enum { NR = 40 };
	struct scrub_racer *r = data;
	u64 *object[NR] = {};
	unsigned int i;

	for (i = 0; !kthread_should_stop(); i = (i + 7) % NR) {
		if (object[i])
			r->wrong += *object[i] != (u64)&object[i];
		hslab_free(r->cache, object[i]);
		object[i] = hslab_alloc(r->cache, GFP_KERNEL);
		if (object[i])
			*object[i] = (u64)&object[i];
		cond_resched();
	}
	for (i = 0; i < NR; i++)
		hslab_free(r->cache, object[i]);
	return 0;
}

static const char *const race_bounds[] = { "1", "8", "1024" };

static void bound_desc(const char *const *bound, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s KiB", *bound);
}

KUNIT_ARRAY_PARAM(bound, race_bounds, bound_desc);

/* Objects come and go while they are looked at: nothing is wrong, nothing lost. */
static void scrub_under_load(struct kunit *test)
{
	const char *const *bound = test->param_value;
	struct hslab_cache *cache = scrubbed(test, "kunit-scrub", *bound, "50");
	unsigned int id = hslab_test_store(cache)->id, i;
	struct scrub_racer racers[3] = {};
	unsigned long end = jiffies + 4 * HZ;
	struct task_struct *task[3];

	for (i = 0; i < ARRAY_SIZE(task); i++) {
		racers[i].cache = cache;
		task[i] = kthread_run(race_thread, &racers[i], "hslab-scrub/%u",
				      i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	for (i = 0; i < 200 && time_before(jiffies, end); i++) {
		scrub_now(cache);
		if (i % 16 == 0)
			hslab_cache_shrink(cache);
		if (i % 4 == 0)
			usleep_range(500, 1000);
	}
	for (i = 0; i < ARRAY_SIZE(task); i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, 0, racers[i].wrong);
	}
	KUNIT_EXPECT_GE(test, cache->scrub.objects, 100);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	hslab_test_destroy(test, cache);
	for (i = 0; i < 100 && READ_ONCE(hslab_store_of_ctor[id]); i++)
		msleep(50);
	KUNIT_EXPECT_NULL(test, READ_ONCE(hslab_store_of_ctor[id]));
}

static struct kunit_case scrub_tests[] = {
	KUNIT_CASE_PARAM(write_is_found, place_gen_params),
	KUNIT_CASE_PARAM(bad_tag_is_found, place_gen_params),
	KUNIT_CASE(damaged_pin_keeps_its_page),
	KUNIT_CASE(damaged_pin_is_found_at_release),
	KUNIT_CASE(counts_are_exact),
	KUNIT_CASE_SLOW(scrubs_from_time_to_time),
	KUNIT_CASE_SLOW(changes_put_no_scrub_off),
	KUNIT_CASE_PARAM(scrub_under_load, bound_gen_params),
	{}
};

static struct kunit_suite scrub_suite = {
	.name = "hslab_scrub",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = scrub_tests,
};

kunit_test_suite(scrub_suite);
