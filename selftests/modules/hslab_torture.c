// SPDX-License-Identifier: GPL-2.0
/*
 * Torture: everything that users of hslab may do, by everybody, at once, for a
 * while. Loading the module does it; see selftests/torture.sh, which takes CPUs
 * away meanwhile, and scripts/torture for hours of it.
 *
 * - Workers allocate and free, one by one and in bulk, in process context; an
 *   interrupter does so in softirq and (not on PREEMPT_RT) in hardirq context.
 * - Objects go from hand to hand through a table, and are freed on other CPUs.
 * - Readers look, under RCU, at objects that are freed by hslab_free_rcu().
 * - A toggler sets policies at random, shrinks and scrubs.
 * - A builder makes, uses and destroys caches.
 * - A hog takes all memory that can be had, and gives it back.
 *
 * Each object has a pattern of its owner while it is somebody's. What is no
 * longer as it was left is an error, and so is any violation that hslab reports,
 * since nobody does anything wrong. The last line on the console is
 * "hslab-torture: N operations, N errors"; with errors, loading fails.
 */
#define pr_fmt(fmt) "hslab-torture: " fmt

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <linux/hslab.h>

static unsigned int seconds = 10;
module_param(seconds, uint, 0444);
MODULE_PARM_DESC(seconds, "how long");

static unsigned int threads = 2;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "workers for each CPU");

static bool hog = true;
module_param(hog, bool, 0444);
MODULE_PARM_DESC(hog, "take all memory now and then");

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of all that is random; 0: another each time");

/*
 * WHAT IS ALLOCATED FROM
 */
#define TORTURE_GFP	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)
#define TORTURE_MAGIC	0x746f7274U	/* what the constructor leaves */

struct torture_cache {
	const char *name;
	unsigned int size;
	slab_flags_t flags;
	bool ctor;
	bool fixed_content;		/* readers rely on content across reuse */
	struct hslab_cache *cache;
};

static struct torture_cache torture_caches[] = {
	{ "torture-8",		8 },
	{ "torture-24",		24 },
	{ "torture-61",		61 },
	{ "torture-64",		64,	SLAB_HWCACHE_ALIGN },
	{ "torture-64-too",	64,	SLAB_HWCACHE_ALIGN },
	{ "torture-200-acct",	200,	SLAB_ACCOUNT },
	{ "torture-256-ctor",	256,	0, .ctor = true },
	{ "torture-1000",	1000 },
	{ "torture-4096",	4096 },
	{ "torture-typesafe",	128,	SLAB_TYPESAFE_BY_RCU },
	{ "torture-content",	96,	SLAB_TYPESAFE_BY_RCU, .ctor = true,
	  .fixed_content = true },
};

#define NR_CACHES	ARRAY_SIZE(torture_caches)

static void torture_ctor(void *object)
{
	*(u32 *)object = TORTURE_MAGIC;
}

static atomic_long_t torture_errors, torture_operations;

/* Say the first of them, count all. */
static void torture_error(const struct torture_cache *tc, const char *what)
{
	if (atomic_long_inc_return(&torture_errors) <= 10)
		pr_err("error: %s: %s\n", tc->name, what);
}

/*
 * OBJECTS
 *
 * A small object is its pattern: a word that depends on its address and cache, in
 * all whole words but, with a constructor, the first. Who has an object may rely
 * on it; what is in objects that nobody has is hslab's.
 */
static u64 torture_pattern(const struct torture_cache *tc, const void *object)
{
	return ((u64)object ^ (tc - torture_caches)) * 0x9e3779b97f4a7c15ULL;
}

static unsigned int torture_begin(const struct torture_cache *tc)
{
	return tc->ctor ? 1 : 0;
}

static void torture_mark(const struct torture_cache *tc, void *object)
{
	u64 pattern = torture_pattern(tc, object), *words = object;
	unsigned int i;

	for (i = torture_begin(tc); i < tc->size / sizeof(u64); i++)
		WRITE_ONCE(words[i], pattern);
}

static void torture_check(const struct torture_cache *tc, const void *object,
			  const char *when)
{
	u64 pattern = torture_pattern(tc, object);
	const u64 *words = object;
	unsigned int i;

	if (tc->ctor && *(const u32 *)object != TORTURE_MAGIC)
		torture_error(tc, "not constructed");
	for (i = torture_begin(tc); i < tc->size / sizeof(u64); i++) {
		if (READ_ONCE(words[i]) != pattern) {
			torture_error(tc, when);
			return;
		}
	}
}

static void *torture_alloc(struct torture_cache *tc, struct rnd_state *rnd,
			   gfp_t gfp)
{
	bool zero = !tc->ctor && prandom_u32_state(rnd) % 4 == 0;
	void *object;

	object = hslab_alloc(tc->cache, zero ? gfp | __GFP_ZERO : gfp);
	atomic_long_inc(&torture_operations);
	if (!object)
		return NULL;		/* memory is short at times */
	if (zero && memchr_inv(object, 0, tc->size))
		torture_error(tc, "not zeroed");
	if (tc->ctor && *(u32 *)object != TORTURE_MAGIC)
		torture_error(tc, "allocated, and not constructed");
	torture_mark(tc, object);
	return object;
}

static void torture_free(struct torture_cache *tc, struct rnd_state *rnd,
			 void *object)
{
	torture_check(tc, object, "changed while it was somebody's");
	atomic_long_inc(&torture_operations);
	if (prandom_u32_state(rnd) % 4)
		hslab_free(tc->cache, object);
	else
		hslab_free_rcu(tc->cache, object);
}

/*
 * HAND TO HAND: whoever puts an object in takes another one out.
 */
#define NR_SHARED	64

static void *torture_shared[NR_CACHES][NR_SHARED];

static void *torture_swap(unsigned int c, struct rnd_state *rnd, void *object)
{
	return xchg(&torture_shared[c][prandom_u32_state(rnd) % NR_SHARED],
		    object);
}

/*
 * READERS: objects that can be seen under RCU, and go by hslab_free_rcu(). Those
 * of the cache whose content is relied on go by hslab_free(): readers may find
 * another object there, but never another type.
 */
#define NR_SEEN		16

static void *torture_seen[NR_CACHES][NR_SEEN];

static void torture_publish(struct torture_cache *tc, struct rnd_state *rnd)
{
	unsigned int c = tc - torture_caches;
	void *object, *old;

	object = torture_alloc(tc, rnd, TORTURE_GFP);
	if (!object)
		return;
	/* xchg() orders the marks before it. */
	old = xchg(&torture_seen[c][prandom_u32_state(rnd) % NR_SEEN], object);
	if (!old)
		return;
	atomic_long_inc(&torture_operations);
	if (tc->fixed_content)
		hslab_free(tc->cache, old);
	else
		hslab_free_rcu(tc->cache, old);
}

static void torture_look(struct torture_cache *tc, struct rnd_state *rnd)
{
	unsigned int c = tc - torture_caches;
	void *object;

	rcu_read_lock();
	object = READ_ONCE(torture_seen[c][prandom_u32_state(rnd) % NR_SEEN]);
	if (object && tc->fixed_content) {
		if (READ_ONCE(*(u32 *)object) != TORTURE_MAGIC)
			torture_error(tc, "a reader saw another type");
	} else if (object) {
		torture_check(tc, object, "changed while a reader looked");
		if (prandom_u32_state(rnd) % 8 == 0)
			udelay(9);
		torture_check(tc, object, "changed while a reader looked on");
	}
	rcu_read_unlock();
	atomic_long_inc(&torture_operations);
}

/*
 * INTERRUPTS: each works on a few objects of its own.
 */
#define NR_IRQ		8

struct torture_irq {
	struct rnd_state rnd;
	void *objects[NR_CACHES][NR_IRQ];
};

static struct torture_irq torture_hard, torture_soft;

static void torture_interrupt(struct torture_irq *irq)
{
	unsigned int i;

	for (i = 0; i < 6; i++) {
		unsigned int c = prandom_u32_state(&irq->rnd) % NR_CACHES;
		struct torture_cache *tc = &torture_caches[c];
		void **place;

		if (tc->flags & SLAB_ACCOUNT)
			continue;
		place = &irq->objects[c][prandom_u32_state(&irq->rnd) % NR_IRQ];
		if (*place) {
			torture_free(tc, &irq->rnd, *place);
			*place = NULL;
		} else {
			*place = torture_alloc(tc, &irq->rnd,
					       GFP_ATOMIC | __GFP_NOWARN);
		}
	}
}

static void torture_soft_fires(struct tasklet_struct *tasklet)
{
	torture_interrupt(&torture_soft);
}

static DECLARE_TASKLET(torture_tasklet, torture_soft_fires);

/* On the CPU that was picked, in the middle of whatever it was doing. */
static void torture_hard_fires(void *unused)
{
	torture_interrupt(&torture_hard);
	tasklet_schedule(&torture_tasklet);
}

static void torture_irq_empty(struct torture_irq *irq)
{
	unsigned int c, i;

	for (c = 0; c < NR_CACHES; c++) {
		for (i = 0; i < NR_IRQ; i++) {
			if (irq->objects[c][i])
				torture_free(&torture_caches[c], &irq->rnd,
					     irq->objects[c][i]);
			irq->objects[c][i] = NULL;
		}
	}
}

/*
 * THREADS
 */
struct torture_thread {
	struct list_head node;
	struct task_struct *task;
	struct rnd_state rnd;
};

static LIST_HEAD(torture_threads);

#define NR_OWN		128
#define NR_BULK		16

static void torture_bulk(struct torture_cache *tc, struct rnd_state *rnd)
{
	unsigned int i, nr = 1 + prandom_u32_state(rnd) % NR_BULK;
	void *objects[NR_BULK];

	if (!hslab_alloc_bulk(tc->cache, TORTURE_GFP, nr, objects))
		return;
	for (i = 0; i < nr; i++)
		torture_mark(tc, objects[i]);
	for (i = 0; i < nr; i++)
		torture_check(tc, objects[i], "changed in a bulk");
	if (prandom_u32_state(rnd) % 2)
		hslab_free_bulk(tc->cache, nr, objects);
	else
		hslab_free_rcu_bulk(tc->cache, nr, objects);
	atomic_long_add(2 * nr, &torture_operations);
}

static void torture_work_on(struct torture_cache *tc, struct rnd_state *rnd,
			    void **place)
{
	gfp_t gfp = prandom_u32_state(rnd) % 4 ? TORTURE_GFP :
						 GFP_ATOMIC | __GFP_NOWARN;

	switch (prandom_u32_state(rnd) % 16) {
	case 0:
		torture_bulk(tc, rnd);
		break;
	case 1:
	case 2:
		torture_publish(tc, rnd);
		break;
	case 3 ... 5:
		torture_look(tc, rnd);
		break;
	case 6 ... 8:
		*place = torture_swap(tc - torture_caches, rnd, *place);
		break;
	default:
		if (*place) {
			torture_free(tc, rnd, *place);
			*place = NULL;
		} else {
			*place = torture_alloc(tc, rnd, gfp);
		}
	}
}

static int torture_worker(void *arg)
{
	struct torture_thread *thread = arg;
	struct rnd_state *rnd = &thread->rnd;
	struct {
		struct torture_cache *tc;
		void *object;
	} *own;
	unsigned int i;

	own = kcalloc(NR_OWN, sizeof(*own), GFP_KERNEL);
	if (!own)
		return -ENOMEM;
	for (i = 0; i < NR_OWN; i++)
		own[i].tc = &torture_caches[i % NR_CACHES];
	while (!kthread_should_stop()) {
		for (i = 0; i < 64; i++) {
			unsigned int o = prandom_u32_state(rnd) % NR_OWN;

			torture_work_on(own[o].tc, rnd, &own[o].object);
		}
		cond_resched();
	}
	for (i = 0; i < NR_OWN; i++)
		if (own[i].object)
			torture_free(own[i].tc, rnd, own[i].object);
	kfree(own);
	return 0;
}

/* Any value of any policy, at random. */
static const struct {
	const char *policy;
	const char *values[8];
} torture_policies[] = {
	{ "profile", { "off", "fast", "balanced", "debug", "paranoid" } },
	{ "merge", { "never", "owner", "any", "group=a", "group=b" } },
	{ "poison", { "off", "zero", "random", "0x6b", "0xff" } },
	{ "zero", { "auto", "0", "1" } },
	{ "verify", { "off", "head", "full" } },
	{ "check", { "1", "1", "1", "0" } },
	{ "quarantine_kb", { "0", "1", "16", "64", "256", "1024" } },
	{ "pin", { "0", "1", "16", "1000" } },
	{ "track", { "0", "0", "0", "1" } },
	{ "scrub_interval_ms", { "0", "0", "10", "100" } },
	{ "poison_typesafe", { "0", "1" } },
};

static void torture_toggle(struct torture_cache *tc, struct rnd_state *rnd)
{
	unsigned int p = prandom_u32_state(rnd) % ARRAY_SIZE(torture_policies);
	unsigned int v = 0;
	int err;

	while (v < ARRAY_SIZE(torture_policies[p].values) &&
	       torture_policies[p].values[v])
		v++;
	v = prandom_u32_state(rnd) % v;
	if (tc->fixed_content &&
	    !strcmp(torture_policies[p].policy, "poison_typesafe"))
		return;
	err = hslab_set_policy(tc->cache, torture_policies[p].policy,
			       torture_policies[p].values[v]);
	if (err && err != -ENOMEM)
		torture_error(tc, "a policy was refused");
}

static int torture_toggler(void *arg)
{
	struct torture_thread *thread = arg;
	struct rnd_state *rnd = &thread->rnd;

	while (!kthread_should_stop()) {
		struct torture_cache *tc =
			&torture_caches[prandom_u32_state(rnd) % NR_CACHES];

		if (prandom_u32_state(rnd) % 8 == 0)
			hslab_cache_shrink(tc->cache);
		else
			torture_toggle(tc, rnd);
		usleep_range(500, 5000);
	}
	return 0;
}

/* Caches come and go; what is left to RCU is waited for. */
static void torture_build(struct torture_thread *thread)
{
	static const char *const profiles[] = { "off", "balanced", "paranoid" };
	struct rnd_state *rnd = &thread->rnd;
	struct hslab_args args = {
		.profile = profiles[prandom_u32_state(rnd) % 3],
		.ctor = torture_ctor,
	};
	struct torture_cache tc = { "torture-built", .ctor = true };
	unsigned int i, nr = 1 + prandom_u32_state(rnd) % 100;
	void *object;

	tc.size = 8 + prandom_u32_state(rnd) % 3000;
	tc.cache = hslab_cache_create(tc.name, tc.size, &args);
	if (IS_ERR(tc.cache)) {
		if (tc.cache != ERR_PTR(-ENOMEM))
			torture_error(&tc, "not created");
		return;
	}
	for (i = 0; i < nr; i++) {
		object = hslab_alloc(tc.cache, TORTURE_GFP);
		if (!object)
			continue;
		if (*(u32 *)object != TORTURE_MAGIC)
			torture_error(&tc, "built, and not constructed");
		if (prandom_u32_state(rnd) % 2)
			hslab_free(tc.cache, object);
		else
			hslab_free_rcu(tc.cache, object);
	}
	hslab_cache_destroy(tc.cache);
	atomic_long_add(2 * nr, &torture_operations);
}

static int torture_builder(void *arg)
{
	while (!kthread_should_stop()) {
		torture_build(arg);
		usleep_range(1000, 20000);
	}
	return 0;
}

/*
 * Interrupts come at any time, on any CPU, but one of each kind at a time. A CPU
 * that is not there gets none. With PREEMPT_RT softirqs are run by threads, and are
 * not to be raised from another CPU.
 */
static int torture_interrupter(void *arg)
{
	struct torture_thread *thread = arg;
	struct rnd_state *rnd = &thread->rnd;

	while (!kthread_should_stop()) {
		if (IS_ENABLED(CONFIG_PREEMPT_RT))
			tasklet_schedule(&torture_tasklet);
		else
			smp_call_function_single(prandom_u32_state(rnd) %
						 nr_cpu_ids,
						 torture_hard_fires, NULL, 1);
		usleep_range(100, 1000);
	}
	tasklet_kill(&torture_tasklet);
	return 0;
}

/*
 * All memory that is to be had without trying hard, for a moment. It is given back
 * before the kernel kills somebody for it.
 */
static LIST_HEAD(torture_hoard);
static DEFINE_SPINLOCK(torture_hoard_lock);

static unsigned long torture_give_back(void)
{
	struct page *page, *next;
	unsigned long nr = 0;
	LIST_HEAD(pages);

	spin_lock(&torture_hoard_lock);
	list_splice_init(&torture_hoard, &pages);
	spin_unlock(&torture_hoard_lock);
	list_for_each_entry_safe(page, next, &pages, lru) {
		list_del(&page->lru);
		__free_page(page);
		nr++;
	}
	return nr;
}

static int torture_oom(struct notifier_block *nb, unsigned long unused,
		       void *freed)
{
	*(unsigned long *)freed += torture_give_back();
	return NOTIFY_OK;
}

static struct notifier_block torture_oom_notifier = {
	.notifier_call = torture_oom,
};

static int torture_hogger(void *arg)
{
	struct page *page;
	int err;

	err = register_oom_notifier(&torture_oom_notifier);
	while (!err && !kthread_should_stop()) {
		while (!kthread_should_stop() &&
		       (page = alloc_page(GFP_KERNEL | __GFP_NORETRY |
					  __GFP_NOWARN | __GFP_NOMEMALLOC))) {
			spin_lock(&torture_hoard_lock);
			list_add(&page->lru, &torture_hoard);
			spin_unlock(&torture_hoard_lock);
			cond_resched();
		}
		msleep(100);
		torture_give_back();
		schedule_timeout_interruptible(3 * HZ);
	}
	if (err)
		return err;
	unregister_oom_notifier(&torture_oom_notifier);
	torture_give_back();
	return 0;
}

/*
 * THE RUN
 */
static int torture_start(int (*fn)(void *), const char *name)
{
	struct torture_thread *thread = kzalloc(sizeof(*thread), GFP_KERNEL);

	if (!thread)
		return -ENOMEM;
	prandom_seed_state(&thread->rnd, seed++);
	thread->task = kthread_create(fn, thread, "hslab-%s", name);
	if (IS_ERR(thread->task)) {
		int err = PTR_ERR(thread->task);

		kfree(thread);
		return err;
	}
	get_task_struct(thread->task);	/* it may end by itself */
	wake_up_process(thread->task);
	list_add(&thread->node, &torture_threads);
	return 0;
}

static int torture_start_all(void)
{
	unsigned int i, nr = threads * num_online_cpus();
	int err;

	for (i = 0; i < nr; i++) {
		err = torture_start(torture_worker, "worker");
		if (err)
			return err;
	}
	prandom_seed_state(&torture_soft.rnd, seed++);
	prandom_seed_state(&torture_hard.rnd, seed++);
	err = torture_start(torture_interrupter, "interrupter");
	if (!err)
		err = torture_start(torture_toggler, "toggler");
	if (!err)
		err = torture_start(torture_builder, "builder");
	if (!err && hog)
		err = torture_start(torture_hogger, "hog");
	return err;
}

static void torture_stop_all(void)
{
	struct torture_thread *thread, *next;

	list_for_each_entry_safe(thread, next, &torture_threads, node) {
		kthread_stop(thread->task);
		put_task_struct(thread->task);
		list_del(&thread->node);
		kfree(thread);
	}
}

/* Nobody works any more: free all that is left, and look whether all came home. */
static void torture_clean(void)
{
	struct rnd_state rnd;
	unsigned int c, i;

	prandom_seed_state(&rnd, seed);
	torture_irq_empty(&torture_hard);
	torture_irq_empty(&torture_soft);
	for (c = 0; c < NR_CACHES; c++) {
		struct torture_cache *tc = &torture_caches[c];

		if (IS_ERR_OR_NULL(tc->cache))
			continue;
		for (i = 0; i < NR_SHARED; i++)
			if (torture_shared[c][i])
				torture_free(tc, &rnd, torture_shared[c][i]);
		for (i = 0; i < NR_SEEN; i++)
			if (torture_seen[c][i])
				torture_free(tc, &rnd, torture_seen[c][i]);
		hslab_cache_destroy(tc->cache);
	}
}

static int torture_create(void)
{
	unsigned int c;

	for (c = 0; c < NR_CACHES; c++) {
		struct torture_cache *tc = &torture_caches[c];
		struct hslab_args args = {
			.flags = tc->flags,
			.ctor = tc->ctor ? torture_ctor : NULL,
		};

		tc->cache = hslab_cache_create(tc->name, tc->size, &args);
		if (IS_ERR(tc->cache))
			return PTR_ERR(tc->cache);
	}
	return 0;
}

static int __init torture_init(void)
{
	unsigned int left;
	int err;

	if (!seconds || !threads) {
		pr_err("seconds and threads must be 1 or more\n");
		return -EINVAL;
	}
	while (!seed)
		seed = get_random_u32();
	pr_info("seed=%lu, %u seconds\n", seed, seconds);
	err = torture_create();
	if (!err)
		err = torture_start_all();
	for (left = seconds; left && !err; left--) {
		msleep(1000);
		if (left % 10 == 0)
			pr_info("%u seconds to go, %ld operations\n", left,
				atomic_long_read(&torture_operations));
	}
	torture_stop_all();
	torture_clean();
	pr_info("%ld operations, %ld errors\n",
		atomic_long_read(&torture_operations),
		atomic_long_read(&torture_errors));
	if (!err && atomic_long_read(&torture_errors))
		err = -EIO;
	return err;
}

static void __exit torture_exit(void)
{
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_DESCRIPTION("hslab torture");
MODULE_LICENSE("GPL");
