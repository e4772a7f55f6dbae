// SPDX-License-Identifier: GPL-2.0
/*
 * The quarantine of an attached cache: each CPU has a ring of freed objects, filled, that
 * SLUB thinks are still in use. A free puts its object into the ring, and goes on, in
 * SLUB, with the one that has been there for longest: the argument is exchanged, so that
 * no free is called from within another. While the ring fills up the call is
 * skipped.
 *
 * What was damaged there is set aside, in a ring of its own, until the quarantine ends:
 * then SLUB gets it, too, as it would have without hslab.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/string.h>

#include "hslab_attach.h"

/* Who gives back what is in rings: its frees are seen by no hook. */
static struct task_struct *hslab_drainer;

struct hslab_held {
	void *object;
	u64 when;			/* local_clock(), ns */
	u32 handle;			/* stack depot, 0: not known */
	pid_t pid;
	u32 cpu;
	u8 byte;			/* what it was filled with */
};

struct hslab_ring {
	raw_spinlock_t lock;
	unsigned int first, nr, size;
	struct hslab_held *held;	/* NULL: closed */
};

/* For the rings of all CPUs. */
struct hslab_arrays {
	unsigned int size;		/* of each */
	struct hslab_held *held[];
};

#define HSLAB_ASIDE_MOST	128	/* objects; SLUB gets what is damaged beyond */

bool hslab_attach_drains(void)
{
	return READ_ONCE(hslab_drainer) == current && in_task();
}

/* Fill, bytes behind the last whole word included. */
void hslab_attach_fill(struct hslab_attachment *a, void *object, u8 byte)
{
	unsigned int words = a->size / sizeof(u64);

	if (words)
		hslab_fill(object, words, byte * 0x0101010101010101ULL);
	memset((u64 *)object + words, byte, a->size % sizeof(u64));
}

/* As hslab_first_bad_fill(), with the bytes behind the last whole word. */
static int hslab_held_first_bad(const struct hslab_attachment *a,
				const struct hslab_held *h, unsigned int *nr_bad)
{
	unsigned int words = a->size / sizeof(u64), i;
	const u8 *bytes = h->object;
	int first = hslab_first_bad_fill(h->object, words,
					 h->byte * 0x0101010101010101ULL,
					 nr_bad);

	for (i = words * sizeof(u64); i < a->size; i++) {
		if (bytes[i] == h->byte)
			continue;
		if (first < 0)
			first = i;
		(*nr_bad)++;
	}
	return first;
}

static bool hslab_ring_push(struct hslab_ring *r, const struct hslab_held *h)
{
	unsigned long flags;
	bool room;

	raw_spin_lock_irqsave(&r->lock, flags);
	room = r->held && r->nr < r->size;
	if (room)
		r->held[(r->first + r->nr++) % r->size] = *h;
	raw_spin_unlock_irqrestore(&r->lock, flags);
	return room;
}

static void hslab_attach_report(struct hslab_attachment *a, enum hslab_kind kind,
				const struct hslab_held *h,
				enum hslab_state state, bool aside,
				unsigned long caller)
{
	struct hslab_fault fault = {
		.kind = kind, .object = h->object, .size = a->size,
		.state = state, .offset = -1, .caller = caller, .aside = aside,
		.action = READ_ONCE(a->action), .attached = true,
	};
	bool kill = fault.action == HSLAB_ACT_KILL;

	strscpy(fault.cache, a->target.name, sizeof(fault.cache));
	if (kind == HSLAB_WRITE_AFTER_FREE) {
		strscpy(fault.other, a->target.name, sizeof(fault.other));
		fault.offset = hslab_held_first_bad(a, h, &fault.nr_bad);
		if (fault.offset >= 0) {
			fault.nr_shown = min_t(unsigned int, HSLAB_SHOWN,
					       a->size - fault.offset);
			memcpy(fault.found, h->object + fault.offset,
			       fault.nr_shown);
			memset(fault.expected, h->byte, fault.nr_shown);
		}
	}
	fault.nr = atomic64_inc_return(&a->faults[kind]);
	fault.tracks[HSLAB_EV_FREE] = (struct hslab_track) {
		.known = HSLAB_RECORDED, .handle = h->handle, .pid = h->pid,
		.cpu = h->cpu, .when = h->when,
	};
	/* Frees come with any lock held, that of the task's signals, too. */
	if (kill)
		fault.action = HSLAB_ACT_REPORT;
	hslab_report(&fault);
	if (kill)
		hslab_attach_kill();
}

/*
 * What leaves is as it was filled, or is reported and set aside. True if SLUB is to have
 * it.
 */
static bool hslab_held_leaves(struct hslab_attachment *a,
			      const struct hslab_held *h, unsigned long caller)
{
	unsigned int tail = a->size % sizeof(u64);
	bool aside;

	if (hslab_intact(h->object, a->size / sizeof(u64),
			 h->byte * 0x0101010101010101ULL) &&
	    !memchr_inv(h->object + a->size - tail, h->byte, tail))
		return true;
	aside = hslab_ring_push(a->aside, h);
	this_cpu_inc(a->counts->aside);
	hslab_attach_report(a, HSLAB_WRITE_AFTER_FREE, h, HSLAB_QUARANTINED,
			    aside, caller);
	return !aside;
}

/* Is @object in this ring? Then it is freed twice. */
static bool hslab_ring_has(struct hslab_attachment *a, struct hslab_ring *r,
			   enum hslab_state state, const void *object,
			   unsigned long caller)
{
	struct hslab_held held = {};
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&r->lock, flags);
	for (i = 0; r->held && i < r->nr; i++) {
		struct hslab_held *h = &r->held[(r->first + i) % r->size];

		if (h->object == object)
			held = *h;
	}
	raw_spin_unlock_irqrestore(&r->lock, flags);
	if (held.object)
		hslab_attach_report(a, HSLAB_DOUBLE_FREE, &held, state, false,
				    caller);
	return held.object;
}

static bool hslab_looks_filled(const struct hslab_attachment *a, u64 word)
{
	return word == (u8)word * 0x0101010101010101ULL &&
	       test_bit((u8)word, a->bytes);
}

/*
 * Does it look as what is in a CPU's ring? What is there was filled with one byte, not
 * always that of now, and its beginning or its end may have been written to.
 */
static bool hslab_looks_held(const struct hslab_attachment *a,
			     const void *object)
{
	unsigned int words = a->size / sizeof(u64);
	const u8 *bytes = object;
	const u64 *first = object;

	if (!words)
		return test_bit(*bytes, a->bytes) &&
		       !memchr_inv(bytes, *bytes, a->size);
	return hslab_looks_filled(a, first[0]) ||
	       hslab_looks_filled(a, first[words - 1]);
}

/* Is @object in a CPU's ring? Looked for only if it looks so. */
static noinline bool hslab_held_already(struct hslab_attachment *a,
					const void *object,
					unsigned long caller)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (hslab_ring_has(a, per_cpu_ptr(a->rings, cpu),
				   HSLAB_QUARANTINED, object, caller))
			return true;
	return false;
}

/**
 * hslab_attach_swap() - keep a freed object, and give the one that must go for it
 * @a: the attachment, in mode quarantine
 * @object: the start of an object of its
 * @caller: who frees it, for a report
 *
 * Context: any but NMI.
 * Return: what SLUB is to be given in place of @object, or NULL for nothing: there is room,
 * @object is held already, or what leaves was damaged and is set aside.
 */
void *hslab_attach_swap(struct hslab_attachment *a, void *object,
			unsigned long caller)
{
	struct hslab_held in = {
		.object = object, .byte = READ_ONCE(a->byte),
		.pid = task_pid_nr(current), .cpu = raw_smp_processor_id(),
		.when = local_clock(),
	}, out = {};
	struct hslab_ring *r;
	unsigned long flags;

	if (unlikely(hslab_looks_held(a, object)) &&
	    hslab_held_already(a, object, caller))
		return NULL;
	/* What is damaged does not look filled: look for it whenever there is any. */
	if (unlikely(READ_ONCE(a->aside->nr)) &&
	    hslab_ring_has(a, a->aside, HSLAB_ASIDE, object, caller))
		return NULL;
	hslab_attach_fill(a, object, in.byte);
	this_cpu_inc(a->counts->filled);
	if (READ_ONCE(a->track)) {
		in.handle = hslab_track_from(caller);
		hslab_attach_traced(a, in.handle, in.when);
	}

	r = raw_cpu_ptr(a->rings);
	raw_spin_lock_irqsave(&r->lock, flags);
	if (unlikely(!r->held)) {		/* it is being closed */
		out.object = object;
	} else if (r->nr < r->size) {
		r->held[(r->first + r->nr++) % r->size] = in;
	} else {
		out = r->held[r->first];
		r->held[r->first] = in;
		r->first = (r->first + 1) % r->size;
	}
	raw_spin_unlock_irqrestore(&r->lock, flags);
	if (!out.object || out.object == object)
		return out.object;
	return hslab_held_leaves(a, &out, caller) ? out.object : NULL;
}

/* Take the oldest of a ring. */
static bool hslab_ring_pop(struct hslab_ring *r, struct hslab_held *h)
{
	unsigned long flags;
	bool any;

	raw_spin_lock_irqsave(&r->lock, flags);
	any = r->held && r->nr;
	if (any) {
		*h = r->held[r->first];
		r->first = (r->first + 1) % r->size;
		r->nr--;
	}
	raw_spin_unlock_irqrestore(&r->lock, flags);
	return any;
}

/* Free an object to SLUB, unseen by the hooks. Process context, hslab_attach_mutex. */
void hslab_attach_give_back(struct hslab_attachment *a, void *object)
{
	WRITE_ONCE(hslab_drainer, current);
	kmem_cache_free(a->target.kmem, object);
	WRITE_ONCE(hslab_drainer, NULL);
}

/* Give up to @most objects of all rings back. How many. Process context. */
unsigned long hslab_attach_drain(struct hslab_attachment *a, unsigned long most)
{
	unsigned long sum = 0;
	struct hslab_held h;
	int cpu;

	lockdep_assert_held(&hslab_attach_mutex);

	if (!a->rings)
		return 0;
	for_each_possible_cpu(cpu) {
		while (sum < most &&
		       hslab_ring_pop(per_cpu_ptr(a->rings, cpu), &h)) {
			sum++;
			if (hslab_held_leaves(a, &h, _RET_IP_))
				hslab_attach_give_back(a, h.object);
			cond_resched();
		}
	}
	return sum;
}

/*
 * The quarantine has ended, and no free is looked for in what was set aside: give that
 * back, too. Process context.
 */
void hslab_attach_aside_end(struct hslab_attachment *a)
{
	struct hslab_held h;
	unsigned int nr = 0;

	lockdep_assert_held(&hslab_attach_mutex);

	while (hslab_ring_pop(a->aside, &h)) {
		hslab_attach_give_back(a, h.object);
		nr++;
	}
	if (nr)
		pr_notice("%s: the quarantine ends; %u damaged %s back to SLUB\n",
			  a->target.name, nr, nr == 1 ? "object goes" :
			  "objects go");
}

/* How many objects are in the rings. */
unsigned long hslab_attach_held(const struct hslab_attachment *a)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(a->rings, cpu)->nr);
	return sum;
}

/* Change one ring's array; what was in it must have been drained. */
static void hslab_ring_set(struct hslab_ring *r, struct hslab_held *held,
			   unsigned int size)
{
	struct hslab_held *old;
	unsigned long flags;

	raw_spin_lock_irqsave(&r->lock, flags);
	old = r->held;
	r->held = held;
	r->size = size;
	r->first = 0;
	r->nr = 0;
	raw_spin_unlock_irqrestore(&r->lock, flags);
	kvfree(old);
}

/* After an error, too, hslab_attach_rings_free() is to follow. */
int hslab_attach_rings_make(struct hslab_attachment *a)
{
	int cpu;

	a->rings = alloc_percpu(struct hslab_ring);
	a->aside = kzalloc(sizeof(*a->aside), GFP_KERNEL);
	if (a->aside)
		a->aside->held = kvcalloc(HSLAB_ASIDE_MOST,
					  sizeof(*a->aside->held), GFP_KERNEL);
	if (!a->rings || !a->aside || !a->aside->held)
		return -ENOMEM;
	a->aside->size = HSLAB_ASIDE_MOST;
	raw_spin_lock_init(&a->aside->lock);
	for_each_possible_cpu(cpu)
		raw_spin_lock_init(&per_cpu_ptr(a->rings, cpu)->lock);
	return 0;
}

void hslab_attach_arrays_free(struct hslab_arrays *arrays)
{
	int cpu;

	if (!arrays)
		return;
	for_each_possible_cpu(cpu)
		kvfree(arrays->held[cpu]);
	kfree(arrays);
}

/**
 * hslab_attach_arrays() - get memory for rings, before anything is changed
 * @a: the attachment
 * @kb: KiB of slots over all CPUs
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: it, for hslab_attach_bound() or hslab_attach_arrays_free(), or NULL.
 */
struct hslab_arrays *hslab_attach_arrays(struct hslab_attachment *a,
					 unsigned int kb)
{
	unsigned long size = DIV_ROUND_UP((unsigned long)kb * SZ_1K / a->slot,
					  num_online_cpus());
	struct hslab_arrays *arrays;
	int cpu;

	arrays = kzalloc(struct_size(arrays, held, nr_cpu_ids), GFP_KERNEL);
	if (!arrays)
		return NULL;
	arrays->size = max(size, 1UL);
	for_each_possible_cpu(cpu) {
		/* Whoever asks for too much gets an error, and no OOM killer. */
		arrays->held[cpu] = kvcalloc(arrays->size,
					     sizeof(*arrays->held[cpu]),
					     GFP_KERNEL | __GFP_NOWARN |
					     __GFP_RETRY_MAYFAIL);
		if (!arrays->held[cpu]) {
			hslab_attach_arrays_free(arrays);
			return NULL;
		}
	}
	return arrays;
}

/**
 * hslab_attach_bound() - empty the rings, and have others
 * @a: the attachment; nobody puts anything into its rings meanwhile
 * @arrays: for the rings, taken over; NULL for no rings
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 */
void hslab_attach_bound(struct hslab_attachment *a, struct hslab_arrays *arrays)
{
	int cpu;

	hslab_attach_drain(a, ULONG_MAX);
	bitmap_zero(a->bytes, 256);
	__set_bit(a->byte, a->bytes);
	for_each_possible_cpu(cpu)
		hslab_ring_set(per_cpu_ptr(a->rings, cpu),
			       arrays ? arrays->held[cpu] : NULL,
			       arrays ? arrays->size : 1);
	kfree(arrays);
}

/* They are empty: there is no quarantine. */
void hslab_attach_rings_free(struct hslab_attachment *a)
{
	free_percpu(a->rings);
	if (a->aside)
		kvfree(a->aside->held);
	kfree(a->aside);
}
