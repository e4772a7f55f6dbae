// SPDX-License-Identifier: GPL-2.0
/*
 * Judging: what is wrong with an object, once the hot path has seen that
 * something is. Deciding is done here; printing in hslab_report.c.
 *
 * Nothing here repairs anything: a damaged object is reported and set aside,
 * any other is left as it is.
 */
#include <linux/rculist.h>

#include "hslab_internal.h"

/* Frees of what is no object of anybody's, to no cache. */
static atomic64_t hslab_nr_strays;

/*
 * Has @object, in a slab page, a tag of @store? Not in a page of another, which
 * may hold what is left of its former use.
 */
static bool hslab_tag_in(const struct hslab_store *store, const void *object,
			 u64 *plain)
{
	u64 word;

	if ((hslab_slab_cache_off && hslab_slab_cache(object) != store->kmem) ||
	    hslab_compat_to_slab_end(object) < store->tag_off + HSLAB_TAG_SIZE ||
	    !hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word))
		return false;
	*plain = hslab_decode(store, object, word);
	return hslab_tag_whole(*plain, store->plain);
}

static void hslab_fault_init(struct hslab_fault *fault, enum hslab_kind kind,
			     const struct hslab_cache *cache,
			     const void *object, unsigned long caller)
{
	memset(fault, 0, sizeof(*fault));
	fault->kind = kind;
	fault->object = object;
	fault->size = cache->size;
	fault->state = HSLAB_FREE;	/* that is, nothing to tell */
	fault->offset = -1;
	fault->caller = caller;
	fault->action = READ_ONCE(cache->action);
	strscpy(fault->cache, cache->name, sizeof(fault->cache));
}

/* Report what there is no record of, or none that may be read. */
static void hslab_fault_tell(struct hslab_fault *fault,
			     struct hslab_cache *cache)
{
	fault->nr = atomic64_inc_return(&cache->faults[fault->kind]);
	hslab_report(fault);
}

static void hslab_fault_report(struct hslab_fault *fault,
			       struct hslab_cache *cache)
{
	if (fault->aside)
		atomic64_inc(&cache->aside);
	hslab_track_fault(fault);
	hslab_fault_tell(fault, cache);
}

/* Note where @found differs from @expected, both @len bytes from @base on. */
static void hslab_fault_differs(struct hslab_fault *fault, unsigned int base,
				const void *found, const void *expected,
				unsigned int len)
{
	const u8 *f = found, *e = expected;
	int first = hslab_first_bad(f, e, len);
	unsigned int i;

	if (first < 0)
		return;
	fault->offset = base + first;
	fault->nr_shown = min_t(unsigned int, len - first, HSLAB_SHOWN);
	memcpy(fault->found, f + first, fault->nr_shown);
	memcpy(fault->expected, e + first, fault->nr_shown);
	for (i = first; i < len; i++)
		fault->nr_bad += f[i] != e[i];
}

/* The fill that @plain tells of was damaged while the object was free. */
static void hslab_bad_fill(struct hslab_route *route, void *object, u64 plain,
			   struct hslab_fault *fault)
{
	u64 pattern = hslab_pattern(plain, route->random);
	u64 expected[HSLAB_SHOWN / sizeof(u64) + 1];
	unsigned int i;

	fault->kind = HSLAB_WRITE_AFTER_FREE;
	fault->offset = hslab_first_bad_fill(object, route->words, pattern,
					     &fault->nr_bad);
	/* The one who wrote is the last owner, and that may be another cache. */
	hslab_cache_name(hslab_cache_id(plain), fault->other);
	if (fault->offset < 0)
		return;		/* it was put right in this moment */
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		expected[i] = pattern;
	fault->nr_shown = min_t(unsigned int, HSLAB_SHOWN,
				route->store->tag_off - fault->offset);
	memcpy(fault->found, object + fault->offset, fault->nr_shown);
	memcpy(fault->expected, (u8 *)expected + fault->offset % sizeof(u64),
	       fault->nr_shown);
}

/**
 * hslab_credit_owner() - an owner has lost an object without a free of it
 * @route: a route to the store of the object
 * @plain: the plain tag of a live object of that owner
 *
 * It was given to kfree() or kmem_cache_free(), or SLUB was made to hand it out
 * twice. The owner's count of live objects is put right.
 *
 * Context: any but NMI.
 */
void hslab_credit_owner(struct hslab_route *route, u64 plain)
{
	u64 live_key = route->store->key ^ plain;
	struct hslab_route *owner;

	rcu_read_lock();
	list_for_each_entry_rcu(owner, &route->store->routes, in_store) {
		if (owner->live_key == live_key) {
			this_cpu_inc(owner->cpu->counts.headroom);
			break;
		}
	}
	rcu_read_unlock();
}

/* The tag is not what it was, nor any other of the store. */
static void hslab_bad_tag(struct hslab_route *route, void *object, u64 word,
			  enum hslab_state state, struct hslab_fault *fault)
{
	u64 live = route->live_key ^ route->store->key, plain, expected;

	if (state == HSLAB_PINNED)	/* as the constructor made it */
		plain = route->store->plain | READ_ONCE(route->store->fresh);
	else
		plain = (live ^ HSLAB_LIVE) |
			(READ_ONCE(route->policy) & HSLAB_FILL_MASK);
	expected = hslab_encode(route->store, object, plain | state);
	fault->kind = HSLAB_BAD_TAG;
	hslab_fault_differs(fault, route->store->tag_off, &word, &expected,
			    sizeof(word));
}

/* SLUB handed out what is none of its objects. Nothing there is ours to touch. */
static noinline void hslab_judge_astray(struct hslab_route *route,
					const void *object, unsigned long caller)
{
	struct hslab_fault fault;

	hslab_fault_init(&fault, HSLAB_NOT_FREED, route->cache, object, caller);
	fault.astray = true;
	hslab_fault_tell(&fault, route->cache);
}

/**
 * hslab_judge_held() - tell what is wrong with an object that is not live
 * @route: its route
 * @object: the object, which SLUB handed out, or hslab has kept; it is set aside,
 *	if it is one
 * @expected: the state it should be in
 * @caller: who wanted it, or let it go
 *
 * Context: any but NMI.
 */
noinline void hslab_judge_held(struct hslab_route *route, void *object,
			       enum hslab_state expected, unsigned long caller)
{
	struct hslab_store *store = route->store;
	u64 word = READ_ONCE(*hslab_tag(object, store->tag_off));
	u64 plain = hslab_decode(store, object, word);
	bool whole = hslab_tag_whole(plain, store->plain);
	bool waits = hslab_rcu_waits(store, object);
	u64 state = plain & HSLAB_STATE_MASK;
	struct hslab_fault fault;

	if (expected == HSLAB_FREE && !whole &&
	    hslab_slab_astray(store, object)) {
		hslab_judge_astray(route, object, caller);
		return;
	}
	if (hslab_clear_suspect(store, object, word))
		return;		/* its last free was reported */
	if (whole && state == HSLAB_ASIDE && expected != HSLAB_FREE)
		return;		/* reported, when SLUB handed it out */
	hslab_fault_init(&fault, HSLAB_NOT_FREED, route->cache, object, caller);
	fault.state = waits ? HSLAB_RCU : whole ? state : expected;
	if (whole && state == expected)
		hslab_bad_fill(route, object, plain, &fault);
	else if (waits)
		;	/* freed around hslab: who lets go of it will free it */
	else if (whole && (state == HSLAB_LIVE || state == HSLAB_QUARANTINED ||
			   state == HSLAB_PINNED))
		hslab_cache_name(hslab_cache_id(plain), fault.other);
	else
		hslab_bad_tag(route, object, word, expected, &fault);

	/* What hslab kept, and is live, is somebody else's by now. */
	if (!waits &&
	    (expected == HSLAB_FREE || fault.kind != HSLAB_NOT_FREED))
		fault.aside = hslab_set_aside(store, object, word, 0);
	if (fault.aside && state == HSLAB_LIVE)
		hslab_credit_owner(route, plain);
	hslab_fault_report(&fault, route->cache);
}

/**
 * hslab_judge_gone() - an object was kept, but its slab page is not the store's
 * @route: its route
 * @object: where it was; nothing there is touched
 * @state: the state that it should be in
 * @caller: who wanted it, or let it go
 *
 * Context: any but NMI.
 */
noinline void hslab_judge_gone(struct hslab_route *route, const void *object,
			       enum hslab_state state, unsigned long caller)
{
	struct hslab_fault fault;

	hslab_fault_init(&fault, HSLAB_NOT_FREED, route->cache, object, caller);
	fault.state = state;
	fault.gone = 1;
	hslab_fault_tell(&fault, route->cache);
}

/**
 * hslab_judge_waiting() - tell what is wrong with an object that was to be freed
 * @route: its route
 * @object: the object, which has waited for a grace period; it is set aside
 * @word: its tag, as it was found: it does not say that the object waits
 * @expected: the tag as it should be, or 0 if that is not known
 * @caller: who let it go
 *
 * Context: any but NMI.
 * Return: false if it may be in SLUB's hands, and is left as it is.
 */
noinline bool hslab_judge_waiting(struct hslab_route *route, void *object,
				  u64 word, u64 expected, unsigned long caller)
{
	struct hslab_store *store = route->store;
	u64 plain = hslab_decode(store, object, word);
	u64 state = plain & HSLAB_STATE_MASK;
	bool whole = hslab_tag_whole(plain, store->plain);
	bool free = whole && state != HSLAB_LIVE;
	struct hslab_fault fault;

	/* Its last free was reported. */
	if (hslab_clear_suspect(store, object, word) ||
	    (whole && state == HSLAB_ASIDE))
		return true;
	hslab_fault_init(&fault, HSLAB_BAD_TAG, route->cache, object, caller);
	if (whole && state == HSLAB_LIVE) {
		fault.kind = HSLAB_NOT_FREED;
		fault.state = state;
		hslab_cache_name(hslab_cache_id(plain), fault.other);
		hslab_fault_report(&fault, route->cache);
		return true;
	}
	fault.state = HSLAB_RCU;
	fault.offset = store->tag_off;
	if (expected)
		hslab_fault_differs(&fault, store->tag_off, &word, &expected,
				    sizeof(word));
	if (!free)
		fault.aside = hslab_set_aside(store, object, word, 0);
	hslab_fault_report(&fault, route->cache);
	return !free;
}

/**
 * hslab_still_sound() - verify an object that hslab has kept from SLUB
 * @route: its route
 * @object: the object
 * @state: the state it should be in
 *
 * Tag and, as the policy verify says, content are looked at. A damaged object is
 * reported and set aside; it is not hslab_still_sound()'s caller's any more.
 *
 * Context: any but NMI.
 * Return: true if the object is as it was left.
 */
bool hslab_still_sound(struct hslab_route *route, void *object,
		       enum hslab_state state)
{
	u64 policy = READ_ONCE(route->policy), pattern, plain, word;
	struct hslab_store *store = route->store;

	if (unlikely(!hslab_page_stays(route, object))) {
		hslab_judge_gone(route, object, state, _RET_IP_);
		return false;
	}
	word = READ_ONCE(*hslab_tag(object, store->tag_off));
	plain = hslab_decode(store, object, word);
	if (likely(hslab_tag_whole(plain, store->plain))) {
		if ((plain & HSLAB_STATE_MASK) == HSLAB_ASIDE)
			return false;		/* it was reported */
		pattern = hslab_pattern(plain, route->random);
		if ((plain & HSLAB_STATE_MASK) == state &&
		    (!hslab_filled(plain) ||
		     hslab_fill_sound(object, route->words, pattern, policy)))
			return true;
	}
	hslab_judge_held(route, object, state, _RET_IP_);
	return false;
}

/*
 * The free of a live object that was written past its end. It may turn out that
 * it was free before: no business of KASAN's.
 */
static void hslab_overflow(struct hslab_route *route, void *object, u64 word,
			   struct hslab_fault *fault)
{
	u64 live = hslab_live_word(route, object);
	struct hslab_cache *cache = route->cache;
	bool suspect;
	u8 found[2 * sizeof(u64)], expected[2 * sizeof(u64)];
	unsigned int last = route->store->tag_off - sizeof(u64);
	unsigned int i, same = 0;
	u64 padded;

	/* The last word of the payload and the tag, as they are and should be. */
	padded = READ_ONCE_NOCHECK(*hslab_tag(object, last));
	memcpy(found, &padded, sizeof(padded));
	memcpy(found + sizeof(padded), &word, sizeof(word));
	padded = (padded & ~cache->pad_mask) |
		 (route->padding & cache->pad_mask);
	memcpy(expected, &padded, sizeof(padded));
	memcpy(expected + sizeof(padded), &live, sizeof(live));

	for (i = 0; i < sizeof(word); i++)
		same += ((u8 *)&word)[i] == ((u8 *)&live)[i];

	fault->kind = HSLAB_OVERFLOW;
	hslab_fault_differs(fault, last, found, expected, sizeof(found));
	/* Less than three bytes of a tag prove nothing: was it live at all? */
	suspect = same < 3;
	fault->aside = hslab_set_aside(route->store, object, word,
				       suspect ? cache->id : 0);
	if (fault->aside && !suspect)
		this_cpu_inc(route->cpu->counts.headroom);
	else if (!fault->aside)
		fault->kind = HSLAB_DOUBLE_FREE;	/* lost to another free */
}

/* The name of the cache that a store is of, "?" if it is of several. */
static void hslab_only_owner(const struct hslab_store *store, char *name)
{
	struct hslab_route *route;
	unsigned int nr = 0;

	list_for_each_entry_rcu(route, &store->routes, in_store)
		strscpy(name, nr++ ? "?" : route->cache->name, HSLAB_NAME_LEN);
	if (!nr)
		strscpy(name, "?", HSLAB_NAME_LEN);
}

/*
 * Whose object is it? The name of the cache, for any store that has it. The tag of
 * one that waits for a grace period tells only the store.
 */
static bool hslab_find_owner(const void *object, char *name)
{
	unsigned int id;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a store may be freed");

	for (id = 0; id < HSLAB_STORES_MAX; id++) {
		const struct hslab_store *store =
			READ_ONCE(hslab_store_of_ctor[id]);
		u64 plain;

		if (store && hslab_rcu_waits(store, object)) {
			hslab_only_owner(store, name);
			return true;
		}
		if (!store || !hslab_tag_in(store, object, &plain) ||
		    (plain & HSLAB_STATE_MASK) == HSLAB_ASIDE)
			continue;
		hslab_cache_name(hslab_cache_id(plain), name);
		return true;
	}
	return false;
}

/* The start of the object that @inside points into, or NULL. */
static void *hslab_object_around(const struct hslab_store *store, void *inside)
{
	void *start = PTR_ALIGN_DOWN(inside, sizeof(u64));
	void *page = page_address(virt_to_head_page(inside));
	u64 plain;

	for (; start >= page && inside - start < store->tag_off;
	     start -= sizeof(u64))
		if (start != inside &&
		    (hslab_rcu_waits(store, start) ||
		     (hslab_tag_in(store, start, &plain) &&
		      (plain & HSLAB_STATE_MASK) != HSLAB_ASIDE)))
			return start;
	return NULL;
}

/*
 * Is @object, whose tag tells nothing, an object of @route's store nevertheless?
 * It is if it lies where one begins, and not within another.
 */
static bool hslab_was_object(const struct hslab_route *route, void *object)
{
	return hslab_slab_is_slot(route->store, object) &&
	       !hslab_object_around(route->store, object);
}

/**
 * hslab_owner_among() - find the cache that an object belongs to
 * @caches: some caches
 * @nr: how many
 * @object: the object
 *
 * Context: any but NMI.
 * Return: the one of @caches of which @object has a tag; else the one of which
 * it looks like an object with a damaged tag; else NULL.
 */
struct hslab_cache *hslab_owner_among(struct hslab_cache *const *caches,
				      unsigned int nr, void *object)
{
	struct hslab_cache *owner = NULL, *likely_owner = NULL;
	struct hslab_route *route;
	unsigned int i;
	u64 plain;

	if (!hslab_compat_in_slab(object))
		return NULL;
	rcu_read_lock();
	for (i = 0; i < nr && !owner; i++) {
		list_for_each_entry_rcu(route, &caches[i]->routes, in_cache) {
			if (hslab_tag_in(route->store, object, &plain) &&
			    hslab_cache_id(plain) == caches[i]->id)
				owner = caches[i];
		}
	}
	for (i = 0; i < nr && !owner && !likely_owner; i++)
		list_for_each_entry_rcu(route, &caches[i]->routes, in_cache)
			if (hslab_was_object(route, object))
				likely_owner = caches[i];
	rcu_read_unlock();
	return owner ? owner : likely_owner;
}

/* The cache that has, or last had, an object; any of its store's if no tag tells. */
static struct hslab_cache *hslab_cache_of(struct hslab_store *store,
					  const void *start)
{
	struct hslab_cache *cache = NULL;
	struct hslab_route *route;
	u64 plain;

	if (start && hslab_tag_in(store, start, &plain))
		cache = hslab_cache_by_id(hslab_cache_id(plain));
	if (!cache) {
		route = list_first_or_null_rcu(&store->routes,
					       struct hslab_route, in_store);
		cache = route ? route->cache : NULL;
	}
	return cache;
}

/**
 * hslab_identify() - find out whose an address is
 * @address: any address
 * @id: where to put it
 *
 * Context: any but NMI, in an RCU read-side critical section. It may be over at
 * any time unless the caller owns an object of the cache.
 * Return: false if @address is not in a slab page of hslab's.
 */
bool hslab_identify(void *address, struct hslab_identity *id)
{
	struct hslab_store *store = hslab_store_of(address);
	u64 plain;

	if (!store)
		return false;
	id->start = IS_ALIGNED((unsigned long)address, sizeof(u64)) &&
		    hslab_slab_is_slot(store, address) ? address :
		    hslab_object_around(store, address);
	id->state = HSLAB_RCU;
	if (id->start && !hslab_rcu_waits(store, id->start))
		id->state = hslab_tag_in(store, id->start, &plain) ?
			    plain & HSLAB_STATE_MASK : HSLAB_ASIDE;
	id->cache = hslab_cache_of(store, id->start);
	return id->cache;
}

/* What is wrong with an @object in a slab page that @route does not take? */
static bool hslab_judge_by_route(struct hslab_route *route, void *object,
				 struct hslab_fault *fault)
{
	struct hslab_store *store = route->store;
	u64 plain, word;

	if (hslab_rcu_waits(store, object)) {
		fault->kind = HSLAB_DOUBLE_FREE;
		fault->state = HSLAB_RCU;
		return true;
	}
	if (!hslab_tag_in(store, object, &plain))
		return false;

	switch (plain & HSLAB_STATE_MASK) {
	case HSLAB_FREE:
	case HSLAB_ASIDE:
	case HSLAB_QUARANTINED:
	case HSLAB_PINNED:
		fault->kind = HSLAB_DOUBLE_FREE;
		fault->state = plain & HSLAB_STATE_MASK;
		return true;
	case HSLAB_LIVE:
		if (plain == (route->live_key ^ store->key)) {
			/* All is well with the tag: it is the padding, or a
			 * free that came first and a new owner.
			 */
			word = hslab_encode(store, object, plain);
			if (hslab_padding_whole(route, object))
				fault->kind = HSLAB_DOUBLE_FREE;
			else
				hslab_overflow(route, object, word, fault);
			return true;
		}
		fault->kind = HSLAB_CROSS_FREE;
		hslab_cache_name(hslab_cache_id(plain), fault->other);
		return true;
	default:
		return false;
	}
}

/* Judge an aligned @object in a slab page; leaves INVALID_FREE if it is none. */
static void hslab_judge_in_slab(struct hslab_cache *cache, void *object,
				struct hslab_fault *fault)
{
	struct hslab_route *route;

	list_for_each_entry_rcu(route, &cache->routes, in_cache)
		if (hslab_judge_by_route(route, object, fault))
			return;

	if (hslab_find_owner(object, fault->other)) {
		fault->kind = HSLAB_CROSS_FREE;
		return;
	}

	list_for_each_entry_rcu(route, &cache->routes, in_cache) {
		u64 *tag = hslab_tag(object, route->store->tag_off);
		u64 word;

		if (hslab_was_object(route, object) &&
		    hslab_compat_tag_read(tag, &word)) {
			hslab_overflow(route, object, word, fault);
			return;
		}
	}
}

/* Does @object have the tag of a free object, or of one set aside, of @cache? */
bool hslab_already_free(struct hslab_cache *cache, const void *object)
{
	struct hslab_route *route;
	u64 plain;

	RCU_LOCKDEP_WARN(!rcu_read_lock_held(), "a route may be freed");

	if (!hslab_compat_in_slab(object))
		return false;
	list_for_each_entry_rcu(route, &cache->routes, in_cache)
		if (hslab_rcu_waits(route->store, object) ||
		    (hslab_tag_in(route->store, object, &plain) &&
		     (plain & HSLAB_STATE_MASK) != HSLAB_LIVE))
			return true;
	return false;
}

/**
 * hslab_judge_free() - tell what is wrong with a free, and report it
 * @cache: where the object was freed to
 * @object: the object, which is not a sound live one of @cache
 * @caller: who freed it
 *
 * Context: any but NMI.
 */
noinline void hslab_judge_free(struct hslab_cache *cache, void *object,
			       unsigned long caller)
{
	struct hslab_fault fault;
	struct hslab_route *route;

	hslab_fault_init(&fault, HSLAB_INVALID_FREE, cache, object, caller);
	rcu_read_lock();
	if (hslab_compat_in_slab(object)) {
		if (IS_ALIGNED((unsigned long)object, sizeof(u64)))
			hslab_judge_in_slab(cache, object, &fault);
		if (fault.kind == HSLAB_INVALID_FREE) {
			list_for_each_entry_rcu(route, &cache->routes,
						in_cache) {
				void *start = hslab_object_around(route->store,
								  object);

				if (start) {
					fault.offset = object - start;
					fault.object = start;
					break;
				}
			}
		}
	}
	rcu_read_unlock();
	hslab_fault_report(&fault, cache);
}

/**
 * hslab_judge_stray() - report the free of what is no object of anybody's
 * @object: the address
 * @caller: who freed it
 *
 * No cache was named: on_violation is that of the defaults.
 *
 * Context: any but NMI.
 */
void hslab_judge_stray(void *object, unsigned long caller)
{
	struct hslab_fault fault = {
		.kind	= HSLAB_INVALID_FREE,
		.action	= READ_ONCE(hslab_defaults.on_violation),
		.object	= object,
		.state	= HSLAB_FREE,
		.offset	= -1,
		.caller	= caller,
		.nr	= atomic64_inc_return(&hslab_nr_strays),
	};

	strscpy(fault.cache, "(none)", sizeof(fault.cache));
	hslab_report(&fault);
}
