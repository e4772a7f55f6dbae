// SPDX-License-Identifier: GPL-2.0
/*
 * Seeing the frees of attached caches, while SLUB has not got the object yet: by its two
 * tracepoints, and for bulk frees, which have none, by ftrace. All three are there
 * only while something is attached.
 *
 * They run for the frees of every cache, in any context. So they take no lock, and the
 * first thing they do is to look whether the cache is one of ours.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <trace/events/kmem.h>

#include "hslab_attach.h"

/*
 * THE TABLE
 *
 * Open addressing: a reader goes on until it finds the cache, or a free place. There are
 * two tables, of which readers have one. A cache enters at a free place of that; when one
 * leaves, the others are put into the other table, which readers get then. So three of
 * four places are free whatever came and went, and no reader looks for long. Changed
 * under hslab_attach_mutex.
 */
#define HSLAB_PLACES		256
#define HSLAB_PLACES_BITS	ilog2(HSLAB_PLACES)
#define HSLAB_ATTACH_MOST	(HSLAB_PLACES / 4)

struct hslab_place {
	const struct kmem_cache *kmem;
	struct hslab_attachment *a;
};

static struct hslab_place hslab_tables[2][HSLAB_PLACES];
static struct hslab_place *hslab_places __read_mostly = hslab_tables[0];
static unsigned int hslab_nr_attached;

static __always_inline unsigned int hslab_first_place(const struct kmem_cache *kmem)
{
	return hash_ptr(kmem, HSLAB_PLACES_BITS);
}

/* Preemption is off, for as long as what is returned is used. */
static __always_inline struct hslab_attachment *
hslab_attached(const struct kmem_cache *kmem)
{
	/* pairs with smp_store_release() in hslab_place_leave() */
	const struct hslab_place *places = smp_load_acquire(&hslab_places);
	unsigned int i = hslab_first_place(kmem);
	const struct kmem_cache *here;

	/* pairs with smp_store_release() in hslab_place_put() */
	while ((here = smp_load_acquire(&places[i].kmem))) {
		if (here == kmem)
			return READ_ONCE(places[i].a);
		i = (i + 1) % HSLAB_PLACES;
	}
	return NULL;
}

static void hslab_place_put(struct hslab_place *places,
			    const struct kmem_cache *kmem,
			    struct hslab_attachment *a)
{
	unsigned int i = hslab_first_place(kmem);

	while (places[i].kmem)
		i = (i + 1) % HSLAB_PLACES;
	WRITE_ONCE(places[i].a, a);
	/* pairs with smp_load_acquire() in hslab_attached() */
	smp_store_release(&places[i].kmem, kmem);
}

static int hslab_place_enter(struct hslab_attachment *a)
{
	if (hslab_nr_attached == HSLAB_ATTACH_MOST)
		return -ENOSPC;
	hslab_place_put(hslab_places, a->target.kmem, a);
	hslab_nr_attached++;
	return 0;
}

/* Readers may have the former table until the caller has waited for them. */
static void hslab_place_leave(struct hslab_attachment *a)
{
	struct hslab_place *from = hslab_places, *to;
	unsigned int i;

	to = hslab_tables[from == hslab_tables[0]];
	memset(to, 0, sizeof(hslab_tables[0]));
	for (i = 0; i < HSLAB_PLACES; i++)
		if (from[i].kmem && from[i].a != a)
			hslab_place_put(to, from[i].kmem, from[i].a);
	/* pairs with smp_load_acquire() in hslab_attached() */
	smp_store_release(&hslab_places, to);
	hslab_nr_attached--;
}

/*
 * A FREE
 */

/* Does an object of the cache begin at @object? All of its slab pages are alike. */
static __always_inline bool hslab_begins_at(const struct hslab_attachment *a,
					    const void *object)
{
	const void *page = page_address(virt_to_head_page(object));

	return hslab_slab_cache(object) == a->target.kmem &&
	       !((u32)(object - page) % a->slot);
}

/* Fill, bytes behind the last whole word included. */
void hslab_attach_fill(struct hslab_attachment *a, void *object, u8 byte)
{
	unsigned int words = a->size / sizeof(u64);

	if (words)
		hslab_fill(object, words, byte * 0x0101010101010101ULL);
	memset((u64 *)object + words, byte, a->size % sizeof(u64));
}

/* Count a free. True if hslab may touch the object. */
static __always_inline bool hslab_attach_may(struct hslab_attachment *a,
					     const void *object, bool bulk)
{
	this_cpu_inc(a->counts->frees);
	if (bulk)
		this_cpu_inc(a->counts->bulk);
	if (hslab_compat_is_kfence(object)) {
		this_cpu_inc(a->counts->kfence);
		return false;
	}
	if (!hslab_begins_at(a, object)) {
		this_cpu_inc(a->counts->astray);
		return false;
	}
	return true;
}

/* A free that SLUB is about to do. In quarantine's hands it was before. */
static noinline void hslab_attach_free(struct hslab_attachment *a, void *object,
				       bool bulk)
{
	u32 mode = READ_ONCE(a->mode);

	if (mode == HSLAB_ATTACH_QUARANTINE || hslab_attach_drains() ||
	    !hslab_attach_may(a, object, bulk) || mode == HSLAB_ATTACH_COUNT)
		return;
	hslab_attach_fill(a, object, mode == HSLAB_ATTACH_POISON ?
				     READ_ONCE(a->byte) : 0);
	this_cpu_inc(a->counts->filled);
}

/* What SLUB is to free in place of @object: that, another, or NULL for nothing. */
static noinline void *hslab_attach_instead(struct hslab_attachment *a,
					   void *object, bool bulk,
					   unsigned long caller)
{
	if (READ_ONCE(a->mode) != HSLAB_ATTACH_QUARANTINE ||
	    hslab_attach_drains() || !hslab_attach_may(a, object, bulk))
		return object;
	return hslab_attach_swap(a, object, caller);
}

/* The attachment of the slab page that @object is in, if any. */
static __always_inline struct hslab_attachment *
hslab_attached_to_page(const void *object)
{
	if (ZERO_OR_NULL_PTR(object) || !PageSlab(virt_to_head_page(object)))
		return NULL;
	return hslab_attached(hslab_slab_cache(object));
}

static void hslab_see_kfree(void *unused, unsigned long caller,
			    const void *object)
{
	struct hslab_attachment *a = hslab_attached_to_page(object);

	if (unlikely(a))
		hslab_attach_free(a, (void *)object, false);
}

static void hslab_see_cache_free(void *unused, unsigned long caller,
				 const void *object, const struct kmem_cache *kmem)
{
	struct hslab_attachment *a = hslab_attached(kmem);

	if (unlikely(a) && object)
		hslab_attach_free(a, (void *)object, false);
}

/* What a call is made of that is not to be; false, where its caller wants an answer. */
static noinline notrace bool hslab_do_nothing(void)
{
	barrier();
	return false;
}

/*
 * kmem_cache_free_bulk(kmem, nr, objects); without a kmem_cache it is kfree_bulk().
 * Who calls it does not look at the array any more; SLUB clobbers it, too.
 */
static __always_inline void hslab_see_bulk_free(unsigned long ip, unsigned long parent,
					struct ftrace_ops *ops,
					struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);
	size_t i, kept = 0, nr = hslab_compat_argument(regs, 1);
	void **objects = (void *)hslab_compat_argument(regs, 2);
	struct hslab_attachment *a = NULL;

	if (kmem) {
		a = hslab_attached(kmem);
		if (likely(!a))
			return;
	}
	for (i = 0; i < nr; i++) {
		void *object = objects[i];

		if (!kmem)
			a = hslab_attached_to_page(object);
		if (a && object) {
			hslab_attach_free(a, object, true);
			object = hslab_attach_instead(a, object, true, parent);
			if (!object)
				continue;
		}
		objects[kept++] = object;
	}
	if (!kept && nr)
		hslab_compat_go_to(regs, hslab_do_nothing);
	else if (kept < nr)
		hslab_compat_set_second(regs, kept);
}

static __always_inline void hslab_swap_cache_free(unsigned long ip, unsigned long parent,
					  struct ftrace_ops *ops,
					  struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);
	void *object = (void *)hslab_compat_argument(regs, 1), *instead;
	struct hslab_attachment *a = hslab_attached(kmem);

	if (likely(!a) || ZERO_OR_NULL_PTR(object))
		return;
	instead = hslab_attach_instead(a, object, false, parent);
	if (!instead)
		hslab_compat_go_to(regs, hslab_do_nothing);
	else if (instead != object)
		hslab_compat_set_second(regs, (unsigned long)instead);
}

static __always_inline void hslab_swap_kfree(unsigned long ip, unsigned long parent,
				     struct ftrace_ops *ops,
				     struct ftrace_regs *regs)
{
	void *object = (void *)hslab_compat_argument(regs, 0), *instead;
	struct hslab_attachment *a = hslab_attached_to_page(object);

	if (likely(!a))
		return;
	instead = hslab_attach_instead(a, object, false, parent);
	if (!instead)
		hslab_compat_go_to(regs, hslab_do_nothing);
	else if (instead != object)
		hslab_compat_set_first(regs, (unsigned long)instead);
}

/*
 * kfree_rcu() into a sheaf, which would be given out again and not be freed. It is
 * refused, as where SLUB has no sheaf at hand, so that kfree_rcu() frees in bulk
 * after the grace period.
 */
static __always_inline void hslab_see_sheaf(unsigned long ip, unsigned long parent,
					    struct ftrace_ops *ops,
					    struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);

	if (unlikely(hslab_attached(kmem)))
		hslab_compat_go_to(regs, hslab_do_nothing);
}

/* In place of kmem_cache_destroy(), as its caller sees it. */
static void hslab_destroy_attached(struct kmem_cache *kmem)
{
	hslab_attach_destroyed(kmem);
	kmem_cache_destroy(kmem);
	module_put(THIS_MODULE);
}

static __always_inline void hslab_see_destroy(unsigned long ip, unsigned long parent,
				      struct ftrace_ops *ops,
				      struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);

	if (unlikely(hslab_attached(kmem)) && !within_module(parent, THIS_MODULE) &&
	    try_module_get(THIS_MODULE))
		hslab_compat_go_to(regs, hslab_destroy_attached);
}

/*
 * ftrace calls with preemption on, where the kernel has that (preempt=full, PREEMPT_RT);
 * but the table, an attachment and the mode that was read may go when all CPUs have been
 * seen elsewhere.
 */
#define HSLAB_CALLBACK(_name, _what)					\
static void notrace _name(unsigned long ip, unsigned long parent,	\
			  struct ftrace_ops *ops,			\
			  struct ftrace_regs *regs)			\
{									\
	preempt_disable_notrace();					\
	_what(ip, parent, ops, regs);					\
	preempt_enable_notrace();					\
}

HSLAB_CALLBACK(hslab_on_bulk_free, hslab_see_bulk_free)
HSLAB_CALLBACK(hslab_on_destroy, hslab_see_destroy)
#ifdef HSLAB_COMPAT_RCU_SHEAF
HSLAB_CALLBACK(hslab_on_sheaf, hslab_see_sheaf)
#endif
HSLAB_CALLBACK(hslab_on_cache_free, hslab_swap_cache_free)
HSLAB_CALLBACK(hslab_on_kfree, hslab_swap_kfree)

/*
 * HOOKS
 *
 * PERMANENT: kernel.ftrace_enabled=0 is refused while this is there, and this where
 * it is 0 already.
 */
struct hslab_hook {
	const char *function;
	ftrace_func_t callback;
	struct ftrace_ops ops;		/* anew with each registration */
};

static struct hslab_hook hslab_hooks[] = {
	{ "kmem_cache_free_bulk", hslab_on_bulk_free },
	{ "kmem_cache_destroy", hslab_on_destroy },
#ifdef HSLAB_COMPAT_RCU_SHEAF
	{ HSLAB_COMPAT_RCU_SHEAF, hslab_on_sheaf },
#endif
};

static struct hslab_hook hslab_swap_hooks[] = {
	{ "kmem_cache_free", hslab_on_cache_free },
	{ "kfree", hslab_on_kfree },
};

static void hslab_unregister(struct hslab_hook *hooks, unsigned int nr)
{
	while (nr--) {
		unregister_ftrace_function(&hooks[nr].ops);
		ftrace_free_filter(&hooks[nr].ops);
	}
}

static int hslab_register(struct hslab_hook *hooks, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr; i++) {
		char name[32];

		strscpy(name, hooks[i].function, sizeof(name));
		hooks[i].ops = (struct ftrace_ops) {
			.func = hooks[i].callback,
			.flags = FTRACE_OPS_FL_PERMANENT |
				 FTRACE_OPS_FL_IPMODIFY,
		};
		err = ftrace_set_filter(&hooks[i].ops, name, strlen(name), 1);
		if (!err)
			err = register_ftrace_function(&hooks[i].ops);
		if (err)
			break;
	}
	if (err) {
		pr_warn("attach: no hook for %s: %pe%s\n", hooks[i].function,
			ERR_PTR(err), err == -EBUSY ?
			" (is kernel.ftrace_enabled 0, or the function patched?)" : "");
		ftrace_free_filter(&hooks[i].ops);
		hslab_unregister(hooks, i);
	}
	return err;
}

static int hslab_hooks_on(void)
{
	int err = hslab_register(hslab_hooks, ARRAY_SIZE(hslab_hooks));

	if (err)
		return err;
	err = register_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	if (err)
		goto ftrace;
	err = register_trace_kfree(hslab_see_kfree, NULL);
	if (err)
		goto tracepoint;
	return 0;

tracepoint:
	unregister_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	tracepoint_synchronize_unregister();
ftrace:
	hslab_unregister(hslab_hooks, ARRAY_SIZE(hslab_hooks));
	return err;
}

static void hslab_hooks_off(void)
{
	unregister_trace_kfree(hslab_see_kfree, NULL);
	unregister_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	tracepoint_synchronize_unregister();
	hslab_unregister(hslab_hooks, ARRAY_SIZE(hslab_hooks));
}

/* One more, or less, attachment is in mode quarantine, which needs hooks of its own. */
int hslab_attach_swaps(bool on)
{
	static unsigned int nr;		/* hslab_attach_mutex */
	int err = 0;

	if (on && !HSLAB_COMPAT_CAN_SWAP)
		return -EOPNOTSUPP;
	if (on && !nr)
		err = hslab_register(hslab_swap_hooks,
				     ARRAY_SIZE(hslab_swap_hooks));
	if (err)
		return err;
	nr += on ? 1 : -1;
	if (!nr)
		hslab_unregister(hslab_swap_hooks, ARRAY_SIZE(hslab_swap_hooks));
	return 0;
}

/**
 * hslab_attach_hook() - see the frees of a cache from now on
 * @a: the attachment, filled in
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: 0; -ENOSPC when as many are attached as can be, -EBUSY when ftrace is off, or
 * another error of its; nothing is changed then.
 */
int hslab_attach_hook(struct hslab_attachment *a)
{
	int err = hslab_place_enter(a);

	if (err) {
		pr_warn("attach: %d caches are attached, and more cannot be\n",
			HSLAB_ATTACH_MOST);
		return err;
	}
	if (hslab_nr_attached == 1) {
		err = hslab_hooks_on();
		if (err) {
			hslab_place_leave(a);
			synchronize_rcu();
		}
	}
	return err;
}

/**
 * hslab_attach_unhook() - do not see them any more
 * @a: the attachment; nobody uses it any more when this returns
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 */
void hslab_attach_unhook(struct hslab_attachment *a)
{
	hslab_place_leave(a);
	if (!hslab_nr_attached)
		hslab_hooks_off();
	/* Probes and callbacks run with preemption off, and end. */
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}
