// SPDX-License-Identifier: GPL-2.0
/*
 * Tracking: records, stacks, what is made of them, and objects freed around hslab.
 */
#include <linux/delay.h>
#include <linux/random.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>

#include "hslab_kunit.h"

#define SIZE	200
#define FRAMES	16

static struct hslab_cache *tracked(struct kunit *test, unsigned int size)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-track", size,
						     NULL);

	hslab_test_policy(test, cache, "track", "1");
	return cache;
}

/* What is recorded of an object of the current store. */
static void records(struct kunit *test, const struct hslab_cache *cache,
		    const void *object, struct hslab_track *tracks)
{
	u64 plain;

	KUNIT_ASSERT_TRUE(test, hslab_track_read(hslab_test_store(cache),
						 object, &plain, tracks));
}

/* Where the frame after hslab's own begins in a recorded stack. */
static unsigned int stack_of(const struct hslab_track *track,
			     unsigned long **entries, unsigned int *nr)
{
	unsigned long caller = hslab_symbol_caller(track);
	unsigned int i;

	*nr = stack_depot_fetch(track->handle, entries);
	for (i = 0; i < *nr && (*entries)[i] != caller; i++)
		;
	return i;
}

static bool is_in(unsigned long addr, void *function)
{
	char at[HSLAB_WHERE_LEN], name[HSLAB_WHERE_LEN];

	snprintf(at, sizeof(at), "%ps", (void *)addr);
	snprintf(name, sizeof(name), "%ps", function);
	return !strcmp(at, name);
}

static noinline void *from_one(struct hslab_cache *cache)
{
	void *object = hslab_alloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void *from_two(struct hslab_cache *cache)
{
	void *object = hslab_zalloc(cache, GFP_KERNEL);

	barrier();
	return object;
}

static noinline void free_here(struct hslab_cache *cache, void *object)
{
	hslab_free(cache, object);
	barrier();
}

static void records_name_who(struct kunit *test)
{
	struct hslab_cache *cache = tracked(test, SIZE);
	struct hslab_track tracks[HSLAB_NR_EV];
	void *anchor, *object;

	hslab_test_victim(test, cache, &anchor, &object);
	hslab_free(cache, object);
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	hslab_free(cache, object);
	while ((object = from_one(cache)) &&
	       virt_to_head_page(object) != virt_to_head_page(anchor))
		free_here(cache, object);
	KUNIT_ASSERT_NOT_NULL(test, object);

	records(test, cache, object, tracks);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORDED, tracks[HSLAB_EV_ALLOC].known);
	KUNIT_EXPECT_EQ(test, HSLAB_NO_RECORD, tracks[HSLAB_EV_FREE].known);
	KUNIT_EXPECT_EQ(test, task_pid_nr(current),
			tracks[HSLAB_EV_ALLOC].pid);
	KUNIT_EXPECT_LT(test, tracks[HSLAB_EV_ALLOC].cpu, nr_cpu_ids);
	KUNIT_EXPECT_TRUE(test, is_in(hslab_symbol_caller(&tracks[HSLAB_EV_ALLOC]),
				      from_one));

	free_here(cache, object);
	records(test, cache, object, tracks);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORDED, tracks[HSLAB_EV_ALLOC].known);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORDED, tracks[HSLAB_EV_FREE].known);
	KUNIT_EXPECT_GE(test, tracks[HSLAB_EV_FREE].when,
			tracks[HSLAB_EV_ALLOC].when);
	KUNIT_EXPECT_TRUE(test, is_in(hslab_symbol_caller(&tracks[HSLAB_EV_FREE]),
				      free_here));
	hslab_free(cache, anchor);
}

/*
 * STACKS: all that lead to wander() by the choices of @path are told apart, also
 * when they were met before.
 */
struct wanderer {
	struct kunit *test;
	struct hslab_cache *cache;
	unsigned int wrong;
};

static noinline void wander_end(struct wanderer *w)
{
	struct hslab_track tracks[HSLAB_NR_EV];
	unsigned long here[FRAMES], *entries;
	unsigned int i, nr, nr_here, first;
	void *object;

	object = from_one(w->cache);
	if (!object)
		return;
	nr_here = stack_trace_save(here, FRAMES, 0);
	records(w->test, w->cache, object, tracks);
	first = stack_of(&tracks[HSLAB_EV_ALLOC], &entries, &nr);
	/* from_one() and this function, and then the same. */
	for (i = 1; i < nr_here && first + 1 + i < nr; i++)
		w->wrong += entries[first + 1 + i] != here[i];
	w->wrong += first + 4 > nr || !is_in(entries[first], from_one);
	hslab_free(w->cache, object);
}

static void wander(struct wanderer *w, unsigned int path, unsigned int left);

static noinline void wander_left(struct wanderer *w, unsigned int path,
				 unsigned int left)
{
	wander(w, path, left);
	barrier();
}

static noinline void wander_right(struct wanderer *w, unsigned int path,
				  unsigned int left)
{
	unsigned long room[3 + 2];

	barrier_data(room);
	wander(w, path, left);
	barrier_data(room);
}

static noinline void wander(struct wanderer *w, unsigned int path,
			    unsigned int left)
{
	if (!left)
		wander_end(w);
	else if (path & 1)
		wander_left(w, path >> 1, left - 1);
	else
		wander_right(w, path >> 1, left - 1);
	barrier();
}

static void stacks_are_told_apart(struct kunit *test)
{
	struct wanderer w = { .test = test, .cache = tracked(test, SIZE) };
	unsigned int i;

	for (i = 0; i < 3000; i++) {
		u32 r = get_random_u32();

		wander(&w, r >> 8, 1 + r % 5);
	}
	KUNIT_EXPECT_EQ(test, 0, w.wrong);
}

static void stacks_are_found_again(struct kunit *test)
{
	struct hslab_cache *cache = tracked(test, SIZE);
	struct hslab_track tracks[HSLAB_NR_EV];
	u32 handle[2] = { };
	unsigned int i;

	for (i = 0; i < 20; i++) {
		void *object = i % 2 ? from_one(cache) : from_two(cache);

		KUNIT_ASSERT_NOT_NULL(test, object);
		records(test, cache, object, tracks);
		if (i >= 2)
			KUNIT_EXPECT_EQ(test, handle[i % 2],
					tracks[HSLAB_EV_ALLOC].handle);
		handle[i % 2] = tracks[HSLAB_EV_ALLOC].handle;
		hslab_free(cache, object);
	}
	KUNIT_EXPECT_NE(test, handle[0], handle[1]);
}

/*
 * DAMAGE
 */
static void damaged_records_are_unknown(struct kunit *test)
{
	struct hslab_cache *cache = tracked(test, SIZE);
	unsigned int tag_off = hslab_test_store(cache)->tag_off;
	struct hslab_track tracks[HSLAB_NR_EV];
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
	u8 *bytes = object + tag_off + HSLAB_TAG_SIZE;
	struct hslab_traces t;
	unsigned int bit, i;
	u8 was[HSLAB_RECORD_SIZE], junk[HSLAB_RECORD_SIZE];

	for (bit = 0; bit < 8 * HSLAB_RECORD_SIZE / 2; bit++) {
		bytes[bit / 8] ^= 1 << bit % 8;
		records(test, cache, object, tracks);
		/* The check's lowest bit is not used. */
		KUNIT_EXPECT_EQ_MSG(test, HSLAB_RECORD_DAMAGED,
				    tracks[HSLAB_EV_ALLOC].known, "bit %u", bit);
		bytes[bit / 8] ^= 1 << bit % 8;
	}
	records(test, cache, object, tracks);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORDED, tracks[HSLAB_EV_ALLOC].known);

	memcpy(was, bytes, sizeof(was));
	for (i = 0; i < 1000; i++) {
		get_random_bytes(junk, sizeof(junk));
		memcpy(bytes, junk, sizeof(junk));
		records(test, cache, object, tracks);
		KUNIT_EXPECT_EQ(test, HSLAB_RECORD_DAMAGED,
				tracks[HSLAB_EV_ALLOC].known);
		KUNIT_EXPECT_EQ(test, HSLAB_RECORD_DAMAGED,
				tracks[HSLAB_EV_FREE].known);
	}
	/* A record of the other kind, and of another object, is none either. */
	memset(bytes, 0, sizeof(was));
	memcpy(bytes + sizeof(was) / 2, was, sizeof(was) / 2);
	records(test, cache, object, tracks);
	KUNIT_EXPECT_EQ(test, HSLAB_NO_RECORD, tracks[HSLAB_EV_ALLOC].known);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORD_DAMAGED, tracks[HSLAB_EV_FREE].known);

	memcpy(bytes, junk, sizeof(junk));
	mutex_lock(&hslab_mutex);
	KUNIT_EXPECT_EQ(test, 0, hslab_traces_collect(&t, cache, HSLAB_EV_ALLOC));
	mutex_unlock(&hslab_mutex);
	KUNIT_EXPECT_EQ(test, 1, t.nr);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORD_DAMAGED, t.traces[0].track.known);
	KUNIT_EXPECT_EQ(test, 0, t.traces[0].track.handle);
	hslab_traces_free(&t);

	hslab_free(cache, object);
	records(test, cache, object, tracks);
	KUNIT_EXPECT_EQ(test, HSLAB_RECORDED, tracks[HSLAB_EV_FREE].known);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	for (i = 0; i < HSLAB_LIFETIMES; i++)
		KUNIT_EXPECT_EQ(test, 0, hslab_track_lifetimes(cache, i));
}

/*
 * GROUPS
 */
static void groups_are_exact(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-groups", SIZE,
						     NULL);
	struct hslab_traces t;
	void *before[3], *object[40];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(before); i++)
		before[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	hslab_test_policy(test, cache, "track", "1");
	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = i < 30 ? from_two(cache) : from_one(cache);
		KUNIT_ASSERT_NOT_NULL(test, object[i]);
	}

	mutex_lock(&hslab_mutex);
	KUNIT_ASSERT_EQ(test, 0, hslab_traces_collect(&t, cache, HSLAB_EV_ALLOC));
	mutex_unlock(&hslab_mutex);
	KUNIT_EXPECT_TRUE(test, t.tracked);
	KUNIT_EXPECT_EQ(test, 0, t.status);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(before), t.untracked);
	KUNIT_ASSERT_EQ(test, 2, t.nr);
	KUNIT_EXPECT_EQ(test, 30, t.traces[0].nr);
	KUNIT_EXPECT_EQ(test, 10, t.traces[1].nr);
	KUNIT_EXPECT_TRUE(test, is_in(hslab_symbol_caller(&t.traces[0].track),
				      from_two));
	KUNIT_EXPECT_EQ(test, task_pid_nr(current), t.traces[0].min_pid);
	KUNIT_EXPECT_EQ(test, task_pid_nr(current), t.traces[0].max_pid);
	KUNIT_EXPECT_LE(test, t.traces[0].min_when, t.traces[0].max_when);
	hslab_traces_free(&t);

	hslab_free_bulk(cache, ARRAY_SIZE(before), before);
	for (i = 0; i < 25; i++)
		free_here(cache, object[i]);
	mutex_lock(&hslab_mutex);
	KUNIT_ASSERT_EQ(test, 0, hslab_traces_collect(&t, cache, HSLAB_EV_FREE));
	mutex_unlock(&hslab_mutex);
	KUNIT_ASSERT_EQ(test, 1, t.nr);
	KUNIT_EXPECT_EQ(test, 25, t.traces[0].nr);
	KUNIT_EXPECT_TRUE(test, is_in(hslab_symbol_caller(&t.traces[0].track),
				      free_here));
	hslab_traces_free(&t);
	hslab_free_bulk(cache, 15, object + 25);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void lifetimes_are_counted(struct kunit *test)
{
	struct hslab_cache *cache = tracked(test, SIZE);
	unsigned int i, at = 0;
	void *object[3];
	u64 nr = 0;

	for (i = 0; i < ARRAY_SIZE(object); i++)
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	msleep(40);
	for (i = 0; i < ARRAY_SIZE(object); i++)
		hslab_free(cache, object[i]);
	for (i = 0; i < HSLAB_LIFETIMES; i++) {
		u64 here = hslab_track_lifetimes(cache, i);

		nr += here;
		at = here ? i : at;
	}
	KUNIT_EXPECT_EQ(test, 3, nr);
	KUNIT_EXPECT_GE(test, at, 25);		/* 33 ms and more */
	KUNIT_EXPECT_LT(test, at, 36);		/* 68 s */
}

/*
 * THE WALK
 */
struct walk_case {
	const char *name;
	unsigned int size, align;
	slab_flags_t flags;
	unsigned int nr;
};

static const struct walk_case walk_cases[] = {
	{ "1 byte", 1, 0, 0, 700 },
	{ "8 bytes, cache line", 8, 0, SLAB_HWCACHE_ALIGN, 300 },
	{ "61 bytes", 61, 0, 0, 500 },
	{ "200 bytes", 200, 0, 0, 500 },
	{ "500 bytes, aligned to 512", 500, 512, 0, 200 },
	{ "1000 bytes, cache line", 1000, 0, SLAB_HWCACHE_ALIGN, 200 },
	{ "4000 bytes", 4000, 0, 0, 100 },
	{ "4096 bytes, aligned to pages", 4096, 4096, 0, 50 },
	{ "40000 bytes", 40000, 0, 0, 20 },
	{ "300000 bytes", 300000, 0, 0, 3 },
};

KUNIT_ARRAY_PARAM_DESC(walk, walk_cases, name);

struct seen {
	const struct hslab_cache *cache;
	unsigned int live;
};

static void see(struct hslab_store *store, void *object, void *arg)
{
	struct seen *seen = arg;
	u64 plain, word;

	if (!hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word))
		return;
	plain = hslab_decode(store, object, word);
	seen->live += hslab_tag_whole(plain, store->plain) &&
		      (plain & HSLAB_STATE_MASK) == HSLAB_LIVE &&
		      hslab_cache_id(plain) == seen->cache->id;
}

static void walk_sees_all(struct kunit *test)
{
	const struct walk_case *c = test->param_value;
	struct hslab_args args = { .align = c->align, .flags = c->flags };
	void **object = kunit_kcalloc(test, c->nr, sizeof(*object), GFP_KERNEL);
	struct hslab_cache *cache;
	unsigned int i, track;

	KUNIT_ASSERT_NOT_NULL(test, object);
	cache = hslab_test_cache(test, "kunit-walk", c->size, &args);
	for (track = 0; track < 2; track++) {
		struct seen seen = { .cache = cache };

		hslab_test_policy(test, cache, "track", track ? "1" : "0");
		for (i = 0; i < c->nr; i++)
			object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_GE(test, hslab_slab_walk(hslab_test_store(cache),
						      see, &seen), (long)c->nr);
		KUNIT_EXPECT_EQ(test, c->nr, seen.live);
		hslab_free_bulk(cache, c->nr, object);
	}
}

/*
 * SWITCHING
 */
static void toggles_move_new_objects(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-toggle", SIZE,
						     NULL);
	const struct hslab_store *store = hslab_test_store(cache);
	void *object[8];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(object); i++) {
		hslab_test_policy(test, cache, "track", i % 2 ? "0" : "1");
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		KUNIT_EXPECT_EQ(test, !(i % 2),
				hslab_test_store(cache)->geometry.tracked);
		KUNIT_EXPECT_TRUE(test, i % 2 || hslab_test_store(cache) != store);
	}
	hslab_free_bulk(cache, ARRAY_SIZE(object), object);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
}

static void largest_cannot_be_tracked(struct kunit *test)
{
	struct hslab_cache *cache =
		hslab_test_cache(test, "kunit-largest",
				 KMALLOC_MAX_SIZE - 2 * sizeof(u64), NULL);
	const struct hslab_store *store = hslab_test_store(cache);

	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_set_policy(cache, "track", "1"));
	KUNIT_EXPECT_PTR_EQ(test, store, hslab_test_store(cache));
	KUNIT_EXPECT_FALSE(test, cache->policy.track);
	KUNIT_EXPECT_EQ(test, 0, hslab_set_policy(cache, "poison", "off"));
}

/*
 * REPORTS
 */
static void reports_name_who(struct kunit *test)
{
	struct hslab_cache *cache = tracked(test, SIZE);
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);
	void *object = from_one(cache);
	char start[HSLAB_LINE_LEN];
	unsigned int i, found = 0, named = 0;

	KUNIT_ASSERT_NOT_NULL(test, lines);
	KUNIT_ASSERT_NOT_NULL(test, object);
	hslab_free(cache, object);
	hslab_free(cache, object);
	hslab_test_last_report(test, lines);
	snprintf(start, sizeof(start), "hslab:   allocated by pid %d on CPU ",
		 task_pid_nr(current));
	for (i = 0; i < lines->nr; i++) {
		found += !strncmp(lines->line[i], start, strlen(start));
		named += !strncmp(lines->line[i], "hslab:     from_one+0x", 22);
	}
	KUNIT_EXPECT_EQ(test, 1, found);
	KUNIT_EXPECT_EQ(test, 1, named);
}

/*
 * FREED AROUND HSLAB
 */
struct around_case {
	const char *name;
	unsigned int nr, keep;
	bool kfree, shrink;
};

static const struct around_case around_cases[] = {
	{ "all, kmem_cache_free()", 100, 0, false, false },
	{ "all, kfree()", 100, 0, true, false },
	{ "all, shrunk before", 100, 0, true, true },
	{ "some live, kmem_cache_free()", 100, 10, false, false },
	{ "some live, kfree()", 100, 10, true, true },
	{ "one", 1, 0, false, false },
	{ "none", 20, 20, false, false },
};

KUNIT_ARRAY_PARAM_DESC(around, around_cases, name);

static bool cache_is_left(unsigned int store)
{
	return READ_ONCE(hslab_store_of_ctor[store]);
}

static void freed_around_is_settled(struct kunit *test)
{
	const struct around_case *c = test->param_value;
	u64 before = atomic64_read(&hslab_nr_faults);
	unsigned int i, store, kept = 0;
	struct hslab_cache *cache;
	struct kmem_cache *kmem;
	void *object[100];

	if (!HSLAB_COMPAT_CAN_WAIT_FOR_TASKS && c->keep < c->nr)
		kunit_skip(test, "this kernel does not tell who is within a free");
	cache = hslab_cache_create("kunit-around", SIZE, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cache));
	store = hslab_test_store(cache)->id;
	kmem = hslab_test_store(cache)->kmem;
	KUNIT_ASSERT_EQ(test, c->nr, hslab_alloc_bulk(cache, GFP_KERNEL, c->nr,
						      object));
	for (i = 0; i < c->nr; i++) {
		if ((i + 1) * c->keep / c->nr > i * c->keep / c->nr)
			object[kept++] = object[i];
		else if (c->kfree)
			kfree(object[i]);
		else
			kmem_cache_free(kmem, object[i]);
	}
	KUNIT_EXPECT_EQ(test, c->keep, kept);
	if (c->shrink)
		hslab_cache_shrink(cache);
	hslab_cache_destroy(cache);
	KUNIT_EXPECT_EQ(test, before + c->nr - c->keep,
			atomic64_read(&hslab_nr_faults));
	/* What is live may not go. */
	msleep(300);
	KUNIT_EXPECT_EQ(test, !!c->keep, cache_is_left(store));
	if (c->keep)
		hslab_free_bulk(cache, kept, object);
	for (i = 0; i < 100 && cache_is_left(store); i++)
		msleep(50);
	KUNIT_EXPECT_FALSE(test, cache_is_left(store));
	KUNIT_EXPECT_EQ(test, before + c->nr - c->keep,
			atomic64_read(&hslab_nr_faults));
}

/* A live object with a damaged tag looks as one that has gone: it must not. */
static void doubt_is_no_proof(struct kunit *test)
{
	struct hslab_cache *cache = hslab_cache_create("kunit-doubt", SIZE, NULL);
	u64 before = atomic64_read(&hslab_nr_faults);
	unsigned int i, store;
	void *object[3];
	u64 tag, *at;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cache));
	store = hslab_test_store(cache)->id;
	KUNIT_ASSERT_EQ(test, 3, hslab_alloc_bulk(cache, GFP_KERNEL, 3, object));
	at = hslab_tag(object[1], hslab_test_store(cache)->tag_off);
	hslab_peek(&tag, at, sizeof(tag));
	hslab_plant(at, "overflow", sizeof(tag));
	hslab_cache_destroy(cache);
	msleep(300);
	KUNIT_EXPECT_TRUE(test, cache_is_left(store));
	KUNIT_EXPECT_EQ(test, before, atomic64_read(&hslab_nr_faults));
	hslab_plant(at, &tag, sizeof(tag));
	hslab_free_bulk(cache, 3, object);
	for (i = 0; i < 100 && cache_is_left(store); i++)
		msleep(50);
	KUNIT_EXPECT_FALSE(test, cache_is_left(store));
}

static struct kunit_case track_cases[] = {
	KUNIT_CASE(records_name_who),
	KUNIT_CASE(stacks_are_told_apart),
	KUNIT_CASE(stacks_are_found_again),
	KUNIT_CASE(damaged_records_are_unknown),
	KUNIT_CASE(groups_are_exact),
	KUNIT_CASE(lifetimes_are_counted),
	KUNIT_CASE_PARAM(walk_sees_all, walk_gen_params),
	KUNIT_CASE(toggles_move_new_objects),
	KUNIT_CASE(largest_cannot_be_tracked),
	KUNIT_CASE(reports_name_who),
	KUNIT_CASE_PARAM(freed_around_is_settled, around_gen_params),
	KUNIT_CASE(doubt_is_no_proof),
	{}
};

static struct kunit_suite track_suite = {
	.name = "hslab_track",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = track_cases,
};

kunit_test_suite(track_suite);
