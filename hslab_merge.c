// SPDX-License-Identifier: GPL-2.0
/*
 * Which caches share slots: the decision, and the table of stores.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/random.h>

#include "hslab_internal.h"

const char *const hslab_refusal_names[HSLAB_NR_REFUSALS] = {
	[HSLAB_SHARE]		= "shares",
	[HSLAB_REFUSE_POLICY]	= "merge policy differs",
	[HSLAB_REFUSE_OWNER]	= "owner differs",
	[HSLAB_REFUSE_GROUP]	= "group differs",
	[HSLAB_REFUSE_SIZE]	= "object size differs",
	[HSLAB_REFUSE_ALIGN]	= "alignment differs",
	[HSLAB_REFUSE_RCU]	= "SLAB_TYPESAFE_BY_RCU never shares",
	[HSLAB_REFUSE_FLAGS]	= "slab flags differ",
	[HSLAB_REFUSE_USERCOPY]	= "usercopy window differs",
	[HSLAB_REFUSE_TRACK]	= "one is tracked",
	[HSLAB_REFUSE_BUCKET]	= "bucket sets never share",
};

static_assert(ARRAY_SIZE(hslab_refusal_names) == HSLAB_NR_REFUSALS);

/**
 * hslab_merge_decide() - may caches of two kinds share a store?
 * @a: geometry of one
 * @da: whom it wants to share with
 * @b: geometry of the other
 * @db: whom that wants to share with
 *
 * Pure. Who reads objects of a SLAB_TYPESAFE_BY_RCU cache may find another one
 * of its type there, but no other type: such a cache shares with itself only, and
 * so does one of a bucket set, whose purpose that is.
 * Else policy is looked at first, then what makes slots differ, so that the
 * reason names what an administrator can change before what nobody can.
 *
 * Return: %HSLAB_SHARE, or the first reason why not.
 */
enum hslab_refusal hslab_merge_decide(const struct hslab_geometry *a,
				      const struct hslab_domain *da,
				      const struct hslab_geometry *b,
				      const struct hslab_domain *db)
{
	if (((a->flags | b->flags) & SLAB_TYPESAFE_BY_RCU) &&
	    (da->merge != HSLAB_MERGE_NEVER || db->merge != HSLAB_MERGE_NEVER ||
	     da->cache != db->cache))
		return HSLAB_REFUSE_RCU;
	if (da->bucket != db->bucket ||
	    (da->bucket && da->cache != db->cache))
		return HSLAB_REFUSE_BUCKET;
	if (da->merge != db->merge)
		return HSLAB_REFUSE_POLICY;

	switch (da->merge) {
	case HSLAB_MERGE_NEVER:
		if (da->cache != db->cache)
			return HSLAB_REFUSE_POLICY;
		break;
	case HSLAB_MERGE_OWNER:
		if (strcmp(da->name, db->name))
			return HSLAB_REFUSE_OWNER;
		break;
	case HSLAB_MERGE_GROUP:
		if (strcmp(da->name, db->name))
			return HSLAB_REFUSE_GROUP;
		break;
	default:
		break;
	}

	if (a->payload != b->payload)
		return HSLAB_REFUSE_SIZE;
	if (a->align != b->align)
		return HSLAB_REFUSE_ALIGN;
	if (a->flags != b->flags)
		return HSLAB_REFUSE_FLAGS;
	if (a->useroffset != b->useroffset || a->usersize != b->usersize)
		return HSLAB_REFUSE_USERCOPY;
	if (a->tracked != b->tracked)
		return HSLAB_REFUSE_TRACK;
	return HSLAB_SHARE;
}

/* The domain that a cache's policy asks for. */
void hslab_domain_of(struct hslab_domain *domain,
		     const struct hslab_cache *cache)
{
	lockdep_assert_held(&hslab_mutex);

	memset(domain, 0, sizeof(*domain));
	domain->merge = cache->policy.merge;
	if (cache->geometry.flags & SLAB_TYPESAFE_BY_RCU)
		domain->merge = HSLAB_MERGE_NEVER;
	if (cache->alone) {
		domain->merge = HSLAB_MERGE_NEVER;
		domain->bucket = true;
	}
	switch (domain->merge) {
	case HSLAB_MERGE_NEVER:
		domain->cache = cache->id;
		break;
	case HSLAB_MERGE_OWNER:
		strscpy(domain->name, cache->owner, sizeof(domain->name));
		break;
	case HSLAB_MERGE_GROUP:
		strscpy(domain->name, cache->policy.group, sizeof(domain->name));
		break;
	default:
		break;
	}
}

LIST_HEAD(hslab_stores);

static DECLARE_BITMAP(hslab_store_ids, HSLAB_STORES_MAX);

/* Stores by their kmem_cache. RCU readers. */
#define HSLAB_BY_KMEM_BITS	6

static DEFINE_HASHTABLE(hslab_by_kmem, HSLAB_BY_KMEM_BITS);
static DEFINE_RAW_SPINLOCK(hslab_by_kmem_lock);	/* leaf; for those who change it */

/*
 * The store of the slab page that @object is in; NULL for what is in no slab page, or
 * in one of another. In an RCU read-side critical section, any context but NMI.
 */
struct hslab_store *hslab_store_of(const void *object)
{
	const struct kmem_cache *kmem;
	struct hslab_store *store;

	if (!hslab_slab_cache_off || !hslab_compat_in_slab(object))
		return NULL;
	kmem = hslab_slab_cache(object);
	hash_for_each_possible_rcu(hslab_by_kmem, store, by_kmem,
				   (unsigned long)kmem)
		if (store->kmem == kmem)
			return store;
	return NULL;
}

/* A store that takes such a cache in, or NULL. */
struct hslab_store *hslab_store_find(const struct hslab_geometry *geometry,
				     const struct hslab_domain *domain)
{
	struct hslab_store *store;

	lockdep_assert_held(&hslab_mutex);

	list_for_each_entry(store, &hslab_stores, node)
		if (hslab_merge_decide(geometry, domain, &store->geometry,
				       &store->domain) == HSLAB_SHARE)
			return store;
	return NULL;
}

/* The alignment that mm/slab_common.c's calculate_alignment() comes to, 8 at least. */
unsigned int hslab_alignment(unsigned int align, slab_flags_t flags,
			     unsigned int size)
{
	align = max_t(unsigned int, align, sizeof(u64));
	if (flags & SLAB_HWCACHE_ALIGN) {
		unsigned int line = cache_line_size();

		while (size <= line / 2)
			line /= 2;
		align = max(align, line);
	}
	return align;
}

/**
 * hslab_slot_size() - bytes that an object takes in a slab page
 * @geometry: payload and alignment
 *
 * What calculate_sizes() in mm/slub.c comes to for a cache with a constructor
 * and without slub_debug: the free pointer lies behind the object.
 *
 * Return: bytes: payload, tag, free pointer and alignment.
 */
unsigned int hslab_slot_size(const struct hslab_geometry *geometry)
{
	return ALIGN(geometry->payload + hslab_tag_bytes(geometry) +
		     sizeof(void *), geometry->align);
}

/*
 * The inverse of an odd number modulo 2^64, by Newton's iteration: an odd number
 * is its own inverse in 3 bits, and each step doubles the bits.
 */
static u64 hslab_inverse(u64 odd)
{
	u64 inverse = odd;
	int bits;

	for (bits = 3; bits < 64; bits *= 2)
		inverse *= 2 - odd * inverse;
	return inverse;
}

/* The kmem_cache is gone, or was never made; the number is free from now on. */
static void hslab_store_free(struct hslab_store *store)
{
	WRITE_ONCE(hslab_store_of_ctor[store->id], NULL);
	clear_bit(store->id, hslab_store_ids);	/* atomic: without hslab_mutex */
	kfree_rcu(store, rcu);	/* hslab_judge_free() may be looking */
}

/**
 * hslab_store_create() - create a store
 * @geometry: what its objects are like
 * @domain: whom it takes in
 * @name: of the cache it is made for; part of the kmem_cache's name
 *
 * The store is neither on hslab_stores nor in sysfs yet.
 *
 * Context: process context, with hslab_mutex.
 * Return: the store, or ERR_PTR: -ENOSPC when there are %HSLAB_STORES_MAX,
 * -ENOMEM.
 */
struct hslab_store *hslab_store_create(const struct hslab_geometry *geometry,
				       const struct hslab_domain *domain,
				       const char *name)
{
	struct hslab_store *store;
	unsigned int id;

	lockdep_assert_held(&hslab_mutex);

	id = find_first_zero_bit(hslab_store_ids, HSLAB_STORES_MAX);
	if (id == HSLAB_STORES_MAX) {
		pr_warn("cache %s: all %d stores are in use\n", name,
			HSLAB_STORES_MAX);
		return ERR_PTR(-ENOSPC);
	}
	store = kzalloc(sizeof(*store), GFP_KERNEL);
	if (!store)
		return ERR_PTR(-ENOMEM);

	store->id = id;
	store->geometry = *geometry;
	store->domain = *domain;
	store->tag_off = geometry->payload;
	store->plain = (u64)id << HSLAB_STORE_SHIFT;
	store->fresh = hslab_fill_bits(HSLAB_FILL_FRESH, 0);
	store->key = get_random_u64() | 1;
	store->multiplier = get_random_u64() | 1;
	store->inverse = hslab_inverse(store->multiplier);
	store->random = get_random_u64();
	store->padding = get_random_u64() | 0x0101010101010101ULL;
	INIT_LIST_HEAD(&store->node);
	INIT_LIST_HEAD(&store->routes);
	raw_spin_lock_init(&store->aside_lock);
	init_completion(&store->kobj_gone);
	snprintf(store->kmem_name, sizeof(store->kmem_name), "hslab:%u:%s", id,
		 name);

	/* pairs with the dependent reads of hslab_find_owner() */
	smp_store_release(&hslab_store_of_ctor[id], store);
	set_bit(id, hslab_store_ids);
	store->kmem = kmem_cache_create_usercopy(store->kmem_name,
						 geometry->payload +
						 hslab_tag_bytes(geometry),
						 geometry->align,
						 geometry->flags,
						 geometry->useroffset,
						 geometry->usersize,
						 hslab_ctors[id]);
	if (!store->kmem) {
		hslab_store_free(store);
		return ERR_PTR(-ENOMEM);
	}
	raw_spin_lock_irq(&hslab_by_kmem_lock);
	hash_add_rcu(hslab_by_kmem, &store->by_kmem,
		     (unsigned long)store->kmem);
	raw_spin_unlock_irq(&hslab_by_kmem_lock);
	return store;
}

/**
 * hslab_store_destroy() - destroy a store that nobody uses
 * @store: off hslab_stores, without a route, and with no object in use
 *
 * When there are objects that cannot be given back to SLUB, the kmem_cache stays,
 * and this module for its constructor.
 *
 * Context: process context.
 */
void hslab_store_destroy(struct hslab_store *store)
{
	if (!hslab_aside_release(store)) {
		pr_err("store %u: objects set aside are lost, and %s with them\n",
		       store->id, store->kmem_name);
		__module_get(THIS_MODULE);
		return;
	}
	raw_spin_lock_irq(&hslab_by_kmem_lock);
	hash_del_rcu(&store->by_kmem);
	raw_spin_unlock_irq(&hslab_by_kmem_lock);
	kmem_cache_destroy(store->kmem);
	hslab_store_free(store);
}
