// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_frees: how many objects SLUB frees, by SLUB's own count, for the tests to compare
 * with what hslab sees. It knows nothing of hslab.
 *
 * All frees of a cache that is under slub_debug end in SLUB's free_to_partial_list(),
 * which is told how many objects it gets. Its calls are seen by ftrace: a kprobe would
 * miss those that come in an interrupt of another probe.
 *
 * Among them are some that nobody ever had. On 7.3 who knows that he will need objects
 * gets a sheaf with enough of them beforehand, and gives it back by
 * kmem_cache_return_sheaf(); what is left in it is freed.
 *
 *	caches=NAME,...		of what caches
 *
 * /sys/kernel/debug/hslab_frees, from when the module was loaded:
 *
 *	NAME		what was freed of a cache
 *	NAME.unused	of these were left in sheaves
 */
#define pr_fmt(fmt) "hslab_frees: " fmt

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../../hslab_compat.h"

#define FREES_MAX	8

static char *frees_caches[FREES_MAX];
static unsigned int frees_nr;
module_param_array_named(caches, frees_caches, charp, &frees_nr, 0400);
MODULE_PARM_DESC(caches, "names of the caches whose frees are counted");

static atomic_t frees_counts[FREES_MAX], frees_unused[FREES_MAX];
static unsigned long frees_name_offset;	/* of its name in a struct kmem_cache */

static void notrace frees_add(atomic_t *counts, unsigned long kmem, int nr)
{
	const char *name = *(const char **)(kmem + frees_name_offset);
	unsigned int i;

	for (i = 0; i < frees_nr; i++)
		if (!strcmp(name, frees_caches[i]))
			atomic_add(nr, &counts[i]);
}

/* free_to_partial_list(kmem, slab, head, tail, count, address) */
static void notrace frees_see(unsigned long ip, unsigned long parent,
			      struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	frees_add(frees_counts, hslab_compat_argument(regs, 0),
		  hslab_compat_argument(regs, 4));
}

/*
 * kmem_cache_return_sheaf(kmem, gfp, sheaf). How many objects are left is behind the
 * sheaf's pointer to the cache. A cache under slub_debug has no use for the sheaf.
 */
static void notrace frees_see_sheaf(unsigned long ip, unsigned long parent,
				    struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	unsigned long kmem = hslab_compat_argument(regs, 0);
	const unsigned long *word = (void *)hslab_compat_argument(regs, 2);
	const unsigned long *end = word + 8;

	while (word < end)
		if (*word++ == kmem) {
			frees_add(frees_unused, kmem, *(const unsigned int *)word);
			break;
		}
}

static struct ftrace_ops frees_ops = { .func = frees_see };
static struct ftrace_ops frees_sheaf_ops = { .func = frees_see_sheaf };

static int frees_hook(struct ftrace_ops *ops, const char *function)
{
	char name[32];
	int err;

	strscpy(name, function, sizeof(name));
	err = ftrace_set_filter(ops, name, strlen(name), 1);
	if (!err)
		err = register_ftrace_function(ops);
	if (err)
		ftrace_free_filter(ops);
	return err;
}

static void frees_unhook(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static void frees_ctor(void *object)
{
}

/* The struct is SLUB's own; but the name is what we give it. */
static int frees_find_name(void)
{
	static const char name[] = "hslab-frees-name";
	/* A constructor, so that it is not merged. */
	struct kmem_cache *kmem = kmem_cache_create(name, 64, 0, 0, frees_ctor);
	size_t i, nr;

	if (!kmem)
		return -ENOMEM;
	nr = ksize(kmem) / sizeof(char *);
	for (i = 0; i < nr; i++) {
		const char *word = ((const char **)kmem)[i];

		if (virt_addr_valid(word) && !memcmp(word, name, sizeof(name)))
			break;
	}
	kmem_cache_destroy(kmem);
	frees_name_offset = i * sizeof(char *);
	return i < nr ? 0 : -EOPNOTSUPP;
}

static struct dentry *frees_dir;
static bool frees_sheaves;		/* does this kernel have them? */

static int __init frees_init(void)
{
	unsigned int i;
	int err = frees_find_name();

	if (!err)
		err = frees_hook(&frees_ops, "free_to_partial_list");
	if (err)
		return err;
	frees_sheaves = !frees_hook(&frees_sheaf_ops, "kmem_cache_return_sheaf");
	frees_dir = debugfs_create_dir("hslab_frees", NULL);
	for (i = 0; i < frees_nr; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.unused", frees_caches[i]);
		debugfs_create_atomic_t(frees_caches[i], 0400, frees_dir,
					&frees_counts[i]);
		debugfs_create_atomic_t(name, 0400, frees_dir, &frees_unused[i]);
	}
	return 0;
}

static void __exit frees_exit(void)
{
	debugfs_remove_recursive(frees_dir);
	if (frees_sheaves)
		frees_unhook(&frees_sheaf_ops);
	frees_unhook(&frees_ops);
}

module_init(frees_init);
module_exit(frees_exit);

MODULE_DESCRIPTION("SLUB's own count of frees, for tests");
MODULE_LICENSE("GPL");
