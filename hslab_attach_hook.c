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
#include <trace/events/kmem.h>

#include "hslab_attach.h"

/*
 * THE TABLE
 *
 * Open addressing. A reader goes on until it finds the cache, or a place that was never
 * used; what was detached leaves a mark that is passed over, and used again. Changed
 * under hslab_attach_mutex.
 */
#define HSLAB_PLACES_BITS	8
#define HSLAB_PLACES		(1 << HSLAB_PLACES_BITS)
#define HSLAB_ATTACH_MOST	(HSLAB_PLACES / 4)
#define HSLAB_LEFT		((struct kmem_cache *)1UL)	/* the mark */

struct hslab_place {
	const struct kmem_cache *kmem;
	struct hslab_attachment *a;
};

static struct hslab_place hslab_places[HSLAB_PLACES];
static unsigned int hslab_nr_attached;

static __always_inline unsigned int hslab_first_place(const struct kmem_cache *kmem)
{
	return hash_ptr(kmem, HSLAB_PLACES_BITS);
}

/* Preemption is off, or the caller cannot be preempted by a detach for another reason. */
static __always_inline struct hslab_attachment *
hslab_attached(const struct kmem_cache *kmem)
{
	unsigned int i = hslab_first_place(kmem);
	const struct kmem_cache *here;

	/* pairs with smp_store_release() in hslab_place_enter() */
	while ((here = smp_load_acquire(&hslab_places[i].kmem))) {
		if (here == kmem)
			return READ_ONCE(hslab_places[i].a);
		i = (i + 1) % HSLAB_PLACES;
	}
	return NULL;
}

static int hslab_place_enter(struct hslab_attachment *a)
{
	unsigned int i = hslab_first_place(a->target.kmem);

	if (hslab_nr_attached == HSLAB_ATTACH_MOST)
		return -ENOSPC;
	while (hslab_places[i].kmem && hslab_places[i].kmem != HSLAB_LEFT)
		i = (i + 1) % HSLAB_PLACES;
	WRITE_ONCE(hslab_places[i].a, a);
	smp_store_release(&hslab_places[i].kmem, a->target.kmem);
	hslab_nr_attached++;
	return 0;
}

static void hslab_place_leave(struct hslab_attachment *a)
{
	unsigned int i = hslab_first_place(a->target.kmem);

	while (hslab_places[i].kmem != a->target.kmem)
		i = (i + 1) % HSLAB_PLACES;
	WRITE_ONCE(hslab_places[i].kmem, HSLAB_LEFT);
	hslab_nr_attached--;
}

/* Nothing is attached, and nobody looks: the marks can go. */
static void hslab_places_clear(void)
{
	memset(hslab_places, 0, sizeof(hslab_places));
}

/*
 * A FREE
 */

/* Does an object begin at @object? All of a cache's slab pages are alike. */
static __always_inline bool hslab_begins_at(const struct hslab_attachment *a,
					    const void *object)
{
	const void *page = page_address(virt_to_head_page(object));

	return !((u32)(object - page) % a->slot);
}

/* Fill, bytes behind the last whole word included. */
static void hslab_attach_fill(struct hslab_attachment *a, void *object, u8 byte)
{
	unsigned int words = a->size / sizeof(u64);

	if (words)
		hslab_fill(object, words, byte * 0x0101010101010101ULL);
	memset((u64 *)object + words, byte, a->size % sizeof(u64));
}

static noinline void hslab_attach_free(struct hslab_attachment *a, void *object,
				       bool bulk)
{
	u32 mode = READ_ONCE(a->mode);

	this_cpu_inc(a->counts->frees);
	if (bulk)
		this_cpu_inc(a->counts->bulk);
	if (mode == HSLAB_ATTACH_COUNT)
		return;
	if (hslab_compat_is_kfence(object)) {
		this_cpu_inc(a->counts->kfence);
		return;
	}
	if (!hslab_begins_at(a, object)) {
		this_cpu_inc(a->counts->astray);
		return;
	}
	hslab_attach_fill(a, object, mode == HSLAB_ATTACH_POISON ?
				     READ_ONCE(a->byte) : 0);
	this_cpu_inc(a->counts->filled);
}

/* The same for an object of which it is not said whose it is. */
static __always_inline void hslab_attach_free_any(const void *object, bool bulk)
{
	struct hslab_attachment *a;

	if (ZERO_OR_NULL_PTR(object) || !PageSlab(virt_to_head_page(object)))
		return;
	a = hslab_attached(hslab_slab_cache(object));
	if (unlikely(a))
		hslab_attach_free(a, (void *)object, bulk);
}

static void hslab_see_kfree(void *unused, unsigned long caller,
			    const void *object)
{
	hslab_attach_free_any(object, false);
}

static void hslab_see_cache_free(void *unused, unsigned long caller,
				 const void *object, const struct kmem_cache *kmem)
{
	struct hslab_attachment *a = hslab_attached(kmem);

	if (unlikely(a) && object)
		hslab_attach_free(a, (void *)object, false);
}

/* kmem_cache_free_bulk(kmem, nr, objects); without a kmem_cache it is kfree_bulk(). */
static void notrace hslab_see_bulk_free(unsigned long ip, unsigned long parent,
					struct ftrace_ops *ops,
					struct ftrace_regs *regs)
{
	const struct kmem_cache *kmem = (void *)hslab_compat_argument(regs, 0);
	size_t i, nr = hslab_compat_argument(regs, 1);
	void **objects = (void *)hslab_compat_argument(regs, 2);
	struct hslab_attachment *a;

	if (!kmem) {
		for (i = 0; i < nr; i++)
			hslab_attach_free_any(objects[i], true);
		return;
	}
	a = hslab_attached(kmem);
	if (likely(!a))
		return;
	for (i = 0; i < nr; i++)
		if (objects[i])
			hslab_attach_free(a, objects[i], true);
}

/*
 * PERMANENT: kernel.ftrace_enabled=0 is refused while this is there, and this where
 * it is 0 already.
 */
static struct ftrace_ops hslab_bulk_ops = {
	.func	= hslab_see_bulk_free,
	.flags	= FTRACE_OPS_FL_PERMANENT,
};

static int hslab_hooks_on(void)
{
	char function[] = "kmem_cache_free_bulk";
	int err;

	err = ftrace_set_filter(&hslab_bulk_ops, function, strlen(function), 1);
	if (!err)
		err = register_ftrace_function(&hslab_bulk_ops);
	if (err) {
		pr_warn("attach: no hook for %s: %pe%s\n", function, ERR_PTR(err),
			err == -EBUSY ? " (is kernel.ftrace_enabled 0?)" : "");
		goto filter;
	}
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
	unregister_ftrace_function(&hslab_bulk_ops);
filter:
	ftrace_free_filter(&hslab_bulk_ops);
	return err;
}

static void hslab_hooks_off(void)
{
	unregister_trace_kfree(hslab_see_kfree, NULL);
	unregister_trace_kmem_cache_free(hslab_see_cache_free, NULL);
	unregister_ftrace_function(&hslab_bulk_ops);
	ftrace_free_filter(&hslab_bulk_ops);
	tracepoint_synchronize_unregister();
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
			hslab_places_clear();
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
	if (!hslab_nr_attached)
		hslab_places_clear();
}
