// SPDX-License-Identifier: GPL-2.0
/*
 * Bucket sets: a set of size classes, as kmalloc() has them, for one subsystem
 * alone. What is allocated there, of sizes that a user may choose, never shares a
 * slot with anything else. The general-purpose classes are such a set as well.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/err.h>
#include <linux/module.h>

#include "hslab_internal.h"

/* Bytes; rising. Two between powers of two where kmalloc() has them too. */
static const unsigned int hslab_class_sizes[] = {
	16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, HSLAB_KMALLOC_MAX
};

static_assert(ARRAY_SIZE(hslab_class_sizes) == HSLAB_NR_CLASSES);

/* What a class adds to the name of its set. */
#define HSLAB_CLASS_SUFFIX	"-" __stringify(HSLAB_KMALLOC_MAX)

static struct hslab_cache *hslab_class_for(const struct hslab_bucket *bucket,
					   size_t size)
{
	unsigned int i;

	for (i = 0; i < HSLAB_NR_CLASSES; i++)
		if (size <= hslab_class_sizes[i])
			return bucket->classes[i];
	return NULL;
}

/* hslab_bucket_alloc() from a NUMA node, or NUMA_NO_NODE. */
void *hslab_bucket_alloc_node(struct hslab_bucket *bucket, size_t size,
			      gfp_t gfp, int node)
{
	struct hslab_cache *cache;

	if (!size)
		return ZERO_SIZE_PTR;
	if (gfp & (__GFP_DMA | __GFP_DMA32)) {
		pr_warn_ratelimited("size class caches have no memory for DMA: use kmalloc()\n");
		return NULL;
	}
	cache = hslab_class_for(bucket, size);
	if (!cache) {
		pr_warn_ratelimited("size class caches give at most %d bytes, not %zu: use kvmalloc()\n",
				    HSLAB_KMALLOC_MAX, size);
		return NULL;
	}
	return hslab_alloc_node(cache, gfp, node);
}

/**
 * hslab_bucket_alloc() - allocate memory from a bucket set
 * @bucket: the set
 * @size: bytes, at most %HSLAB_KMALLOC_MAX
 * @gfp: allocation flags, without a DMA zone
 *
 * The memory is aligned to 8 bytes.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, ZERO_SIZE_PTR for a @size of 0, or NULL.
 */
void *hslab_bucket_alloc(struct hslab_bucket *bucket, size_t size, gfp_t gfp)
{
	return hslab_bucket_alloc_node(bucket, size, gfp, NUMA_NO_NODE);
}
EXPORT_SYMBOL_GPL(hslab_bucket_alloc);

/* The class that @object is from; else the first, which will complain. */
static struct hslab_cache *hslab_class_of(struct hslab_bucket *bucket,
					  void *object)
{
	struct hslab_cache *left[HSLAB_NR_CLASSES], **classes = bucket->classes;
	struct hslab_cache *owner;
	unsigned int i, nr = HSLAB_NR_CLASSES;

	rcu_read_lock();
	/* Those of a set that was retired go one by one, after a grace period. */
	if (unlikely(READ_ONCE(bucket->retired))) {
		classes = left;
		for (i = nr = 0; i < HSLAB_NR_CLASSES; i++) {
			left[nr] = READ_ONCE(bucket->classes[i]);
			nr += !!left[nr];
		}
	}
	owner = hslab_owner_among(classes, nr, object);
	if (!owner && nr)
		owner = classes[0];
	rcu_read_unlock();
	return owner;
}

/**
 * hslab_bucket_free() - free what hslab_bucket_alloc() gave
 * @bucket: the set that it was allocated from
 * @object: the memory, NULL or ZERO_SIZE_PTR
 *
 * The class is found by the object's tag, which only one class can hold; what
 * looks like no object of the set is reported by the smallest.
 *
 * Context: any but NMI.
 */
void hslab_bucket_free(struct hslab_bucket *bucket, const void *object)
{
	struct hslab_cache *cache;

	if (ZERO_OR_NULL_PTR(object))
		return;
	cache = hslab_class_of(bucket, (void *)object);
	if (cache)
		hslab_free(cache, (void *)object);
}
EXPORT_SYMBOL_GPL(hslab_bucket_free);

/* Objects of all classes that are live. */
s64 hslab_bucket_live(const struct hslab_bucket *bucket)
{
	unsigned int i;
	s64 live = 0;

	for (i = 0; i < HSLAB_NR_CLASSES; i++)
		live += hslab_cache_live(bucket->classes[i]);
	return live;
}

/**
 * hslab_bucket_forget() - a retired class of a bucket set is about to go
 * @cache: any cache, with its last object at home; a grace period is to follow
 *
 * With the last class the set goes.
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_bucket_forget(struct hslab_cache *cache)
{
	struct hslab_bucket *bucket = cache->bucket;
	unsigned int i, left = 0;

	lockdep_assert_held(&hslab_mutex);

	if (!bucket)
		return;
	for (i = 0; i < HSLAB_NR_CLASSES; i++) {
		if (bucket->classes[i] == cache)
			WRITE_ONCE(bucket->classes[i], NULL);
		left += !!bucket->classes[i];
	}
	if (!left && !cache->internal)
		kfree_rcu(bucket, rcu);
}

/* Take the classes out of service; those that are empty go at once. */
void hslab_bucket_retire(struct hslab_bucket *bucket)
{
	struct hslab_cache *classes[HSLAB_NR_CLASSES];
	unsigned int i;

	WRITE_ONCE(bucket->retired, true);
	/* A worker that comes by meanwhile may forget the first ones. */
	memcpy(classes, bucket->classes, sizeof(classes));
	for (i = 0; i < HSLAB_NR_CLASSES && classes[i]; i++)
		hslab_cache_retire(classes[i]);
	hslab_cache_flush();
}

static void hslab_class_args(struct hslab_args *args, unsigned int size,
			     const struct hslab_bucket_args *of)
{
	args->flags = of->flags & ~SLAB_PANIC;
	if (of->natural)
		args->align = size & -size;
	if (of->useroffset >= size || !of->usersize)
		return;
	args->useroffset = of->useroffset;
	args->usersize = min(of->usersize, size - of->useroffset);
}

/**
 * hslab_bucket_make() - create the classes of a set
 * @bucket: the set, all zero
 * @args: what the classes are like
 * @owner: name of the module that wants it
 * @kind: what the classes are
 *
 * Context: process context, may sleep.
 * Return: 0, or an error; then there are no classes, and @bucket is as before or
 * (if @kind is not %HSLAB_CACHE_INTERNAL) freed.
 */
int hslab_bucket_make(struct hslab_bucket *bucket,
		      const struct hslab_bucket_args *args, const char *owner,
		      enum hslab_cache_kind kind)
{
	struct hslab_cache *cache;
	char name[HSLAB_NAME_LEN];
	unsigned int i;

	for (i = 0; i < HSLAB_NR_CLASSES; i++) {
		struct hslab_args class_args = {};

		hslab_class_args(&class_args, hslab_class_sizes[i], args);
		snprintf(name, sizeof(name), "%s-%u", args->name,
			 hslab_class_sizes[i]);
		cache = hslab_cache_make(name, hslab_class_sizes[i],
					 &class_args, owner, kind);
		if (IS_ERR(cache))
			goto fail;
		mutex_lock(&hslab_mutex);
		cache->bucket = bucket;
		bucket->classes[i] = cache;
		mutex_unlock(&hslab_mutex);
	}
	return 0;

fail:
	if (i)
		hslab_bucket_retire(bucket);
	else if (kind != HSLAB_CACHE_INTERNAL)
		kfree(bucket);
	return PTR_ERR(cache);
}

static int hslab_bucket_check(const struct hslab_bucket_args *args)
{
	size_t most = HSLAB_NAME_LEN - sizeof(HSLAB_CLASS_SUFFIX);
	size_t len = args->name ? strnlen(args->name, most + 1) : 0;

	if (!len || len > most || strchr(args->name, '/')) {
		pr_warn("a bucket set's name needs 1 to %zu characters without '/'\n",
			most);
		return -EINVAL;
	}
	if (args->flags & SLAB_TYPESAFE_BY_RCU) {
		pr_warn("bucket set %s: memory of a size class has no type to be kept by SLAB_TYPESAFE_BY_RCU\n",
			args->name);
		return -EINVAL;
	}
	if (args->useroffset > HSLAB_KMALLOC_MAX ||
	    args->usersize > HSLAB_KMALLOC_MAX - args->useroffset ||
	    (args->useroffset && !args->usersize)) {
		pr_warn("bucket set %s: usercopy window of %u bytes at %u is not within %d bytes\n",
			args->name, args->usersize, args->useroffset,
			HSLAB_KMALLOC_MAX);
		return -EINVAL;
	}
	return 0;
}

/* hslab_bucket_create() is the macro that says who the owner is. */
struct hslab_bucket *__hslab_bucket_create(const char *name, slab_flags_t flags,
					   unsigned int useroffset,
					   unsigned int usersize,
					   struct module *owner)
{
	const struct hslab_bucket_args args = {
		.name = name, .flags = flags,
		.useroffset = useroffset, .usersize = usersize,
	};
	struct hslab_bucket *bucket;
	int err;

	err = hslab_bucket_check(&args);
	if (err)
		goto fail;
	err = -ENOMEM;
	bucket = kzalloc(sizeof(*bucket), GFP_KERNEL);
	if (!bucket)
		goto fail;
	err = hslab_bucket_make(bucket, &args,
				owner ? module_name(owner) : "kernel",
				HSLAB_CACHE_BUCKET);
	if (!err)
		return bucket;
fail:
	if (flags & SLAB_PANIC)
		panic("hslab: cannot create bucket set %s: %pe\n",
		      name ? name : "(none)", ERR_PTR(err));
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(__hslab_bucket_create);

/**
 * hslab_bucket_destroy() - destroy a bucket set
 * @bucket: the set, NULL, or the ERR_PTR of hslab_bucket_create()
 *
 * Memory that is still live is reported. It may still be freed, with
 * hslab_bucket_free(); the set is gone with the last of it.
 *
 * Context: process context, may sleep, not from memory reclaim. Nobody may
 * allocate from @bucket any more.
 */
void hslab_bucket_destroy(struct hslab_bucket *bucket)
{
	if (!IS_ERR_OR_NULL(bucket))
		hslab_bucket_retire(bucket);
}
EXPORT_SYMBOL_GPL(hslab_bucket_destroy);
