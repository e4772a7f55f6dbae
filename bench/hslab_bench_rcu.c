// SPDX-License-Identifier: GPL-2.0
/*
 * What does a free after an RCU grace period cost, in instructions? Made for
 * scripts/answers. Loading the module measures, and prints a line for each way:
 *
 *   hslab-bench: rcu=<way> each=312
 *
 * kfree		no RCU: kfree() at once
 * hslab_free		no RCU: hslab_free() at once
 * kfree_rcu		kfree_rcu()
 * call_rcu		call_rcu() with a callback that does kfree()
 * hslab_free_rcu	hslab_free_rcu()
 *
 * 20000 objects of 256 bytes are allocated, which is not counted, and freed. What the CPU
 * did until all is over is counted, whoever did it, but for the time that it was idle, and
 * for what it does in as much time with nothing to free. One CPU is needed.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tick.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <linux/hslab.h>

#define BENCH_NR	20000
#define BENCH_SIZE	256
#define BENCH_MS	12000	/* kfree_rcu() waits for 5 s before it does anything */

struct bench_object {
	struct rcu_head rcu;
	u8 rest[BENCH_SIZE - sizeof(struct rcu_head)];
};

static struct bench_object **bench_objects;
static struct hslab_cache *bench_cache;

static void bench_callback(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct bench_object, rcu));
}

static void bench_nothing(struct bench_object *object)
{
}

static void bench_kfree(struct bench_object *object)
{
	kfree(object);
}

static void bench_hslab_free(struct bench_object *object)
{
	hslab_free(bench_cache, object);
}

static void bench_kfree_rcu(struct bench_object *object)
{
	kfree_rcu(object, rcu);
}

static void bench_call_rcu(struct bench_object *object)
{
	call_rcu(&object->rcu, bench_callback);
}

static void bench_hslab_free_rcu(struct bench_object *object)
{
	hslab_free_rcu(bench_cache, object);
}

static const struct {
	const char *name;
	bool hslab;
	void (*free)(struct bench_object *object);
} bench_ways[] = {
	{ "nothing", false, bench_nothing },
	{ "kfree", false, bench_kfree },
	{ "hslab_free", true, bench_hslab_free },
	{ "kfree_rcu", false, bench_kfree_rcu },
	{ "call_rcu", false, bench_call_rcu },
	{ "hslab_free_rcu", true, bench_hslab_free_rcu },
};

/* Ticks, less those while the CPU was idle. A tick is an instruction, and a nanosecond. */
static u64 bench_busy(void)
{
	u64 last;

	return get_cycles() - get_cpu_idle_time_us(0, &last) * NSEC_PER_USEC;
}

static s64 bench_way(unsigned int way)
{
	unsigned int i, nr = bench_ways[way].free == bench_nothing ? 0 : BENCH_NR;
	s64 busy;

	for (i = 0; i < nr; i++) {
		bench_objects[i] = bench_ways[way].hslab ?
				   hslab_alloc(bench_cache, GFP_KERNEL) :
				   kmalloc(sizeof(struct bench_object), GFP_KERNEL);
		if (!bench_objects[i])
			return -ENOMEM;		/* those are lost */
	}
	msleep(100);
	busy = bench_busy();
	for (i = 0; i < nr; i++)
		bench_ways[way].free(bench_objects[i]);
	msleep(BENCH_MS);
	return bench_busy() - busy;
}

static void bench_run(struct work_struct *work)
{
	s64 nothing = 0, busy;
	unsigned int way, round;

	for (way = 0; way < ARRAY_SIZE(bench_ways); way++) {
		/* The first is not counted: the caches get their pages. */
		for (round = 0; round < 2; round++)
			busy = bench_way(way);
		if (!way)
			nothing = busy;
		else
			pr_info("hslab-bench: rcu=%s each=%lld\n",
				bench_ways[way].name,
				div_s64(busy - nothing, BENCH_NR));
	}
}

static DECLARE_WORK(bench_work, bench_run);

static int __init bench_init(void)
{
	bench_objects = vcalloc(BENCH_NR, sizeof(*bench_objects));
	if (!bench_objects)
		return -ENOMEM;
	bench_cache = hslab_cache_create("bench-rcu", BENCH_SIZE, NULL);
	if (IS_ERR(bench_cache)) {
		vfree(bench_objects);
		return PTR_ERR(bench_cache);
	}
	schedule_work(&bench_work);
	flush_work(&bench_work);
	return 0;
}

static void __exit bench_exit(void)
{
	rcu_barrier();
	hslab_cache_destroy(bench_cache);
	vfree(bench_objects);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("hslab benchmark: frees after a grace period");
MODULE_LICENSE("GPL");
