// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_leaks: leaks objects, frees them around hslab, and goes.
 *
 * For the selftests. /sys/kernel/debug/hslab_leaks:
 *
 *	run	takes one of
 *		leak N		leak N objects of the cache "leaks" from one place and
 *				2 * N from another, and N of hslab_kmalloc(64)
 *		around N KEEP [SIZE]
 *				allocate N objects of a cache; kfree() half of
 *				them and kfree_bulk() the others, but for KEEP of
 *				them, which are leaked; destroy the cache
 *		wander LEVELS	leak objects of "leaks" by every path through as
 *				many levels of leaks_left() (bit 1) and
 *				leaks_right() (0), N + 1 by path number N
 *		home		free all that was leaked
 *	result	an address: with the module parameter home=ADDRESS, once the module
 *		was unloaded, it frees what it had leaked. It is of the same kind
 *		as the pointers in a leak's report, so it is for tests only.
 */
#define pr_fmt(fmt) "hslab_leaks: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/hslab.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define LEAKS_SIZE	120
#define LEAKS_KMALLOC	64
#define LEAKS_MAX	512

/* What was leaked; it outlives the module. */
struct leaks {
	struct leaks *next;
	struct hslab_cache *cache;	/* NULL: hslab_kmalloc()'s */
	unsigned int nr;
	void *objects[LEAKS_MAX];
};

static DEFINE_MUTEX(leaks_mutex);	/* protects all that is static here */
static struct leaks *leaks;
static struct hslab_cache *leaks_cache;
static struct dentry *leaks_debugfs;

static unsigned long home;
module_param(home, ulong, 0);
MODULE_PARM_DESC(home, "free what was leaked, by what result said");

static unsigned int early;
module_param(early, uint, 0);
MODULE_PARM_DESC(early, "how many objects to leak from the init function");

static struct leaks *leaks_new(struct hslab_cache *cache)
{
	struct leaks *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return NULL;
	l->cache = cache;
	l->next = leaks;
	leaks = l;
	return l;
}

/* Two places, so that there are two stacks. */
static noinline int leaks_here(struct leaks *l, unsigned int nr)
{
	while (nr--) {
		l->objects[l->nr] = hslab_alloc(l->cache, GFP_KERNEL);
		if (!l->objects[l->nr])
			return -ENOMEM;
		l->nr++;
	}
	return 0;
}

static noinline int leaks_there(struct leaks *l, unsigned int nr)
{
	while (nr--) {
		l->objects[l->nr] = hslab_zalloc(l->cache, GFP_KERNEL);
		if (!l->objects[l->nr])
			return -ENOMEM;
		l->nr++;
	}
	return 0;
}

static noinline int leaks_kmalloc(struct leaks *l, unsigned int nr)
{
	while (nr--) {
		l->objects[l->nr] = hslab_kmalloc(LEAKS_KMALLOC, GFP_KERNEL);
		if (!l->objects[l->nr])
			return -ENOMEM;
		l->nr++;
	}
	return 0;
}

static int leaks_leak(unsigned int nr, unsigned int unused,
		      unsigned int unused_too)
{
	struct leaks *l;
	int err;

	if (!nr || 3 * nr > LEAKS_MAX)
		return -EINVAL;
	l = leaks_new(leaks_cache);
	if (!l)
		return -ENOMEM;
	err = leaks_here(l, nr);
	if (!err)
		err = leaks_there(l, 2 * nr);
	if (err)
		return err;
	l = leaks_new(NULL);
	return l ? leaks_kmalloc(l, nr) : -ENOMEM;
}

static int leaks_around(unsigned int nr, unsigned int keep, unsigned int size)
{
	struct hslab_cache *cache;
	unsigned int i, gone = 0;
	void *bulk[1];
	struct leaks *l;
	int err;

	if (!nr || nr > LEAKS_MAX || keep > nr)
		return -EINVAL;
	cache = hslab_cache_create("leaks-around", size ? size : LEAKS_SIZE,
				   NULL);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	l = leaks_new(cache);
	err = l ? leaks_here(l, nr) : -ENOMEM;
	for (i = 0; i < nr && !err; i++) {
		/* Those that are kept are spread over all. */
		if ((i + 1) * keep / nr > i * keep / nr) {
			l->objects[i - gone] = l->objects[i];
			continue;
		}
		bulk[0] = l->objects[i];
		if (i % 2)
			kfree(bulk[0]);
		else
			kfree_bulk(1, bulk);
		gone++;
	}
	if (!err)
		l->nr -= gone;
	hslab_cache_destroy(cache);
	return err;
}

/* WANDERING: the same places by different ways, and with frames of different sizes. */
static int leaks_way(struct leaks *l, unsigned int path, unsigned int levels);

static noinline int leaks_left(struct leaks *l, unsigned int path,
			       unsigned int levels)
{
	int err = leaks_way(l, path, levels);

	barrier();
	return err;
}

static noinline int leaks_right(struct leaks *l, unsigned int path,
				unsigned int levels)
{
	unsigned long room[5] = { path };
	int err;

	barrier_data(room);
	err = leaks_way(l, path, levels);
	barrier_data(room);
	return err;
}

static noinline int leaks_way(struct leaks *l, unsigned int path,
			      unsigned int levels)
{
	int err;

	if (!levels)
		err = leaks_here(l, 1);
	else if (path & 1)
		err = leaks_left(l, path >> 1, levels - 1);
	else
		err = leaks_right(l, path >> 1, levels - 1);
	barrier();
	return err;
}

static int leaks_wander(unsigned int levels, unsigned int unused,
			unsigned int unused_too)
{
	struct leaks *l = leaks_new(leaks_cache);
	unsigned int path, turn;
	int err = 0;

	if (!l)
		return -ENOMEM;
	if (levels > 4)
		return -EINVAL;
	for (turn = 0; turn < 1 << levels; turn++)
		for (path = turn; path < 1 << levels && !err; path++)
			err = leaks_way(l, path, levels);
	return err;
}

static int leaks_home(unsigned int unused, unsigned int unused_too,
		      unsigned int unused_again)
{
	while (leaks) {
		struct leaks *l = leaks;

		while (l->nr) {
			l->nr--;
			if (l->cache)
				hslab_free(l->cache, l->objects[l->nr]);
			else
				hslab_kfree(l->objects[l->nr]);
		}
		leaks = l->next;
		kfree(l);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(unsigned int a, unsigned int b, unsigned int c);
} leaks_actions[] = {
	{ "leak", leaks_leak },
	{ "around", leaks_around },
	{ "wander", leaks_wander },
	{ "home", leaks_home },
};

static ssize_t leaks_run_write(struct file *file, const char __user *ubuf,
			       size_t count, loff_t *pos)
{
	unsigned int i, a = 0, b = 0, c = 0;
	char line[64], name[16];
	int err = -EINVAL;

	if (count >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, ubuf, count))
		return -EFAULT;
	line[count] = '\0';
	if (sscanf(line, "%15s %u %u %u", name, &a, &b, &c) < 1)
		return -EINVAL;
	mutex_lock(&leaks_mutex);
	for (i = 0; i < ARRAY_SIZE(leaks_actions); i++)
		if (!strcmp(name, leaks_actions[i].name))
			err = leaks_actions[i].run(a, b, c);
	mutex_unlock(&leaks_mutex);
	return err ? err : count;
}

static const struct file_operations leaks_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= leaks_run_write,
	.llseek	= noop_llseek,
};

static int leaks_result_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&leaks_mutex);
	seq_printf(seq, "0x%lx\n", (unsigned long)leaks);
	mutex_unlock(&leaks_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(leaks_result);

/* The code is gone when somebody asks who has allocated. */
static noinline void __init leaks_early(void)
{
	struct leaks *l = early ? leaks_new(leaks_cache) : NULL;

	while (l && l->nr < early && l->nr < LEAKS_MAX) {
		l->objects[l->nr] = hslab_alloc(leaks_cache, GFP_KERNEL);
		if (!l->objects[l->nr])
			return;
		l->nr++;
	}
}

static int __init leaks_init(void)
{
	leaks = (struct leaks *)home;
	leaks_home(0, 0, 0);
	leaks_cache = hslab_cache_create("leaks", LEAKS_SIZE, NULL);
	if (IS_ERR(leaks_cache))
		return PTR_ERR(leaks_cache);
	leaks_early();
	leaks_debugfs = debugfs_create_dir("hslab_leaks", NULL);
	debugfs_create_file("run", 0200, leaks_debugfs, NULL, &leaks_run_fops);
	debugfs_create_file("result", 0400, leaks_debugfs, NULL,
			    &leaks_result_fops);
	return 0;
}

static void __exit leaks_exit(void)
{
	debugfs_remove_recursive(leaks_debugfs);
	hslab_cache_destroy(leaks_cache);
}

module_init(leaks_init);
module_exit(leaks_exit);

MODULE_DESCRIPTION("Leaks objects of hslab; for tests");
MODULE_LICENSE("GPL");
