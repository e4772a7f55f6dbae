// SPDX-License-Identifier: GPL-2.0
/*
 * The actions of hslab_provoke:
 *
 *	hold CACHE N		allocate N objects, fill them with 0xa5, keep them
 *	release CACHE [N]	free the last N objects held, all by default
 *	share CACHE CACHE	how many slab pages have held objects of both?
 *	peek CACHE		fill an object with 0xa5, free it, look at it
 *	stray CACHE OFFSET	free an object and write to it, and to nothing else
 *	cycle CACHE [zero]	the same, and allocate it again (hslab_zalloc())
 *	zeroed CACHE N		of N new objects, how many are zero?
 *	exhaust CACHE [bulk]	damage all free objects, then allocate; the cache
 *				must have had less than 200 so far
 *	race CACHE N		free an object on two CPUs at a time, N times
 *	foreign CACHE N		free N objects of kmalloc() to the cache
 *	orphan N		destroy a cache with N live objects
 *	orphan-free		free these objects
 *	kernel			does the kernel zero what it allocates?
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "provoke.h"

static int provoke_hold(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	unsigned int nr;

	if (provoke_number(arg, PROVOKE_HELD - bank->nr, &nr))
		return -EINVAL;
	while (nr--) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		memset(object, PROVOKE_DIRT, c->size);
		bank->objects[bank->nr++] = object;
	}
	return 0;
}

static int provoke_release(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int nr = bank->nr;

	if (arg && provoke_number(arg, bank->nr, &nr))
		return -EINVAL;
	provoke_free_held(c, bank, nr);
	return 0;
}

static bool provoke_page_has(const struct provoke_bank *bank,
			     const struct page *page)
{
	unsigned int i;

	for (i = 0; i < bank->nr; i++)
		if (virt_to_head_page(bank->objects[i]) == page)
			return true;
	return false;
}

/* The pages of @bank that have objects of @other too; all, without @other. */
static unsigned int provoke_pages(const struct provoke_bank *bank,
				  const struct provoke_bank *other)
{
	unsigned int i, j, nr = 0;

	for (i = 0; i < bank->nr; i++) {
		const struct page *page = virt_to_head_page(bank->objects[i]);

		for (j = 0; j < i; j++)
			if (virt_to_head_page(bank->objects[j]) == page)
				break;
		nr += j == i && (!other || provoke_page_has(other, page));
	}
	return nr;
}

static int provoke_share(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	struct provoke_bank *other;

	if (!arg || !provoke_find(arg, &other))
		return -EINVAL;
	provoke_say("pages=%u others=%u shared=%u", provoke_pages(bank, NULL),
		    provoke_pages(other, NULL), provoke_pages(bank, other));
	return 0;
}

/* What an object holds: a name for a byte repeated, and its first 8 bytes. */
void provoke_describe(const void *object, unsigned int size, const char *more)
{
	const u8 *bytes = object;
	const char *what = "other";
	unsigned int i;
	u64 word;

	memcpy(&word, object, sizeof(word));
	for (i = sizeof(word); i < size; i++)
		if (bytes[i] != bytes[i - sizeof(word)])
			what = "mixed";
	if (!memchr_inv(object, 0, size))
		what = "zero";
	else if (!memchr_inv(object, PROVOKE_DIRT, size))
		what = "kept";
	else if (!memchr_inv(object, PROVOKE_BUILT, size))
		what = "built";
	else if (!memchr_inv(object, bytes[0], size))
		what = "byte";
	provoke_say("content=%s word=%016llx%s", what,
		    (unsigned long long)be64_to_cpu((__force __be64)word), more);
}

static int provoke_peek(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	void *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object, PROVOKE_DIRT, c->size);
	hslab_free(c->cache, object);
	provoke_describe(object, c->size, "");
	return 0;
}

static int provoke_stray(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	unsigned int offset;
	u8 *object;

	if (provoke_number(arg, c->size - 1, &offset))
		return -EINVAL;
	object = hslab_alloc(c->cache, GFP_KERNEL);
	if (!object)
		return -ENOMEM;
	hslab_free(c->cache, object);
	object[offset] ^= 0xff;
	return 0;
}

static int provoke_cycle(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	gfp_t gfp = arg && !strcmp(arg, "zero") ? GFP_KERNEL | __GFP_ZERO :
						  GFP_KERNEL;
	void *object = hslab_alloc(c->cache, GFP_KERNEL), *again = NULL;
	unsigned int nr = 0;
	char more[32];
	void **taken;

	taken = kmalloc_array(PROVOKE_SEARCH, sizeof(*taken), GFP_KERNEL);
	if (!object || !taken) {
		hslab_free(c->cache, object);
		kfree(taken);
		return -ENOMEM;
	}
	memset(object, PROVOKE_DIRT, c->size);
	hslab_free(c->cache, object);
	while (again != object && nr < PROVOKE_SEARCH) {
		provoke_built = 0;
		again = hslab_alloc(c->cache, gfp);
		if (!again)
			break;
		taken[nr++] = again;
	}
	if (again == object) {
		snprintf(more, sizeof(more), " built=%u", provoke_built);
		provoke_describe(object, c->size, more);
	}
	hslab_free_bulk(c->cache, nr, taken);
	kfree(taken);
	return again == object ? 0 : -EAGAIN;
}

static int provoke_zeroed(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	unsigned int i, nr, zero = 0;

	if (bank->nr || provoke_number(arg, PROVOKE_HELD, &nr))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		zero += !memchr_inv(object, 0, c->size);
		bank->objects[bank->nr++] = object;
	}
	provoke_say("zero=%u", zero);
	return provoke_release(c, bank, NULL);
}

/*
 * Take objects until their slab pages are full, so that no other one is free on
 * this CPU: until the page of the last one holds as many as any.
 */
static int provoke_fill_pages(struct provoke_cache *c, struct provoke_bank *bank)
{
	unsigned int i, here, most = 0;
	struct page *page, *last = NULL;

	while (bank->nr < PROVOKE_HELD) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		bank->objects[bank->nr++] = object;
		page = virt_to_head_page(object);
		for (here = i = 0; i < bank->nr; i++)
			here += virt_to_head_page(bank->objects[i]) == page;
		if (bank->nr >= PROVOKE_HELD / 2 && last == page && here == most)
			return 0;
		most = max(most, here);
		last = page;
	}
	return -EAGAIN;
}

/*
 * One object of each slab page stays live, or SLUB would give the page, and the
 * damaged objects on it, back.
 */
static int provoke_exhaust(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int i, j, filled, failed, nr = 0;
	void *objects[64] = { };
	void **damaged;
	int err;

	if (bank->nr)
		return -EINVAL;
	damaged = kmalloc_array(PROVOKE_HELD, sizeof(*damaged), GFP_KERNEL);
	if (!damaged)
		return -ENOMEM;
	err = provoke_fill_pages(c, bank);
	if (err)
		goto out;
	filled = bank->nr;
	for (i = j = 0; i < filled; i++) {
		struct page *page = virt_to_head_page(bank->objects[i]);

		bank->nr = j;
		if (provoke_page_has(bank, page))
			damaged[nr++] = bank->objects[i];
		else
			bank->objects[j++] = bank->objects[i];
	}
	bank->nr = j;
	hslab_free_bulk(c->cache, nr, damaged);
	for (i = 0; i < nr; i++)
		*(u8 *)damaged[i] ^= 0xff;

	if (arg)
		hslab_alloc_bulk(c->cache, GFP_KERNEL, 4, objects);
	else
		objects[0] = hslab_alloc(c->cache, GFP_KERNEL);
	failed = !objects[0];
	hslab_free_bulk(c->cache, arg ? 4 : 1, objects);

	/* Leave none behind: the damaged ones come before new slab pages. */
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		while (!(objects[i] = hslab_alloc(c->cache, GFP_KERNEL)) &&
		       failed < filled)
			failed++;
	}
	hslab_free_bulk(c->cache, ARRAY_SIZE(objects), objects);
	provoke_say("allocs=%u damaged=%u failed=%u",
		    filled + (unsigned int)ARRAY_SIZE(objects), nr, failed);
out:
	kfree(damaged);
	provoke_release(c, bank, NULL);
	return err;
}

struct provoke_racer {
	struct work_struct work;
	struct hslab_cache *cache;
	void *object;
	atomic_t missing;		/* who is not at the start yet */
};

static void provoke_race_free(struct provoke_racer *racer)
{
	atomic_dec(&racer->missing);
	while (atomic_read(&racer->missing))
		cpu_relax();
	hslab_free(racer->cache, racer->object);
}

static void provoke_race_work(struct work_struct *work)
{
	provoke_race_free(container_of(work, struct provoke_racer, work));
}

static int provoke_race(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	struct provoke_racer racer = { .cache = c->cache };
	unsigned int nr, cpu;
	int err = 0;

	if (provoke_number(arg, 10000, &nr))
		return -EINVAL;
	INIT_WORK_ONSTACK(&racer.work, provoke_race_work);
	cpus_read_lock();
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu >= nr_cpu_ids)
		err = -ENXIO;
	while (!err && nr--) {
		racer.object = hslab_alloc(c->cache, GFP_KERNEL);
		if (!racer.object) {
			err = -ENOMEM;
			break;
		}
		atomic_set(&racer.missing, 2);
		schedule_work_on(cpu, &racer.work);
		provoke_race_free(&racer);
		flush_work(&racer.work);
	}
	migrate_enable();
	cpus_read_unlock();
	destroy_work_on_stack(&racer.work);
	return err;
}

static int provoke_foreign(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int nr, changed = 0;
	u8 *copy, *object;

	if (provoke_number(arg, 10000, &nr))
		return -EINVAL;
	copy = kmalloc(256, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	while (nr--) {
		object = kmalloc(256, GFP_KERNEL);
		if (!object)
			break;
		get_random_bytes(copy, 256);
		memcpy(object, copy, 256);
		hslab_free(c->cache, object);
		changed += !!memcmp(object, copy, 256);
		kfree(object);
	}
	kfree(copy);
	provoke_say("changed=%u", changed);
	return 0;
}

static struct hslab_cache *provoke_orphans_from;
static void *provoke_orphans[64];
static unsigned int provoke_nr_orphans;

static int provoke_orphan(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	struct hslab_cache *cache;
	unsigned int nr;

	if (provoke_nr_orphans ||
	    provoke_number(arg, ARRAY_SIZE(provoke_orphans), &nr))
		return -EINVAL;
	cache = hslab_cache_create("provoke-orphan", PROVOKE_SIZE, NULL);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	provoke_nr_orphans = hslab_alloc_bulk(cache, GFP_KERNEL, nr,
					      provoke_orphans);
	provoke_orphans_from = cache;
	hslab_cache_destroy(cache);
	return 0;
}

static int provoke_orphan_free(struct provoke_cache *c,
			       struct provoke_bank *bank, char *arg)
{
	unsigned int nr = provoke_nr_orphans;

	provoke_nr_orphans = 0;
	hslab_free_bulk(provoke_orphans_from, nr, provoke_orphans);
	return 0;
}

static int provoke_kernel(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	provoke_say("init_on_alloc=%d", want_init_on_alloc(0));
	return 0;
}

static const struct provoke_action provoke_action_table[] = {
	{ "hold", provoke_hold, true },
	{ "release", provoke_release, true },
	{ "share", provoke_share, true },
	{ "peek", provoke_peek, true },
	{ "stray", provoke_stray, true },
	{ "cycle", provoke_cycle, true },
	{ "zeroed", provoke_zeroed, true },
	{ "exhaust", provoke_exhaust, true },
	{ "race", provoke_race, true },
	{ "foreign", provoke_foreign, true },
	{ "orphan", provoke_orphan, false },
	{ "orphan-free", provoke_orphan_free, false },
	{ "kernel", provoke_kernel, false },
};

static void provoke_actions_exit(void)
{
	if (provoke_nr_orphans)
		provoke_orphan_free(NULL, NULL, NULL);
}

const struct provoke_part provoke_actions = {
	.actions	= provoke_action_table,
	.nr_actions	= ARRAY_SIZE(provoke_action_table),
	.exit		= provoke_actions_exit,
};
