/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hslab: hardened slab caches with per-cache, run-time policies.
 *
 * The interface mirrors kmem_cache, so that porting a user is renaming.
 * Policies are described in Documentation/policies.rst, the design in
 * Documentation/design.rst.
 *
 * "Any but NMI" is the context of an allocation that may not sleep, and of a
 * free. On PREEMPT_RT SLUB's own locks sleep: there it is any that is
 * preemptible, as for kmem_cache_alloc() and kmem_cache_free().
 */
#ifndef _LINUX_HSLAB_H
#define _LINUX_HSLAB_H

#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/mempool.h>
#include <linux/numa.h>
#include <linux/slab.h>

struct hslab_cache;
struct list_lru;

/**
 * struct hslab_args - the optional properties of a cache
 * @align: alignment of an object in bytes, a power of two; 0 for the default
 *	(8 bytes, or a cache line fraction with %SLAB_HWCACHE_ALIGN).
 * @flags: %SLAB_HWCACHE_ALIGN, %SLAB_ACCOUNT, %SLAB_RECLAIM_ACCOUNT,
 *	%SLAB_CACHE_DMA, %SLAB_CACHE_DMA32, %SLAB_TYPESAFE_BY_RCU, %SLAB_PANIC,
 *	%SLAB_NOLEAKTRACE and, where the kernel has it, %SLAB_NO_MERGE. Others,
 *	those of slub_debug among them, are refused.
 * @useroffset: offset in bytes of the window that may be copied to and from
 *	user space.
 * @usersize: size in bytes of that window; 0 for none.
 * @ctor: constructor, run by hslab on an object whose content is not a
 *	constructed one: a new object, or one that was poisoned or zeroed.
 *	It must not sleep. Context: that of the allocation.
 * @poison_typesafe: a %SLAB_TYPESAFE_BY_RCU cache whose users do not rely on
 *	content across reuse: poison and zero are honoured, and each free waits
 *	for a grace period. Else both are ignored for such a cache.
 * @profile: name of the profile the cache starts with, NULL for the defaults
 *	under /sys/kernel/hslab/defaults.
 */
struct hslab_args {
	unsigned int align;
	slab_flags_t flags;
	unsigned int useroffset;
	unsigned int usersize;
	void (*ctor)(void *object);
	bool poison_typesafe;
	const char *profile;
};

struct hslab_cache *__hslab_cache_create(const char *name, unsigned int size,
					 const struct hslab_args *args,
					 struct module *owner);

/**
 * hslab_cache_create() - create a hardened cache
 * @name: name, as in /sys/kernel/hslab/caches; copied. 1 to 63 characters
 *	without '/' and control characters; not "." or "..".
 * @size: size of an object in bytes, from 1 to %HSLAB_MAX_SIZE.
 * @args: further properties, or NULL.
 *
 * Context: process context, may sleep.
 * Return: the cache, or ERR_PTR: -EINVAL for a size, alignment, flag, window
 * or profile that cannot be had (the log says which), -EEXIST when a cache
 * has the name, -ENOSPC when no store or cache number is left, -ENOMEM.
 */
#define hslab_cache_create(name, size, args) \
	__hslab_cache_create(name, size, args, THIS_MODULE)

/* The largest object: what kmem_cache_create() takes, less the tag and SLUB's free pointer. */
#define HSLAB_MAX_SIZE	(KMALLOC_MAX_SIZE - 16)

void hslab_cache_destroy(struct hslab_cache *cache);
int hslab_cache_shrink(struct hslab_cache *cache);
unsigned int hslab_cache_size(const struct hslab_cache *cache);
int hslab_set_policy(struct hslab_cache *cache, const char *policy,
		     const char *value);

void *hslab_alloc(struct hslab_cache *cache, gfp_t gfp) __malloc;
void *hslab_alloc_node(struct hslab_cache *cache, gfp_t gfp, int node) __malloc;
void *hslab_alloc_lru(struct hslab_cache *cache, struct list_lru *lru,
		      gfp_t gfp) __malloc;
int hslab_alloc_bulk(struct hslab_cache *cache, gfp_t gfp, size_t nr,
		     void **objects);
void hslab_free(struct hslab_cache *cache, void *object);
void hslab_free_bulk(struct hslab_cache *cache, size_t nr, void **objects);
void hslab_free_rcu(struct hslab_cache *cache, void *object);
void hslab_free_rcu_bulk(struct hslab_cache *cache, size_t nr, void **objects);

/**
 * hslab_zalloc() - allocate a zeroed object
 * @cache: the cache
 * @gfp: allocation flags
 *
 * An object that hslab wiped with zeros when it was freed, and whose zeros
 * were verified, is not zeroed again. A constructor is run after that, so the
 * object is as the constructor leaves zeros.
 *
 * This, or %__GFP_ZERO to any other function, is for no %SLAB_TYPESAFE_BY_RCU
 * cache whose readers rely on content across reuse, such as a lock or a sequence
 * count. The object is wiped while they may look at it, whatever the policies
 * say, and a constructor puts it right only a moment later. It is as with SLUB,
 * which warns of %__GFP_ZERO for a cache with a constructor.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the object, or NULL.
 */
static inline void *hslab_zalloc(struct hslab_cache *cache, gfp_t gfp)
{
	return hslab_alloc(cache, gfp | __GFP_ZERO);
}

void *hslab_kmalloc(size_t size, gfp_t gfp) __malloc;
void hslab_kfree(const void *object);

/**
 * hslab_kzalloc() - allocate zeroed memory from the general-purpose caches
 * @size: bytes
 * @gfp: allocation flags
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, ZERO_SIZE_PTR for a @size of 0, or NULL.
 */
static inline void *hslab_kzalloc(size_t size, gfp_t gfp)
{
	return hslab_kmalloc(size, gfp | __GFP_ZERO);
}

#define HSLAB_KMALLOC_MAX	8192

struct hslab_bucket;

struct hslab_bucket *__hslab_bucket_create(const char *name, slab_flags_t flags,
					   unsigned int useroffset,
					   unsigned int usersize,
					   struct module *owner);

/**
 * hslab_bucket_create() - create a set of size classes for one subsystem
 * @name: name of the set, 1 to 58 characters as for a cache; its caches are
 *	NAME-16 to NAME-8192 in /sys/kernel/hslab/caches.
 * @flags: as in struct hslab_args, without %SLAB_TYPESAFE_BY_RCU.
 * @useroffset: offset of the window that may be copied to and from user space.
 * @usersize: size of that window, 0 for none; cut to what a class has of it.
 *
 * The caches never share slots with any other, whatever their policy merge says:
 * memory whose size and content a user chooses, as of messages, cannot take the
 * place of another subsystem's objects.
 *
 * Context: process context, may sleep.
 * Return: the set, or ERR_PTR: as hslab_cache_create(), and no cache is left
 * then.
 */
#define hslab_bucket_create(name, flags, useroffset, usersize) \
	__hslab_bucket_create(name, flags, useroffset, usersize, THIS_MODULE)

void hslab_bucket_destroy(struct hslab_bucket *bucket);
void *hslab_bucket_alloc(struct hslab_bucket *bucket, size_t size,
			 gfp_t gfp) __malloc;
void hslab_bucket_free(struct hslab_bucket *bucket, const void *object);

/**
 * hslab_bucket_zalloc() - allocate zeroed memory from a bucket set
 * @bucket: the set
 * @size: bytes
 * @gfp: allocation flags
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, ZERO_SIZE_PTR for a @size of 0, or NULL.
 */
static inline void *hslab_bucket_zalloc(struct hslab_bucket *bucket,
					size_t size, gfp_t gfp)
{
	return hslab_bucket_alloc(bucket, size, gfp | __GFP_ZERO);
}

/* There is none for the memory: a pointer does not tell its set. */
DEFINE_FREE(hslab_bucket_destroy, struct hslab_bucket *,
	    hslab_bucket_destroy(_T))

/* void *p __free(hslab_kfree) = hslab_kmalloc(...); */
DEFINE_FREE(hslab_kfree, void *, hslab_kfree(_T))

void *hslab_mempool_alloc(gfp_t gfp, void *cache);
void hslab_mempool_free(void *object, void *cache);

/**
 * hslab_mempool_create() - a mempool that takes its objects from a cache
 * @min_nr: number of objects kept in reserve
 * @cache: the cache
 *
 * Context: process context, may sleep.
 * Return: the pool, or NULL. Destroy it with mempool_destroy().
 */
static inline mempool_t *hslab_mempool_create(int min_nr,
					      struct hslab_cache *cache)
{
	return mempool_create(min_nr, hslab_mempool_alloc, hslab_mempool_free,
			      cache);
}

/*
 * hslab_kmem.c and hslab_kmalloc.c: for hslab_compat_kmem.h and
 * hslab_compat_kmalloc.h, which have existing code use them.
 */

/* kmalloc() that is left to SLUB: zones, and accounts, that size classes have not */
#define HSLAB_KMEM_GFP_SLUB	(__GFP_DMA | __GFP_DMA32 | __GFP_RECLAIMABLE | \
				 __GFP_ACCOUNT)

struct hslab_cache *hslab_kmem_create(const char *name, unsigned int size,
				      const struct hslab_args *args,
				      struct module *owner);
void hslab_kmem_kfree(const void *object);
void hslab_kmem_kvfree(const void *object);
void hslab_kmem_kfree_sensitive(const void *object);
void hslab_kmem_kfree_const(const void *object);
void *hslab_kmem_kmalloc(size_t size, gfp_t gfp, int node);
void *hslab_kmem_krealloc(const void *object, size_t size, gfp_t gfp);
size_t hslab_kmem_ksize(const void *object);
void hslab_kmem_free_stray(void *object);
bool hslab_kmem_free_rcu(void *head, const void *what);
bool hslab_kmem_dump(void *address);

#endif /* _LINUX_HSLAB_H */
