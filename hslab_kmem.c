// SPDX-License-Identifier: GPL-2.0
/*
 * What include/linux/hslab_compat_kmem.h needs to have code that was written for
 * kmem_cache run on hslab: caches made from kmem_cache_create()'s arguments, and
 * frees that do not say which cache they mean.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ctype.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/sched/clock.h>

#include "hslab_internal.h"

/* A name that hslab takes, in place of any that kmem_cache_create() takes. */
static void hslab_kmem_name(char *to, const char *from)
{
	char *c;

	strscpy(to, from && *from ? from : "(unnamed)", HSLAB_NAME_LEN);
	for (c = to; *c; c++)
		if (*c == '/' || iscntrl(*c))
			*c = '!';
	if (!strcmp(to, ".") || !strcmp(to, ".."))
		*to = '!';
}

/* What the flags of slub_debug ask for, as policies. */
static void hslab_kmem_debug(struct hslab_cache *cache, slab_flags_t flags)
{
	if (flags & (SLAB_CONSISTENCY_CHECKS | SLAB_RED_ZONE))
		hslab_set_policy(cache, "check", "1");
	if (flags & SLAB_POISON) {
		hslab_set_policy(cache, "poison", "0x6b");
		hslab_set_policy(cache, "verify", "full");
	}
	if (flags & SLAB_STORE_USER)
		hslab_set_policy(cache, "track", "1");
}

/**
 * hslab_kmem_create() - make a cache as kmem_cache_create() is asked to
 * @name: its name, of which there may be several; a number is added then, and '!'
 *	stands for what cannot be in a file's name
 * @size: size of an object in bytes
 * @args: its other properties. Flags that hslab does not know are passed over,
 *	slub_debug's turned into policies.
 * @owner: the module
 *
 * Context: process context, may sleep.
 * Return: the cache, or ERR_PTR as hslab_cache_create(). With %SLAB_PANIC there is
 * no return without a cache.
 */
struct hslab_cache *hslab_kmem_create(const char *name, unsigned int size,
				      const struct hslab_args *args,
				      struct module *owner)
{
	struct hslab_args ours = *args;
	struct hslab_cache *cache;
	char unlike[HSLAB_NAME_LEN];

	hslab_kmem_name(unlike, name);
	ours.flags &= HSLAB_FLAGS_KNOWN;
	if (ours.align)
		ours.align = roundup_pow_of_two(ours.align);
	if (!ours.usersize)
		ours.useroffset = 0;
	cache = hslab_cache_make(unlike, size, &ours, module_name(owner),
				 HSLAB_CACHE_KMEM);
	if (!IS_ERR(cache))
		hslab_kmem_debug(cache, args->flags);
	else if (args->flags & SLAB_PANIC)
		panic("hslab: cannot create cache %s: %pe\n", unlike, cache);
	return cache;
}
EXPORT_SYMBOL_GPL(hslab_kmem_create);

/* Free what is in a page of hslab's. False if it is not. */
static bool hslab_kmem_free_ours(const void *object, bool defer,
				 unsigned long caller)
{
	struct hslab_identity id;
	bool ours;

	if (ZERO_OR_NULL_PTR(object))
		return false;
	rcu_read_lock();
	ours = hslab_identify((void *)object, &id);
	if (ours && defer)
		hslab_free_rcu_for(id.cache, (void *)object, caller);
	else if (ours)
		hslab_free_for(id.cache, (void *)object, caller);
	rcu_read_unlock();
	return ours;
}

/**
 * hslab_kmem_kfree() - kfree() for what may be an object of hslab's
 * @object: an object of any cache, what kmalloc() gave, NULL or ZERO_SIZE_PTR
 *
 * Context: that of kfree().
 */
void hslab_kmem_kfree(const void *object)
{
	if (!hslab_kmem_free_ours(object, false, _RET_IP_))
		kfree(object);
}
EXPORT_SYMBOL_GPL(hslab_kmem_kfree);

/**
 * hslab_kmem_kvfree() - kvfree() for what may be an object of hslab's
 * @object: as for hslab_kmem_kfree(), or what vmalloc() gave
 *
 * Context: that of kvfree().
 */
void hslab_kmem_kvfree(const void *object)
{
	if (!hslab_kmem_free_ours(object, false, _RET_IP_))
		kvfree(object);
}
EXPORT_SYMBOL_GPL(hslab_kmem_kvfree);

/*
 * Is @object in a page of hslab's? *@bytes is what its owner may use of it, 0 if it is no
 * live object.
 */
static bool hslab_kmem_sized_ours(const void *object, size_t *bytes)
{
	struct hslab_identity id;
	bool ours;

	*bytes = 0;
	if (ZERO_OR_NULL_PTR(object))
		return false;
	rcu_read_lock();
	ours = hslab_identify((void *)object, &id);
	if (ours && id.start == object && id.state == HSLAB_LIVE)
		*bytes = id.cache->size;
	rcu_read_unlock();
	return ours;
}

/**
 * hslab_kmem_kfree_sensitive() - kfree_sensitive() for what may be hslab's
 * @object: as for hslab_kmem_kfree()
 *
 * Context: that of kfree().
 */
void hslab_kmem_kfree_sensitive(const void *object)
{
	size_t size;

	if (!hslab_kmem_sized_ours(object, &size)) {
		kfree_sensitive(object);
		return;
	}
	if (size)
		memzero_explicit((void *)object, size);
	hslab_kmem_free_ours(object, false, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_kmem_kfree_sensitive);

/**
 * hslab_kmem_kfree_const() - kfree_const() for what may be an object of hslab's
 * @object: as for hslab_kmem_kfree(), or read-only data of the kernel
 *
 * Context: that of kfree().
 */
void hslab_kmem_kfree_const(const void *object)
{
	if (!hslab_kmem_free_ours(object, false, _RET_IP_))
		kfree_const(object);
}
EXPORT_SYMBOL_GPL(hslab_kmem_kfree_const);

/**
 * hslab_kmem_ksize() - ksize() for what may be an object of hslab's
 * @object: as for hslab_kmem_kfree()
 *
 * Context: any but NMI.
 * Return: the bytes that its owner may use, 0 if it has none.
 */
size_t hslab_kmem_ksize(const void *object)
{
	size_t size;

	if (ZERO_OR_NULL_PTR(object))
		return 0;
	return hslab_kmem_sized_ours(object, &size) ? size : ksize(object);
}
EXPORT_SYMBOL_GPL(hslab_kmem_ksize);

/**
 * hslab_kmem_krealloc() - krealloc() for what may be an object of hslab's
 * @object: as for hslab_kmem_kfree()
 * @size: bytes that are needed
 * @gfp: allocation flags
 *
 * What is no live object of hslab's, but in a page of hslab's, is reported as by
 * hslab_kmem_kfree().
 *
 * Context: as @gfp says; any but NMI.
 * Return: the memory, ZERO_SIZE_PTR for a @size of 0, or NULL; @object is as it was
 * then.
 */
void *hslab_kmem_krealloc(const void *object, size_t size, gfp_t gfp)
{
	void *moved;
	size_t old;

	if (!hslab_kmem_sized_ours(object, &old))
		return krealloc(object, size, gfp);
	if (!size || !old) {
		hslab_kmem_free_ours(object, false, _RET_IP_);
		return size ? NULL : ZERO_SIZE_PTR;
	}
	/* It may have been less before: the new size has an alignment of its own. */
	if (size <= old && IS_ALIGNED((unsigned long)object, size & -size)) {
		if (want_init_on_alloc(gfp))
			memset((void *)object + size, 0, old - size);
		return (void *)object;
	}
	if (size > HSLAB_KMALLOC_MAX || gfp & HSLAB_KMEM_GFP_SLUB)
		moved = kmalloc(size, gfp);
	else
		moved = hslab_kmem_kmalloc(size, gfp, NUMA_NO_NODE);
	if (!moved)
		return NULL;
	memcpy(moved, object, min(old, size));
	hslab_kmem_free_ours(object, false, _RET_IP_);
	return moved;
}
EXPORT_SYMBOL_GPL(hslab_kmem_krealloc);

/**
 * hslab_kmem_free_stray() - kmem_cache_free() that names no cache
 * @object: what is to be freed, or NULL
 *
 * An object of hslab's goes to its cache, one of SLUB's to SLUB. What is in no slab page
 * is reported.
 *
 * Context: any but NMI.
 */
void hslab_kmem_free_stray(void *object)
{
	if (!object || hslab_kmem_free_ours(object, false, _RET_IP_))
		return;
	if (hslab_compat_in_slab(object))
		kfree(object);
	else
		hslab_judge_stray(object, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_kmem_free_stray);

/*
 * The second argument of kvfree_call_rcu() is the object; in 6.1 with @head it is
 * how many bytes @head is from there, less than 4096.
 */
#define HSLAB_MAX_RCU_OFFSET	4096UL

/**
 * hslab_kmem_free_rcu() - kvfree_call_rcu() for what may be an object of hslab's
 * @head: the rcu_head in the object, or NULL. It is not used.
 * @what: the object, or the offset of @head in it
 *
 * Context: any but NMI.
 * Return: false if the object is none of hslab's; nothing was done then.
 */
bool hslab_kmem_free_rcu(void *head, const void *what)
{
	unsigned long offset = (unsigned long)what;

	if (head && offset < HSLAB_MAX_RCU_OFFSET)
		what = head - offset;
	return hslab_kmem_free_ours(what, true, _RET_IP_);
}
EXPORT_SYMBOL_GPL(hslab_kmem_free_rcu);

/* What is recorded of an object goes through the report that could be of it. */
static void hslab_kmem_print(const struct hslab_identity *id, void *address)
{
	static const struct hslab_fault none;
	struct hslab_fault *fault;

	pr_cont(" hslab cache %s", id->cache->name);
	if (!id->start) {
		pr_cont(", in no object\n");
		return;
	}
	pr_cont(", %s object start %p pointer offset %lu size %u\n",
		id->state == HSLAB_LIVE ? "live" : "free", id->start,
		(unsigned long)(address - id->start), id->cache->size);
	fault = kmemdup(&none, sizeof(none), GFP_NOWAIT | __GFP_NOWARN);
	if (!fault)
		return;
	fault->object = id->start;
	fault->when = local_clock();
	hslab_track_fault(fault);
	hslab_track_print(NULL, fault);
	kfree(fault);
}

/**
 * hslab_kmem_dump() - kmem_dump_obj() for what may be an object of hslab's
 * @address: any address
 *
 * The line that the kernel's log is at is continued.
 *
 * Context: any but NMI.
 * Return: true if it is in a slab page.
 */
bool hslab_kmem_dump(void *address)
{
	struct hslab_identity id;
	bool ours;

	rcu_read_lock();
	ours = hslab_identify(address, &id);
	if (ours)
		hslab_kmem_print(&id, address);
	rcu_read_unlock();
	return ours || kmem_dump_obj(address);
}
EXPORT_SYMBOL_GPL(hslab_kmem_dump);
