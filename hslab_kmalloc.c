// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_kmalloc() and hslab_kfree(): general-purpose size classes, a bucket set
 * (hslab_bucket.c) of hslab's own, which may merge as the policy says. And one
 * more, for code that was written for kmalloc() and relies on its alignment.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/workqueue.h>

#include "hslab_internal.h"

static struct hslab_bucket hslab_general;
static struct hslab_bucket hslab_natural;

/**
 * hslab_kmalloc() - allocate memory from the general-purpose caches
 * @size: bytes, at most %HSLAB_KMALLOC_MAX; beyond that use kvmalloc()
 * @gfp: allocation flags
 *
 * The memory is aligned to 8 bytes. The caches are hslab-16 to hslab-8192 in
 * /sys/kernel/hslab/caches.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, ZERO_SIZE_PTR for a @size of 0, or NULL.
 */
void *hslab_kmalloc(size_t size, gfp_t gfp)
{
	return hslab_bucket_alloc(&hslab_general, size, gfp);
}
EXPORT_SYMBOL_GPL(hslab_kmalloc);

/**
 * hslab_kfree() - free what hslab_kmalloc() gave
 * @object: the memory, NULL or ZERO_SIZE_PTR
 *
 * The class is found by the object's tag, which only one class can hold; what
 * looks like no object of any class is reported by the smallest.
 *
 * Context: any but NMI.
 */
void hslab_kfree(const void *object)
{
	hslab_bucket_free(&hslab_general, object);
}
EXPORT_SYMBOL_GPL(hslab_kfree);

/**
 * hslab_kmem_kmalloc() - kmalloc_node() from hslab
 * @size: bytes, at most %HSLAB_KMALLOC_MAX
 * @gfp: allocation flags, without %HSLAB_KMEM_GFP_SLUB
 * @node: NUMA node, or NUMA_NO_NODE
 *
 * As kmalloc() promises, the memory is aligned to the largest power of two that
 * divides @size. What needs more than 8 bytes for that comes from caches
 * hslab-kmalloc-16 to hslab-kmalloc-8192, which take twice the memory: the tag is
 * behind an object, and the next one starts where it is aligned.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, for hslab_kmem_kfree(); ZERO_SIZE_PTR for a @size of 0, or NULL.
 */
void *hslab_kmem_kmalloc(size_t size, gfp_t gfp, int node)
{
	struct hslab_bucket *bucket = size % 16 ? &hslab_general : &hslab_natural;

	return hslab_bucket_alloc_node(bucket, size, gfp, node);
}
EXPORT_SYMBOL_GPL(hslab_kmem_kmalloc);

/*
 * The caches of modules keep this module loaded; these here are its own. So
 * when a module that may have used them has gone and left objects behind, the
 * module reference hslab_kmalloc_held is taken, until none are left: what it freed
 * after a grace period comes home soon after.
 */
static void hslab_kmalloc_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(hslab_kmalloc_work, hslab_kmalloc_look);
static DEFINE_MUTEX(hslab_kmalloc_mutex);	/* a leaf */
static bool hslab_kmalloc_held;			/* hslab_kmalloc_mutex */

static s64 hslab_kmalloc_live(void)
{
	return hslab_bucket_live(&hslab_general) +
	       hslab_bucket_live(&hslab_natural);
}

/* Exit waits for this, so it may give up the last reference. */
static void hslab_kmalloc_look(struct work_struct *work)
{
	bool left;

	mutex_lock(&hslab_kmalloc_mutex);
	left = hslab_kmalloc_live();
	if (!left)
		hslab_kmalloc_held = false;
	mutex_unlock(&hslab_kmalloc_mutex);
	if (left)
		queue_delayed_work(hslab_wq, &hslab_kmalloc_work, HZ);
	else
		module_put(THIS_MODULE);
}

static int hslab_module_gone(struct notifier_block *nb, unsigned long state,
			     void *module)
{
	if (state != MODULE_STATE_GOING || module == THIS_MODULE)
		return NOTIFY_DONE;
	mutex_lock(&hslab_kmalloc_mutex);
	if (!hslab_kmalloc_held && hslab_kmalloc_live()) {
		__module_get(THIS_MODULE);
		hslab_kmalloc_held = true;
		queue_delayed_work(hslab_wq, &hslab_kmalloc_work, HZ / 10);
	}
	mutex_unlock(&hslab_kmalloc_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block hslab_module_notifier = {
	.notifier_call = hslab_module_gone,
};

void hslab_kmalloc_exit(void)
{
	unregister_module_notifier(&hslab_module_notifier);
	cancel_delayed_work_sync(&hslab_kmalloc_work);
	hslab_bucket_retire(&hslab_natural);
	hslab_bucket_retire(&hslab_general);
}

int __init hslab_kmalloc_init(void)
{
	static const struct hslab_bucket_args args = {
		.name = KBUILD_MODNAME, .usersize = HSLAB_KMALLOC_MAX,
	};
	static const struct hslab_bucket_args natural_args = {
		.name = KBUILD_MODNAME "-kmalloc",
		.usersize = HSLAB_KMALLOC_MAX, .natural = true,
	};
	int err;

	err = hslab_bucket_make(&hslab_general, &args, KBUILD_MODNAME,
				HSLAB_CACHE_INTERNAL);
	if (err)
		return err;
	err = hslab_bucket_make(&hslab_natural, &natural_args, KBUILD_MODNAME,
				HSLAB_CACHE_INTERNAL);
	if (err)
		goto retire_general;
	err = register_module_notifier(&hslab_module_notifier);
	if (err)
		goto retire_natural;
	return 0;

retire_natural:
	hslab_bucket_retire(&hslab_natural);
retire_general:
	hslab_bucket_retire(&hslab_general);
	return err;
}
