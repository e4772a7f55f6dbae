// SPDX-License-Identifier: GPL-2.0
/*
 * What does it cost that hslab is attached? Made for scripts/bench-attach, as
 * hslab_bench.c for scripts/bench: ticks of the TSC are instructions there.
 *
 * A write to the module's parameter "run" measures, and prints a line:
 *
 *   hslab-bench: what=<what was written> free=312 kfree=312 bulk=...
 *
 * free	an object of the cache bench-attach, allocated and given to
 *	kmem_cache_free()
 * kfree	kmalloc() of 256 bytes, and kfree()
 * bulk	eight objects allocated one by one and given to kmem_cache_free_bulk(), divided
 *	by eight
 *
 * The other cache, bench-other, is there for hslab to be attached to it. Nothing of it
 * is ever freed.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

#include "bench.h"

#define BENCH_SIZE	256
#define BENCH_BULK	8
#define BENCH_NR	1000
#define BENCH_ROUNDS	7
#define BENCH_WARM	2	/* rounds that are not counted: quarantines get full */

static struct kmem_cache *bench_cache, *bench_other;

static noinline bool bench_free(unsigned int nr)
{
	for (; nr; nr--) {
		void *object = kmem_cache_alloc(bench_cache, GFP_ATOMIC);

		if (unlikely(!object))
			return false;
		kmem_cache_free(bench_cache, object);
	}
	return true;
}

static noinline bool bench_kfree(unsigned int nr)
{
	for (; nr; nr--) {
		void *object = kmalloc(BENCH_SIZE, GFP_ATOMIC);

		if (unlikely(!object))
			return false;
		OPTIMIZER_HIDE_VAR(object);
		kfree(object);
	}
	return true;
}

static noinline bool bench_bulk(unsigned int nr)
{
	void *objects[BENCH_BULK];
	unsigned int i;

	for (; nr; nr -= BENCH_BULK) {
		for (i = 0; i < BENCH_BULK; i++) {
			objects[i] = kmem_cache_alloc(bench_cache, GFP_ATOMIC);
			if (unlikely(!objects[i]))
				return false;
		}
		kmem_cache_free_bulk(bench_cache, BENCH_BULK, objects);
	}
	return true;
}

static const struct {
	const char *name;
	bool (*run)(unsigned int nr);
} bench_measures[] = {
	{ "free", bench_free },
	{ "kfree", bench_kfree },
	{ "bulk", bench_bulk },
};

/* Ticks for one, the median of the rounds, or 0 when memory ran out. */
static u64 bench_measure(bool (*run)(unsigned int nr))
{
	u64 samples[BENCH_ROUNDS];
	int i;

	for (i = -BENCH_WARM; i < BENCH_ROUNDS; i++) {
		unsigned long flags = bench_irqs_off();
		u64 start;
		bool done;

		start = get_cycles();
		done = run(BENCH_NR);
		if (i >= 0)
			samples[i] = get_cycles() - start;
		local_irq_restore(flags);
		if (!done)
			return 0;
	}
	sort(samples, BENCH_ROUNDS, sizeof(samples[0]), bench_compare, NULL);
	return DIV_ROUND_CLOSEST(samples[BENCH_ROUNDS / 2], BENCH_NR);
}

static u64 bench_results[ARRAY_SIZE(bench_measures)];

static void bench_work_fn(struct work_struct *work)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bench_measures); i++)
		bench_results[i] = bench_measure(bench_measures[i].run);
}

static DECLARE_WORK(bench_work, bench_work_fn);

static int bench_run(const char *value, const struct kernel_param *kp)
{
	if (!bench_cache)	/* it is an argument of insmod */
		return -EINVAL;
	schedule_work(&bench_work);
	flush_work(&bench_work);
	pr_info("hslab-bench: what=%.*s %s=%llu %s=%llu %s=%llu\n",
		(int)strcspn(value, "\n"), value,
		bench_measures[0].name, bench_results[0],
		bench_measures[1].name, bench_results[1],
		bench_measures[2].name, bench_results[2]);
	return 0;
}

static const struct kernel_param_ops bench_run_ops = {
	.set = bench_run,
};

module_param_cb(run, &bench_run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "write: measure, and print a line with what was written");

/* SLUB merges no cache with a usercopy window; else it is a plain one. */
static struct kmem_cache *bench_create(const char *name)
{
	return kmem_cache_create_usercopy(name, BENCH_SIZE, 0, 0, 0, BENCH_SIZE,
					  NULL);
}

static int __init bench_init(void)
{
	/* It counts with interrupts off, and SLUB's locks sleep there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EOPNOTSUPP;
	bench_other = bench_create("bench-other");
	bench_cache = bench_create("bench-attach");
	if (bench_other && bench_cache)
		return 0;
	kmem_cache_destroy(bench_cache);
	kmem_cache_destroy(bench_other);
	return -ENOMEM;
}

static void __exit bench_exit(void)
{
	kmem_cache_destroy(bench_cache);
	kmem_cache_destroy(bench_other);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("hslab benchmark: attached");
MODULE_LICENSE("GPL");
