// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_kmalloc() and hslab_kfree(): general-purpose size classes.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/module.h>
#include <linux/notifier.h>

#include "hslab_internal.h"

/* Bytes; rising. Two between powers of two where kmalloc() has them too. */
static const unsigned int hslab_class_sizes[] = {
	16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, HSLAB_KMALLOC_MAX
};

static struct hslab_cache *hslab_classes[ARRAY_SIZE(hslab_class_sizes)];

static struct hslab_cache *hslab_class_for(size_t size)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hslab_class_sizes); i++)
		if (size <= hslab_class_sizes[i])
			return hslab_classes[i];
	return NULL;
}

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
	struct hslab_cache *cache;

	if (!size)
		return ZERO_SIZE_PTR;
	if (gfp & (__GFP_DMA | __GFP_DMA32)) {
		pr_warn_ratelimited("size class caches have no memory for DMA: use kmalloc()\n");
		return NULL;
	}
	cache = hslab_class_for(size);
	if (!cache) {
		pr_warn_ratelimited("size class caches give at most %d bytes, not %zu: use kvmalloc()\n",
				    HSLAB_KMALLOC_MAX, size);
		return NULL;
	}
	return hslab_alloc(cache, gfp);
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
	struct hslab_cache *cache;

	if (ZERO_OR_NULL_PTR(object))
		return;
	cache = hslab_owner_among(hslab_classes, ARRAY_SIZE(hslab_classes),
				  (void *)object);
	hslab_free(cache ? cache : hslab_classes[0], (void *)object);
}
EXPORT_SYMBOL_GPL(hslab_kfree);

/*
 * The caches of modules keep this module loaded; these here are its own. So
 * when a module that may have used them has gone and left objects behind, the
 * module reference hslab_kmalloc_held is taken, until none are left.
 */
static bool hslab_kmalloc_held;		/* module notifiers run one at a time */

static int hslab_module_gone(struct notifier_block *nb, unsigned long state,
			     void *module)
{
	s64 live = 0;
	unsigned int i;

	if (state != MODULE_STATE_GOING || module == THIS_MODULE)
		return NOTIFY_DONE;
	for (i = 0; i < ARRAY_SIZE(hslab_classes); i++)
		live += hslab_cache_live(hslab_classes[i]);
	if (live && !hslab_kmalloc_held)
		__module_get(THIS_MODULE);
	else if (!live && hslab_kmalloc_held)
		module_put(THIS_MODULE);
	hslab_kmalloc_held = live;
	return NOTIFY_DONE;
}

static struct notifier_block hslab_module_notifier = {
	.notifier_call = hslab_module_gone,
};

static void hslab_destroy_classes(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hslab_classes) && hslab_classes[i]; i++)
		hslab_cache_retire(hslab_classes[i]);
	hslab_cache_flush();
}

void hslab_kmalloc_exit(void)
{
	unregister_module_notifier(&hslab_module_notifier);
	hslab_destroy_classes();
}

int __init hslab_kmalloc_init(void)
{
	static char name[HSLAB_NAME_LEN] __initdata;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(hslab_classes); i++) {
		struct hslab_args args = { .usersize = hslab_class_sizes[i] };
		struct hslab_cache *cache;

		snprintf(name, sizeof(name), "hslab-%u", hslab_class_sizes[i]);
		cache = hslab_cache_make(name, hslab_class_sizes[i], &args,
					 KBUILD_MODNAME, true);
		if (IS_ERR(cache)) {
			err = PTR_ERR(cache);
			goto destroy;
		}
		hslab_classes[i] = cache;
	}
	err = register_module_notifier(&hslab_module_notifier);
	if (!err)
		return 0;
destroy:
	hslab_destroy_classes();
	return err;
}
