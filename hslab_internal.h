/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of hslab share: states, the tag, the structures, lock order.
 *
 * An object lives in a slot of a store (one kmem_cache):
 *
 *	| payload, rounded up to 8 bytes | tag (8 bytes) | SLUB's free pointer |
 *	^ object                         ^ object + tag_off
 *
 * In a tracked store two records (HSLAB_RECORD_SIZE bytes) follow the tag.
 *
 * LOCK ORDER
 *
 * 0. hslab_uevent_mutex: a cache's kobject enters or leaves sysfs, or a uevent is
 *    sent from it. Process context. Taken before hslab_mutex, since files that
 *    are removed under it may be waiting for that.
 * 1. hslab_mutex: the registry (caches, stores, their names and policies),
 *    and every change of a cache's routes. Process context, may sleep.
 *    kmem_cache_create() is called under it, and takes cpu_hotplug_lock and
 *    slab_mutex: CPU hotplug callbacks and shrinkers must not take it. The
 *    files of sysfs do, so kobjects are removed without it.
 * 2. store->aside_lock: the list of objects set aside. A raw spinlock, since
 *    a violation may be found in any context but NMI; held for a few
 *    instructions, never over a fill, a print or an allocation.
 * 3. The locks of what a route holds back: of a CPU's part of a quarantine
 *    (hslab_quarantine.c) or of the objects that wait for a grace period
 *    (hslab_rcu.c), and of pins (hslab_pin.c). As aside_lock; no other lock is
 *    taken under any of these four.
 *
 * Allocation and free take no lock. They read cache->route and look at a tag,
 * and use a magazine, with preemption off; a route is freed only after it was
 * closed, its last object came home and synchronize_rcu() returned. From the
 * moment on that a tag was found LIVE under a route, or an allocation was
 * counted on it, that object keeps the route.
 */
#ifndef HSLAB_INTERNAL_H
#define HSLAB_INTERNAL_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "hslab_compat.h"
#include <linux/hslab.h>

/*
 * THE TAG
 *
 * A tag is (plain ^ object ^ key) * multiplier, with a plain word as below, the
 * object's address and two secrets of the store, both odd. A LIVE tag is
 * thereby known in all its 64 bits, and one comparison checks state, owner and
 * canary at once. Taken back with the inverse of the multiplier, a tag that was
 * damaged in any byte comes out with wrong bits from that byte upwards, and so
 * in the upper 24, which are fixed for a store.
 *
 *	bits  0- 2	state
 *	bits  3- 4	fill kind: what the payload of a FREE object holds
 *	bits  5- 6	where a FREE object is kept: QUARANTINED, PINNED or neither
 *	bits  8-15	fill byte, with HSLAB_FILL_BYTE
 *	bits 16-39	number of the cache that has, or last had, the object
 *	bits 40-51	number of the store
 *	the others	zero
 *
 * An object that waits for a grace period has a link in place of all that: state
 * RCU, and the distance of the next one of its batch from PAGE_OFFSET, or zero
 * (hslab_rcu.c). The upper bits are zero there as the direct map is finite.
 *
 * Bit 0 is clear in every state and in the address, and set in both secrets:
 * the first byte of a tag in memory is odd, and never zero. The commonest
 * overflow, a terminating NUL one byte past the end, always shows.
 *
 * In a tracked store records of the last allocation and free follow it (hslab_track.c).
 */
#define HSLAB_TAG_SIZE		sizeof(u64)

enum hslab_state {
	HSLAB_RCU		= 0,	/* freed, and readers may still look */
	HSLAB_FREE		= 2,	/* in SLUB's hands, or in a magazine */
	HSLAB_LIVE		= 4,	/* in a consumer's hands */
	HSLAB_ASIDE		= 6,	/* damaged: never handed out again */
	HSLAB_QUARANTINED	= HSLAB_FREE | 0x20,	/* kept from reuse for a while */
	HSLAB_PINNED		= HSLAB_FREE | 0x40,	/* keeps its slab page */
};

#define HSLAB_STATE_MASK	0x67ULL
#define HSLAB_LINK_MASK		0x7ULL	/* what tells RCU from the other states */

enum hslab_fill_kind {
	HSLAB_FILL_KEPT,	/* nothing was done: what the last owner left */
	HSLAB_FILL_BYTE,	/* every byte is the fill byte */
	HSLAB_FILL_RANDOM,	/* the store's random word, repeated */
	HSLAB_FILL_FRESH,	/* never owned: content of a new page */
};

#define HSLAB_KIND_SHIFT	3
#define HSLAB_BYTE_SHIFT	8
#define HSLAB_CACHE_SHIFT	16
#define HSLAB_STORE_SHIFT	40

#define HSLAB_KIND_MASK		(0x3ULL << HSLAB_KIND_SHIFT)
#define HSLAB_BYTE_MASK		(0xffULL << HSLAB_BYTE_SHIFT)
#define HSLAB_FILL_MASK		(HSLAB_KIND_MASK | HSLAB_BYTE_MASK)
#define HSLAB_CACHE_MASK	(0xffffffULL << HSLAB_CACHE_SHIFT)

/*
 * Cache number 0 is nobody. Numbers are used in turn, since free objects of a
 * store that is shared keep that of a cache which was destroyed.
 */
#define HSLAB_CACHES_MAX	0xffffff
#define HSLAB_STORES_MAX	1024	/* one constructor each, see hslab_ctor.c */

static_assert(HSLAB_STORES_MAX <= 1 << 12, "a store number has 12 bits in the tag");

static inline u64 hslab_fill_bits(enum hslab_fill_kind kind, u8 byte)
{
	return (u64)kind << HSLAB_KIND_SHIFT | (u64)byte << HSLAB_BYTE_SHIFT;
}

static inline enum hslab_fill_kind hslab_fill_kind(u64 bits)
{
	return (bits & HSLAB_KIND_MASK) >> HSLAB_KIND_SHIFT;
}

static inline u8 hslab_fill_byte(u64 bits)
{
	return (bits & HSLAB_BYTE_MASK) >> HSLAB_BYTE_SHIFT;
}

/*
 * THE POLICY WORD
 *
 * All that allocation and free ask of a cache's policy, in one word of the
 * current route that is read once an operation and written once a change. The
 * fill bits, and that of the quarantine, are where the tag has them.
 */
#define HSLAB_POL_CHECK		BIT_ULL(0)
#define HSLAB_POL_HEAD		BIT_ULL(1)	/* verify the first and last word */
#define HSLAB_POL_FULL		BIT_ULL(2)	/* verify all of it */
#define HSLAB_POL_QUARANTINE	BIT_ULL(5)	/* keep from reuse: QUARANTINED ^ FREE */
#define HSLAB_POL_ZERO		BIT_ULL(16)	/* zero what is not known to be */
#define HSLAB_POL_PAD		BIT_ULL(17)	/* size is no multiple of 8 */
#define HSLAB_POL_TRACK		BIT_ULL(18)	/* the route's store is a tracked one */
#define HSLAB_POL_DEFER		BIT_ULL(19)	/* a free waits for a grace period */

/* What a free takes over into the tag. */
#define HSLAB_POL_TAG_MASK	(HSLAB_FILL_MASK | HSLAB_POL_QUARANTINE)

/* What the quickest way through an allocation, or a free, cannot do. */
#define HSLAB_POL_ALLOC_WORK	(HSLAB_POL_ZERO | HSLAB_POL_PAD | HSLAB_POL_TRACK)
#define HSLAB_POL_FREE_WORK	(HSLAB_POL_QUARANTINE | HSLAB_POL_TRACK | \
				 HSLAB_POL_DEFER)

enum hslab_merge {
	HSLAB_MERGE_NEVER,
	HSLAB_MERGE_OWNER,
	HSLAB_MERGE_GROUP,
	HSLAB_MERGE_ANY,
	HSLAB_NR_MERGE
};

enum hslab_zero {
	HSLAB_ZERO_AUTO,
	HSLAB_ZERO_NO,
	HSLAB_ZERO_YES,
	HSLAB_NR_ZERO
};

enum hslab_verify {
	HSLAB_VERIFY_OFF,
	HSLAB_VERIFY_HEAD,
	HSLAB_VERIFY_FULL,
	HSLAB_NR_VERIFY
};

enum hslab_action {
	HSLAB_ACT_REPORT,
	HSLAB_ACT_WARN,
	HSLAB_ACT_KILL,
	HSLAB_ACT_PANIC,
	HSLAB_NR_ACT
};

#define HSLAB_GROUP_LEN		32
#define HSLAB_NAME_LEN		64	/* with the final NUL */
#define HSLAB_VALUE_LEN		64	/* longest policy value, with NUL */
#define HSLAB_SHOWN		16	/* bytes of an object in a report */
#define HSLAB_WHERE_LEN		80	/* symbol, offset and module of a caller */

/* The policies of a cache as the user sees them. Protected by hslab_mutex. */
struct hslab_policy {
	enum hslab_merge merge;
	char group[HSLAB_GROUP_LEN];	/* with HSLAB_MERGE_GROUP, else empty */
	enum hslab_fill_kind poison;	/* KEPT is off; never FRESH */
	u8 poison_byte;
	enum hslab_zero zero;
	enum hslab_verify verify;
	bool check;
	unsigned int quarantine_kb;	/* 0 is off */
	unsigned int pin;		/* pages at most, 0 is off */
	bool track;
	unsigned int scrub_interval_ms;	/* 0 is never */
	bool poison_typesafe;		/* of a SLAB_TYPESAFE_BY_RCU cache too */
	enum hslab_action on_violation;
};

/*
 * What a violation is called, in reports, in stats/faults_* and in the tests.
 * hslab_kind_names[] in hslab_report.c has the names.
 */
enum hslab_kind {
	HSLAB_DOUBLE_FREE,	/* freed twice */
	HSLAB_CROSS_FREE,	/* freed to a cache that does not own it */
	HSLAB_INVALID_FREE,	/* not an object */
	HSLAB_OVERFLOW,		/* written past its end while it was live */
	HSLAB_WRITE_AFTER_FREE,	/* poison damaged while it was free */
	HSLAB_BAD_TAG,		/* tag damaged while it was free */
	HSLAB_NOT_FREED,	/* SLUB has it, but hslab_free() never saw it */
	HSLAB_NR_KINDS
};

/*
 * What decides whether two caches can share slots. Fixed when a cache is
 * created.
 */
struct hslab_geometry {
	unsigned int payload;		/* bytes, rounded up to 8: the tag's offset */
	unsigned int align;		/* as SLUB will use it, in bytes */
	slab_flags_t flags;
	unsigned int useroffset;
	unsigned int usersize;
	bool tracked;			/* records follow the tag */
};

/* Whom a store takes in. */
struct hslab_domain {
	enum hslab_merge merge;
	unsigned int cache;		/* with NEVER: the one cache's number */
	char name[HSLAB_NAME_LEN];	/* with OWNER and GROUP */
	bool bucket;			/* NEVER, since it is of a bucket set */
};

/* Why two caches do not share; hslab_refusal_names[] in hslab_merge.c. */
enum hslab_refusal {
	HSLAB_SHARE,
	HSLAB_REFUSE_POLICY,		/* different merge policies, or never */
	HSLAB_REFUSE_OWNER,
	HSLAB_REFUSE_GROUP,
	HSLAB_REFUSE_SIZE,
	HSLAB_REFUSE_ALIGN,
	HSLAB_REFUSE_RCU,
	HSLAB_REFUSE_FLAGS,
	HSLAB_REFUSE_USERCOPY,
	HSLAB_REFUSE_TRACK,
	HSLAB_REFUSE_BUCKET,
	HSLAB_NR_REFUSALS
};

/* One kmem_cache with hslab's constructor. */
struct hslab_store {
	/* Fixed at creation; read by allocation, free and the constructor. */
	unsigned int id;
	unsigned int tag_off;		/* bytes from the object to its tag */
	u64 key;			/* secret, odd */
	u64 multiplier;			/* secret, odd */
	u64 inverse;			/* of the multiplier, modulo 2^64 */
	u64 random;			/* secret: the word of poison=random */
	u64 padding;			/* secret: between object and tag; no byte is 0 */
	u64 plain;			/* the store's number at its place in a tag */

	/* Fill bits for the objects of a new slab page. READ/WRITE_ONCE. */
	u64 fresh;

	struct kmem_cache *kmem;
	struct hslab_geometry geometry;
	struct hslab_domain domain;
	char kmem_name[HSLAB_NAME_LEN + 16];
	struct hlist_node by_kmem;	/* RCU readers */

	/* Protected by hslab_mutex. */
	struct list_head node;		/* hslab_stores */
	struct list_head routes;	/* hslab_route.in_store, all states */
	unsigned int nr_routes;

	/* hslab_aside.c. Written under aside_lock, the numbers READ_ONCE too. */
	raw_spinlock_t aside_lock;
	struct hslab_aside *aside;
	unsigned long nr_aside;
	unsigned long nr_suspects;	/* of these may be in SLUB's hands */
	unsigned long nr_lost;		/* of these are on no list */

	/* hslab_slab.c, written by the constructor. READ/WRITE_ONCE. */
	unsigned int nr_learned;	/* objects looked at */
	const void *last_made;
	unsigned int stride;		/* between objects of a page; 0: unknown */
	unsigned int phase;		/* from the page to an object */

	struct kobject kobj;
	struct completion kobj_gone;
	struct rcu_head rcu;
};

/*
 * Per-CPU counters of a route. live = limit - headroom summed over the CPUs;
 * the hot path counts headroom down and up, and a negative one means that the
 * route may have reached a new peak (hslab_new_peak()).
 */
struct hslab_counts {
	u64 allocs;
	s64 headroom;
	s64 limit;
	u64 fails;
	u64 zero_skipped;
	u64 verified;
};

/*
 * What a CPU has of a route: counters, and a magazine: free objects, tagged and
 * filled as any, that are kept from SLUB to be handed out again. The magazine is
 * used by its own CPU with preemption off, between hslab_magazine_enter() and
 * _leave(), and by another one only when nobody can use it any more
 * (hslab_magazine.c).
 */
#define HSLAB_MAGAZINE_MAX	32

struct hslab_cpu {
	struct hslab_counts counts;
	unsigned long busy;		/* in use; an interrupt goes to SLUB then */
	unsigned long nr;
	void *objects[HSLAB_MAGAZINE_MAX];
};

/*
 * hslab_rcu.c: what a CPU has of a route's objects that wait for a grace period.
 * A chain is linked through the objects' tags.
 */
#define HSLAB_CHAINS		4

struct hslab_chain {
	void *first;
	unsigned long nr;
};

struct hslab_rcu {
	raw_spinlock_t lock;
	bool armed;			/* lock: work is queued, or runs */
	unsigned int turn;		/* lock: the chain that is next */
	struct hslab_route *route;	/* fixed */
	struct rcu_work work;		/* whoever sets armed */
	struct hslab_chain filling[HSLAB_CHAINS];	/* lock */
	struct hslab_chain waiting[HSLAB_CHAINS];	/* lock, if armed the work */
};

/*
 * A route leads a cache to a store. A cache has one current route, and further
 * ones while objects in its former stores are still live. All but the lists, the
 * policy word and what it needs is fixed at creation. The policy word of the
 * current route is the cache's; that of others is no longer looked at.
 */
struct hslab_route {
	u64 policy;			/* policy word; READ_ONCE/WRITE_ONCE */
	struct kmem_cache *kmem;
	struct hslab_cpu __percpu *cpu;
	unsigned long magazine;		/* objects it may hold; 0 once closed */
	u64 live_key;			/* plain tag of a live object ^ store->key */
	u64 multiplier;			/* store->multiplier */
	u64 inverse;			/* store->inverse */
	u64 random;			/* store->random */
	u64 padding;			/* store->padding */
	unsigned long words;		/* payload in words of 8 bytes; the tag is next */
	bool tracked;			/* store->geometry.tracked */

	struct hslab_store *store;
	struct hslab_cache *cache;
	struct list_head in_cache;	/* cache->routes: RCU readers, hslab_mutex */
	struct list_head in_store;	/* store->routes: RCU readers, hslab_mutex */
	struct list_head gone;		/* once off both */
	unsigned long closed;		/* the epoch that it was closed in */
	unsigned long settle;		/* hslab_leak.c: when to look again; jiffies */
	struct hslab_rcu __percpu *rcu;

	/* What policies need; set under hslab_mutex, and there for good. */
	struct hslab_quarantine *quarantine;
	struct hslab_pins *pins;
};

/* hslab_scrub.c: the periodic work of a cache, and what all its scrubs cost. */
struct hslab_scrub {
	struct delayed_work work;
	unsigned int interval;		/* these are protected by hslab_mutex */
	u64 runs;
	u64 objects;
	u64 ns;
};

/* hslab_leak.c: of a destroyed cache with live objects. */
struct hslab_leak {
	bool reported;
	unsigned long next;		/* when to look again; jiffies */
	unsigned long delay;
};

enum hslab_cache_kind {
	HSLAB_CACHE_PLAIN,
	HSLAB_CACHE_INTERNAL,		/* hslab's own: holds no module reference */
	HSLAB_CACHE_BUCKET,		/* of a bucket set: never merges */
	HSLAB_CACHE_KMEM,		/* of hslab_kmem.c: its name may get a number */
};

struct hslab_cache {
	/* What the hot path reads. */
	struct hslab_route __rcu *route;	/* current; RCU (sched), hslab_mutex */
	u64 pad_mask;			/* bytes of the last word beyond the size */
	void (*ctor)(void *object);

	/* Fixed at creation. */
	unsigned int id;		/* not 0 */
	unsigned int size;		/* bytes, as asked for */
	struct hslab_geometry geometry;
	char name[HSLAB_NAME_LEN];
	char owner[HSLAB_NAME_LEN];	/* module name, copied: it may go first */
	bool internal;			/* hslab's own: holds no module reference */
	bool alone;			/* shares slots with nobody, whatever merge says */

	/* Protected by hslab_mutex. */
	struct hslab_policy policy;
	struct list_head node;		/* hslab_caches: RCU readers */
	struct list_head zombie;	/* hslab_zombies, once off hslab_caches */
	struct list_head routes;	/* RCU readers */
	struct hslab_counts retired;	/* of routes that are gone */
	struct hslab_scrub scrub;
	bool dying;			/* destroyed: no further changes */
	struct hslab_leak leak;		/* the work of hslab_drain() alone */
	struct hslab_bucket *bucket;	/* the set that it is a class of, or NULL */

	s64 peak;			/* READ/WRITE_ONCE; a lost race loses a sample */
	enum hslab_action action;	/* policy.on_violation for readers without lock */
	atomic64_t faults[HSLAB_NR_KINDS];
	atomic64_t aside;		/* objects it had set aside */

	/* hslab_quarantine.c: bytes that may be, and that CPUs have reserved. */
	unsigned long quarantine_bound;	/* READ/WRITE_ONCE */
	atomic_long_t quarantine_reserved;

	/* hslab_track.c: there for good once the cache was tracked. */
	struct hslab_lifetimes __percpu *lifetimes;

	struct kobject kobj;
	struct completion kobj_gone;
	struct dentry *debugfs;
	struct rcu_head rcu;
};

/* Tracking: what is recorded of an object, see hslab_track.c. */
enum hslab_event {
	HSLAB_EV_ALLOC,
	HSLAB_EV_FREE,
	HSLAB_NR_EV
};

enum hslab_known {
	HSLAB_NO_RECORD,
	HSLAB_RECORDED,
	HSLAB_RECORD_DAMAGED,
};

/* A record that was read, and is sound if known is RECORDED. */
struct hslab_track {
	enum hslab_known known;
	u32 handle;			/* stack depot; 0: the stack is not known */
	pid_t pid;
	unsigned int cpu;
	u64 when;			/* local_clock(), ns */
};

/*
 * hslab_bucket.c: a set of size classes. Classes become NULL when the set was
 * destroyed and their last object came home; RCU readers, hslab_mutex.
 */
#define HSLAB_NR_CLASSES	12

struct hslab_bucket {
	struct hslab_cache *classes[HSLAB_NR_CLASSES];
	bool retired;			/* READ/WRITE_ONCE */
	struct rcu_head rcu;
};

struct hslab_bucket_args {
	const char *name;
	slab_flags_t flags;
	unsigned int useroffset, usersize;
	bool natural;			/* align as kmalloc() does */
};

/* A violation, from the finding to the last of debugfs's 64. */
struct hslab_fault {
	enum hslab_kind kind;
	enum hslab_action action;
	char cache[HSLAB_NAME_LEN];	/* that allocated or freed */
	char other[HSLAB_NAME_LEN];	/* that owns the object, if another does */
	const void *object;
	unsigned int size;		/* bytes of payload, as the cache was made */
	enum hslab_state state;		/* that the object was found in */
	int offset;			/* first bad byte, or -1 */
	unsigned int nr_bad;		/* bytes that differ */
	u8 expected[HSLAB_SHOWN];	/* from offset on */
	u8 found[HSLAB_SHOWN];
	unsigned int nr_shown;		/* bytes in these */
	bool aside;			/* the object was set aside */
	bool attached;			/* the cache is attached to, and not hslab's */
	u64 nr;				/* how many of this kind the cache has had */

	unsigned long gone;		/* NOT_FREED: objects whose page has gone; or 0 */
	bool astray;			/* NOT_FREED: it is no object of the cache */
	unsigned long caller;		/* who allocated or freed */
	struct hslab_track tracks[HSLAB_NR_EV];	/* of the object, if it is tracked */

	/* Filled in by hslab_report(). */
	char where[HSLAB_WHERE_LEN];	/* symbol of the caller: its module may go */
	unsigned int cpu;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	u64 when;			/* local_clock(), ns */
};

/* hslab_policy.c */
extern const char *const hslab_action_names[HSLAB_NR_ACT];

/* hslab_poison.c */
void hslab_fill(u64 *words, unsigned int nr, u64 pattern);
bool hslab_intact(const u64 *words, unsigned int nr, u64 pattern);
int hslab_first_bad(const void *found, const void *expected, unsigned int len);
int hslab_first_bad_fill(const u64 *words, unsigned int nr, u64 pattern,
			 unsigned int *nr_bad);

/* hslab_ctor.c */
extern void (*const hslab_ctors[HSLAB_STORES_MAX])(void *object);
extern struct hslab_store *hslab_store_of_ctor[HSLAB_STORES_MAX];

/* hslab_slab.c */
#define HSLAB_LEARN_FROM	512	/* objects, more than a slab page has */
extern unsigned int hslab_slab_cache_off;
void hslab_slab_learn(struct hslab_store *store, const void *object);
bool hslab_slab_is_slot(const struct hslab_store *store, const void *object);
bool hslab_slab_astray(const struct hslab_store *store, const void *object);
typedef void hslab_walk_t(struct hslab_store *store, void *object, void *arg);
long hslab_slab_walk(struct hslab_store *store, hslab_walk_t *fn, void *arg);
void hslab_slab_init(void);

/* hslab_merge.c */
extern const char *const hslab_refusal_names[HSLAB_NR_REFUSALS];
extern struct list_head hslab_stores;
enum hslab_refusal hslab_merge_decide(const struct hslab_geometry *a,
				      const struct hslab_domain *da,
				      const struct hslab_geometry *b,
				      const struct hslab_domain *db);
void hslab_domain_of(struct hslab_domain *domain,
		     const struct hslab_cache *cache);
struct hslab_store *hslab_store_of(const void *object);
struct hslab_store *hslab_store_find(const struct hslab_geometry *geometry,
				     const struct hslab_domain *domain);
struct hslab_store *hslab_store_create(const struct hslab_geometry *geometry,
				       const struct hslab_domain *domain,
				       const char *name);
void hslab_store_destroy(struct hslab_store *store);
unsigned int hslab_alignment(unsigned int align, slab_flags_t flags,
			     unsigned int size);
unsigned int hslab_slot_size(const struct hslab_geometry *geometry);

/* hslab_aside.c */
bool hslab_set_aside(struct hslab_store *store, void *object, u64 word,
		     unsigned int suspect);
void hslab_lose(struct hslab_store *store, unsigned long nr);
bool hslab_clear_suspect(struct hslab_store *store, void *object, u64 word);
bool hslab_is_suspect(struct hslab_store *store, const void *object);
void hslab_settle_suspects(struct hslab_route *route);
bool hslab_aside_release(struct hslab_store *store);

/* hslab_policy.c */
struct hslab_policy_field {
	const char *name;
	int (*parse)(struct hslab_policy *policy, const char *value);
	void (*format)(const struct hslab_policy *policy, char *value);
	const char *expected;		/* what parse() takes, for messages */
};

enum hslab_field {
	HSLAB_FIELD_PROFILE,
	HSLAB_FIELD_MERGE,
	HSLAB_FIELD_POISON,
	HSLAB_FIELD_ZERO,
	HSLAB_FIELD_VERIFY,
	HSLAB_FIELD_CHECK,
	HSLAB_FIELD_QUARANTINE_KB,
	HSLAB_FIELD_PIN,
	HSLAB_FIELD_TRACK,
	HSLAB_FIELD_SCRUB_INTERVAL_MS,
	HSLAB_FIELD_POISON_TYPESAFE,
	HSLAB_FIELD_ON_VIOLATION,
	HSLAB_NR_FIELDS
};

extern const struct hslab_policy_field hslab_fields[HSLAB_NR_FIELDS];
extern struct hslab_policy hslab_defaults;	/* hslab_mutex */
const struct hslab_policy_field *hslab_field_find(const char *name);
int hslab_policy_set(struct hslab_policy *policy,
		     const struct hslab_policy_field *field, const char *value);
void hslab_policy_complain(const char *who,
			   const struct hslab_policy_field *field);
u64 hslab_policy_word(const struct hslab_policy *policy,
		      const struct hslab_cache *cache);

/* hslab_rules.c */
int hslab_rules_set(const char *buf, size_t count);
int hslab_rules_show(char *buf);
void hslab_rules_apply(struct hslab_policy *policy, const char *name);

/* hslab_report.c */
void hslab_faults_tracks(void (*fn)(const struct hslab_track *track, void *arg),
			 void *arg);
extern const char *const hslab_kind_names[HSLAB_NR_KINDS];
extern atomic64_t hslab_nr_faults;
void hslab_report(struct hslab_fault *fault);
#define HSLAB_LAST	64		/* reports that are kept */
void hslab_faults_show(struct seq_file *seq);
unsigned long hslab_nr_reports(void);
bool hslab_recall(unsigned long nr, struct hslab_fault *fault);

/* hslab_event.c */
extern struct mutex hslab_uevent_mutex;
void hslab_event(const struct hslab_fault *fault);
void hslab_event_exit(void);

/* hslab.c */
u64 hslab_policy_for(const struct hslab_route *route, const void *object,
		     u64 policy);
void hslab_let_go(struct hslab_route *route, void *object, u64 policy);
void hslab_free_for(struct hslab_cache *cache, void *object,
		    unsigned long caller);
void hslab_free_rcu_for(struct hslab_cache *cache, void *object,
			unsigned long caller);

/* hslab_check.c: what an address in a store's page belongs to. */
struct hslab_identity {
	struct hslab_cache *cache;
	void *start;			/* of the object, NULL if not known */
	enum hslab_state state;		/* that its tag tells, if start is known */
};

bool hslab_identify(void *address, struct hslab_identity *id);
void hslab_judge_stray(void *object, unsigned long caller);
struct hslab_cache *hslab_owner_among(struct hslab_cache *const *caches,
				      unsigned int nr, void *object);
void hslab_credit_owner(struct hslab_route *route, u64 plain);
bool hslab_already_free(struct hslab_cache *cache, const void *object);
void hslab_judge_free(struct hslab_cache *cache, void *object,
		      unsigned long caller);
void hslab_judge_held(struct hslab_route *route, void *object,
		      enum hslab_state expected, unsigned long caller);
void hslab_judge_gone(struct hslab_route *route, const void *object,
		      enum hslab_state state, unsigned long caller);
bool hslab_judge_waiting(struct hslab_route *route, void *object, u64 word,
			 u64 expected, unsigned long caller);
bool hslab_still_sound(struct hslab_route *route, void *object,
		       enum hslab_state state);

/* hslab_stats.c */
void hslab_new_peak(struct hslab_route *route);
s64 hslab_route_live(const struct hslab_route *route);
s64 hslab_cache_live(const struct hslab_cache *cache);
s64 hslab_cache_peak(struct hslab_cache *cache);
void hslab_cache_counts(const struct hslab_cache *cache,
			struct hslab_counts *sum);
void hslab_counts_retire(struct hslab_route *route);

/* hslab_magazine.c */
unsigned long hslab_magazine_size(const struct hslab_geometry *geometry);
void hslab_magazine_put(struct hslab_route *route, void *object);
void hslab_magazine_drain(struct hslab_route *route);
void hslab_magazine_empty(struct hslab_route *route);
unsigned long hslab_magazine_objects(const struct hslab_route *route);
int hslab_magazine_init(void);
void hslab_magazine_exit(void);

void hslab_to_slub(struct hslab_route *route, unsigned long nr, void **objects);

/* hslab_quarantine.c */
int hslab_quarantine_prepare(struct hslab_route *route, unsigned int kb);
void hslab_quarantine_commit(struct hslab_route *route, unsigned int kb);
void *hslab_quarantine_put(struct hslab_route *route, void *object, u64 policy);
void *hslab_quarantine_take(struct hslab_route *route);
void hslab_quarantine_empty(struct hslab_route *route);
void hslab_quarantine_close(struct hslab_route *route);
void hslab_quarantine_free(struct hslab_route *route);
unsigned long hslab_quarantine_scrub(struct hslab_route *route);
void hslab_quarantine_dead(struct hslab_route *route, int cpu);
unsigned long hslab_quarantine_skipped(const struct hslab_route *route);
unsigned long hslab_quarantine_objects(const struct hslab_route *route);
void hslab_quarantine_purge(void);
int hslab_quarantine_init(void);
void hslab_quarantine_exit(void);

/* hslab_rcu.c */
void hslab_rcu_put(struct hslab_route *route, void *object);
bool hslab_rcu_waits(const struct hslab_store *store, const void *object);
u64 hslab_rcu_undamaged(const struct hslab_store *store, const void *object,
			u64 word);
bool hslab_rcu_busy(const struct hslab_route *route);
void hslab_rcu_flush(struct hslab_cache *cache);
unsigned long hslab_rcu_objects(const struct hslab_route *route);
int hslab_rcu_add(struct hslab_route *route);
void hslab_rcu_del(struct hslab_route *route);
int hslab_rcu_init(void);
void hslab_rcu_exit(void);

/* What a route takes from SLUB. */
static __always_inline void *hslab_slub_alloc(struct hslab_route *route,
					      gfp_t gfp, int node,
					      struct list_lru *lru)
{
	if (unlikely(lru))
		return kmem_cache_alloc_lru(route->kmem, lru, gfp);
	if (node == NUMA_NO_NODE)
		return kmem_cache_alloc(route->kmem, gfp);
	return kmem_cache_alloc_node(route->kmem, gfp, node);
}

/* hslab_pin.c */
int hslab_pin_prepare(struct hslab_route *route, unsigned int pages);
void hslab_pin_commit(struct hslab_route *route, unsigned int pages);
void *hslab_pin_page(struct hslab_route *route, void *object, gfp_t gfp,
		     int node, struct list_lru *lru);
void hslab_pin_release(struct hslab_route *route);
void hslab_pin_free(struct hslab_route *route);
unsigned long hslab_pin_scrub(struct hslab_route *route);
unsigned long hslab_pin_pages(const struct hslab_route *route);
unsigned long hslab_pin_bytes(const struct hslab_route *route);
unsigned long hslab_pin_skipped(const struct hslab_route *route);

/* hslab_track.c */
#define HSLAB_RECORD_SIZE	48
#define HSLAB_LIFETIMES		64

u32 hslab_track_from(unsigned long from);
int hslab_depot_ready(void);
void hslab_track_alloc(struct hslab_route *route, void *object);
void hslab_track_free(struct hslab_route *route, void *object);
bool hslab_track_read(const struct hslab_store *store, const void *object,
		      u64 *plain, struct hslab_track *tracks);
void hslab_track_fault(struct hslab_fault *fault);
void hslab_track_forget(void);
u64 hslab_track_lifetimes(const struct hslab_cache *cache, unsigned int n);
int hslab_track_prepare(struct hslab_cache *cache, bool track);
void hslab_track_free_cache(struct hslab_cache *cache);

/* hslab_symbol.c */
__printf(3, 4)
void hslab_line(struct seq_file *seq, bool warning, const char *fmt, ...);
void hslab_symbol(char *text, size_t size, unsigned long addr, u64 when);
unsigned long hslab_symbol_caller(const struct hslab_track *track);
void hslab_track_print(struct seq_file *seq, const struct hslab_fault *fault);
void hslab_stack_print(struct seq_file *seq, bool warning, const char *indent,
		       const struct hslab_track *track);
int hslab_symbol_init(void);
void hslab_symbol_exit(void);

/* hslab_traces.c */
struct hslab_trace {
	struct hslab_track track;	/* one of them, for its stack */
	unsigned long nr;
	u64 min_when, max_when;
	u64 sum_when;			/* of differences from first_when */
	u64 first_when;
	u32 min_pid, max_pid;
	unsigned int cpus;		/* which of hslab_traces.cpus is its own */
};

struct hslab_traces {
	struct hslab_trace *traces;	/* sorted, most objects first */
	unsigned int nr, size;
	unsigned long *cpus;
	u64 now;
	long status;			/* of the walk; <0: not all are here */
	s64 untracked;			/* live objects of other stores */
	bool tracked;			/* is any store of the cache's a tracked one? */
};

int hslab_traces_collect(struct hslab_traces *t, struct hslab_cache *cache,
			 enum hslab_event event);
void hslab_traces_sort(struct hslab_traces *t);
int hslab_traces_present(struct file *file, const struct hslab_traces *traces);
int hslab_traces_release(struct inode *inode, struct file *file);
void hslab_traces_free(struct hslab_traces *t);
void hslab_traces_add_files(struct hslab_cache *cache);

/* hslab_leak.c */
bool hslab_leak_none_live(struct hslab_route *route);
void hslab_leak_drain(struct list_head *zombies, unsigned long epoch);

/* hslab_scrub.c */
void hslab_scrub_init(struct hslab_cache *cache);
void hslab_scrub(struct hslab_cache *cache);
void hslab_scrub_set_interval(struct hslab_cache *cache, unsigned int ms);
void hslab_scrub_stop(struct hslab_cache *cache);

/* hslab_bucket.c */
int hslab_bucket_make(struct hslab_bucket *bucket,
		      const struct hslab_bucket_args *args, const char *owner,
		      enum hslab_cache_kind kind);
void *hslab_bucket_alloc_node(struct hslab_bucket *bucket, size_t size,
			      gfp_t gfp, int node);
void hslab_bucket_retire(struct hslab_bucket *bucket);
void hslab_bucket_forget(struct hslab_cache *cache);
s64 hslab_bucket_live(const struct hslab_bucket *bucket);
/* hslab_seal.c */
const struct hslab_policy_field *
hslab_loosened(const struct hslab_policy *from, const struct hslab_policy *to);
bool hslab_sealed(void);
int hslab_seal(void);
int hslab_seal_change(const char *who, const struct hslab_policy *from,
		      const struct hslab_policy *to);
int hslab_seal_action(const char *who, const char *what);
int hslab_defaults_set(const struct hslab_policy_field *field,
		       const char *value);
void hslab_seal_init(void);

/* hslab_kmalloc.c */
int hslab_kmalloc_init(void);
void hslab_kmalloc_exit(void);

/* hslab_sysfs.c */
extern struct kset *hslab_caches_kset;
extern struct kobject *hslab_kobj;
int hslab_written(char *value, const char *buf, size_t count);
int hslab_told_to(const char *who, const char *what, const char *buf,
		  size_t count);
int hslab_may_release(const char *who, const char *what);
int hslab_sysfs_init(void);
void hslab_sysfs_exit(void);
int hslab_sysfs_add_store(struct hslab_store *store);
void hslab_sysfs_del_store(struct hslab_store *store);

/* hslab_sysfs_cache.c */
extern const struct kset_uevent_ops hslab_cache_uevent_ops;
int hslab_sysfs_add_cache(struct hslab_cache *cache);
void hslab_sysfs_del_cache(struct hslab_cache *cache);

/* hslab_debugfs.c */
void hslab_debugfs_init(void);
void hslab_debugfs_exit(void);
void hslab_debugfs_add_cache(struct hslab_cache *cache);
struct dentry *hslab_debugfs_add_attached(const char *name);
void hslab_debugfs_del_cache(struct hslab_cache *cache);

/* hslab_route.c */
extern struct list_head hslab_unused_stores;	/* hslab_mutex */
extern unsigned long hslab_epoch;		/* hslab_mutex */
void hslab_geometry_for(struct hslab_geometry *geometry,
			const struct hslab_cache *cache,
			const struct hslab_policy *policy);
int hslab_reroute(struct hslab_cache *cache);
void hslab_route_close(struct hslab_route *route);
bool hslab_routes_drain(struct hslab_cache *cache, bool all,
			unsigned long epoch, struct list_head *routes);
void hslab_route_free(struct hslab_route *route);

/* hslab_cache.c */

/* The flags that are handed on to kmem_cache_create(), and the rest of those known. */
#define HSLAB_FLAGS_PASSED						\
	(SLAB_HWCACHE_ALIGN | SLAB_CACHE_DMA | SLAB_CACHE_DMA32 |	\
	 SLAB_TYPESAFE_BY_RCU | SLAB_ACCOUNT | SLAB_RECLAIM_ACCOUNT |	\
	 SLAB_NOLEAKTRACE)
#define HSLAB_FLAGS_KNOWN						\
	(HSLAB_FLAGS_PASSED | SLAB_PANIC | HSLAB_COMPAT_NO_MERGE |	\
	 HSLAB_COMPAT_MEM_SPREAD)

extern struct workqueue_struct *hslab_wq;
void hslab_drain_soon(void);
extern struct mutex hslab_mutex;
extern struct list_head hslab_caches;		/* hslab_mutex */
struct hslab_cache *hslab_cache_by_id(unsigned int id);
struct hslab_cache *hslab_cache_make(const char *name, unsigned int size,
				     const struct hslab_args *args,
				     const char *owner,
				     enum hslab_cache_kind kind);
int hslab_cache_set_policy(struct hslab_cache *cache,
			   const struct hslab_policy_field *field,
			   const char *value);
void hslab_cache_policy(struct hslab_cache *cache,
			const struct hslab_policy_field *field, char *value);
int hslab_set_profile_everywhere(const char *profile);
void hslab_cache_name(unsigned int id, char *name);
void hslab_cache_retire(struct hslab_cache *cache);
void hslab_cache_flush(void);
int hslab_cache_init(void);
void hslab_cache_exit(void);

/* Bytes between payload and SLUB's free pointer: the tag, and a record if tracked. */
static inline unsigned int
hslab_tag_bytes(const struct hslab_geometry *geometry)
{
	return HSLAB_TAG_SIZE + (geometry->tracked ? HSLAB_RECORD_SIZE : 0);
}

static inline bool hslab_filled(u64 bits)
{
	enum hslab_fill_kind kind = hslab_fill_kind(bits);

	return kind == HSLAB_FILL_BYTE || kind == HSLAB_FILL_RANDOM;
}

/* The word that a fill repeats, for HSLAB_FILL_BYTE and HSLAB_FILL_RANDOM. */
static inline u64 hslab_pattern(u64 fill_bits, u64 random)
{
	if (hslab_fill_kind(fill_bits) == HSLAB_FILL_RANDOM)
		return random;
	return hslab_fill_byte(fill_bits) * 0x0101010101010101ULL;
}

/* Do the first and the last word still hold the fill? */
static inline bool hslab_intact_head(const u64 *words, unsigned int nr,
				     u64 pattern)
{
	return words[0] == pattern && words[nr - 1] == pattern;
}

/* Do words hold the fill still, as closely as a policy word wants to know? */
static __always_inline bool hslab_fill_sound(const u64 *words, unsigned int nr,
					     u64 pattern, u64 policy)
{
	if (!(policy & (HSLAB_POL_HEAD | HSLAB_POL_FULL)))
		return true;
	return likely(hslab_intact_head(words, nr, pattern)) &&
	       (!(policy & HSLAB_POL_FULL) || hslab_intact(words, nr, pattern));
}

static inline struct hslab_route *
hslab_current_route(const struct hslab_cache *cache)
{
	return rcu_dereference_protected(cache->route,
					 lockdep_is_held(&hslab_mutex));
}

/*
 * Claim this CPU's magazine. No atomic operation is needed: an interrupt that
 * comes before busy is set has left the magazine when it returns, and one that
 * comes after stays out of it.
 */
static __always_inline bool hslab_magazine_enter(struct hslab_cpu *c)
{
	if (unlikely(READ_ONCE(c->busy)))
		return false;
	WRITE_ONCE(c->busy, 1);
	barrier();	/* nothing is read of the magazine before it is claimed */
	return true;
}

static __always_inline void hslab_magazine_leave(struct hslab_cpu *c)
{
	barrier();	/* nothing is written to the magazine after it is left */
	WRITE_ONCE(c->busy, 0);
}

static inline u64 *hslab_tag(const void *object, unsigned int tag_off)
{
	return (u64 *)((char *)object + tag_off);
}

static inline unsigned int hslab_cache_id(u64 plain)
{
	return (plain & HSLAB_CACHE_MASK) >> HSLAB_CACHE_SHIFT;
}

/*
 * The plain tags of one store: everything but state, fill and cache is fixed. A
 * link of hslab_rcu.c is none of them, though of store 0 it may look like one.
 */
static inline bool hslab_tag_whole(u64 plain, u64 store_plain)
{
	return (plain & HSLAB_LINK_MASK) != HSLAB_RCU &&
	       !((plain ^ store_plain) &
		 ~(HSLAB_STATE_MASK | HSLAB_FILL_MASK | HSLAB_CACHE_MASK));
}

/* A live tag becomes a free one, and back, by flipping these bits. */
#define HSLAB_FLIP	((u64)(HSLAB_LIVE ^ HSLAB_FREE))

/* The tag of a live object of @route. */
static __always_inline u64 hslab_live_word(const struct hslab_route *route,
					   const void *object)
{
	return ((u64)object ^ route->live_key) * route->multiplier;
}

/* The tag that an object of @route gets when it is freed. */
static __always_inline u64 hslab_free_word(const struct hslab_route *route,
					   const void *object, u64 policy)
{
	return ((u64)object ^ route->live_key ^ HSLAB_FLIP ^
		(policy & HSLAB_POL_TAG_MASK)) * route->multiplier;
}

/* Where a slab page has its kmem_cache, as known from hslab_slab_cache_off. */
static __always_inline struct kmem_cache **hslab_slab_cache_at(const void *object)
{
	return (void *)virt_to_head_page(object) + hslab_slab_cache_off;
}

/* The kmem_cache of the slab page that @object is in. */
static __always_inline struct kmem_cache *hslab_slab_cache(const void *object)
{
	return READ_ONCE(*hslab_slab_cache_at(object));
}

/*
 * Is the slab page of an object that hslab keeps still the store's? If not the object
 * was freed around hslab, and what is there now is somebody else's.
 */
static __always_inline bool hslab_page_stays(const struct hslab_route *route,
					     const void *object)
{
	return unlikely(!hslab_slab_cache_off) ||
	       likely(hslab_slab_cache(object) == route->kmem);
}

/* Is what lies between the end of a live object and its tag as it was set? */
static inline bool hslab_padding_whole(const struct hslab_route *route,
				       const u64 *words)
{
	/* Another free of the object may win meanwhile: no business of KASAN's. */
	return !((READ_ONCE_NOCHECK(words[route->words - 1]) ^ route->padding) &
		 route->cache->pad_mask);
}

static inline u64 hslab_encode(const struct hslab_store *store,
			       const void *object, u64 plain)
{
	return (plain ^ (u64)object ^ store->key) * store->multiplier;
}

static inline u64 hslab_decode(const struct hslab_store *store,
			       const void *object, u64 word)
{
	return (word * store->inverse) ^ (u64)object ^ store->key;
}

#endif /* HSLAB_INTERNAL_H */
