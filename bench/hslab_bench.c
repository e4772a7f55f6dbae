// SPDX-License-Identifier: GPL-2.0
/*
 * What does hslab cost, in instructions? Made for scripts/bench, which boots an
 * emulated machine where the TSC counts instructions (QEMU's -icount shift=0),
 * so that every number repeats. On a real machine the numbers are TSC ticks.
 *
 * Loading the module measures, and prints a line for each size and setup:
 *
 *   hslab-bench: size=64 what=hslab/balanced pair=312 pair_min=312 alloc=...
 *	free=... bulk=... burst=...		(all on one line)
 *
 * pair	an allocation and the free of that object, as seen by the caller: the
 *	calls are counted, the loop around them is not
 * alloc, free	the two apart, four objects in a row, which stay in the CPU's slab
 * bulk	alloc_bulk and free_bulk of four objects, divided by four
 * burst	128 allocations, then 128 frees, divided by 128: more objects than a
 *	magazine of hslab or a slab page holds, so that the slower ways of both
 *	sides are in it
 *
 * Medians over the rounds, but for pair_min. The last line starts with
 * "hslab-bench: done". The caches live until the module is unloaded, so that
 * what SLUB says of them can be looked at in /sys/kernel/slab.
 *
 * It works from a workqueue, as code called by a module's init is not what the
 * branch hints and the section placement of a kernel are made for.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

#include <linux/hslab.h>

#include "bench.h"

#define BENCH_SIZES_MAX		16
#define BENCH_PROFILES_MAX	16
#define BENCH_ROUNDS_MAX	64

/* The fewest objects that SLUB puts into a slab of 4 KiB objects are 7. */
#define BENCH_BATCH		4

/* More than HSLAB_MAGAZINE_MAX. */
#define BENCH_BURST_LEN		128

/* Interrupts are off: an allocation must not sleep. */
#define BENCH_GFP		GFP_ATOMIC

static unsigned int sizes[BENCH_SIZES_MAX] = { 64, 256, 1024, 4096 };
static unsigned int nr_sizes = 4;
module_param_array(sizes, uint, &nr_sizes, 0444);
MODULE_PARM_DESC(sizes, "object sizes");

static char *profiles[BENCH_PROFILES_MAX] = {
	"off", "fast", "balanced", "debug", "paranoid", "debug+track"
};

static unsigned int nr_profiles = 6;
module_param_array(profiles, charp, &nr_profiles, 0444);
MODULE_PARM_DESC(profiles, "profiles of hslab to measure, with +track tracked");

static bool steps = true;
module_param(steps, bool, 0444);
MODULE_PARM_DESC(steps, "measure single policies too");

static unsigned int pairs = 1000;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "allocations in a round");

static unsigned int rounds = 7;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "rounds, after one that is not counted");

/* Single policies, on top of what a cache cannot do without. */
static const struct bench_step {
	const char *name;
	const char *policies;
} bench_steps[] = {
	{ "none", "profile=off zero=0" },
	{ "check", "profile=off zero=0 check=1" },
	{ "zero", "profile=off zero=1" },
	{ "poison", "profile=off zero=0 poison=zero" },
	{ "poison+head", "profile=off zero=0 poison=zero verify=head" },
	{ "poison+full", "profile=off zero=0 poison=zero verify=full" },
	{ "random", "profile=off zero=0 poison=random" },
	/* A round frees more objects than this takes, so it is full. */
	{ "check+quarantine", "profile=off zero=0 check=1 quarantine_kb=256" },
};

static struct kmem_cache *bench_slub[BENCH_SIZES_MAX];
static struct hslab_cache *bench_hslab[BENCH_SIZES_MAX];

/*
 * WHAT IS MEASURED
 *
 * The functions are known where the loops are compiled, and end up inlined: a
 * call through a pointer would cost more than some of what is looked for.
 */
struct bench_ops {
	void *(*alloc)(void *cache);
	void (*free)(void *cache, void *object);
	int (*alloc_bulk)(void *cache, void **objects);
	void (*free_bulk)(void *cache, void **objects);
};

static __always_inline void *slub_alloc(void *cache)
{
	return kmem_cache_alloc(cache, BENCH_GFP);
}

static __always_inline void slub_free(void *cache, void *object)
{
	kmem_cache_free(cache, object);
}

static __always_inline int slub_alloc_bulk(void *cache, void **objects)
{
	return kmem_cache_alloc_bulk(cache, BENCH_GFP, BENCH_BATCH, objects);
}

static __always_inline void slub_free_bulk(void *cache, void **objects)
{
	kmem_cache_free_bulk(cache, BENCH_BATCH, objects);
}

static const struct bench_ops slub_ops = {
	.alloc = slub_alloc,
	.free = slub_free,
	.alloc_bulk = slub_alloc_bulk,
	.free_bulk = slub_free_bulk,
};

static __always_inline void *hardened_alloc(void *cache)
{
	return hslab_alloc(cache, BENCH_GFP);
}

static __always_inline void hardened_free(void *cache, void *object)
{
	hslab_free(cache, object);
}

static __always_inline int hardened_alloc_bulk(void *cache, void **objects)
{
	return hslab_alloc_bulk(cache, BENCH_GFP, BENCH_BATCH, objects);
}

static __always_inline void hardened_free_bulk(void *cache, void **objects)
{
	hslab_free_bulk(cache, BENCH_BATCH, objects);
}

static const struct bench_ops hardened_ops = {
	.alloc = hardened_alloc,
	.free = hardened_free,
	.alloc_bulk = hardened_alloc_bulk,
	.free_bulk = hardened_free_bulk,
};

/* Nothing at all, which costs what the loops cost. To the compiler it is a call. */
static __always_inline void *no_alloc(void *cache)
{
	barrier_data(cache);
	OPTIMIZER_HIDE_VAR(cache);
	return cache;
}

static __always_inline void no_free(void *cache, void *object)
{
	barrier_data(object);
}

static __always_inline int no_alloc_bulk(void *cache, void **objects)
{
	int done = BENCH_BATCH;

	barrier_data(objects);
	OPTIMIZER_HIDE_VAR(done);
	return done;
}

static __always_inline void no_free_bulk(void *cache, void **objects)
{
	barrier_data(objects);
}

static const struct bench_ops no_ops = {
	.alloc = no_alloc,
	.free = no_free,
	.alloc_bulk = no_alloc_bulk,
	.free_bulk = no_free_bulk,
};

/*
 * THE LOOPS
 */
enum bench_measure {
	BENCH_PAIR,
	BENCH_ALLOC,
	BENCH_FREE,
	BENCH_BULK,
	BENCH_BURST,
	BENCH_NR
};

/* One round: fills in ticks, false when memory ran out (objects are lost). */
typedef bool (*bench_round_t)(void *cache, unsigned int nr, u64 *ticks);

static __always_inline bool bench_pair(const struct bench_ops *ops, void *cache,
				       unsigned int nr, u64 *ticks)
{
	u64 start = get_cycles();

	for (; nr; nr--) {
		void *object = ops->alloc(cache);

		if (unlikely(!object))
			return false;
		ops->free(cache, object);
	}
	ticks[BENCH_PAIR] = get_cycles() - start;
	return true;
}

static __always_inline bool bench_apart(const struct bench_ops *ops,
					void *cache, unsigned int nr,
					u64 *ticks)
{
	unsigned int i, batch = BENCH_BATCH;
	void *objects[BENCH_BATCH];

	OPTIMIZER_HIDE_VAR(batch);	/* or only some loops are unrolled */
	ticks[BENCH_ALLOC] = 0;
	ticks[BENCH_FREE] = 0;
	for (; nr; nr--) {
		u64 start = get_cycles(), middle;

		for (i = 0; i < batch; i++) {
			objects[i] = ops->alloc(cache);
			if (unlikely(!objects[i]))
				return false;
		}
		middle = get_cycles();
		for (i = 0; i < batch; i++)
			ops->free(cache, objects[i]);
		ticks[BENCH_FREE] += get_cycles() - middle;
		ticks[BENCH_ALLOC] += middle - start;
	}
	return true;
}

static __always_inline bool bench_bulk(const struct bench_ops *ops, void *cache,
				       unsigned int nr, u64 *ticks)
{
	void *objects[BENCH_BATCH];
	u64 start = get_cycles();

	for (; nr; nr--) {
		if (unlikely(!ops->alloc_bulk(cache, objects)))
			return false;
		ops->free_bulk(cache, objects);
	}
	ticks[BENCH_BULK] = get_cycles() - start;
	return true;
}

static __always_inline bool bench_burst(const struct bench_ops *ops,
					void *cache, unsigned int nr,
					u64 *ticks)
{
	static void *objects[BENCH_BURST_LEN];
	unsigned int i, bursts, len = BENCH_BURST_LEN;
	u64 start = get_cycles();

	OPTIMIZER_HIDE_VAR(len);
	for (bursts = 0; bursts * len < nr; bursts++) {
		for (i = 0; i < len; i++) {
			objects[i] = ops->alloc(cache);
			if (unlikely(!objects[i]))
				return false;
		}
		for (i = 0; i < len; i++)
			ops->free(cache, objects[i]);
	}
	/* As if it had been nr objects. */
	ticks[BENCH_BURST] = (get_cycles() - start) * nr / (bursts * len);
	return true;
}

static __always_inline bool bench_round(const struct bench_ops *ops,
					void *cache, unsigned int nr,
					u64 *ticks)
{
	unsigned long flags = bench_irqs_off();
	bool done;

	done = bench_pair(ops, cache, nr, ticks) &&
	       bench_apart(ops, cache, nr / BENCH_BATCH, ticks) &&
	       bench_bulk(ops, cache, nr / BENCH_BATCH, ticks) &&
	       bench_burst(ops, cache, nr, ticks);
	local_irq_restore(flags);
	return done;
}

static noinline bool slub_round(void *cache, unsigned int nr, u64 *ticks)
{
	return bench_round(&slub_ops, cache, nr, ticks);
}

static noinline bool hardened_round(void *cache, unsigned int nr, u64 *ticks)
{
	return bench_round(&hardened_ops, cache, nr, ticks);
}

static noinline bool no_round(void *cache, unsigned int nr, u64 *ticks)
{
	return bench_round(&no_ops, cache, nr, ticks);
}

/*
 * FROM TICKS TO A LINE
 */
struct bench_result {
	u64 min[BENCH_NR];
	u64 median[BENCH_NR];
};

/* What the loops cost, and ticks for a thousand instructions. */
static struct bench_result bench_loops;
static u64 bench_scale;

static int bench_measure(bench_round_t round, void *cache,
			 struct bench_result *result)
{
	static u64 samples[BENCH_NR][BENCH_ROUNDS_MAX];
	u64 ticks[BENCH_NR];
	unsigned int i, m;

	if (!round(cache, pairs, ticks))
		return -ENOMEM;
	for (i = 0; i < rounds; i++) {
		if (!round(cache, pairs, ticks))
			return -ENOMEM;
		for (m = 0; m < BENCH_NR; m++)
			samples[m][i] = ticks[m];
	}
	for (m = 0; m < BENCH_NR; m++) {
		sort(samples[m], rounds, sizeof(samples[m][0]), bench_compare,
		     NULL);
		result->min[m] = samples[m][0];
		result->median[m] = samples[m][rounds / 2];
	}
	return 0;
}

/* Instructions for one of the operations that took @ticks together. */
static u64 bench_each(u64 ticks, u64 loops)
{
	if (ticks < loops)
		return 0;
	return DIV_ROUND_CLOSEST((ticks - loops) * 1000,
				 (u64)pairs * bench_scale);
}

static int bench_report(unsigned int size, const char *kind, const char *what,
			bench_round_t round, void *cache)
{
	struct bench_result result;
	u64 each[BENCH_NR];
	unsigned int m;
	int err;

	err = bench_measure(round, cache, &result);
	if (err)
		return err;
	for (m = 0; m < BENCH_NR; m++)
		each[m] = bench_each(result.median[m], bench_loops.median[m]);
	pr_info("hslab-bench: size=%u what=%s%s pair=%llu pair_min=%llu alloc=%llu free=%llu bulk=%llu burst=%llu\n",
		size, kind, what, each[BENCH_PAIR],
		bench_each(result.min[BENCH_PAIR], bench_loops.min[BENCH_PAIR]),
		each[BENCH_ALLOC], each[BENCH_FREE], each[BENCH_BULK],
		each[BENCH_BURST]);
	return 0;
}

/* Ticks that a loop of a million instructions takes, divided by a thousand. */
static noinline u64 bench_calibrate(void)
{
	unsigned int left = 500000;
	unsigned long flags;
	u64 start, ticks;

	local_irq_save(flags);
	start = get_cycles();
	asm volatile("1:	decl %0\n"
		     "	jnz 1b\n"
		     : "+r" (left) : : "cc");
	ticks = get_cycles() - start;
	local_irq_restore(flags);
	return max_t(u64, DIV_ROUND_CLOSEST(ticks, 1000), 1);
}

/*
 * THE RUN
 */

/* Set policies given as "name=value name=value". */
static int bench_set(struct hslab_cache *cache, const char *policies)
{
	char text[64], *rest = text, *value;
	int err;

	if (strscpy(text, policies, sizeof(text)) < 0)
		return -E2BIG;
	while ((value = strsep(&rest, " "))) {
		const char *name = strsep(&value, "=");

		err = hslab_set_policy(cache, name, value);
		if (err) {
			pr_err("hslab-bench: setting %s: %d\n", policies, err);
			return err;
		}
	}
	return 0;
}

/* Set a profile given as "name" or "name+track". */
static int bench_set_profile(struct hslab_cache *cache, const char *profile)
{
	const char *plus = strchrnul(profile, '+');
	char name[32];
	int err;

	if (plus - profile >= sizeof(name))
		return -E2BIG;
	strscpy(name, profile, plus - profile + 1);
	err = hslab_set_policy(cache, "profile", name);
	return err ? err : hslab_set_policy(cache, "track",
					    strcmp(plus, "+track") ? "0" : "1");
}

static int bench_size(unsigned int size, struct kmem_cache *slub,
		      struct hslab_cache *hslab)
{
	unsigned int i;
	int err;

	err = bench_report(size, "slub", "", slub_round, slub);
	for (i = 0; i < nr_profiles && !err; i++) {
		err = bench_set_profile(hslab, profiles[i]);
		if (!err)
			err = bench_report(size, "hslab/", profiles[i],
					   hardened_round, hslab);
	}
	if (!err)
		err = hslab_set_policy(hslab, "track", "0");
	for (i = 0; i < ARRAY_SIZE(bench_steps) && steps && !err; i++) {
		err = bench_set(hslab, bench_steps[i].policies);
		if (!err)
			err = bench_report(size, "step/", bench_steps[i].name,
					   hardened_round, hslab);
	}
	return err;
}

static int bench_err;

static void bench_run(struct work_struct *work)
{
	unsigned int i;

	bench_scale = bench_calibrate();
	pr_info("hslab-bench: ticks=%llu instructions=1000\n", bench_scale);
	/* Any pointer but NULL will do. */
	bench_err = bench_measure(no_round, &bench_loops, &bench_loops);
	for (i = 0; i < nr_sizes && !bench_err; i++)
		bench_err = bench_size(sizes[i], bench_slub[i], bench_hslab[i]);
	if (!bench_err)
		pr_info("hslab-bench: done\n");
}

static DECLARE_WORK(bench_work, bench_run);

static void bench_destroy_caches(void)
{
	unsigned int i;

	for (i = 0; i < nr_sizes; i++) {
		kmem_cache_destroy(bench_slub[i]);
		if (bench_hslab[i])
			hslab_cache_destroy(bench_hslab[i]);
	}
}

static int bench_create_caches(void)
{
	struct hslab_cache *hslab;
	char name[32];
	unsigned int i;

	for (i = 0; i < nr_sizes; i++) {
		/*
		 * SLUB merges no cache with a usercopy window. Beside that it
		 * is a plain one: no constructor, no flags.
		 */
		snprintf(name, sizeof(name), "hslab_bench-%u", sizes[i]);
		bench_slub[i] = kmem_cache_create_usercopy(name, sizes[i], 0, 0,
							   0, sizes[i], NULL);
		if (!bench_slub[i])
			return -ENOMEM;

		/* slub_debug=FZP,hslab_bench* must not match its store. */
		snprintf(name, sizeof(name), "bench-%u", sizes[i]);
		hslab = hslab_cache_create(name, sizes[i], NULL);
		if (IS_ERR(hslab))
			return PTR_ERR(hslab);
		bench_hslab[i] = hslab;
	}
	return 0;
}

static int __init bench_init(void)
{
	int err;

	/* It counts with interrupts off, and SLUB's locks sleep there. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return -EOPNOTSUPP;
	if (pairs < BENCH_BATCH || pairs % BENCH_BATCH || !rounds ||
	    rounds > BENCH_ROUNDS_MAX)
		return -EINVAL;
	err = bench_create_caches();
	if (!err) {
		schedule_work(&bench_work);
		flush_work(&bench_work);
		err = bench_err;
	}
	if (err) {
		pr_err("hslab-bench: failed: %d\n", err);
		bench_destroy_caches();
	}
	return err;
}

static void __exit bench_exit(void)
{
	bench_destroy_caches();
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("hslab benchmark");
MODULE_LICENSE("GPL");
