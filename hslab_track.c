// SPDX-License-Identifier: GPL-2.0
/*
 * Tracking: who allocated and who freed an object, when, and where.
 *
 * Each object of a tracked store has two records behind its tag. They are written
 * where the object is nobody's: between SLUB and LIVE, and after LIVE. Whoever
 * overruns an object may write to them, so a record counts only if its check is
 * right: stack_depot_fetch() must never see a handle that is none.
 *
 * Readers take no lock, see hslab_track_read().
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/log2.h>
#include <linux/ptrace.h>
#include <linux/random.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>

#include "hslab_internal.h"

/* Frames that are kept of a stack; those of the hooks here are not. */
#define HSLAB_TRACK_FRAMES	16
#define HSLAB_HOOK_FRAMES	6	/* of tracing, between a hook and whom it is for */

/* A record in an object. All zero: nothing was recorded. */
struct hslab_record {
	u32 handle;		/* stack depot; 0: the stack is not known */
	u32 check;		/* hslab_record_check(), never 0 */
	u32 pid;
	u32 cpu;
	u64 when;		/* local_clock(), ns */
};

static_assert(2 * sizeof(struct hslab_record) == HSLAB_RECORD_SIZE);

/* Per-CPU counters of a cache: frees of objects that lived for 2^n to 2^(n+1) ns. */
struct hslab_lifetimes {
	u64 nr[HSLAB_LIFETIMES];
};

static struct hslab_record *hslab_record_of(const struct hslab_store *store,
					    const void *object,
					    enum hslab_event event)
{
	return (struct hslab_record *)
		(hslab_tag(object, store->tag_off) + 1) + event;
}

/*
 * What a record of @object must have as its check. Any change of a few bits shows;
 * of random damage, 1 in 2^31 passes. Like the tag it is no cryptography.
 */
static __always_inline u32 hslab_record_check(const struct hslab_store *store,
					      const void *object,
					      enum hslab_event event,
					      const struct hslab_record *r)
{
	u64 hash = ((u64)r->pid << 32 | r->handle) ^ store->key;

	hash *= store->multiplier;
	hash ^= hash >> 29;
	hash ^= (u64)r->cpu << 32 ^ r->when ^ (u64)object ^ event;
	hash *= store->multiplier;
	return hash >> 32 | 1;
}

static __always_inline void hslab_record(const struct hslab_store *store,
					 void *object, enum hslab_event event,
					 u32 handle, u64 when)
{
	struct hslab_record r = {
		.handle = handle,
		.pid = task_pid_nr(current),
		.cpu = raw_smp_processor_id(),
		.when = when,
	};

	r.check = hslab_record_check(store, object, event, &r);
	*hslab_record_of(store, object, event) = r;
}

/*
 * STACKS
 *
 * Unwinding, and finding the stack in the depot, takes thousands of instructions.
 * So what came of it is remembered under a hash of all words on the stack that an
 * unwinder can go by: addresses of code (return addresses), and of the stack
 * itself (saved frame pointers), with their places. From equal ones it comes to an
 * equal result. It may also go by what is not on the stack: then the result is not
 * remembered, see hslab_memo_key().
 *
 * An entry is two words, written and read without a lock: half of the hash is in
 * both, so that one which is torn is no hit. The table is read by all CPUs, and
 * written only when a stack is new to it.
 */
#define HSLAB_MEMOS	1024

struct hslab_memo {
	u64 hash;
	u64 value;		/* lower half of the hash, handle */
};

static struct hslab_memo hslab_memos[HSLAB_MEMOS];
/* Another with each module that comes or goes. */
static u64 hslab_memo_seed __read_mostly;

/*
 * The hash of the stack from @from up to its end, 0 if none can vouch for the rest
 * of what an unwinder looks at: on an interrupt's stack, which leads to another one,
 * and where tracers have replaced return addresses. What code is at an address
 * changes with modules, and the seed with them.
 */
static __always_inline u64 hslab_memo_key(const unsigned long *from)
{
	unsigned long base = (unsigned long)task_stack_page(current);
	const unsigned long *end = (void *)task_pt_regs(current);
	u64 hash = READ_ONCE(hslab_memo_seed);
	const unsigned long *p;

	/* What is above are registers of the user's. */
	if ((unsigned long)from - base >= THREAD_SIZE ||
	    hslab_compat_returns_replaced())
		return 0;
	for (p = from; p < end; p++) {
		unsigned long word = READ_ONCE_NOCHECK(*p);

		/* Places are counted from @from: other tasks come by as well. */
		if (word - base < THREAD_SIZE)
			word -= (unsigned long)from;
		else if (!hslab_compat_maybe_code(word))
			continue;
		hash = (hash ^ word ^ (u64)(p - from) << 48) *
		       0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static struct hslab_memo *hslab_memo_find(u64 key)
{
	return &hslab_memos[(key >> 16) % HSLAB_MEMOS];
}

/*
 * Unwind, without the @skip innermost frames, this one included, nor those within @from,
 * if that is not 0, and remember what comes of it under @key, unless that is 0.
 */
static noinline u32 hslab_track_unwind(u64 key, unsigned int skip,
				       unsigned long from)
{
	struct hslab_memo *memo = hslab_memo_find(key);
	unsigned long entries[HSLAB_TRACK_FRAMES + HSLAB_HOOK_FRAMES];
	unsigned int nr, first;
	u32 handle;

	nr = stack_trace_save(entries, from ? ARRAY_SIZE(entries) :
					      HSLAB_TRACK_FRAMES, skip);
	for (first = 0; first < nr && from; first++)
		if (entries[first] == from)
			break;
	if (from && first == nr) {	/* tracers have replaced it */
		entries[0] = from;
		first = 0;
		nr = 1;
	}
	nr = min_t(unsigned int, nr - first, HSLAB_TRACK_FRAMES);
	handle = hslab_compat_depot_save(entries + first, nr,
					 GFP_NOWAIT | __GFP_NOWARN);
	if (key && handle) {
		WRITE_ONCE(memo->hash, key);
		WRITE_ONCE(memo->value, key << 32 | handle);
	}
	return handle;
}

/*
 * Save the stack without the @skip innermost frames, the hook's included; 0 if there
 * is no memory for it.
 */
static __always_inline u32 hslab_track_stack(unsigned int skip,
					     unsigned long from)
{
	/* The hook's saved frame pointer, and its return address. */
	u64 key = hslab_memo_key(__builtin_frame_address(0));
	struct hslab_memo *memo = hslab_memo_find(key);
	u64 value = READ_ONCE(memo->value);

	if (likely(key && READ_ONCE(memo->hash) == key &&
		   value >> 32 == (u32)key))
		return value;
	return hslab_track_unwind(key, 1 + skip, from);
}

/*
 * The stack from a return address on, for hooks of functions that others call: between
 * there and here lie frames of tracing. Any context but NMI.
 */
noinline u32 hslab_track_from(unsigned long from)
{
	return hslab_track_stack(1, from);
}

/**
 * hslab_track_alloc() - record an allocation
 * @route: a route to a tracked store
 * @object: the object; it is not LIVE yet
 *
 * Context: any but NMI.
 */
noinline void hslab_track_alloc(struct hslab_route *route, void *object)
{
	struct hslab_store *store = route->store;

	memset(hslab_record_of(store, object, HSLAB_EV_FREE), 0,
	       sizeof(struct hslab_record));
	/* The hook, and hslab_make_fit(). */
	hslab_record(store, object, HSLAB_EV_ALLOC, hslab_track_stack(2, 0),
		     local_clock());
}

/**
 * hslab_track_free() - record a free
 * @route: a route to a tracked store
 * @object: the object; it is not LIVE any more
 *
 * Context: any but NMI.
 */
noinline void hslab_track_free(struct hslab_route *route, void *object)
{
	struct hslab_store *store = route->store;
	struct hslab_record *alloc = hslab_record_of(store, object,
						     HSLAB_EV_ALLOC);
	u64 now = local_clock();

	hslab_record(store, object, HSLAB_EV_FREE, hslab_track_stack(1, 0), now);
	if (alloc->check == hslab_record_check(store, object, HSLAB_EV_ALLOC,
					       alloc)) {
		u64 age = now > alloc->when ? now - alloc->when : 1;

		this_cpu_inc(route->cache->lifetimes->nr[ilog2(age)]);
	}
}

/*
 * READING
 */

/* Read a record; false if its memory cannot be read. */
static bool hslab_record_read(const struct hslab_store *store,
			      const void *object, enum hslab_event event,
			      struct hslab_track *t)
{
	const u64 *from = (u64 *)hslab_record_of(store, object, event);
	union {
		struct hslab_record r;
		u64 words[sizeof(struct hslab_record) / sizeof(u64)];
	} u;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(u.words); i++)
		if (!hslab_compat_tag_read(from + i, &u.words[i]))
			return false;

	memset(t, 0, sizeof(*t));
	if (u.r.check == hslab_record_check(store, object, event, &u.r)) {
		t->known = HSLAB_RECORDED;
		t->handle = u.r.handle;
		t->pid = u.r.pid;
		t->cpu = u.r.cpu;
		t->when = u.r.when;
	} else if (u.words[0] || u.words[1] || u.words[2]) {
		t->known = HSLAB_RECORD_DAMAGED;
	}
	return true;
}

/**
 * hslab_track_read() - read the tag and the records of an object
 * @store: its store, a tracked one
 * @object: the object, or what may be one
 * @plain: gets the plain tag, whole or not
 * @tracks: gets the %HSLAB_NR_EV records
 *
 * The object may be allocated, freed and given back meanwhile: the tag is read
 * before and after. A record that is being written looks damaged, and is read
 * again.
 *
 * Context: any but NMI.
 * Return: false if it cannot be read, or does not stay the same for long enough.
 */
bool hslab_track_read(const struct hslab_store *store, const void *object,
		      u64 *plain, struct hslab_track *tracks)
{
	const u64 *tag = hslab_tag(object, store->tag_off);
	unsigned int tries;
	u64 word, again;
	bool settled;

	for (tries = 0; tries < 8; tries++) {
		if (!hslab_compat_tag_read(tag, &word))
			return false;
		smp_rmb();	/* a record that is newer than the tag is no matter */
		if (!hslab_record_read(store, object, HSLAB_EV_ALLOC,
				       &tracks[HSLAB_EV_ALLOC]) ||
		    !hslab_record_read(store, object, HSLAB_EV_FREE,
				       &tracks[HSLAB_EV_FREE]))
			return false;
		smp_rmb();	/* the record is not newer than the second look */
		if (!hslab_compat_tag_read(tag, &again))
			return false;
		*plain = hslab_decode(store, object, word);
		settled = tries > 4 ||
			  (tracks[HSLAB_EV_ALLOC].known != HSLAB_RECORD_DAMAGED &&
			   tracks[HSLAB_EV_FREE].known != HSLAB_RECORD_DAMAGED);
		if (word == again && settled)
			return true;
		cpu_relax();
	}
	return false;
}

/* Give a violation the records of its object. Context: any but NMI. */
void hslab_track_fault(struct hslab_fault *fault)
{
	const void *object = fault->object;
	struct hslab_store *store;
	u64 plain;

	if (!object || !IS_ALIGNED((unsigned long)object, sizeof(u64)))
		return;
	rcu_read_lock();
	store = hslab_store_of(object);
	if (store && store->geometry.tracked &&
	    hslab_compat_to_slab_end(object) >=
	    store->tag_off + hslab_tag_bytes(&store->geometry) &&
	    !hslab_track_read(store, object, &plain, fault->tracks))
		memset(fault->tracks, 0, sizeof(fault->tracks));
	rcu_read_unlock();
}

/* How many objects of a cache lived for 2^@n to 2^(@n + 1) ns. */
u64 hslab_track_lifetimes(const struct hslab_cache *cache, unsigned int n)
{
	u64 sum = 0;
	int cpu;

	if (!cache->lifetimes)
		return 0;
	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(cache->lifetimes, cpu)->nr[n]);
	return sum;
}

/* What is known of stacks holds no more: code has come, or is going. */
void hslab_track_forget(void)
{
	WRITE_ONCE(hslab_memo_seed, get_random_u64());
}

/*
 * SWITCHING IT ON
 */

/*
 * Is there a stack depot that takes stacks? It may be switched off by a boot
 * parameter, or for lack of memory once, and its init says so only the first time.
 */
int hslab_depot_ready(void)
{
	unsigned long entry = (unsigned long)hslab_depot_ready;
	int err = stack_depot_init();

	if (!err && !stack_depot_save(&entry, 1, GFP_KERNEL))
		err = -ENOMEM;
	if (err)
		pr_warn("the kernel's stack depot cannot be used: nothing can be tracked\n");
	return err;
}

/**
 * hslab_track_prepare() - get a cache what it needs to be tracked
 * @cache: the cache
 * @track: is it going to be?
 *
 * Context: process context, with hslab_mutex.
 * Return: 0 or -ENOMEM.
 */
int hslab_track_prepare(struct hslab_cache *cache, bool track)
{
	int err;

	lockdep_assert_held(&hslab_mutex);

	if (!track || cache->lifetimes)
		return 0;
	err = hslab_depot_ready();
	if (err)
		return err;
	cache->lifetimes = alloc_percpu(struct hslab_lifetimes);
	return cache->lifetimes ? 0 : -ENOMEM;
}

/* Free what that got it. Nobody has the cache any more. */
void hslab_track_free_cache(struct hslab_cache *cache)
{
	free_percpu(cache->lifetimes);
}
