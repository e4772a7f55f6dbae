// SPDX-License-Identifier: GPL-2.0
/*
 * Seeing the frees of attached caches, while SLUB has not got the object yet: by its two
 * tracepoints, and for bulk frees, which have none, by ftrace. All three are there
 * only while something is attached. While there is a quarantine somewhere, ftrace sees
 * all of them, and the tracepoints are left alone: both would cost twice.
 *
 * They run for the frees of every cache, in any context. So they take no lock, and the
 * first thing they do is to look whether the cache may be one of ours, in four
 * instructions. That is all that is inline: what follows is rare.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/sched/clock.h>
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

/*
 * Is there anything in the table, by bits 8 to 15 of the cache's address? They lie 256
 * bytes and more apart. A byte is set before a cache enters, and cleared after.
 */
static bool hslab_maybe[256] __read_mostly;

static __always_inline u8 hslab_maybe_index(const struct kmem_cache *kmem)
{
	return (unsigned long)kmem >> 8;
}

static __always_inline bool hslab_maybe_attached(const struct kmem_cache *kmem)
{
	/* A byte cannot be torn; READ_ONCE() would cost an instruction. */
	return unlikely(data_race(hslab_maybe[hslab_maybe_index(kmem)]));
}

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
	WRITE_ONCE(hslab_maybe[hslab_maybe_index(a->target.kmem)], true);
	hslab_place_put(hslab_places, a->target.kmem, a);
	hslab_nr_attached++;
	return 0;
}

/* Readers may have the former table until the caller has waited for them. */
static void hslab_place_leave(struct hslab_attachment *a)
{
	struct hslab_place *from = hslab_places, *to;
	u8 maybe = hslab_maybe_index(a->target.kmem);
	bool others = false;
	unsigned int i;

	to = hslab_tables[from == hslab_tables[0]];
	memset(to, 0, sizeof(hslab_tables[0]));
	for (i = 0; i < HSLAB_PLACES; i++) {
		if (!from[i].kmem || from[i].a == a)
			continue;
		hslab_place_put(to, from[i].kmem, from[i].a);
		others |= hslab_maybe_index(from[i].kmem) == maybe;
	}
	/* pairs with smp_load_acquire() in hslab_attached() */
	smp_store_release(&hslab_places, to);
	WRITE_ONCE(hslab_maybe[maybe], others);
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

/*
 * Is it by ftrace that single frees are seen, and counted? Where one takes over from the
 * other both are there for a moment, so that nothing is missed: then an object is filled
 * twice, and counted by the one that has this.
 */
static bool hslab_by_ftrace __read_mostly;

enum hslab_by {
	HSLAB_BY_TRACEPOINT,
	HSLAB_BY_FTRACE,
	HSLAB_BY_BULK,
};

static __always_inline bool hslab_attach_counts(enum hslab_by by)
{
	return by == HSLAB_BY_BULK ||
	       READ_ONCE(hslab_by_ftrace) == (by == HSLAB_BY_FTRACE);
}

static __always_inline bool hslab_attach_fills(u32 mode)
{
	return mode == HSLAB_ATTACH_WIPE || mode == HSLAB_ATTACH_POISON;
}

/* Count a free. True if hslab may touch the object. */
static __always_inline bool hslab_attach_may(struct hslab_attachment *a,
					     const void *object, u32 mode,
					     enum hslab_by by)
{
	bool kfence = hslab_compat_is_kfence(object);
	bool may = !kfence && hslab_begins_at(a, object);

	if (likely(hslab_attach_counts(by))) {
		this_cpu_inc(a->counts->frees);
		if (by == HSLAB_BY_BULK)
			this_cpu_inc(a->counts->bulk);
		if (unlikely(kfence))
			this_cpu_inc(a->counts->kfence);
		else if (unlikely(!may))
			this_cpu_inc(a->counts->astray);
		else if (hslab_attach_fills(mode))
			this_cpu_inc(a->counts->filled);
	}
	return may;
}

/*
 * An object is freed. Returns what SLUB is to free in place of it: that, another, or
 * NULL for nothing. A tracepoint comes too late for a quarantine.
 */
static __always_inline void *hslab_attach_freed(struct hslab_attachment *a,
						void *object, enum hslab_by by,
						unsigned long caller)
{
	u32 mode = READ_ONCE(a->mode);

	if (by == HSLAB_BY_TRACEPOINT && mode == HSLAB_ATTACH_QUARANTINE)
		return object;
	if (hslab_attach_drains() || !hslab_attach_may(a, object, mode, by))
		return object;
	if (mode == HSLAB_ATTACH_QUARANTINE)
		return hslab_attach_swap(a, object, caller);
	if (hslab_attach_fills(mode))
		hslab_attach_fill(a, object, mode == HSLAB_ATTACH_POISON ?
					     READ_ONCE(a->byte) : 0);
	if (unlikely(READ_ONCE(a->track)) && hslab_attach_counts(by))
		hslab_attach_traced(a, hslab_track_from(caller), local_clock());
	return object;
}

/* As hslab_maybe_attached(). In a page that is no slab's anything may lie there. */
static __always_inline bool hslab_maybe_in_attached(const void *object)
{
	if (ZERO_OR_NULL_PTR(object))
		return false;
	/* What is read is good for this look alone. */
	return hslab_maybe_attached(data_race(*hslab_slab_cache_at(object)));
}

/* The attachment of the slab page that @object is in, if any. */
static __always_inline struct hslab_attachment *
hslab_attached_to_page(const void *object)
{
	if (ZERO_OR_NULL_PTR(object) || !PageSlab(virt_to_head_page(object)))
		return NULL;
	return hslab_attached(hslab_slab_cache(object));
}

/*
 * TRACEPOINTS
 */
static noinline __noclone void hslab_saw_kfree(void *unused, unsigned long caller,
					       const void *object)
{
	struct hslab_attachment *a = hslab_attached_to_page(object);

	if (a)
		hslab_attach_freed(a, (void *)object, HSLAB_BY_TRACEPOINT, caller);
}

static void notrace hslab_see_kfree(void *unused, unsigned long caller,
				    const void *object)
{
	if (hslab_maybe_in_attached(object))
		hslab_saw_kfree(unused, caller, object);
}

static noinline __noclone void hslab_saw_cache_free(void *unused,
						    unsigned long caller,
						    const void *object,
						    const struct kmem_cache *kmem)
{
	struct hslab_attachment *a = hslab_attached(kmem);

	if (a && object)
		hslab_attach_freed(a, (void *)object, HSLAB_BY_TRACEPOINT, caller);
}

static void notrace hslab_see_cache_free(void *unused, unsigned long caller,
					 const void *object,
					 const struct kmem_cache *kmem)
{
	if (hslab_maybe_attached(kmem))
		hslab_saw_cache_free(unused, caller, object, kmem);
}

/*
 * FTRACE
 */

/* What a call is made of that is not to be; false, where its caller wants an answer. */
static noinline notrace bool hslab_do_nothing(void)
{
	barrier();
	return false;
}

static __always_inline bool hslab_maybe_first(struct ftrace_regs *regs)
{
	return hslab_maybe_attached((void *)hslab_compat_argument(regs, 0));
}

/* Without a kmem_cache it is kfree_bulk(). */
static __always_inline bool hslab_maybe_bulk(struct ftrace_regs *regs)
{
	return !hslab_compat_argument(regs, 0) || hslab_maybe_first(regs);
}

/*
 * kmem_cache_free_bulk(kmem, nr, objects). Who calls it does not look at the array any
 * more; SLUB clobbers it, too.
 */
static __always_inline void hslab_see_bulk_free(unsigned long parent,
						struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);
	size_t i, kept = 0, nr = hslab_compat_argument(regs, 1);
	void **objects = (void *)hslab_compat_argument(regs, 2);
	struct hslab_attachment *a = NULL;

	if (kmem) {
		a = hslab_attached(kmem);
		if (!a)
			return;
	}
	for (i = 0; i < nr; i++) {
		void *object = objects[i];

		if (!kmem)
			a = hslab_maybe_in_attached(object) ?
			    hslab_attached_to_page(object) : NULL;
		if (a && object) {
			object = hslab_attach_freed(a, object, HSLAB_BY_BULK,
						    parent);
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

static __always_inline void hslab_swap_cache_free(unsigned long parent,
						  struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);
	void *object = (void *)hslab_compat_argument(regs, 1), *instead;
	struct hslab_attachment *a = hslab_attached(kmem);

	if (!a || ZERO_OR_NULL_PTR(object))
		return;
	instead = hslab_attach_freed(a, object, HSLAB_BY_FTRACE, parent);
	if (!instead)
		hslab_compat_go_to(regs, hslab_do_nothing);
	else if (instead != object)
		hslab_compat_set_second(regs, (unsigned long)instead);
}

static __always_inline bool hslab_maybe_kfree(struct ftrace_regs *regs)
{
	return hslab_maybe_in_attached((void *)hslab_compat_argument(regs, 0));
}

static __always_inline void hslab_swap_kfree(unsigned long parent,
					     struct ftrace_regs *regs)
{
	void *object = (void *)hslab_compat_argument(regs, 0), *instead;
	struct hslab_attachment *a = hslab_attached_to_page(object);

	if (!a)
		return;
	instead = hslab_attach_freed(a, object, HSLAB_BY_FTRACE, parent);
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
static __always_inline void hslab_see_sheaf(unsigned long parent,
					    struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);

	if (unlikely(hslab_attached(kmem)))
		hslab_compat_go_to(regs, hslab_do_nothing);
}

/* In place of kmem_cache_destroy(), as its caller sees it. */
static void hslab_destroy_attached(struct kmem_cache *kmem)
{
	static DEFINE_MUTEX(one);

	/* Of two that are merged the second must see that the first has gone. */
	mutex_lock(&one);
	hslab_attach_destroyed(kmem);
	kmem_cache_destroy(kmem);
	mutex_unlock(&one);
	module_put(THIS_MODULE);
}

static __always_inline void hslab_see_destroy(unsigned long parent,
					      struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);

	if (hslab_attached(kmem) && !within_module(parent, THIS_MODULE) &&
	    try_module_get(THIS_MODULE))
		hslab_compat_go_to(regs, hslab_destroy_attached);
}

/*
 * ftrace calls with preemption on, where the kernel has that (preempt=full, PREEMPT_RT);
 * but the table, an attachment and the mode that was read may go when all CPUs have been
 * seen elsewhere. What is not ours costs five instructions: for the sake of that the
 * arguments stay in their registers.
 */
#define HSLAB_CALLBACK(_name, _maybe, _what)				\
static noinline __noclone notrace void					\
_name##_slow(unsigned long ip, unsigned long parent,			\
	     struct ftrace_ops *ops, struct ftrace_regs *regs)		\
{									\
	preempt_disable_notrace();					\
	_what(parent, regs);						\
	preempt_enable_notrace();					\
}									\
									\
static void notrace _name(unsigned long ip, unsigned long parent,	\
			  struct ftrace_ops *ops,			\
			  struct ftrace_regs *regs)			\
{									\
	if (_maybe(regs))						\
		_name##_slow(ip, parent, ops, regs);			\
}

HSLAB_CALLBACK(hslab_on_bulk_free, hslab_maybe_bulk, hslab_see_bulk_free)
HSLAB_CALLBACK(hslab_on_destroy, hslab_maybe_first, hslab_see_destroy)
#ifdef HSLAB_COMPAT_RCU_SHEAF
HSLAB_CALLBACK(hslab_on_sheaf, hslab_maybe_first, hslab_see_sheaf)
#endif
HSLAB_CALLBACK(hslab_on_cache_free, hslab_maybe_first, hslab_swap_cache_free)
HSLAB_CALLBACK(hslab_on_kfree, hslab_maybe_kfree, hslab_swap_kfree)

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

static int hslab_probe(void)
{
	int err = register_trace_kmem_cache_free(hslab_see_cache_free, NULL);

	if (err)
		return err;
	err = register_trace_kfree(hslab_see_kfree, NULL);
	if (err)
		unregister_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	return err;
}

static void hslab_unprobe(void)
{
	unregister_trace_kfree(hslab_see_kfree, NULL);
	unregister_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	tracepoint_synchronize_unregister();
}

static int hslab_hooks_on(void)
{
	int err = hslab_register(hslab_hooks, ARRAY_SIZE(hslab_hooks));

	if (err)
		return err;
	err = hslab_probe();
	if (err)
		hslab_unregister(hslab_hooks, ARRAY_SIZE(hslab_hooks));
	return err;
}

static void hslab_hooks_off(void)
{
	if (hslab_by_ftrace)
		hslab_unregister(hslab_swap_hooks, ARRAY_SIZE(hslab_swap_hooks));
	else
		hslab_unprobe();
	hslab_by_ftrace = false;
	hslab_unregister(hslab_hooks, ARRAY_SIZE(hslab_hooks));
}

/*
 * One more, or less, attachment is in mode quarantine, for which single frees must be
 * seen by ftrace. Without memory for the tracepoints it stays with that.
 */
int hslab_attach_swaps(bool on)
{
	static unsigned int nr;		/* hslab_attach_mutex */
	int err;

	if (on && !HSLAB_COMPAT_CAN_SWAP)
		return -EOPNOTSUPP;
	if (on && !hslab_by_ftrace) {
		err = hslab_register(hslab_swap_hooks,
				     ARRAY_SIZE(hslab_swap_hooks));
		if (err)
			return err;
		WRITE_ONCE(hslab_by_ftrace, true);
		hslab_unprobe();
	}
	nr += on ? 1 : -1;
	if (!nr && !hslab_probe()) {
		WRITE_ONCE(hslab_by_ftrace, false);
		hslab_unregister(hslab_swap_hooks, ARRAY_SIZE(hslab_swap_hooks));
	}
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
