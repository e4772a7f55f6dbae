// SPDX-License-Identifier: GPL-2.0
/*
 * Pinned slab pages: which pages stay with their kmem_cache, how many, and that
 * all of them go when they should.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

#define SIZE	100
#define SPRAY	3000
#define PAGES	SPRAY

/* Objects, the slab pages they lie in, and the kmem_cache of those pages. */
struct spray {
	struct kmem_cache *kmem;
	void **objects;
	const void **pages;		/* addresses */
	unsigned int nr, nr_pages;
};

static const void *page_of(const void *object)
{
	return page_address(virt_to_head_page(object));
}

static bool has_page(const struct spray *s, const void *page)
{
	unsigned int i;

	for (i = 0; i < s->nr_pages; i++)
		if (s->pages[i] == page)
			return true;
	return false;
}

static void spray(struct kunit *test, struct hslab_cache *cache,
		  struct spray *s, unsigned int nr)
{
	unsigned int i;

	s->kmem = hslab_test_route(cache)->kmem;
	s->nr = nr;
	s->nr_pages = 0;
	s->objects = kunit_kcalloc(test, nr, sizeof(void *), GFP_KERNEL);
	s->pages = kunit_kcalloc(test, nr, sizeof(void *), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s->objects);
	KUNIT_ASSERT_NOT_NULL(test, s->pages);
	for (i = 0; i < nr; i++) {
		const void *page;

		s->objects[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		memset(s->objects[i], 0xee, hslab_cache_size(cache));
		page = page_of(s->objects[i]);
		if (!hslab_compat_is_kfence(s->objects[i]) &&
		    !has_page(s, page))
			s->pages[s->nr_pages++] = page;
	}
}

/* Of the pages that were sprayed, how many are still the kmem_cache's? */
static unsigned int kept(const struct spray *s)
{
	unsigned int i, nr = 0;

	for (i = 0; i < s->nr_pages; i++)
		nr += hslab_compat_in_slab(s->pages[i]) &&
		      hslab_slab_cache(s->pages[i]) == s->kmem;
	return nr;
}

/* How many pages both have. */
static unsigned int shared(const struct spray *a, const struct spray *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < a->nr_pages; i++)
		nr += has_page(b, a->pages[i]);
	return nr;
}

static void release(struct hslab_cache *cache, struct spray *s)
{
	hslab_free_bulk(cache, s->nr, s->objects);
	s->nr = 0;
	hslab_cache_shrink(cache);
	msleep(50);		/* SLUB frees slabs by RCU, or from a worker, too */
	hslab_cache_shrink(cache);
}

static unsigned long pins(const struct hslab_cache *cache)
{
	return hslab_pin_pages(hslab_test_route(cache));
}

static unsigned long bytes(const struct hslab_cache *cache)
{
	return hslab_pin_bytes(hslab_test_route(cache));
}

static unsigned long skipped(const struct hslab_cache *cache)
{
	return hslab_pin_skipped(hslab_test_route(cache));
}

static struct hslab_cache *pinning(struct kunit *test, const char *name,
				   const char *pin)
{
	struct hslab_args args = { .profile = "balanced" };
	struct hslab_cache *cache = hslab_test_cache(test, name, SIZE, &args);

	hslab_test_policy(test, cache, "pin", pin);
	return cache;
}

/* Wait until the store with that number is gone. */
static void expect_gone(struct kunit *test, unsigned int id)
{
	unsigned int i;

	for (i = 0; i < 100 && READ_ONCE(hslab_store_of_ctor[id]); i++)
		msleep(50);
	KUNIT_EXPECT_NULL(test, READ_ONCE(hslab_store_of_ctor[id]));
}

static int pin_init(struct kunit *test)
{
	KUNIT_ASSERT_NE(test, 0, hslab_slab_cache_off);
	return 0;
}

/* What the others are compared with. */
static void pages_go_without_pins(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "0");
	struct spray s;

	spray(test, cache, &s, SPRAY);
	KUNIT_EXPECT_EQ(test, s.nr_pages, kept(&s));
	release(cache, &s);
	KUNIT_EXPECT_EQ(test, 0, kept(&s));
	KUNIT_EXPECT_EQ(test, 0, pins(cache));
	KUNIT_EXPECT_EQ(test, 0, bytes(cache));
}

static void pinned_pages_stay(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "1000");
	struct hslab_cache *victim = pinning(test, "kunit-victim", "0");
	struct spray s, v;

	spray(test, cache, &s, SPRAY);
	/* One page may have been pinned that nothing was handed out from. */
	KUNIT_EXPECT_GE(test, pins(cache), s.nr_pages);
	KUNIT_EXPECT_LE(test, pins(cache), s.nr_pages + 1);
	KUNIT_EXPECT_EQ(test, 0, skipped(cache));
	KUNIT_EXPECT_EQ(test, pins(cache) *
			page_size(virt_to_head_page(s.objects[0])),
			bytes(cache));
	release(cache, &s);
	KUNIT_EXPECT_EQ(test, s.nr_pages, kept(&s));

	spray(test, victim, &v, SPRAY);
	KUNIT_EXPECT_EQ(test, 0, shared(&s, &v));
	release(victim, &v);
	KUNIT_EXPECT_EQ(test, s.nr_pages, kept(&s));

	/* The same pages serve the cache again, and need no new pin. */
	spray(test, cache, &v, SPRAY / 2);
	KUNIT_EXPECT_EQ(test, v.nr_pages, shared(&v, &s));
	release(cache, &v);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void cap_is_exact(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "7");
	unsigned long size;
	struct spray s;

	spray(test, cache, &s, SPRAY);
	size = page_size(virt_to_head_page(s.objects[0]));
	KUNIT_EXPECT_EQ(test, 7, pins(cache));
	KUNIT_EXPECT_EQ(test, 7 * size, bytes(cache));
	release(cache, &s);
	KUNIT_EXPECT_EQ(test, 7, kept(&s));
	KUNIT_EXPECT_EQ(test, 7, pins(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void cap_changes(struct kunit *test)
{
	static const struct {
		const char *pin;
		unsigned int want;
	} steps[] = {
		{ "40", 20 },	/* raised: there are no new pages */
		{ "500", 20 },
		{ "20", 20 },
		{ "19", 19 },
		{ "3", 3 },
		{ "1048576", 3 },
		{ "2", 2 },
		{ "1", 1 },
		{ "0", 0 },
		{ "5", 0 },
		{ "0", 0 },
	};
	struct hslab_cache *cache = pinning(test, "kunit-pin", "20");
	unsigned long size;
	struct spray s;
	unsigned int i;

	spray(test, cache, &s, SPRAY);
	size = page_size(virt_to_head_page(s.objects[0]));
	KUNIT_EXPECT_EQ(test, 20, pins(cache));
	release(cache, &s);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		hslab_test_policy(test, cache, "pin", steps[i].pin);
		KUNIT_EXPECT_EQ_MSG(test, steps[i].want, pins(cache), "step %u",
				    i);
		KUNIT_EXPECT_EQ_MSG(test, steps[i].want * size, bytes(cache),
				    "step %u", i);
		release(cache, &s);
		KUNIT_EXPECT_EQ_MSG(test, steps[i].want, kept(&s), "step %u",
				    i);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void large_cap(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "1048576");
	struct spray s;

	spray(test, cache, &s, SPRAY);
	release(cache, &s);
	KUNIT_EXPECT_EQ(test, s.nr_pages, kept(&s));
	hslab_test_policy(test, cache, "pin", "0");
	release(cache, &s);
	KUNIT_EXPECT_EQ(test, 0, kept(&s));
}

/* Objects that are there already have owners: their pages get no pin. */
static void older_pages_are_not_pinned(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "0");
	struct spray s, t;

	spray(test, cache, &s, SPRAY);
	hslab_test_policy(test, cache, "pin", "1000");
	spray(test, cache, &t, SPRAY);
	KUNIT_EXPECT_GE(test, pins(cache), t.nr_pages - shared(&s, &t));
	hslab_free_bulk(cache, t.nr, t.objects);
	release(cache, &s);
	/* One page that was begun before may be pinned by an object since then. */
	KUNIT_EXPECT_LE(test, kept(&s), 2);
	KUNIT_EXPECT_GE(test, kept(&t), t.nr_pages - shared(&s, &t));
}

static void single_objects_are_not_pinned(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-single",
						     SZ_1M, NULL);
	void *object[3];
	unsigned int i;

	hslab_test_policy(test, cache, "pin", "100");
	for (i = 0; i < ARRAY_SIZE(object); i++)
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
	KUNIT_EXPECT_PTR_NE(test, page_of(object[0]), page_of(object[1]));
	KUNIT_EXPECT_EQ(test, 0, pins(cache));
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(object), skipped(cache));
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(object), hslab_cache_live(cache));
	hslab_free_bulk(cache, ARRAY_SIZE(object), object);
}

/* The larger the object, the fewer are on a page. */
static void few_on_a_page(struct kunit *test)
{
	static const unsigned int sizes[] = { 4096, 8192, 12000, 16384, 30000 };
	unsigned int c, i, least;

	for (c = 0; c < ARRAY_SIZE(sizes); c++) {
		struct hslab_cache *cache = hslab_test_cache(test, "kunit-few",
							     sizes[c], NULL);
		unsigned int slot = hslab_slot_size(&cache->geometry);
		struct spray s;

		hslab_test_policy(test, cache, "pin", "1000");
		spray(test, cache, &s, 40);
		for (i = least = 0; i < s.nr_pages; i++)
			least += page_size(virt_to_head_page(s.pages[i])) >=
				 2 * slot;
		KUNIT_EXPECT_GE_MSG(test, pins(cache), least, "size %u",
				    sizes[c]);
		KUNIT_EXPECT_LE_MSG(test, pins(cache), least + 8, "size %u",
				    sizes[c]);
		release(cache, &s);
		KUNIT_EXPECT_EQ_MSG(test, least, kept(&s), "size %u", sizes[c]);
		hslab_test_destroy(test, cache);
	}
}

static void no_ctor(void *object)
{
}

/*
 * No memory for a second object: the route is made to get it from a kmem_cache of
 * pages so large that soon there are none.
 */
static void second_object_fails(struct kunit *test)
{
	enum { NR = 512 };
	struct hslab_cache *cache = pinning(test, "kunit-pin", "100");
	struct hslab_route *route = hslab_test_route(cache), *poor;
	gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;
	void **large, *object, *got;
	struct kmem_cache *kmem;
	unsigned int nr = 0;

	/* On another CPU the second object would be of a new page, too. */
	set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
	poor = kunit_kzalloc(test, sizeof(*poor), GFP_KERNEL);
	large = kunit_kcalloc(test, NR, sizeof(*large), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, poor);
	KUNIT_ASSERT_NOT_NULL(test, large);
	kmem = kmem_cache_create("kunit-large", KMALLOC_MAX_SIZE - 64, 8, 0,
				 no_ctor);
	KUNIT_ASSERT_NOT_NULL(test, kmem);
	migrate_disable();	/* another CPU's next object is on another page */
	object = kmem_cache_alloc(route->kmem, GFP_KERNEL);
	while (nr < NR && (large[nr] = kmem_cache_alloc(kmem, gfp)))
		nr++;

	*poor = *route;
	poor->kmem = kmem;
	got = hslab_pin_page(poor, object, gfp, NUMA_NO_NODE, NULL);
	if (got != object)
		kmem_cache_free(kmem, got);
	while (nr)
		kmem_cache_free(kmem, large[--nr]);
	kmem_cache_destroy(kmem);

	/* It is handed out, and as new as before. */
	KUNIT_EXPECT_PTR_EQ(test, object, got);
	KUNIT_EXPECT_EQ(test, 0, pins(cache));
	KUNIT_EXPECT_EQ(test, 1, skipped(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_id(hslab_test_plain(cache, object)));
	got = hslab_pin_page(route, object, GFP_KERNEL, NUMA_NO_NODE,
			     NULL);
	migrate_enable();
	KUNIT_EXPECT_PTR_NE(test, object, got);
	KUNIT_EXPECT_EQ(test, 1, pins(cache));
	KUNIT_EXPECT_EQ(test, HSLAB_PINNED,
			hslab_test_plain(cache, object) & HSLAB_STATE_MASK);
	kmem_cache_free(route->kmem, got);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void destroy_with_pins(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "1000");
	unsigned int id = hslab_test_store(cache)->id;
	struct spray s;

	spray(test, cache, &s, SPRAY);
	release(cache, &s);
	KUNIT_EXPECT_NE(test, 0, pins(cache));
	hslab_test_destroy(test, cache);
	expect_gone(test, id);
}

/* The cache goes to another store: pins of the former do not keep that. */
static void merge_moves_on(struct kunit *test)
{
	struct hslab_cache *cache = pinning(test, "kunit-pin", "1000");
	struct hslab_cache *other = pinning(test, "kunit-other", "0");
	unsigned int id = hslab_test_store(cache)->id;
	struct spray s, t;

	hslab_test_policy(test, other, "merge", "group=kunit-pin");
	spray(test, cache, &s, 100);
	hslab_test_policy(test, cache, "merge", "group=kunit-pin");
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(cache),
			    hslab_test_store(other));
	KUNIT_EXPECT_EQ(test, 0, pins(cache));
	spray(test, cache, &t, SPRAY);
	KUNIT_EXPECT_GE(test, pins(cache), t.nr_pages);
	hslab_free_bulk(cache, s.nr, s.objects);
	expect_gone(test, id);
	release(cache, &t);
	KUNIT_EXPECT_EQ(test, t.nr_pages, kept(&t));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* Two caches in a store: a page gets one pin, and keeps it when its cache goes. */
static void pins_are_handed_over(struct kunit *test)
{
	struct hslab_cache *a = pinning(test, "kunit-a", "1000");
	struct hslab_cache *b = pinning(test, "kunit-b", "1000");
	unsigned long by_a, by_b;
	struct spray s, t;

	hslab_test_policy(test, a, "merge", "group=kunit-pin");
	hslab_test_policy(test, b, "merge", "group=kunit-pin");
	KUNIT_ASSERT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	spray(test, a, &s, SPRAY);
	by_a = pins(a);
	spray(test, b, &t, SPRAY);
	by_b = pins(b);
	KUNIT_EXPECT_GE(test, by_a + by_b, s.nr_pages + t.nr_pages -
			shared(&s, &t));
	KUNIT_EXPECT_LE(test, by_a + by_b, s.nr_pages + t.nr_pages -
			shared(&s, &t) + 1);
	release(a, &s);
	release(b, &t);
	hslab_test_policy(test, b, "pin", "1000");
	hslab_test_destroy(test, a);
	KUNIT_EXPECT_EQ(test, by_a + by_b, pins(b));
	hslab_cache_shrink(b);
	KUNIT_EXPECT_EQ(test, s.nr_pages, kept(&s));
	KUNIT_EXPECT_EQ(test, t.nr_pages, kept(&t));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(b));
}

struct pin_racer {
	struct hslab_cache *cache;
	u64 wrong;
};

static int race_thread(void *data)
{
	enum { NR = 300 };
	struct pin_racer *r = data;
	unsigned int i, nr;
	u64 **object;

	object = kcalloc(NR, sizeof(*object), GFP_KERNEL);
	while (object && !kthread_should_stop()) {
		for (nr = 0; nr < NR; nr++) {
			object[nr] = hslab_alloc(r->cache, GFP_KERNEL);
			if (!object[nr])
				break;
			*object[nr] = (u64)&object[nr];
		}
		for (i = 0; i < nr; i++) {
			r->wrong += *object[i] != (u64)&object[i];
			hslab_free(r->cache, object[i]);
		}
		cond_resched();
	}
	kfree(object);
	return 0;
}

/* The cap goes up and down while others allocate. */
static void cap_changes_under_load(struct kunit *test)
{
	static const char *const caps[] = { "300", "2", "0", "50", "40", "41" };
	struct hslab_cache *cache = pinning(test, "kunit-pin", "300");
	unsigned int id = hslab_test_store(cache)->id;
	struct pin_racer racers[3] = {};
	struct task_struct *task[3];
	unsigned int i, cap;

	for (i = 0; i < ARRAY_SIZE(task); i++) {
		racers[i].cache = cache;
		task[i] = kthread_run(race_thread, &racers[i], "hslab-pin/%u",
				      i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task[i]));
	}
	for (i = 0; i < 120; i++) {
		hslab_test_policy(test, cache, "pin", caps[i % ARRAY_SIZE(caps)]);
		KUNIT_EXPECT_EQ(test, 0, kstrtouint(caps[i % ARRAY_SIZE(caps)],
						    10, &cap));
		KUNIT_EXPECT_LE(test, pins(cache), cap);
		usleep_range(1000, 2000);
		KUNIT_EXPECT_LE(test, pins(cache), cap);
		if (i % 8 == 0)
			hslab_cache_shrink(cache);
	}
	for (i = 0; i < ARRAY_SIZE(task); i++) {
		kthread_stop(task[i]);
		KUNIT_EXPECT_EQ(test, 0, racers[i].wrong);
	}
	hslab_test_policy(test, cache, "pin", "0");
	KUNIT_EXPECT_EQ(test, 0, pins(cache));
	KUNIT_EXPECT_EQ(test, 0, bytes(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
	hslab_test_destroy(test, cache);
	expect_gone(test, id);
}

static struct kunit_case pin_tests[] = {
	KUNIT_CASE(pages_go_without_pins),
	KUNIT_CASE(pinned_pages_stay),
	KUNIT_CASE(cap_is_exact),
	KUNIT_CASE(cap_changes),
	KUNIT_CASE(large_cap),
	KUNIT_CASE(older_pages_are_not_pinned),
	KUNIT_CASE(single_objects_are_not_pinned),
	KUNIT_CASE(few_on_a_page),
	KUNIT_CASE(second_object_fails),
	KUNIT_CASE(destroy_with_pins),
	KUNIT_CASE(merge_moves_on),
	KUNIT_CASE(pins_are_handed_over),
	KUNIT_CASE_SLOW(cap_changes_under_load),
	{}
};

static struct kunit_suite pin_suite = {
	.name = "hslab_pin",
	.init = pin_init,
	.test_cases = pin_tests,
};

kunit_test_suite(pin_suite);
