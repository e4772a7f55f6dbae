// SPDX-License-Identifier: GPL-2.0
/*
 * What can be known of SLUB's slab pages: which kmem_cache a page belongs to, and
 * where in it objects begin.
 *
 * Both are SLUB's own business, and are learned by looking: where in struct page
 * the pointer to the kmem_cache lies, from objects of two caches made for that;
 * the distance of objects, from the addresses that the constructor gets. What
 * cannot be learned is not used.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/gcd.h>
#include <linux/init.h>
#include <linux/memory_hotplug.h>
#include <linux/sched.h>

#include "hslab_internal.h"

/* Bytes from a head page to the pointer to its kmem_cache; 0 while unknown. */
unsigned int hslab_slab_cache_off __ro_after_init;

/**
 * hslab_slab_learn() - learn from the address of a new object
 * @store: its store
 * @object: the object, as the constructor gets it
 *
 * All objects of a page are constructed in a row, so the distance is known with
 * the first page, unless it has a single object; the first %HSLAB_LEARN_FROM
 * objects are looked at. A lost race loses a sample.
 *
 * Context: any but NMI.
 */
void hslab_slab_learn(struct hslab_store *store, const void *object)
{
	const void *page = page_address(virt_to_head_page(object));
	const void *last = READ_ONCE(store->last_made);

	if (hslab_compat_is_kfence(object))
		return;
	WRITE_ONCE(store->nr_learned, READ_ONCE(store->nr_learned) + 1);
	if (last && page_address(virt_to_head_page(last)) == page &&
	    last != object)
		WRITE_ONCE(store->stride,
			   gcd(READ_ONCE(store->stride),
			       last < object ? object - last : last - object));
	WRITE_ONCE(store->phase, object - page);
	WRITE_ONCE(store->last_made, object);
}

/**
 * hslab_slab_is_slot() - does an object of a store begin here?
 * @store: the store
 * @object: an address in a slab page
 *
 * Context: any but NMI.
 * Return: true if the page is the store's, as far as can be known, and the address
 * as far from its start as those of other objects.
 */
bool hslab_slab_is_slot(const struct hslab_store *store, const void *object)
{
	const void *page = page_address(virt_to_head_page(object));
	unsigned int stride = READ_ONCE(store->stride);
	unsigned int phase = READ_ONCE(store->phase);
	unsigned int slot = hslab_slot_size(&store->geometry);

	/* KFENCE puts an object anywhere in a page of its own. */
	if (!hslab_slab_cache_off || hslab_slab_cache(object) != store->kmem ||
	    hslab_compat_is_kfence(object))
		return false;
	/* What is left behind the last slot may be large enough for a tag. */
	if (stride)
		slot = max(slot, stride - phase % stride);
	if (hslab_compat_to_slab_end(object) < slot)
		return false;
	return stride ? (object - page) % stride == phase % stride :
			object - page == phase;
}

/**
 * hslab_slab_astray() - is what SLUB handed out no object of a store?
 * @store: the store
 * @object: what SLUB handed out, with no tag of @store; nothing there is touched
 *
 * Who overwrites SLUB's free pointers can make it hand out anything.
 *
 * Context: any but NMI.
 * Return: true if that is certain.
 */
bool hslab_slab_astray(const struct hslab_store *store, const void *object)
{
	if (!hslab_compat_in_slab(object))
		return true;
	return hslab_slab_cache_off && !hslab_compat_is_kfence(object) &&
	       !hslab_slab_is_slot(store, object);
}

/* Is @page the first of a slab page of @store? */
static bool hslab_is_slab_of(const struct hslab_store *store, struct page *page)
{
	return compound_head(page) == page && PageSlab(page) &&
	       hslab_slab_cache(page_address(page)) == store->kmem;
}

/* The objects of a page of KFENCE's: at its start, or as far up as they fit. */
static unsigned int hslab_walk_kfence(struct hslab_store *store, void *page,
				      hslab_walk_t *fn, void *arg)
{
	unsigned int bytes = store->tag_off + hslab_tag_bytes(&store->geometry);
	void *upper = page + ALIGN_DOWN(PAGE_SIZE - bytes,
					store->geometry.align);
	u64 plain, word;
	void *object;

	if (!hslab_compat_tag_read(page, &word))
		return 0;	/* free */
	for (object = page; ; object = upper) {
		if (hslab_compat_tag_read(hslab_tag(object, store->tag_off),
					  &word)) {
			plain = hslab_decode(store, object, word);
			if (hslab_tag_whole(plain, store->plain)) {
				fn(store, object, arg);
				return 1;
			}
		}
		if (object == upper)
			break;
	}
	fn(store, upper, arg);	/* with a tag that tells nothing */
	return 1;
}

/* The objects of a slab page. How many, or -ENODATA. */
static int hslab_walk_page(struct hslab_store *store, struct page *head,
			   hslab_walk_t *fn, void *arg)
{
	unsigned int stride = READ_ONCE(store->stride);
	unsigned int phase = READ_ONCE(store->phase);
	unsigned int slot = hslab_slot_size(&store->geometry);
	unsigned int order = compound_order(head);
	void *page = page_address(head);
	size_t at, size = PAGE_SIZE << order;
	int nr = 0;

	if (order > get_order(KMALLOC_MAX_SIZE) ||
	    !hslab_is_slab_of(store, head))
		return 0;	/* it was given back meanwhile */
	if (hslab_compat_is_kfence(page))
		return hslab_walk_kfence(store, page, fn, arg);
	if (!stride) {
		if (size >= phase + 2 * (size_t)slot)
			return -ENODATA;
		stride = size;
	}
	slot = max(slot, stride - phase % stride);
	for (at = phase % stride; at + slot <= size; at += stride, nr++)
		fn(store, page + at, arg);
	return nr;
}

/**
 * hslab_slab_walk() - visit all objects of a store, live and free
 * @store: the store; it cannot go away meanwhile
 * @fn: what to do with each; the object may change at any time, and its page may
 *	be given back: only what can be read without a fault may be looked at
 * @arg: for @fn
 *
 * All pages of the system are looked at. Objects that are there all the time are
 * not missed.
 *
 * Context: process context, may sleep.
 * Return: how many objects were visited; -EOPNOTSUPP when it is not known which
 * pages a kmem_cache has, -ENODATA when it is not known where in them objects are.
 */
long hslab_slab_walk(struct hslab_store *store, hslab_walk_t *fn, void *arg)
{
	unsigned long pfn, end = PHYS_PFN(__pa(high_memory - 1)) + 1;
	long sum = 0;
	int nr;

	if (!hslab_slab_cache_off)
		return -EOPNOTSUPP;
	for (pfn = PHYS_PFN(__pa(PAGE_OFFSET)); pfn < end; pfn++) {
		struct page *page;

		if (!(pfn % 1024))
			cond_resched();
		page = pfn_to_online_page(pfn);
		if (!page) {
			pfn |= PAGES_PER_SECTION - 1;
			continue;
		}
		if (!hslab_is_slab_of(store, page))
			continue;
		nr = hslab_walk_page(store, page, fn, arg);
		if (nr < 0)
			return nr;
		sum += nr;
	}
	return sum;
}

static void __init hslab_probe_ctor(void *object)
{
}

/* Where the page of a new object of @kmem has a pointer to @kmem; 0 if nowhere, or twice. */
static unsigned int __init hslab_slab_probe(struct kmem_cache *kmem)
{
	unsigned int i, off = 0;
	unsigned long *words;
	void *object;

	object = kmem_cache_alloc(kmem, GFP_KERNEL);
	if (!object)
		return 0;
	words = (unsigned long *)virt_to_head_page(object);
	for (i = 1; i < sizeof(struct page) / sizeof(*words); i++) {
		if (words[i] != (unsigned long)kmem)
			continue;
		if (off) {
			off = 0;
			break;
		}
		off = i * sizeof(*words);
	}
	kmem_cache_free(kmem, object);
	return off;
}

/* Learn hslab_slab_cache_off; without it, less is known of a strange pointer. */
void __init hslab_slab_init(void)
{
	unsigned int i, off[2] = {};

	for (i = 0; i < ARRAY_SIZE(off); i++) {
		struct kmem_cache *kmem;

		/* A constructor, so that it is not merged. */
		kmem = kmem_cache_create(i ? "hslab:probe1" : "hslab:probe0",
					 64 << i, 8, 0, hslab_probe_ctor);
		if (!kmem)
			return;
		off[i] = hslab_slab_probe(kmem);
		kmem_cache_destroy(kmem);
	}
	if (off[0] == off[1])
		hslab_slab_cache_off = off[0];
	if (!hslab_slab_cache_off)
		pr_notice("cannot tell which kmem_cache a page belongs to\n");
}
