/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Code that was written for kmalloc(), on hslab unchanged: with this, kmalloc() and its
 * kin up to HSLAB_KMALLOC_MAX are hslab_kmem_kmalloc(), with the caches hslab-* and
 * hslab-kmalloc-*.
 *
 * Include hslab_compat_kmem.h before everything else, in all files of the module: it
 * has kfree() and krealloc() look whose the memory is. Include this after all other
 * headers: functions of theirs that allocate for the kernel to free, as
 * genradix_alloc_node() does, must have taken SLUB's kmalloc() by then. (scripts/hslabify
 * --kmalloc does both.)
 *
 * SLUB's stays
 *  - what is larger, or has a flag of HSLAB_KMEM_GFP_SLUB: GFP_DMA, GFP_KERNEL_ACCOUNT
 *  - what the kernel allocates for its caller: kstrdup(), kmemdup(), kasprintf(),
 *    memdup_user(), devm_kmalloc(), and kmalloc_track_caller() likewise
 *  - kvmalloc(), since kvrealloc() is the kernel's
 *
 * What must not be: that the kernel frees or resizes what the module has allocated
 * (kfree_link() of an i_link, seq_release_private() of what was put there by hand). It
 * takes the object for SLUB's: its slot is lost, and reported as not-freed when it comes
 * up again. Memory that is handed over so has to be from kmemdup() or the like, or the
 * file be left without this header.
 */
#ifndef _LINUX_HSLAB_COMPAT_KMALLOC_H
#define _LINUX_HSLAB_COMPAT_KMALLOC_H

#include <linux/hslab_compat_kmem.h>

static __always_inline __alloc_size(1) void *
hslab_kmem_kmalloc_node(size_t size, gfp_t gfp, int node)
{
	if (size > HSLAB_KMALLOC_MAX || gfp & HSLAB_KMEM_GFP_SLUB)
		return kmalloc_node(size, gfp, node);
	return hslab_kmem_kmalloc(size, gfp, node);
}

static __always_inline __alloc_size(1) void *
hslab_kmem_kmalloc_any(size_t size, gfp_t gfp)
{
	return hslab_kmem_kmalloc_node(size, gfp, NUMA_NO_NODE);
}

static __always_inline __alloc_size(1) void *
hslab_kmem_kzalloc(size_t size, gfp_t gfp)
{
	return hslab_kmem_kmalloc_any(size, gfp | __GFP_ZERO);
}

static __always_inline __alloc_size(1) void *
hslab_kmem_kzalloc_node(size_t size, gfp_t gfp, int node)
{
	return hslab_kmem_kmalloc_node(size, gfp | __GFP_ZERO, node);
}

static __always_inline __alloc_size(1, 2) void *
hslab_kmem_kmalloc_array_node(size_t nr, size_t size, gfp_t gfp, int node)
{
	size_t bytes;

	if (unlikely(check_mul_overflow(nr, size, &bytes)))
		return NULL;
	return hslab_kmem_kmalloc_node(bytes, gfp, node);
}

static __always_inline __alloc_size(1, 2) void *
hslab_kmem_kmalloc_array(size_t nr, size_t size, gfp_t gfp)
{
	return hslab_kmem_kmalloc_array_node(nr, size, gfp, NUMA_NO_NODE);
}

static __always_inline __alloc_size(1, 2) void *
hslab_kmem_kcalloc(size_t nr, size_t size, gfp_t gfp)
{
	return hslab_kmem_kmalloc_array(nr, size, gfp | __GFP_ZERO);
}

static __always_inline __alloc_size(1, 2) void *
hslab_kmem_kcalloc_node(size_t nr, size_t size, gfp_t gfp, int node)
{
	return hslab_kmem_kmalloc_array_node(nr, size, gfp | __GFP_ZERO, node);
}

/* From nothing to something is an allocation as well. */
static __always_inline void *
hslab_kmem_krealloc_any(const void *object, size_t size, gfp_t gfp)
{
	return ZERO_OR_NULL_PTR(object) ? hslab_kmem_kmalloc_any(size, gfp) :
					  hslab_kmem_krealloc(object, size, gfp);
}

static inline void *
hslab_kmem_krealloc_array_any(void *object, size_t nr, size_t size, gfp_t gfp)
{
	size_t bytes;

	if (unlikely(check_mul_overflow(nr, size, &bytes)))
		return NULL;
	return hslab_kmem_krealloc_any(object, bytes, gfp);
}

void *hslab_kmem_no_kvrealloc(void)
	__compiletime_error("hslab has no kvrealloc(): leave this file's kmalloc() to SLUB");

/* The names; those without _noprof are macros since 6.10. */
#undef kmalloc
#define kmalloc				hslab_kmem_kmalloc_any
#undef kmalloc_noprof
#define kmalloc_noprof			hslab_kmem_kmalloc_any
#undef kmalloc_node
#define kmalloc_node			hslab_kmem_kmalloc_node
#undef kmalloc_node_noprof
#define kmalloc_node_noprof		hslab_kmem_kmalloc_node
#undef kzalloc
#define kzalloc				hslab_kmem_kzalloc
#undef kzalloc_noprof
#define kzalloc_noprof			hslab_kmem_kzalloc
#undef kzalloc_node
#define kzalloc_node			hslab_kmem_kzalloc_node
#undef kmalloc_array
#define kmalloc_array			hslab_kmem_kmalloc_array
#undef kmalloc_array_noprof
#define kmalloc_array_noprof		hslab_kmem_kmalloc_array
#undef kmalloc_array_node
#define kmalloc_array_node		hslab_kmem_kmalloc_array_node
#undef kmalloc_array_node_noprof
#define kmalloc_array_node_noprof	hslab_kmem_kmalloc_array_node
#undef kcalloc
#define kcalloc				hslab_kmem_kcalloc
#undef kcalloc_node
#define kcalloc_node			hslab_kmem_kcalloc_node
#undef krealloc
#define krealloc			hslab_kmem_krealloc_any
#undef krealloc_noprof
#define krealloc_noprof			hslab_kmem_krealloc_any
#undef krealloc_array
#define krealloc_array			hslab_kmem_krealloc_array_any
#undef krealloc_array_noprof
#define krealloc_array_noprof		hslab_kmem_krealloc_array_any
#undef kvrealloc
#define kvrealloc(...)			hslab_kmem_no_kvrealloc()
#undef kvrealloc_noprof
#define kvrealloc_noprof(...)		hslab_kmem_no_kvrealloc()

#endif /* _LINUX_HSLAB_COMPAT_KMALLOC_H */
