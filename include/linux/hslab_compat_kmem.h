/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that was written for kmem_cache, on hslab unchanged.
 *
 * Include this after the kernel's headers, or have the compiler do it before
 * everything else (ccflags-y += -include .../hslab_compat_kmem.h); in the latter
 * case a file's own pr_fmt has to be known by then (scripts/hslabify sees to it).
 * All files of a module need it.
 *
 * A cache that such code makes is hslab's, with a name in
 * /sys/kernel/hslab/caches. Its handle is an odd address: what was made elsewhere,
 * names_cachep say, is even, and goes to SLUB as ever. What is freed without its
 * cache (kfree(), kfree_rcu() and their kin) goes where it came from, and
 * krealloc() and ksize() know whose it is. What kmalloc() gives stays SLUB's, unless
 * hslab_compat_kmalloc.h is included as well.
 *
 * What cannot be redirected, since it is not this code that allocates: the slabs of
 * struct proto and request_sock_ops (slab_flags there), the front pads of a
 * bioset, and a cache that is handed to code which was built without this
 * header, as by lc_create() or a symbol that is exported. The latter must not
 * happen: an odd handle is no kmem_cache. Documentation/porting.rst has more.
 */
#ifndef _LINUX_HSLAB_COMPAT_KMEM_H
#define _LINUX_HSLAB_COMPAT_KMEM_H

#include <linux/fs.h>
#include <linux/hslab.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#define HSLAB_KMEM_OURS	1UL

static __always_inline struct hslab_cache *
hslab_kmem_ours(const struct kmem_cache *s)
{
	unsigned long handle = (unsigned long)s;

	return handle & HSLAB_KMEM_OURS ?
	       (struct hslab_cache *)(handle & ~HSLAB_KMEM_OURS) : NULL;
}

static inline struct kmem_cache *
hslab_kmem_make(const char *name, unsigned int size,
		const struct hslab_args *args)
{
	struct hslab_cache *cache = hslab_kmem_create(name, size, args,
						      THIS_MODULE);

	if (IS_ERR(cache))
		return NULL;	/* the log says why */
	return (struct kmem_cache *)((unsigned long)cache | HSLAB_KMEM_OURS);
}

/*
 * CREATING AND DESTROYING
 */
static inline struct kmem_cache *
hslab_kmem_cache_create(const char *name, unsigned int size, unsigned int align,
			slab_flags_t flags, void (*ctor)(void *object))
{
	const struct hslab_args args = {
		.align = align, .flags = flags, .ctor = ctor,
	};

	return hslab_kmem_make(name, size, &args);
}

static inline struct kmem_cache *
hslab_kmem_cache_create_usercopy(const char *name, unsigned int size,
				 unsigned int align, slab_flags_t flags,
				 unsigned int useroffset, unsigned int usersize,
				 void (*ctor)(void *object))
{
	const struct hslab_args args = {
		.align = align, .flags = flags, .ctor = ctor,
		.useroffset = useroffset, .usersize = usersize,
	};

	return hslab_kmem_make(name, size, &args);
}

#ifdef kmem_cache_create	/* by struct kmem_cache_args, since 6.12 */
static inline struct kmem_cache *
hslab_kmem_cache_create_args(const char *name, unsigned int size,
			     const struct kmem_cache_args *kmem_args,
			     slab_flags_t flags)
{
	const struct hslab_args args = {
		.align = kmem_args->align, .flags = flags,
		.ctor = kmem_args->ctor,
		.useroffset = kmem_args->useroffset,
		.usersize = kmem_args->usersize,
	};

	/* No freeptr_offset: SLUB's free pointer is behind the object. */
	return hslab_kmem_make(name, size, &args);
}

static inline struct kmem_cache *
hslab_kmem_cache_create_default(const char *name, unsigned int size,
				const void *none, slab_flags_t flags)
{
	const struct hslab_args args = { .flags = flags };

	return hslab_kmem_make(name, size, &args);
}

/* What the macros kmem_cache_create() and KMEM_CACHE() choose from. */
#define __kmem_cache_create_args	hslab_kmem_cache_create_args
#define __kmem_cache_default_args	hslab_kmem_cache_create_default
#define __kmem_cache_create		hslab_kmem_cache_create
#else
#define kmem_cache_create		hslab_kmem_cache_create
#endif
#define kmem_cache_create_usercopy	hslab_kmem_cache_create_usercopy

static inline void hslab_kmem_cache_destroy(struct kmem_cache *s)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	if (ours)
		hslab_cache_destroy(ours);
	else
		kmem_cache_destroy(s);
}

static inline int hslab_kmem_cache_shrink(struct kmem_cache *s)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_cache_shrink(ours) : kmem_cache_shrink(s);
}

static inline unsigned int hslab_kmem_cache_size(struct kmem_cache *s)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_cache_size(ours) : kmem_cache_size(s);
}

#define kmem_cache_destroy	hslab_kmem_cache_destroy
#define kmem_cache_shrink	hslab_kmem_cache_shrink
#define kmem_cache_size		hslab_kmem_cache_size

/*
 * ALLOCATING
 */
static __always_inline void *hslab_kmem_cache_alloc(struct kmem_cache *s,
						    gfp_t gfp)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_alloc(ours, gfp) : kmem_cache_alloc(s, gfp);
}

static __always_inline void *hslab_kmem_cache_zalloc(struct kmem_cache *s,
						     gfp_t gfp)
{
	return hslab_kmem_cache_alloc(s, gfp | __GFP_ZERO);
}

static __always_inline void *hslab_kmem_cache_alloc_lru(struct kmem_cache *s,
							struct list_lru *lru,
							gfp_t gfp)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_alloc_lru(ours, lru, gfp) :
		      kmem_cache_alloc_lru(s, lru, gfp);
}

static __always_inline void *hslab_kmem_cache_alloc_node(struct kmem_cache *s,
							 gfp_t gfp, int node)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_alloc_node(ours, gfp, node) :
		      kmem_cache_alloc_node(s, gfp, node);
}

/* It returns how many there are, or since 7.x whether they are there: as here. */
#ifdef kmem_cache_alloc_bulk
#define HSLAB_KMEM_BULK	typeof(kmem_cache_alloc_bulk_noprof(NULL, 0, 0, NULL))
#else
#define HSLAB_KMEM_BULK	typeof(kmem_cache_alloc_bulk(NULL, 0, 0, NULL))
#endif

static inline HSLAB_KMEM_BULK
hslab_kmem_cache_alloc_bulk(struct kmem_cache *s, gfp_t gfp, size_t nr,
			    void **objects)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	return ours ? hslab_alloc_bulk(ours, gfp, nr, objects) :
		      kmem_cache_alloc_bulk(s, gfp, nr, objects);
}

/* What 7.x has for those who must not fail later. */
struct slab_sheaf *hslab_kmem_no_sheaf(void)
	__compiletime_error("hslab has no sheaves: leave this file to SLUB");
#define kmem_cache_prefill_sheaf(...)	hslab_kmem_no_sheaf()

/*
 * FREEING
 */
static __always_inline void hslab_kmem_cache_free(struct kmem_cache *s,
						  void *object)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);

	if (likely(ours))
		hslab_free(ours, object);
	else if (s)
		kmem_cache_free(s, object);
	else
		hslab_kmem_free_stray(object);
}

static inline void hslab_kmem_cache_free_bulk(struct kmem_cache *s, size_t nr,
					      void **objects)
{
	struct hslab_cache *ours = hslab_kmem_ours(s);
	size_t i;

	if (ours)
		hslab_free_bulk(ours, nr, objects);
	else if (s)
		kmem_cache_free_bulk(s, nr, objects);
	else
		for (i = 0; i < nr; i++)
			hslab_kmem_kfree(objects[i]);
}

static inline void hslab_kmem_kfree_bulk(size_t nr, void **objects)
{
	hslab_kmem_cache_free_bulk(NULL, nr, objects);
}

static inline void hslab_kmem_kvfree_sensitive(const void *area, size_t size)
{
	if (is_vmalloc_addr(area))
		kvfree_sensitive(area, size);
	else
		hslab_kmem_kfree_sensitive(area);
}

/* __free(kfree), __free(kvfree) and __free(kfree_sensitive) */
DEFINE_FREE(hslab_kmem_kfree, void *,
	    hslab_kmem_kfree(IS_ERR(_T) ? NULL : _T))
DEFINE_FREE(hslab_kmem_kvfree, void *,
	    hslab_kmem_kvfree(IS_ERR(_T) ? NULL : _T))
DEFINE_FREE(hslab_kmem_kfree_sensitive, void *,
	    hslab_kmem_kfree_sensitive(IS_ERR(_T) ? NULL : _T))

#define __free_kfree		__free_hslab_kmem_kfree
#define __free_kvfree		__free_hslab_kmem_kvfree
#define __free_kfree_sensitive	__free_hslab_kmem_kfree_sensitive

/* What kfree_rcu(), kvfree_rcu() and their forms that sleep come to. */
#define kvfree_call_rcu(head, what)					\
do {									\
	typeof(head) __hslab_head = (head);				\
	typeof(what) __hslab_what = (what);				\
									\
	if (!hslab_kmem_free_rcu(__hslab_head,				\
				 (const void *)__hslab_what))		\
		kvfree_call_rcu(__hslab_head, __hslab_what);		\
} while (0)

/*
 * SIZES
 */
static inline void *hslab_kmem_krealloc_array(void *object, size_t nr,
					      size_t size, gfp_t gfp)
{
	size_t bytes;

	if (unlikely(check_mul_overflow(nr, size, &bytes)))
		return NULL;
	return hslab_kmem_krealloc(object, bytes, gfp);
}

/*
 * MEMPOOLS
 */
static inline void *hslab_kmem_mempool_alloc(gfp_t gfp, void *s)
{
	return hslab_kmem_cache_alloc(s, gfp);
}

static inline void hslab_kmem_mempool_free(void *object, void *s)
{
	hslab_kmem_cache_free(s, object);
}

static inline int hslab_kmem_mempool_init(mempool_t *pool, int min_nr,
					  struct kmem_cache *s)
{
	return mempool_init(pool, min_nr, hslab_kmem_mempool_alloc,
			    hslab_kmem_mempool_free, s);
}

static inline mempool_t *hslab_kmem_mempool_create(int min_nr,
						   struct kmem_cache *s)
{
	return mempool_create(min_nr, hslab_kmem_mempool_alloc,
			      hslab_kmem_mempool_free, s);
}

#define mempool_alloc_slab		hslab_kmem_mempool_alloc
#define mempool_free_slab		hslab_kmem_mempool_free
#undef mempool_init_slab_pool
#define mempool_init_slab_pool		hslab_kmem_mempool_init
#undef mempool_create_slab_pool
#define mempool_create_slab_pool	hslab_kmem_mempool_create

/*
 * THE NAMES
 *
 * From here on the kernel's functions cannot be called any more.
 */
#undef kmem_cache_alloc
#define kmem_cache_alloc		hslab_kmem_cache_alloc
#undef kmem_cache_alloc_noprof
#define kmem_cache_alloc_noprof		hslab_kmem_cache_alloc
#undef kmem_cache_zalloc
#define kmem_cache_zalloc		hslab_kmem_cache_zalloc
#undef kmem_cache_alloc_lru
#define kmem_cache_alloc_lru		hslab_kmem_cache_alloc_lru
#undef kmem_cache_alloc_lru_noprof
#define kmem_cache_alloc_lru_noprof	hslab_kmem_cache_alloc_lru
#undef kmem_cache_alloc_node
#define kmem_cache_alloc_node		hslab_kmem_cache_alloc_node
#undef kmem_cache_alloc_node_noprof
#define kmem_cache_alloc_node_noprof	hslab_kmem_cache_alloc_node
#undef kmem_cache_alloc_bulk
#define kmem_cache_alloc_bulk		hslab_kmem_cache_alloc_bulk
#undef kmem_cache_alloc_bulk_noprof
#define kmem_cache_alloc_bulk_noprof	hslab_kmem_cache_alloc_bulk
#undef alloc_inode_sb
#define alloc_inode_sb(sb, s, gfp)	\
	hslab_kmem_cache_alloc_lru(s, &(sb)->s_inode_lru, gfp)

#define kmem_cache_free			hslab_kmem_cache_free
#define kmem_cache_free_bulk		hslab_kmem_cache_free_bulk
#define kfree				hslab_kmem_kfree
#define kvfree				hslab_kmem_kvfree
#define kfree_sensitive			hslab_kmem_kfree_sensitive
#define kvfree_sensitive		hslab_kmem_kvfree_sensitive
#define kfree_const			hslab_kmem_kfree_const
#define kfree_bulk			hslab_kmem_kfree_bulk
#define ksize				hslab_kmem_ksize
#undef krealloc
#define krealloc			hslab_kmem_krealloc
#undef krealloc_noprof
#define krealloc_noprof			hslab_kmem_krealloc
#undef krealloc_array
#define krealloc_array			hslab_kmem_krealloc_array
#undef krealloc_array_noprof
#define krealloc_array_noprof		hslab_kmem_krealloc_array
#define kmem_dump_obj			hslab_kmem_dump

#endif /* _LINUX_HSLAB_COMPAT_KMEM_H */
