// SPDX-License-Identifier: GPL-2.0
/*
 * The quarantine: who is in it, for how long, and what is found when they leave.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

#define SIZE		256

/* A cache that fills and verifies, and has a quarantine. */
static struct hslab_cache *quarantine_cache(struct kunit *test,
					    const char *poison, const char *kb)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-quarantine",
						     SIZE, NULL);

	hslab_test_policy(test, cache, "profile", "debug");
	hslab_test_policy(test, cache, "poison", poison);
	hslab_test_policy(test, cache, "quarantine_kb", kb);
	return cache;
}

static u64 state_of(const struct hslab_cache *cache, const void *object)
{
	return hslab_test_plain(cache, object) & HSLAB_STATE_MASK;
}

static unsigned long held(const struct hslab_cache *cache)
{
	return hslab_quarantine_objects(hslab_test_route(cache));
}

static unsigned long slot_size(const struct hslab_cache *cache)
{
	return hslab_slot_size(&hslab_test_store(cache)->geometry);
}

/* The objects that a bound of @kb KiB has room for. */
static unsigned long room(const struct hslab_cache *cache, unsigned long kb)
{
	return kb * SZ_1K / slot_size(cache);
}

/* Objects that the test has; it frees them itself. */
static void **get_objects(struct kunit *test, struct hslab_cache *cache,
			  unsigned int nr)
{
	void **objects = kunit_kcalloc(test, nr, sizeof(*objects), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, objects);
	KUNIT_ASSERT_EQ(test, nr,
			hslab_alloc_bulk(cache, GFP_KERNEL, nr, objects));
	return objects;
}

/* The CPUs may be changed by whoever runs on one: stay on this. */
static void stay(void)
{
	migrate_disable();
}

static void go(void)
{
	migrate_enable();
}

static void freed_is_held(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	unsigned int i, nr = room(cache, 64);
	void **objects = get_objects(test, cache, nr + 100);

	stay();
	for (i = 0; i < nr; i++) {
		hslab_free(cache, objects[i]);
		KUNIT_ASSERT_EQ(test, held(cache), i + 1);
		KUNIT_ASSERT_EQ(test, state_of(cache, objects[i]),
				HSLAB_QUARANTINED);
		KUNIT_ASSERT_TRUE(test, hslab_peek_all(objects[i], 0x6b, SIZE));
	}
	KUNIT_EXPECT_EQ(test, 100, hslab_cache_live(cache));

	/* It is full: as many leave as come. */
	for (; i < nr + 100; i++) {
		hslab_free(cache, objects[i]);
		KUNIT_ASSERT_EQ(test, held(cache), nr);
	}
	go();
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0,
			hslab_quarantine_skipped(hslab_test_route(cache)));
}

/* What is freed is not handed out while it is held. */
static void held_is_not_handed_out(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL), *other;
	unsigned int i, nr = room(cache, 64);

	stay();
	hslab_free(cache, object);
	/* At most half of the bound is the front, where it stays for a while. */
	for (i = 0; i < nr / 2 - 1; i++) {
		other = hslab_test_alloc(test, cache, GFP_ATOMIC);
		KUNIT_ASSERT_PTR_NE(test, other, object);
		hslab_free(cache, other);
	}
	go();
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* A bound that has room for few objects, for one, for none. */
static void small_bounds(struct kunit *test)
{
	static const char *const kb[] = { "1", "2", "3", "4" };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-quarantine",
						     1000, NULL);
	void **objects = get_objects(test, cache, 200);
	unsigned int i, j;

	stay();
	for (i = 0; i < ARRAY_SIZE(kb); i++) {
		hslab_test_policy(test, cache, "quarantine_kb", kb[i]);
		hslab_quarantine_purge();
		for (j = 0; j < 50; j++) {
			hslab_free(cache, objects[i * 50 + j]);
			KUNIT_EXPECT_EQ(test, held(cache),
					min_t(unsigned long, j + 1,
					      room(cache, i + 1)));
		}
	}
	go();
	hslab_test_policy(test, cache, "quarantine_kb", "0");
	KUNIT_EXPECT_EQ(test, 0, held(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* Ways to make all leave. */
static void by_shrink(struct kunit *test, struct hslab_cache *cache)
{
	hslab_cache_shrink(cache);
}

static void by_purge(struct kunit *test, struct hslab_cache *cache)
{
	hslab_quarantine_purge();
}

static void by_zero(struct kunit *test, struct hslab_cache *cache)
{
	hslab_test_policy(test, cache, "quarantine_kb", "0");
}

static void by_lowering(struct kunit *test, struct hslab_cache *cache)
{
	hslab_test_policy(test, cache, "quarantine_kb", "63");
}

static void by_merge(struct kunit *test, struct hslab_cache *cache)
{
	hslab_test_policy(test, cache, "track", "1");
	hslab_cache_flush();
}

static void by_destroy(struct kunit *test, struct hslab_cache *cache)
{
	hslab_test_destroy(test, cache);
}

struct leave_case {
	const char *name;
	void (*leave)(struct kunit *test, struct hslab_cache *cache);
};

static const struct leave_case leave_cases[] = {
	{ "shrink",		by_shrink },
	{ "purge",		by_purge },
	{ "bound of zero",	by_zero },
	{ "lower bound",	by_lowering },
	{ "another store",	by_merge },
	{ "destroy",		by_destroy },
};

KUNIT_ARRAY_PARAM_DESC(leave, leave_cases, name);

/* All leave, and what was written to is found, wherever it was. */
static void leaving_is_verified(struct kunit *test)
{
	const struct leave_case *c = test->param_value;
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	unsigned int i, nr = room(cache, 64);
	void **objects = get_objects(test, cache, nr);
	static const char begins[] =
		"BUG: hslab: write-after-free in cache kunit-quarantine, ";
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);
	u64 before = atomic64_read(&hslab_nr_faults);

	KUNIT_ASSERT_NOT_NULL(test, lines);

	stay();
	for (i = 0; i < nr; i++)
		hslab_free(cache, objects[i]);
	go();
	/* The last is in front, and the first in the queue, unless luck has it. */
	hslab_plant_byte(objects[nr - 1] + 100, 0x6a);
	hslab_plant_byte(objects[0] + 100, 0x6a);
	KUNIT_EXPECT_EQ(test, held(cache), nr);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));

	c->leave(test, cache);
	KUNIT_EXPECT_EQ(test, before + 2, atomic64_read(&hslab_nr_faults));
	hslab_test_last_report(test, lines);
	KUNIT_EXPECT_TRUE(test, strstarts(lines->line[0], begins));
	KUNIT_EXPECT_NOT_NULL(test, strstr(lines->line[0],
					   " of 256 bytes, offset 100"));
	KUNIT_EXPECT_STREQ(test, lines->line[lines->nr - 1],
			   "hslab:   object set aside; 2 of this kind in the cache");
	if (c->leave != by_destroy) {
		KUNIT_EXPECT_EQ(test, 0, held(cache));
		KUNIT_EXPECT_EQ(test, 2, atomic64_read(&cache->aside));
	}
}

/* Found without an allocation, and without any help: others push it out. */
static void pushed_out_is_verified(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "16");
	unsigned int i, nr = room(cache, 16) * 20 + 3 * HSLAB_MAGAZINE_MAX;
	void **objects = get_objects(test, cache, nr);
	struct hslab_expect expect = {
		.kind = "write-after-free", .cache = cache,
		.object = objects[0], .offset = 8,
		.more = "written after cache kunit-quarantine freed it",
		.marks = "!!!!!!!!........", .nr_bad = 8, .aside = true,
		.nr = 1,
	};

	stay();
	hslab_free(cache, objects[0]);
	hslab_plant(objects[0] + 8, "\0\0\0\0\0\0\0", 8);
	for (i = 1; i < nr && !hslab_test_all_faults(cache); i++)
		hslab_free(cache, objects[i]);
	go();
	KUNIT_EXPECT_LT(test, i, nr);
	KUNIT_EXPECT_EQ(test, 1,
			hslab_test_faults(cache, HSLAB_WRITE_AFTER_FREE));
	KUNIT_EXPECT_EQ(test, state_of(cache, objects[0]), HSLAB_ASIDE);
	hslab_test_expect(test, &expect);
	while (i < nr)
		hslab_free(cache, objects[i++]);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

static void double_free_is_caught(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	hslab_free(cache, object);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, state_of(cache, object), HSLAB_QUARANTINED);
	KUNIT_EXPECT_EQ(test, 1, held(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));

	/* Trusting callers does not reach as far as giving SLUB what we have. */
	hslab_test_policy(test, cache, "check", "0");
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 2, hslab_test_faults(cache, HSLAB_DOUBLE_FREE));
	KUNIT_EXPECT_EQ(test, 1, held(cache));
}

/* A tag that was overwritten is found, and the object kept. */
static void bad_tag_is_kept(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	hslab_free(cache, object);
	hslab_plant(object + SIZE, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
	hslab_quarantine_purge();
	KUNIT_EXPECT_EQ(test, 1, hslab_test_faults(cache, HSLAB_BAD_TAG));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&cache->aside));
	KUNIT_EXPECT_EQ(test, 0, held(cache));
}

/* Policies change while objects are held; each is judged by its own mark. */
static void toggles(struct kunit *test)
{
	static const char *const poison[] = { "zero", "off", "random", "0x11" };
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "64");
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(poison); i++) {
		void **objects = get_objects(test, cache, 20);

		for (j = 0; j < 20; j++)
			hslab_free(cache, objects[j]);
		hslab_test_policy(test, cache, "poison", poison[i]);
	}
	KUNIT_EXPECT_EQ(test, 80, held(cache));
	hslab_quarantine_purge();
	KUNIT_EXPECT_EQ(test, 0, held(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * HOW LONG AN OBJECT STAYS
 *
 * In a quarantine that is full, each free sends one object from the front to the
 * queue, and one from the queue on. An object thus stays for as many frees as the
 * queue is long, a constant, and for those until its slot of the 256 in front is
 * drawn again: geometrically distributed, with p = 1/256.
 *
 * The distances are sorted into 16 bins that are equally probable under that
 * law, and Pearson's chi-square is compared with 57, which a right distribution
 * exceeds once in 1.2 million runs (15 degrees of freedom). Distances that are all
 * the same, or uniform over what is seen, come to many thousands.
 */
#define FRONT		256
#define SAMPLES		8000
#define BINS		16

/* The largest k for which P(X <= k) <= b/16, of the law above: ln(1-b/16)/ln(1-1/256). */
static const unsigned int bin_ends[BINS - 1] = {
	16, 34, 53, 73, 95, 120, 147, 177,
	211, 250, 297, 354, 427, 531, 708,
};

/* P(X in bin) in units of 2^-20, as the ends are whole numbers. */
static const unsigned int bin_share[BINS] = {
	63651, 67000, 65784, 64160, 65011, 67390, 65744, 65345,
	65351, 64997, 66226, 65570, 65199, 65923, 65587, 65638,
};

static void distances_are_spread(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "off", "1024");
	unsigned long nr = room(cache, 1024), i, d, shortest = ULONG_MAX;
	unsigned long bins[BINS] = {}, chi = 0, samples = 0;
	u64 magic = get_random_u64() | 1;
	unsigned int b;

	if (!HSLAB_COMPAT_MAGAZINES)
		kunit_skip(test, "KASAN delays reuse by a quarantine of its own");

	stay();
	for (i = 1; samples < SAMPLES && i < 10 * (nr + SAMPLES); i++) {
		u64 *object = hslab_test_alloc(test, cache, GFP_ATOMIC);

		/*
		 * Who has been here before left the number of its free. What was
		 * freed before the front was full stays for longer; and all of
		 * those that were freed in a row are waited for, or the late ones
		 * would be missing.
		 */
		if (object[1] == magic && object[0] > 2 * nr &&
		    object[0] <= 2 * nr + SAMPLES) {
			d = i - object[0];
			shortest = min(shortest, d);
			d -= min(d, nr - FRONT + 1);
			for (b = 0; b < BINS - 1 && d > bin_ends[b]; b++)
				;
			bins[b]++;
			samples++;
		}
		object[0] = i;
		object[1] = magic;
		hslab_free(cache, object);
	}
	go();

	for (b = 0; b < BINS; b++) {
		unsigned long should = (u64)SAMPLES * bin_share[b] >> 20;
		long off = (long)bins[b] - (long)should;

		chi += off * off * 1000 / should;
	}
	kunit_info(test, "shortest distance %lu of %lu objects, chi-square %lu.%03lu\n",
		   shortest, nr, chi / 1000, chi % 1000);
	KUNIT_EXPECT_EQ(test, samples, SAMPLES);
	KUNIT_EXPECT_GT(test, shortest, 2000);
	KUNIT_EXPECT_GE(test, shortest, nr - FRONT);
	KUNIT_EXPECT_LT(test, chi, 57000);
	KUNIT_EXPECT_EQ(test, held(cache), nr);
	KUNIT_EXPECT_EQ(test, 0,
			hslab_quarantine_skipped(hslab_test_route(cache)));
}

/*
 * THE BOUND UNDER LOAD
 */
struct loader {
	struct hslab_cache *cache;
	unsigned long rounds;
};

static int load(void *arg)
{
	struct loader *l = arg;
	void *objects[24];
	unsigned int i, nr;

	while (!kthread_should_stop()) {
		nr = 1 + get_random_u32() % ARRAY_SIZE(objects);
		if (hslab_alloc_bulk(l->cache, GFP_KERNEL, nr, objects)) {
			for (i = 0; i < nr; i++)
				memset(objects[i], 0x42, SIZE);
			hslab_free_bulk(l->cache, nr, objects);
		}
		l->rounds++;
		cond_resched();
	}
	return 0;
}

#define LOADERS		4

static void bound_holds(struct kunit *test)
{
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "32");
	unsigned long most = 0, now, end, bound = 32 * SZ_1K;
	struct task_struct *task[LOADERS] = {};
	struct loader loader[LOADERS] = {};
	unsigned int i;

	for (i = 0; i < LOADERS; i++) {
		loader[i].cache = cache;
		task[i] = kthread_run(load, &loader[i], "hslab-load/%u", i);
		if (IS_ERR(task[i])) {
			KUNIT_FAIL(test, "no thread: %pe", task[i]);
			task[i] = NULL;
			break;
		}
	}
	msleep(500);		/* CPUs have found their shares */
	end = jiffies + 2 * HZ;
	while (time_before(jiffies, end)) {
		now = held(cache) * slot_size(cache);
		most = max(most, now);
		KUNIT_EXPECT_LE(test,
				atomic_long_read(&cache->quarantine_reserved),
				bound);
		usleep_range(100, 200);
	}
	for (i = 0; i < LOADERS && task[i]; i++)
		kthread_stop(task[i]);
	kunit_info(test, "at most %lu of %lu bytes\n", most, bound);
	KUNIT_EXPECT_GT(test, most, bound / 2);
	KUNIT_EXPECT_LE(test, most,
			bound + num_online_cpus() * slot_size(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

/* How many of @of are among the first @nr of @in? */
static unsigned int how_many(void **of, unsigned int nr_of, void **in,
			     unsigned int nr)
{
	unsigned int i, j, found = 0;

	for (i = 0; i < nr_of; i++)
		for (j = 0; j < nr; j++)
			found += of[i] == in[j];
	return found;
}

/*
 * When SLUB has none any more, what is in quarantine is handed out, and what was
 * damaged there is not. SLUB may have got a page or two meanwhile: those are others.
 */
static void given_out_when_short(struct kunit *test)
{
	enum { MOST = 2048 };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-short",
						     SZ_1M - 64, NULL);
	void **objects = kunit_kcalloc(test, MOST, sizeof(*objects), GFP_KERNEL);
	void **others = kunit_kcalloc(test, MOST, sizeof(*others), GFP_KERNEL);
	const gfp_t gfp = __GFP_NOWARN | __GFP_NOMEMALLOC;
	unsigned int i, nr, again = 0;

	KUNIT_ASSERT_NOT_NULL(test, objects);
	KUNIT_ASSERT_NOT_NULL(test, others);
	hslab_test_policy(test, cache, "profile", "debug");
	hslab_test_policy(test, cache, "quarantine_kb", "1048576");
	for (nr = 0; nr < MOST; nr++) {
		objects[nr] = hslab_alloc(cache, gfp);
		if (!objects[nr])
			break;
	}
	KUNIT_EXPECT_GT(test, nr, 8);
	for (i = 0; i < nr; i++)
		hslab_free(cache, objects[i]);
	KUNIT_EXPECT_EQ(test, nr, held(cache));
	hslab_plant_byte(objects[0] + SZ_64K, 0xee);

	while (again < MOST && (others[again] = hslab_alloc(cache, gfp)))
		again++;
	KUNIT_EXPECT_EQ(test, nr - 1, how_many(others, again, objects, nr));
	KUNIT_EXPECT_EQ(test, 0, how_many(others, again, objects, 1));
	KUNIT_EXPECT_EQ(test, 0, held(cache));
	KUNIT_EXPECT_EQ(test, 1,
			hslab_test_faults(cache, HSLAB_WRITE_AFTER_FREE));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
	hslab_free_bulk(cache, again, others);
}

/* Everything at once: nobody gets an object that somebody has. */
static void drained_under_load(struct kunit *test)
{
	static const char *const kb[] = { "0", "8", "64", "1", "1024" };
	struct hslab_cache *cache = quarantine_cache(test, "0x6b", "32");
	struct task_struct *task[LOADERS] = {};
	struct loader loader[LOADERS] = {};
	unsigned long end = jiffies + 3 * HZ;
	unsigned int i, round;

	for (i = 0; i < LOADERS; i++) {
		loader[i].cache = cache;
		task[i] = kthread_run(load, &loader[i], "hslab-load/%u", i);
		if (IS_ERR(task[i])) {
			task[i] = NULL;
			break;
		}
	}
	for (round = 0; time_before(jiffies, end); round++) {
		hslab_test_policy(test, cache, "quarantine_kb",
				  kb[round % ARRAY_SIZE(kb)]);
		if (round % 3 == 0)
			hslab_quarantine_purge();
		if (round % 7 == 0)
			hslab_cache_shrink(cache);
		if (round % 5 == 0) {
			mutex_lock(&hslab_mutex);
			hslab_scrub(cache);
			mutex_unlock(&hslab_mutex);
		}
		usleep_range(1000, 2000);
	}
	for (i = 0; i < LOADERS && task[i]; i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_GT(test, loader[i].rounds, 0);
	}
	hslab_test_policy(test, cache, "quarantine_kb", "0");
	KUNIT_EXPECT_EQ(test, 0, held(cache));
	KUNIT_EXPECT_EQ(test, 0,
			atomic_long_read(&cache->quarantine_reserved));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

static struct kunit_case quarantine_tests[] = {
	KUNIT_CASE(freed_is_held),
	KUNIT_CASE(held_is_not_handed_out),
	KUNIT_CASE(small_bounds),
	KUNIT_CASE_PARAM(leaving_is_verified, leave_gen_params),
	KUNIT_CASE(pushed_out_is_verified),
	KUNIT_CASE(double_free_is_caught),
	KUNIT_CASE(bad_tag_is_kept),
	KUNIT_CASE(toggles),
	KUNIT_CASE(distances_are_spread),
	KUNIT_CASE_SLOW(bound_holds),
	KUNIT_CASE_SLOW(given_out_when_short),
	KUNIT_CASE_SLOW(drained_under_load),
	{}
};

static struct kunit_suite quarantine_suite = {
	.name = "hslab_quarantine",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = quarantine_tests,
};

kunit_test_suite(quarantine_suite);
