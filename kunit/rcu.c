// SPDX-License-Identifier: GPL-2.0
/*
 * Objects that are freed after a grace period: what readers see, when the objects
 * go, and what caches do meanwhile.
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>

#include "rcu.h"

/*
 * READERS
 */

/* What an object holds once readers are gone. */
struct rcu_case {
	const char *poison;
	unsigned int size;
	bool kept, random;
	u8 byte;
};

static const struct rcu_case rcu_cases[] = {
	{ "off",	64,	.kept = true },
	{ "zero",	64,	.byte = 0x00 },
	{ "0x6b",	200,	.byte = 0x6b },
	{ "0x6b",	61,	.byte = 0x6b },
	{ "0x01",	5000,	.byte = 0x01 },
	{ "random",	40,	.random = true },
};

static void rcu_desc(const struct rcu_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "poison=%s, %u bytes", c->poison,
		 c->size);
}

KUNIT_ARRAY_PARAM(rcu, rcu_cases, rcu_desc);

static bool holds_fill(const struct rcu_case *c,
		       const struct hslab_cache *cache, const void *object)
{
	u64 words[SIZE / sizeof(u64)];

	if (!c->random)
		return hslab_peek_all(object, c->kept ? DIRT : c->byte,
				      c->size);
	hslab_peek(words, object, sizeof(words));
	return hslab_intact(words, ARRAY_SIZE(words),
			    hslab_test_store(cache)->random);
}

static void readers_see_content(struct kunit *test)
{
	const struct rcu_case *c = test->param_value;
	struct hslab_args args = { .profile = "debug" };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-rcu", c->size,
						     &args);
	unsigned int i, intact = 0, reused = 0;
	struct hslab_counts before, after;
	void *anchor, *object, *other[40];
	unsigned long waiting;
	bool alone;

	hslab_test_policy(test, cache, "poison", c->poison);
	hslab_test_policy(test, cache, "zero", "0");
	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, DIRT, c->size);
	hslab_test_counts(cache, &before);

	rcu_read_lock();
	hslab_free_rcu(cache, object);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = hslab_alloc(cache, GFP_ATOMIC);
		reused += other[i] == object;
		intact += hslab_peek_all(object, DIRT, c->size);
	}
	linger();
	intact += hslab_peek_all(object, DIRT, c->size);
	waiting = hslab_rcu_objects(rcu_dereference(cache->route));
	alone = waits_alone(cache, object);
	rcu_read_unlock();

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(other) + 1, intact);
	KUNIT_EXPECT_EQ(test, 0, reused);
	KUNIT_EXPECT_EQ(test, 1, waiting);
	KUNIT_EXPECT_TRUE(test, alone);
	hslab_free_bulk(cache, ARRAY_SIZE(other), other);

	settle(test, cache);
	KUNIT_EXPECT_EQ(test, HSLAB_FREE, state_of(cache, object));
	KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));
	hslab_test_counts(cache, &after);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(other), after.allocs - before.allocs);
	KUNIT_EXPECT_EQ(test, 1, (after.headroom - after.limit) -
				 (before.headroom - before.limit));

	/* It is a free object as any: verified, and handed out again. */
	hslab_test_policy(test, cache, "verify", "full");
	hslab_test_take_back(test, cache, GFP_KERNEL, object);
	KUNIT_EXPECT_TRUE(test, holds_fill(c, cache, object));
	hslab_free(cache, object);
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* An object that has waited goes into quarantine, if there is one. */
static void quarantine_comes_after(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	void *anchor, *object;

	hslab_test_policy(test, cache, "quarantine_kb", "64");
	hslab_test_victim(test, cache, &anchor, &object);
	memset(object, DIRT, SIZE);
	rcu_read_lock();
	hslab_free_rcu(cache, object);
	linger();
	KUNIT_EXPECT_TRUE(test, waits_alone(cache, object));
	rcu_read_unlock();
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, HSLAB_QUARANTINED, state_of(cache, object));
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x6b, SIZE));
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(cache));

	hslab_free_rcu(cache, object);
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "double-free", .cache = cache, .object = object,
		.offset = -1, .more = "it is in quarantine", .nr = 1,
		.caller = quarantine_comes_after,
	});
	hslab_free(cache, anchor);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* A write to a waiting object is a reader's, one after that is found. */
static void late_write_is_found(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	u8 *anchor, *object;

	hslab_test_policy(test, cache, "verify", "full");
	hslab_test_victim(test, cache, (void **)&anchor, (void **)&object);
	rcu_read_lock();
	hslab_free_rcu(cache, object);
	object[3] = 'A';
	rcu_read_unlock();
	settle(test, cache);
	hslab_plant_byte(object + 5, 'A');
	hslab_test_find(test, cache, HSLAB_WRITE_AFTER_FREE);
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "write-after-free", .cache = cache, .object = object,
		.offset = 5, .more = "written after cache kunit-rcu freed it",
		.marks = "!...............", .nr_bad = 1, .aside = true,
		.nr = 1, .caller = hslab_test_find,
	});
	hslab_free(cache, anchor);
}

/*
 * BATCHES
 */
static const unsigned int batch_cases[] = { 1, 2, 7, 1000, 5000 };

static void batch_desc(const unsigned int *nr, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u objects", *nr);
}

KUNIT_ARRAY_PARAM(batch, batch_cases, batch_desc);

static void batches(struct kunit *test)
{
	unsigned int nr = *(const unsigned int *)test->param_value, i;
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	void **object = kunit_kcalloc(test, nr, sizeof(*object), GFP_KERNEL);
	unsigned long waiting;
	u64 intact = 0;
	s64 live;

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_EQ(test, nr, hslab_alloc_bulk(cache, GFP_KERNEL, nr,
						   object));
	for (i = 0; i < nr; i++)
		memset(object[i], DIRT, SIZE);
	rcu_read_lock();
	hslab_free_rcu_bulk(cache, nr, object);
	linger();
	for (i = 0; i < nr; i++)
		intact += hslab_peek_all(object[i], DIRT, SIZE);
	waiting = hslab_rcu_objects(rcu_dereference(cache->route));
	live = hslab_cache_live(cache);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, nr, intact);
	KUNIT_EXPECT_EQ(test, nr, waiting);
	KUNIT_EXPECT_EQ(test, nr, live);
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

static void nothing_is_freed(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	void *object[3] = {};

	hslab_free_rcu(cache, NULL);
	hslab_free_rcu_bulk(cache, 0, object);
	hslab_free_rcu_bulk(cache, ARRAY_SIZE(object), object);
	KUNIT_EXPECT_EQ(test, 0, nr_waiting(cache));
	object[1] = hslab_test_alloc(test, cache, GFP_KERNEL);
	hslab_free_rcu_bulk(cache, ARRAY_SIZE(object), object);
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* A thread on each CPU. Who finds its objects written to has been cheated. */
struct churn {
	struct hslab_cache *cache;
	struct task_struct *thread;
	unsigned long rounds, foreign;
};

static int churn_thread(void *data)
{
	struct churn *churn = data;
	u8 *object[32];
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < ARRAY_SIZE(object); i++) {
			object[i] = hslab_alloc(churn->cache, GFP_KERNEL);
			if (object[i])
				memset(object[i], DIRT + i, SIZE);
		}
		rcu_read_lock();
		hslab_free_rcu_bulk(churn->cache, ARRAY_SIZE(object) - 1,
				    (void **)object);
		mdelay(1);
		for (i = 0; i < ARRAY_SIZE(object); i++)
			churn->foreign += object[i] &&
					  !hslab_peek_all(object[i], DIRT + i,
							  SIZE);
		rcu_read_unlock();
		hslab_free(churn->cache, object[i - 1]);
		churn->rounds++;
		usleep_range(100, 500);
	}
	return 0;
}

static void many_cpus(struct kunit *test)
{
	static const char *const poison[] = { "0x6b", "off", "random", "zero" };
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	unsigned long rounds = 0, foreign = 0;
	struct churn *churn;
	unsigned int i;
	int cpu;

	churn = kunit_kcalloc(test, nr_cpu_ids, sizeof(*churn), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, churn);
	for_each_online_cpu(cpu) {
		struct task_struct *thread;

		churn[cpu].cache = cache;
		thread = kthread_create(churn_thread, &churn[cpu], "hslab-rcu");
		if (IS_ERR(thread))
			continue;
		kthread_bind(thread, cpu);
		churn[cpu].thread = thread;
		wake_up_process(thread);
	}
	for (i = 0; i < 50; i++) {
		hslab_set_policy(cache, "poison", poison[i % 4]);
		hslab_set_policy(cache, "quarantine_kb", i & 8 ? "16" : "0");
		hslab_set_policy(cache, "merge", i & 16 ? "any" : "never");
		msleep(20);
	}
	for_each_online_cpu(cpu) {
		if (!churn[cpu].thread)
			continue;
		kthread_stop(churn[cpu].thread);
		KUNIT_EXPECT_GT(test, churn[cpu].rounds, 0);
		rounds += churn[cpu].rounds;
		foreign += churn[cpu].foreign;
	}
	kunit_info(test, "%lu rounds", rounds);
	KUNIT_EXPECT_EQ(test, 0, foreign);
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* Freed in an interrupt, or by softirq. */
struct elsewhere {
	struct irq_work irq;
	struct tasklet_struct tasklet;
	struct hslab_cache *cache;
	void *object[100];
	bool right;			/* it was the right context */
};

static void free_in_irq(struct irq_work *work)
{
	struct elsewhere *e = container_of(work, struct elsewhere, irq);

	e->right = in_hardirq();
	hslab_free_rcu_bulk(e->cache, ARRAY_SIZE(e->object), e->object);
}

static void free_in_softirq(struct tasklet_struct *tasklet)
{
	struct elsewhere *e = container_of(tasklet, struct elsewhere, tasklet);

	e->right = in_serving_softirq();
	hslab_free_rcu_bulk(e->cache, ARRAY_SIZE(e->object), e->object);
}

static void any_context(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	struct elsewhere *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	unsigned int round;

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->cache = cache;
	e->irq = IRQ_WORK_INIT_HARD(free_in_irq);
	tasklet_setup(&e->tasklet, free_in_softirq);
	for (round = 0; round < 20; round++) {
		KUNIT_ASSERT_EQ(test, ARRAY_SIZE(e->object),
				hslab_alloc_bulk(cache, GFP_KERNEL,
						 ARRAY_SIZE(e->object),
						 e->object));
		e->right = false;
		if (round & 1) {
			tasklet_schedule(&e->tasklet);
			tasklet_unlock_wait(&e->tasklet);
			tasklet_kill(&e->tasklet);
		} else {
			irq_work_queue(&e->irq);
			irq_work_sync(&e->irq);
		}
		KUNIT_EXPECT_TRUE(test, e->right);
	}
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * NO MEMORY
 */

/* Take all pages there are for the asking. */
static struct page *take_all(void)
{
	struct page *page, *pages = NULL;

	while ((page = alloc_page(GFP_NOWAIT | __GFP_NOWARN))) {
		page->private = (unsigned long)pages;
		pages = page;
	}
	return pages;
}

static void give_back(struct page *page)
{
	while (page) {
		struct page *next = (struct page *)page->private;

		page->private = 0;
		__free_page(page);
		page = next;
	}
}

static void memory_is_exhausted(struct kunit *test)
{
	enum { NR = 5000 };
	struct hslab_cache *cache = rcu_cache(test, "kunit-rcu");
	void **object = kunit_kcalloc(test, NR, sizeof(*object), GFP_KERNEL);
	struct page *pages, *more;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, object);
	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL, NR,
						   object));
	pages = take_all();
	hslab_free_rcu_bulk(cache, NR / 2, object);
	hslab_free_rcu_bulk(cache, NR / 2, object + NR / 2);
	more = take_all();
	for (i = 0; i < 500 && nr_waiting(cache); i++)
		msleep(20);
	give_back(more);
	give_back(pages);
	KUNIT_EXPECT_EQ(test, 0, nr_waiting(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * SLAB_TYPESAFE_BY_RCU
 */
#define CONSTRUCTED	0xc0

static void construct(void *object)
{
	memset(object, CONSTRUCTED, SIZE);
}

static struct hslab_cache *typesafe_cache(struct kunit *test, bool poison)
{
	struct hslab_args args = {
		.flags = SLAB_TYPESAFE_BY_RCU,
		.ctor = construct,
		.profile = "debug",
		.poison_typesafe = poison,
	};

	return hslab_test_cache(test, "kunit-typesafe", SIZE, &args);
}

/* Without poison_typesafe content survives reuse, whichever way it is freed. */
static void typesafe_is_kept(struct kunit *test)
{
	struct hslab_cache *cache = typesafe_cache(test, false);
	void *anchor, *object;
	unsigned int deferred;
	bool intact, waits;

	hslab_test_policy(test, cache, "zero", "1");
	for (deferred = 0; deferred < 2; deferred++) {
		hslab_test_victim(test, cache, &anchor, &object);
		memset(object, DIRT, SIZE);
		rcu_read_lock();
		if (deferred)
			hslab_free_rcu(cache, object);
		else
			hslab_free(cache, object);
		linger();
		intact = hslab_peek_all(object, DIRT, SIZE);
		waits = waits_alone(cache, object);
		rcu_read_unlock();
		KUNIT_EXPECT_TRUE(test, intact);
		KUNIT_EXPECT_EQ(test, deferred, waits);
		settle(test, cache);
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, DIRT, SIZE));
		hslab_test_take_back(test, cache, GFP_KERNEL, object);
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, DIRT, SIZE));
		hslab_free(cache, object);
		hslab_free(cache, anchor);
	}
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/* With it a free waits, and the object is a constructed one when it comes back. */
static void typesafe_is_poisoned(struct kunit *test)
{
	static const char *const zero[] = { "0", "1" };
	unsigned int created, i;

	for (created = 0; created < 2; created++) {
		struct hslab_cache *cache = typesafe_cache(test, created);
		void *anchor, *object;
		bool intact, waits;

		if (!created)
			hslab_test_policy(test, cache, "poison_typesafe", "1");
		for (i = 0; i < ARRAY_SIZE(zero); i++) {
			hslab_test_policy(test, cache, "zero", zero[i]);
			hslab_test_victim(test, cache, &anchor, &object);
			memset(object, DIRT, SIZE);
			rcu_read_lock();
			hslab_free(cache, object);
			linger();
			intact = hslab_peek_all(object, DIRT, SIZE);
			waits = waits_alone(cache, object);
			rcu_read_unlock();
			KUNIT_EXPECT_TRUE(test, intact);
			KUNIT_EXPECT_TRUE(test, waits);
			settle(test, cache);
			KUNIT_EXPECT_TRUE(test, hslab_peek_all(object, 0x6b,
							       SIZE));
			hslab_test_take_back(test, cache, GFP_KERNEL, object);
			KUNIT_EXPECT_TRUE(test,
					  hslab_peek_all(object, CONSTRUCTED,
							 SIZE));
			hslab_free(cache, object);
			hslab_free(cache, anchor);
			settle(test, cache);
		}
		KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
		KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
		hslab_test_destroy(test, cache);
	}
}

/* What holds is the policy at the end of the grace period. */
static void typesafe_is_toggled(struct kunit *test)
{
	struct hslab_cache *cache = typesafe_cache(test, true);
	struct hslab_reader *reader;
	void *object[5];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(object); i++) {
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		memset(object[i], DIRT, SIZE);
	}
	reader = hslab_test_reader(test);
	hslab_free(cache, object[0]);
	hslab_test_policy(test, cache, "poison_typesafe", "0");
	hslab_free(cache, object[1]);
	hslab_free_rcu(cache, object[2]);
	KUNIT_EXPECT_EQ(test, HSLAB_RCU, state_of(cache, object[0]));
	KUNIT_EXPECT_EQ(test, HSLAB_FREE, state_of(cache, object[1]));
	KUNIT_EXPECT_EQ(test, 2, nr_waiting(cache));
	KUNIT_EXPECT_EQ(test, 4, hslab_cache_live(cache));
	hslab_test_reader_leaves(reader);
	settle(test, cache);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, HSLAB_FREE, state_of(cache, object[i]));
		KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[i], DIRT, SIZE));
	}

	reader = hslab_test_reader(test);
	hslab_free_rcu(cache, object[3]);
	hslab_test_policy(test, cache, "poison_typesafe", "1");
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[3], DIRT, SIZE));
	KUNIT_EXPECT_EQ(test, 1, nr_waiting(cache));
	hslab_test_reader_leaves(reader);
	settle(test, cache);
	KUNIT_EXPECT_TRUE(test, hslab_peek_all(object[3], 0x6b, SIZE));
	hslab_free(cache, object[4]);
	settle(test, cache);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(cache));
}

/*
 * ROUTES AND CACHES THAT GO
 */
static unsigned int nr_routes(struct hslab_cache *cache)
{
	unsigned int nr;

	mutex_lock(&hslab_mutex);
	nr = list_count_nodes(&cache->routes);
	mutex_unlock(&hslab_mutex);
	return nr;
}

static void expect_drained(struct kunit *test, struct hslab_cache *cache)
{
	unsigned int i;

	for (i = 0; i < 500 && nr_routes(cache) != 1; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, 1, nr_routes(cache));
}

/* Objects that wait go home to a store that their cache has left. */
static void merge_moves_on(struct kunit *test)
{
	enum { NR = 100 };
	struct hslab_cache *a = rcu_cache(test, "kunit-a");
	struct hslab_cache *b = rcu_cache(test, "kunit-b");
	void *object[NR], *in_shared;
	struct hslab_reader *reader;

	hslab_test_policy(test, b, "merge", "group=kunit");
	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(a, GFP_KERNEL, NR, object));
	reader = hslab_test_reader(test);
	hslab_free_rcu_bulk(a, NR / 2, object);
	hslab_test_policy(test, a, "merge", "group=kunit");
	KUNIT_EXPECT_PTR_EQ(test, hslab_test_store(a), hslab_test_store(b));
	hslab_free_rcu_bulk(a, NR / 2, object + NR / 2);
	in_shared = hslab_test_alloc(test, a, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, 2, nr_routes(a));
	KUNIT_EXPECT_EQ(test, NR, nr_waiting(a));
	KUNIT_EXPECT_EQ(test, NR + 1, hslab_cache_live(a));
	hslab_test_reader_leaves(reader);
	settle(test, a);
	KUNIT_EXPECT_EQ(test, 1, hslab_cache_live(a));
	expect_drained(test, a);
	hslab_free_rcu(a, in_shared);
	settle(test, a);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(a));
	KUNIT_EXPECT_EQ(test, 0, hslab_test_all_faults(b));
}

/* As if a batch of a route were on its way, for as long as we like. */
static void set_armed(struct hslab_route *route, bool armed)
{
	struct hslab_rcu *part = per_cpu_ptr(route->rcu,
					     cpumask_first(cpu_online_mask));

	raw_spin_lock_irq(&part->lock);
	part->armed = armed;
	raw_spin_unlock_irq(&part->lock);
}

/* No route goes while a worker looks at it, though it has no live object. */
static void busy_route_stays(struct kunit *test)
{
	struct hslab_cache *a = rcu_cache(test, "kunit-a");
	struct hslab_cache *b = rcu_cache(test, "kunit-b");
	struct hslab_route *route = hslab_test_route(a);

	hslab_test_policy(test, b, "merge", "group=kunit");
	set_armed(route, true);
	hslab_test_policy(test, a, "merge", "group=kunit");
	msleep(500);
	KUNIT_EXPECT_EQ(test, 0, hslab_route_live(route));
	KUNIT_EXPECT_EQ(test, 2, nr_routes(a));
	set_armed(route, false);
	expect_drained(test, a);
}

/* Ends the batch of @route after a while, and one of @other, which wakes who waits. */
struct ending {
	struct hslab_route *route;
	struct hslab_cache *other;
	void *object;
	unsigned long ended;		/* jiffies */
};

static int ending_thread(void *data)
{
	struct ending *ending = data;

	msleep(300);
	ending->ended = jiffies;
	set_armed(ending->route, false);
	hslab_free_rcu(ending->other, ending->object);
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static void destroy_waits_for_its_own(struct kunit *test)
{
	struct hslab_cache *cache = rcu_cache(test, "kunit-a");
	struct hslab_cache *other = rcu_cache(test, "kunit-b");
	struct ending *ending = kunit_kzalloc(test, sizeof(*ending),
					      GFP_KERNEL);
	struct task_struct *thread;

	KUNIT_ASSERT_NOT_NULL(test, ending);
	ending->route = hslab_test_route(cache);
	ending->other = other;
	ending->object = hslab_test_alloc(test, other, GFP_KERNEL);
	set_armed(ending->route, true);
	thread = kthread_run(ending_thread, ending, "hslab-ending");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	hslab_test_destroy(test, cache);
	KUNIT_EXPECT_NE(test, 0, ending->ended);
	kthread_stop(thread);
	settle(test, other);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(other));
}

/* Another cache's batch may last: here, until this cache is gone. */
static void destroy_waits_for_no_other(struct kunit *test)
{
	enum { NR = 200 };
	struct hslab_cache *cache = rcu_cache(test, "kunit-a");
	struct hslab_cache *other = rcu_cache(test, "kunit-b");
	struct hslab_store *store = hslab_test_store(cache);
	unsigned int id = store->id;
	void *object[NR];

	KUNIT_ASSERT_EQ(test, NR, hslab_alloc_bulk(cache, GFP_KERNEL, NR,
						   object));
	set_armed(hslab_test_route(other), true);
	hslab_free_rcu_bulk(cache, NR, object);
	hslab_test_destroy(test, cache);
	KUNIT_EXPECT_PTR_NE(test, store, READ_ONCE(hslab_store_of_ctor[id]));
	KUNIT_EXPECT_TRUE(test, hslab_rcu_busy(hslab_test_route(other)));
	set_armed(hslab_test_route(other), false);
}

/* Freed after its cache is gone, an object waits all the same. */
static void free_rcu_after_destroy(struct kunit *test)
{
	enum { NR = 10 };
	struct hslab_cache *cache = rcu_cache(test, "kunit-late");
	struct hslab_store *store = hslab_test_store(cache);
	unsigned int i, id = store->id, intact = 0;
	void *object[NR];

	for (i = 0; i < NR; i++) {
		object[i] = hslab_test_alloc(test, cache, GFP_KERNEL);
		memset(object[i], DIRT, SIZE);
	}
	hslab_test_destroy(test, cache);
	KUNIT_EXPECT_EQ(test, NR, hslab_cache_live(cache));
	rcu_read_lock();
	hslab_free_rcu_bulk(cache, NR, object);
	linger();
	for (i = 0; i < NR; i++)
		intact += hslab_peek_all(object[i], DIRT, SIZE);
	rcu_read_unlock();
	KUNIT_EXPECT_EQ(test, NR, intact);
	for (i = 0; i < 500 && READ_ONCE(hslab_store_of_ctor[id]) == store; i++)
		msleep(20);
	KUNIT_EXPECT_PTR_NE(test, store, READ_ONCE(hslab_store_of_ctor[id]));
}

static struct kunit_case rcu_tests[] = {
	KUNIT_CASE_PARAM(readers_see_content, rcu_gen_params),
	KUNIT_CASE(quarantine_comes_after),
	KUNIT_CASE(late_write_is_found),
	KUNIT_CASE_PARAM(batches, batch_gen_params),
	KUNIT_CASE(nothing_is_freed),
	KUNIT_CASE(many_cpus),
	KUNIT_CASE(any_context),
	KUNIT_CASE(memory_is_exhausted),
	KUNIT_CASE(typesafe_is_kept),
	KUNIT_CASE(typesafe_is_poisoned),
	KUNIT_CASE(typesafe_is_toggled),
	KUNIT_CASE(merge_moves_on),
	KUNIT_CASE(busy_route_stays),
	KUNIT_CASE(destroy_waits_for_its_own),
	KUNIT_CASE(destroy_waits_for_no_other),
	KUNIT_CASE(free_rcu_after_destroy),
	{}
};

static struct kunit_suite rcu_suite = {
	.name = "hslab_rcu",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = rcu_tests,
};

kunit_test_suite(rcu_suite);
