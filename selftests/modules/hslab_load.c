// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_load: threads that allocate and free in every way and in every context,
 * and look whether each object is theirs alone and holds what it should.
 *
 * An owner writes a pattern over the whole object and checks it before the
 * free. A zeroed object must be zero, one of a cache with a constructor must be
 * as constructed. /sys/kernel/debug/hslab_load:
 *
 *	run	"start N": start N threads; "stop": stop them and free all;
 *		"plant CACHE": while stopped, damage a free object, and allocate
 *		until it has come out again
 *	stats	allocs, hardirqs, failed, and errors of each sort, as lines name=value
 */
#define pr_fmt(fmt) "hslab_load: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hslab.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "command.h"

#define LOAD_THREADS	64
#define LOAD_RING	24	/* objects a thread holds */
#define LOAD_BULK	8
#define LOAD_SEARCH	1024
#define LOAD_BUILT	0xc7	/* what the constructor writes */
#define LOAD_MAGIC	0x4c4f41444c4f4144ULL	/* in TYPESAFE objects for ever */

struct load_cache {
	const char *name;
	unsigned int size;
	struct hslab_args args;
	const char *merge;
	struct hslab_cache *cache;
};

enum load_id {
	LOAD_OWN,
	LOAD_M1,
	LOAD_M2,
	LOAD_ODD,
	LOAD_RCU,
	LOAD_CTOR,
	LOAD_PAGE,
	LOAD_NR
};

static void load_ctor(void *object);
static void load_rcu_ctor(void *object);

static struct load_cache load_caches[LOAD_NR] = {
	[LOAD_OWN]  = { .name = "load-own", .size = 192 },
	[LOAD_M1]   = { .name = "load-m1", .size = 128, .merge = "group=load" },
	[LOAD_M2]   = { .name = "load-m2", .size = 128, .merge = "group=load" },
	[LOAD_ODD]  = { .name = "load-odd", .size = 77 },
	[LOAD_RCU]  = { .name = "load-rcu", .size = 160,
			.args = { .flags = SLAB_TYPESAFE_BY_RCU,
				  .ctor = load_rcu_ctor } },
	[LOAD_CTOR] = { .name = "load-ctor", .size = 96,
			.args.ctor = load_ctor },
	[LOAD_PAGE] = { .name = "load-page", .size = 4096 },
};

static void load_ctor(void *object)
{
	memset(object, LOAD_BUILT, load_caches[LOAD_CTOR].size);
}

static void load_rcu_ctor(void *object)
{
	memset(object, 0, load_caches[LOAD_RCU].size);
	*(u64 *)object = LOAD_MAGIC;
}

enum load_count {
	LOAD_ALLOCS,
	LOAD_HARDIRQS,		/* an interrupt allocated or freed */
	LOAD_FAILED,
	LOAD_BAD_PATTERN,	/* somebody else wrote to a live object */
	LOAD_BAD_ZERO,
	LOAD_BAD_CTOR,
	LOAD_BAD_MAGIC,		/* a free TYPESAFE object was changed */
	LOAD_NR_COUNTS
};

static const char *const load_count_names[LOAD_NR_COUNTS] = {
	[LOAD_ALLOCS]		= "allocs",
	[LOAD_HARDIRQS]		= "hardirqs",
	[LOAD_FAILED]		= "failed",
	[LOAD_BAD_PATTERN]	= "bad_pattern",
	[LOAD_BAD_ZERO]		= "bad_zero",
	[LOAD_BAD_CTOR]		= "bad_ctor",
	[LOAD_BAD_MAGIC]	= "bad_magic",
};

static atomic64_t load_counts[LOAD_NR_COUNTS];

static void load_count(enum load_count count)
{
	atomic64_inc(&load_counts[count]);
}

/* An object in somebody's hands. */
struct load_held {
	u8 *object;
	enum load_id id;
	u8 seed;
};

/* What one thread, tasklet or interrupt has; only it touches that. */
struct load_owner {
	struct load_held ring[LOAD_RING];
	u32 random;
};

struct load_thread {
	struct task_struct *task;
	struct load_owner own, softirq, hardirq;
	struct tasklet_struct tasklet;
	call_single_data_t csd;
	atomic_t interrupting;		/* the interrupt is under way */
};

static DEFINE_MUTEX(load_mutex);	/* start, stop and plant */
static struct load_thread *load_threads;
static unsigned int load_nr_threads;
static DEFINE_SPINLOCK(load_lock);	/* for allocations under a lock */

/* xorshift32: quick, and the same in every context. */
static u32 load_random(struct load_owner *owner)
{
	u32 x = owner->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	owner->random = x;
	return x;
}

/*
 * OWNING
 */

/* The first byte that an owner may write: the magic stays. */
static unsigned int load_first(enum load_id id)
{
	return id == LOAD_RCU ? sizeof(u64) : 0;
}

static u8 load_byte(const struct load_held *held, unsigned int i)
{
	return held->seed + i * 7;
}

static void load_own(const struct load_held *held)
{
	unsigned int i;

	for (i = load_first(held->id); i < load_caches[held->id].size; i++)
		held->object[i] = load_byte(held, i);
}

static bool load_owns(const struct load_held *held)
{
	unsigned int i;

	for (i = load_first(held->id); i < load_caches[held->id].size; i++)
		if (held->object[i] != load_byte(held, i))
			return false;
	return true;
}

static void load_check_magic(const void *object)
{
	if (READ_ONCE(*(const u64 *)object) != LOAD_MAGIC)
		load_count(LOAD_BAD_MAGIC);
}

/* Look at a new object, and make it ours. */
static void load_accept(struct load_held *held, bool zeroed)
{
	unsigned int size = load_caches[held->id].size;

	load_count(LOAD_ALLOCS);
	switch (held->id) {
	case LOAD_RCU:
		load_check_magic(held->object);
		break;
	case LOAD_CTOR:
		if (memchr_inv(held->object, LOAD_BUILT, size))
			load_count(LOAD_BAD_CTOR);
		break;
	default:
		if (zeroed && memchr_inv(held->object, 0, size))
			load_count(LOAD_BAD_ZERO);
		break;
	}
	load_own(held);
}

/* Look at an object before its free; leave it as its constructor did. */
static void load_part(struct load_held *held)
{
	if (!load_owns(held))
		load_count(LOAD_BAD_PATTERN);
	if (held->id == LOAD_RCU)
		load_check_magic(held->object);
	if (held->id == LOAD_CTOR)
		load_ctor(held->object);
}

static void load_free(struct load_held *held)
{
	load_part(held);
	hslab_free(load_caches[held->id].cache, held->object);
	held->object = NULL;
}

/*
 * WAYS TO ALLOCATE
 */
static void load_alloc(struct load_owner *owner, struct load_held *held,
		       gfp_t gfp)
{
	u32 random = load_random(owner);
	struct hslab_cache *cache;
	bool zero;

	held->id = (random >> 8) % LOAD_NR;
	/* Zeros take from readers of a TYPESAFE object what they rely on. */
	zero = (random & 1) && held->id != LOAD_RCU;
	held->seed = random >> 16;
	cache = load_caches[held->id].cache;
	if (zero)
		held->object = hslab_zalloc(cache, gfp);
	else if (random & 2)
		held->object = hslab_alloc_node(cache, gfp, 0);
	else
		held->object = hslab_alloc(cache, gfp);
	if (held->object)
		load_accept(held, zero);
	else
		load_count(LOAD_FAILED);
}

/* Change one place of an owner's ring: free what is there, or allocate. */
static void load_step(struct load_owner *owner, gfp_t gfp)
{
	struct load_held *held = &owner->ring[load_random(owner) % LOAD_RING];

	if (held->object)
		load_free(held);
	else
		load_alloc(owner, held, gfp);
}

static void load_step_locked(struct load_owner *owner)
{
	unsigned long flags;

	spin_lock_irqsave(&load_lock, flags);
	load_step(owner, GFP_ATOMIC);
	spin_unlock_irqrestore(&load_lock, flags);
}

static void load_step_bulk(struct load_owner *owner)
{
	struct load_held held[LOAD_BULK];
	void *objects[LOAD_BULK];
	u32 random = load_random(owner);
	enum load_id id = random % LOAD_NR;
	unsigned int i;

	if (!hslab_alloc_bulk(load_caches[id].cache, GFP_KERNEL, LOAD_BULK,
			      objects)) {
		load_count(LOAD_FAILED);
		return;
	}
	for (i = 0; i < LOAD_BULK; i++) {
		held[i].object = objects[i];
		held[i].id = id;
		held[i].seed = (random >> 8) + i;
		load_accept(&held[i], false);
	}
	for (i = 0; i < LOAD_BULK; i++)
		load_part(&held[i]);
	hslab_free_bulk(load_caches[id].cache, LOAD_BULK, objects);
}

/*
 * What a TYPESAFE cache promises: between rcu_read_lock() and unlock, an object
 * may be freed and reused, but stays one of its type. This one is allocated and
 * freed inside, so its page cannot go.
 */
static void load_step_typesafe(void)
{
	struct hslab_cache *cache = load_caches[LOAD_RCU].cache;
	unsigned int i;
	u64 *object;

	rcu_read_lock();
	object = hslab_alloc(cache, GFP_ATOMIC);
	if (object) {
		load_check_magic(object);
		hslab_free(cache, object);
		for (i = 0; i < 100; i++) {
			load_check_magic(object);
			cpu_relax();
		}
	}
	rcu_read_unlock();
}

static void load_softirq(struct tasklet_struct *tasklet)
{
	struct load_thread *thread =
		container_of(tasklet, struct load_thread, tasklet);

	load_step(&thread->softirq, GFP_ATOMIC);
}

static void load_hardirq(void *arg)
{
	struct load_thread *thread = arg;

	load_step(&thread->hardirq, GFP_ATOMIC);
	load_count(LOAD_HARDIRQS);
	atomic_set_release(&thread->interrupting, 0);
}

/* Interrupt another CPU, wherever it is: in the midst of an allocation, say. */
static void load_interrupt(struct load_thread *thread)
{
	unsigned int cpu = load_random(&thread->own) % nr_cpu_ids;

	/* SLUB takes locks there that sleep. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (atomic_xchg(&thread->interrupting, 1))
		return;
	preempt_disable();
	if (!cpu_online(cpu) || smp_call_function_single_async(cpu, &thread->csd))
		atomic_set(&thread->interrupting, 0);
	preempt_enable();
}

static int load_main(void *arg)
{
	struct load_thread *thread = arg;
	unsigned int round = 0;

	while (!kthread_should_stop()) {
		switch (load_random(&thread->own) % 16) {
		case 0:
			tasklet_schedule(&thread->tasklet);
			break;
		case 1:
		case 5:
			load_interrupt(thread);
			break;
		case 2:
			load_step_bulk(&thread->own);
			break;
		case 3:
			load_step_locked(&thread->own);
			break;
		case 4:
			load_step_typesafe();
			break;
		default:
			load_step(&thread->own, GFP_KERNEL);
			break;
		}
		if (!(++round % 64)) {
			unsigned int cpu = load_random(&thread->own) %
					   nr_cpu_ids;

			/*
			 * Allocate here, free there. The CPU may be offline; it
			 * must not go meanwhile: on PREEMPT_RT the scheduler
			 * would find us where we may not be, and warn.
			 */
			cpus_read_lock();
			set_cpus_allowed_ptr(current, cpumask_of(cpu));
			cpus_read_unlock();
			usleep_range(50, 200);
		}
		cond_resched();
	}
	return 0;
}

/*
 * CONTROL
 */
static void load_owner_end(struct load_owner *owner)
{
	unsigned int i;

	for (i = 0; i < LOAD_RING; i++)
		if (owner->ring[i].object)
			load_free(&owner->ring[i]);
}

static void load_stop(void)
{
	unsigned int i;

	lockdep_assert_held(&load_mutex);

	for (i = 0; i < load_nr_threads; i++) {
		struct load_thread *thread = &load_threads[i];

		kthread_stop(thread->task);
		while (atomic_read_acquire(&thread->interrupting))
			cpu_relax();
		tasklet_kill(&thread->tasklet);
		load_owner_end(&thread->own);
		load_owner_end(&thread->softirq);
		load_owner_end(&thread->hardirq);
	}
	kfree(load_threads);
	load_threads = NULL;
	load_nr_threads = 0;
}

static int load_start(const char *arg)
{
	unsigned int nr;

	lockdep_assert_held(&load_mutex);

	if (!arg || kstrtouint(arg, 10, &nr) || !nr || nr > LOAD_THREADS)
		return -EINVAL;
	if (load_nr_threads)
		return -EBUSY;
	load_threads = kcalloc(nr, sizeof(*load_threads), GFP_KERNEL);
	if (!load_threads)
		return -ENOMEM;
	while (load_nr_threads < nr) {
		struct load_thread *thread = &load_threads[load_nr_threads];

		thread->own.random = get_random_u32() | 1;
		thread->softirq.random = get_random_u32() | 1;
		thread->hardirq.random = get_random_u32() | 1;
		tasklet_setup(&thread->tasklet, load_softirq);
		INIT_CSD(&thread->csd, load_hardirq, thread);
		thread->task = kthread_run(load_main, thread, "hslab_load/%u",
					   load_nr_threads);
		if (IS_ERR(thread->task)) {
			int err = PTR_ERR(thread->task);

			load_stop();
			return err;
		}
		load_nr_threads++;
	}
	return 0;
}

/* Where hslab has its tag: behind the object, rounded up to 8 bytes. */
static u64 load_tag(const struct load_cache *c, void *object)
{
	return READ_ONCE(*(u64 *)(object + round_up(c->size, 8)));
}

/* Damage the first byte of a free object; then allocate until it came again. */
static int load_plant_in(const struct load_cache *c)
{
	void **taken = kmalloc_array(LOAD_SEARCH, sizeof(*taken), GFP_KERNEL);
	u8 *object = hslab_alloc(c->cache, GFP_KERNEL);
	unsigned int nr = 0;
	bool seen = false;
	u64 tag;

	if (object && taken) {
		hslab_free(c->cache, object);
		tag = load_tag(c, object);
		object[0] ^= 0x80;
		while (!seen && nr < LOAD_SEARCH) {
			taken[nr] = hslab_alloc(c->cache, GFP_KERNEL);
			if (!taken[nr])
				break;
			nr++;
			seen = load_tag(c, object) != tag;
		}
		hslab_free_bulk(c->cache, nr, taken);
	}
	kfree(taken);
	return seen ? 0 : -EAGAIN;
}

static int load_plant(const char *arg)
{
	unsigned int i;

	lockdep_assert_held(&load_mutex);

	if (load_nr_threads)
		return -EBUSY;
	for (i = 0; arg && i < LOAD_NR; i++)
		if (!strcmp(arg, load_caches[i].name))
			return load_plant_in(&load_caches[i]);
	return -EINVAL;
}

static int load_request(char *line)
{
	char *name = strsep(&line, " ");

	if (!strcmp(name, "start"))
		return load_start(line);
	if (!strcmp(name, "plant"))
		return load_plant(line);
	if (strcmp(name, "stop") || line)
		return -EINVAL;
	load_stop();
	return 0;
}

static int load_stats_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < LOAD_NR_COUNTS; i++)
		seq_printf(seq, "%s=%lld\n", load_count_names[i],
			   (long long)atomic64_read(&load_counts[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(load_stats);

static const struct command load_command = {
	.run	= load_request,
	.mutex	= &load_mutex,
};

static struct dentry *load_debugfs;

static void load_destroy(void)
{
	unsigned int i;

	for (i = 0; i < LOAD_NR; i++)
		hslab_cache_destroy(load_caches[i].cache);
}

static int load_create(struct load_cache *c)
{
	struct hslab_cache *cache;

	cache = hslab_cache_create(c->name, c->size, &c->args);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	c->cache = cache;
	return c->merge ? hslab_set_policy(cache, "merge", c->merge) : 0;
}

static int __init load_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < LOAD_NR; i++) {
		err = load_create(&load_caches[i]);
		if (err) {
			load_destroy();
			return err;
		}
	}
	load_debugfs = command_create("hslab_load", &load_command);
	debugfs_create_file("stats", 0400, load_debugfs, NULL, &load_stats_fops);
	return 0;
}

static void __exit load_exit(void)
{
	debugfs_remove_recursive(load_debugfs);
	mutex_lock(&load_mutex);
	load_stop();
	mutex_unlock(&load_mutex);
	load_destroy();
}

module_init(load_init);
module_exit(load_exit);

MODULE_DESCRIPTION("Load for hslab in every context; for tests");
MODULE_LICENSE("GPL");
