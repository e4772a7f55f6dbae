// SPDX-License-Identifier: GPL-2.0
/*
 * Pins: one object of each slab page that is kept, so that the page is never
 * given back, and no other cache ever gets it.
 *
 * A page is pinned by the first of its objects that SLUB hands out: before that
 * nobody can have a pointer into it. Such an object is told by its tag, in which
 * the constructor wrote that nobody has owned it, so an object that comes again
 * costs nothing more. It becomes the pin, and another one is handed out in its
 * place.
 *
 * Which pages have a pin is kept in a hash table of pinned objects, outside of
 * them. It is made for all the pages that the policy allows, 16 to 32 bytes for
 * each: were it to grow when it is needed, it would have to do so in the middle of
 * an allocation, and fail when somebody sprays.
 *
 * CONCURRENCY
 *
 * Pins come at any time, under the lock, and go with hslab_mutex only. Caches that
 * share a store each have their own pins; one that gives a pin up leaves it to
 * another which has room, since that one's objects are on the page too. When two
 * of them meet a new page at once it may get two pins.
 */
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/rculist.h>

#include "hslab_internal.h"

/* How many pages an allocation pins before it takes what it gets. */
#define HSLAB_PIN_TRIES		8

/* In a slot: the object was damaged and set aside; that keeps its page as well. */
#define HSLAB_PIN_ASIDE		1UL

struct hslab_pin_table {
	unsigned int bits;
	void *slots[];			/* never more than half of them in use */
};

struct hslab_pins {
	raw_spinlock_t lock;
	unsigned long cap;		/* pages; 0: pin none. READ_ONCE too */
	unsigned long nr;		/* pages pinned. READ_ONCE too */
	unsigned long bytes;		/* in these pages. READ_ONCE too */
	struct hslab_pin_table *table;	/* new pins go here; NULL if cap is 0 */
	struct hslab_pin_table *old;	/* while its pins move to the other */
	atomic_long_t skipped;		/* new pages that were handed out unpinned */

	/* Protected by hslab_mutex. */
	struct hslab_pin_table *next;	/* from prepare to commit */
};

/*
 * THE TABLE
 */
static void *hslab_pin_object(void *slot)
{
	return (void *)((unsigned long)slot & ~HSLAB_PIN_ASIDE);
}

static unsigned long hslab_pin_nr_slots(const struct hslab_pin_table *table)
{
	return 1UL << table->bits;
}

static unsigned int hslab_pin_bits(unsigned int pages)
{
	return order_base_2(2 * (unsigned long)pages);
}

/* The slot of a page, or the empty one where it would be. */
static void **hslab_pin_slot(struct hslab_pin_table *table,
			     const struct page *page)
{
	unsigned long i = hash_ptr(page, table->bits);

	while (table->slots[i] &&
	       virt_to_head_page(hslab_pin_object(table->slots[i])) != page)
		i = (i + 1) & (hslab_pin_nr_slots(table) - 1);
	return &table->slots[i];
}

/* Under the lock. */
static bool hslab_pin_has(struct hslab_pins *pins, const struct page *page)
{
	return (pins->table && *hslab_pin_slot(pins->table, page)) ||
	       (pins->old && *hslab_pin_slot(pins->old, page));
}

/*
 * List @object as a pin, if its page needs one and may have one. The tag is
 * PINNED already, since a scrub may look at once.
 */
static bool hslab_pin_add(struct hslab_pins *pins, void *object)
{
	struct page *page = virt_to_head_page(object);
	unsigned long flags;
	bool added;

	raw_spin_lock_irqsave(&pins->lock, flags);
	added = pins->nr < pins->cap && !hslab_pin_has(pins, page);
	if (added) {
		/* pairs with the READ_ONCE() in hslab_pin_scrub() */
		smp_store_release(hslab_pin_slot(pins->table, page), object);
		WRITE_ONCE(pins->nr, pins->nr + 1);
		WRITE_ONCE(pins->bytes, pins->bytes + page_size(page));
	}
	raw_spin_unlock_irqrestore(&pins->lock, flags);
	return added;
}

/* Does any cache of the store have the page pinned? */
static bool hslab_pinned_by_any(const struct hslab_store *store,
				const struct page *page)
{
	struct hslab_route *route;
	unsigned long flags;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(route, &store->routes, in_store) {
		struct hslab_pins *pins = READ_ONCE(route->pins);

		if (!pins || !READ_ONCE(pins->nr))
			continue;
		raw_spin_lock_irqsave(&pins->lock, flags);
		found = hslab_pin_has(pins, page);
		raw_spin_unlock_irqrestore(&pins->lock, flags);
		if (found)
			break;
	}
	rcu_read_unlock();
	return found;
}

/*
 * PINNING
 */

/* Has nobody ever owned @object, which SLUB handed out? */
static bool hslab_pin_fresh(const struct hslab_store *store, const void *object)
{
	u64 word = READ_ONCE(*hslab_tag(object, store->tag_off));
	u64 plain = hslab_decode(store, object, word);

	return hslab_tag_whole(plain, store->plain) &&
	       (plain & HSLAB_STATE_MASK) == HSLAB_FREE &&
	       !hslab_cache_id(plain) && !hslab_compat_is_kfence(object);
}

/* A page with a single object has none left to be kept. */
static bool hslab_pin_has_two(const struct hslab_store *store,
			      struct page *page)
{
	unsigned int slot = max(hslab_slot_size(&store->geometry),
				READ_ONCE(store->stride));

	return page_size(page) >= 2UL * slot;
}

/* Turn the tag of an object in our hands from FREE into PINNED, or back. */
static bool hslab_pin_flip(const struct hslab_store *store, void *object,
			   enum hslab_state from)
{
	u64 *tag = hslab_tag(object, store->tag_off);
	u64 word = READ_ONCE(*tag);
	u64 plain = hslab_decode(store, object, word);

	if (!hslab_tag_whole(plain, store->plain) ||
	    (plain & HSLAB_STATE_MASK) != from)
		return false;
	plain ^= HSLAB_FREE ^ HSLAB_PINNED;
	return hslab_compat_tag_cmpxchg(tag, &word,
					hslab_encode(store, object, plain));
}

/* Give a pin back to SLUB; one that is damaged is reported, and set aside. */
static void hslab_unpin(struct hslab_route *route, void *object)
{
	if (!hslab_still_sound(route, object, HSLAB_PINNED))
		return;
	if (hslab_pin_flip(route->store, object, HSLAB_PINNED))
		kmem_cache_free(route->kmem, object);
	else
		hslab_still_sound(route, object, HSLAB_PINNED);	/* reports it */
}

/* Make @object, which SLUB handed out, the pin of its page; else it goes back. */
static void hslab_pin(struct hslab_route *route, void *object)
{
	if (!hslab_pin_flip(route->store, object, HSLAB_FREE)) {
		/* Damaged in this moment. */
		hslab_judge_held(route, object, HSLAB_FREE, _RET_IP_);
		return;
	}
	/* Somebody else may have been faster. */
	if (!hslab_pin_add(route->pins, object))
		hslab_unpin(route, object);
}

/**
 * hslab_pin_page() - pin the page of an object that SLUB handed out
 * @route: a route that has pins
 * @object: the object
 * @gfp: the flags it was allocated with
 * @node: and the node
 * @lru: and the list_lru, or NULL
 *
 * When the page is a new one, @object stays as its pin, and another object of
 * SLUB's takes its place. Is there none, or is there no other on a page, @object
 * is handed out; the page gets its pin with the next new object from it.
 *
 * Context: as @gfp says; any but NMI.
 * Return: the object to hand out.
 */
void *hslab_pin_page(struct hslab_route *route, void *object, gfp_t gfp,
		     int node, struct list_lru *lru)
{
	struct hslab_pins *pins = READ_ONCE(route->pins);
	unsigned int tries;
	struct page *page;
	void *another;

	for (tries = 0; tries < HSLAB_PIN_TRIES; tries++) {
		if (READ_ONCE(pins->nr) >= READ_ONCE(pins->cap) ||
		    !hslab_pin_fresh(route->store, object))
			return object;
		page = virt_to_head_page(object);
		if (hslab_pinned_by_any(route->store, page))
			return object;
		if (!hslab_pin_has_two(route->store, page))
			break;
		another = hslab_slub_alloc(route, gfp | __GFP_NOWARN, node,
					   lru);
		if (!another)
			break;
		hslab_pin(route, object);
		object = another;
	}
	atomic_long_inc(&pins->skipped);
	return object;
}

/*
 * SETTING THE CAP
 */

/* Another cache of the store takes a pin over; hslab_mutex keeps them. */
static bool hslab_pin_hand_over(struct hslab_route *route, void *object)
{
	struct hslab_route *other;

	list_for_each_entry(other, &route->store->routes, in_store)
		if (other != route && other->pins &&
		    hslab_pin_add(other->pins, object))
			return true;
	return false;
}

/* What was in a slot is no pin of this route any more. */
static void hslab_pin_drop(struct hslab_route *route, void *slot)
{
	void *object = hslab_pin_object(slot);

	if (object == slot && !hslab_pin_hand_over(route, object))
		hslab_unpin(route, object);
}

/*
 * Move a pin from the old table to the new one; false if there are too many, and
 * this one has to go.
 */
static bool hslab_pin_move(struct hslab_pins *pins, void *slot)
{
	struct page *page = virt_to_head_page(hslab_pin_object(slot));
	void **to = NULL;
	bool stays;

	raw_spin_lock_irq(&pins->lock);
	if (pins->nr <= pins->cap)
		to = hslab_pin_slot(pins->table, page);
	stays = to && !*to;	/* a page has two if one pin was freed by force */
	if (stays) {
		WRITE_ONCE(*to, slot);
	} else {
		WRITE_ONCE(pins->nr, pins->nr - 1);
		WRITE_ONCE(pins->bytes, pins->bytes - page_size(page));
	}
	raw_spin_unlock_irq(&pins->lock);
	return stays;
}

/*
 * Set the cap, with a new table (NULL if it is 0). Pins stay in the old one, where
 * they are found, until all have moved.
 */
static void hslab_pin_rebuild(struct hslab_route *route, unsigned int pages,
			      struct hslab_pin_table *table)
{
	struct hslab_pins *pins = route->pins;
	struct hslab_pin_table *old;
	unsigned long i;

	lockdep_assert_held(&hslab_mutex);

	raw_spin_lock_irq(&pins->lock);
	old = pins->table;
	pins->old = old;
	pins->table = table;
	WRITE_ONCE(pins->cap, pages);
	raw_spin_unlock_irq(&pins->lock);
	if (!old)
		return;

	for (i = 0; i < hslab_pin_nr_slots(old); i++) {
		if (old->slots[i] && !hslab_pin_move(pins, old->slots[i]))
			hslab_pin_drop(route, old->slots[i]);
		cond_resched();
	}
	raw_spin_lock_irq(&pins->lock);
	pins->old = NULL;
	raw_spin_unlock_irq(&pins->lock);
	kvfree(old);
}

/**
 * hslab_pin_prepare() - get a route what it needs to pin pages
 * @route: the route
 * @pages: the cap to come
 *
 * Context: process context, with hslab_mutex.
 * Return: 0 or -ENOMEM.
 */
int hslab_pin_prepare(struct hslab_route *route, unsigned int pages)
{
	unsigned int bits = hslab_pin_bits(pages);
	struct hslab_pins *pins = route->pins;

	lockdep_assert_held(&hslab_mutex);

	if (!pages)
		return 0;
	if (!pins) {
		pins = kzalloc(sizeof(*pins), GFP_KERNEL);
		if (!pins)
			return -ENOMEM;
		raw_spin_lock_init(&pins->lock);
		/* pairs with the dependent reads of hslab_from_slub() */
		smp_store_release(&route->pins, pins);
	}
	if (pages >= pins->cap && pins->table && pins->table->bits == bits)
		return 0;
	if (pins->next && pins->next->bits == bits)
		return 0;	/* from a change that failed later */
	kvfree(pins->next);
	pins->next = kvzalloc(struct_size(pins->next, slots, 1UL << bits),
			      GFP_KERNEL);
	if (!pins->next)
		return -ENOMEM;
	pins->next->bits = bits;
	return 0;
}

/**
 * hslab_pin_commit() - set how many pages a route may pin
 * @route: a route that was prepared for it
 * @pages: how many; 0 for none
 *
 * When there are more, those that are too many are given back.
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_pin_commit(struct hslab_route *route, unsigned int pages)
{
	struct hslab_pins *pins = route->pins;
	struct hslab_pin_table *next;

	lockdep_assert_held(&hslab_mutex);

	if (!pins)
		return;
	next = pins->next;
	pins->next = NULL;
	if (!pages) {
		kvfree(next);
		hslab_pin_rebuild(route, 0, NULL);
	} else if (next) {
		hslab_pin_rebuild(route, pages, next);
	} else {
		WRITE_ONCE(pins->cap, pages);
	}
}

/**
 * hslab_pin_release() - give up all pins of a closed route
 * @route: the route
 *
 * An allocation that began before it was closed pins nothing from now on.
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_pin_release(struct hslab_route *route)
{
	hslab_pin_commit(route, 0);
}

/* Free what hslab_pin_prepare() made. The route is nobody's any more. */
void hslab_pin_free(struct hslab_route *route)
{
	struct hslab_pins *pins = route->pins;

	if (!pins)
		return;
	WARN_ON(pins->nr);
	kvfree(pins->table);
	kvfree(pins->next);
	kfree(pins);
}

/**
 * hslab_pin_scrub() - verify the pins of a route
 * @route: the route
 *
 * They are verified where they are: nobody else has them. A damaged one is
 * reported, and as it is never given back, goes on to keep its page.
 *
 * Context: process context, with hslab_mutex.
 * Return: how many objects were verified.
 */
unsigned long hslab_pin_scrub(struct hslab_route *route)
{
	struct hslab_pins *pins = route->pins;
	unsigned long i, sum = 0;

	lockdep_assert_held(&hslab_mutex);

	if (!pins || !pins->table)
		return 0;
	for (i = 0; i < hslab_pin_nr_slots(pins->table); i++) {
		void **slot = &pins->table->slots[i];
		/* pairs with smp_store_release() in hslab_pin_add() */
		void *object = READ_ONCE(*slot);

		cond_resched();
		if (!object || hslab_pin_object(object) != object)
			continue;
		if (!hslab_still_sound(route, object, HSLAB_PINNED))
			WRITE_ONCE(*slot, (void *)((unsigned long)object |
						   HSLAB_PIN_ASIDE));
		sum++;
	}
	return sum;
}

/* How many slab pages a route has pinned, of whatever size. */
unsigned long hslab_pin_pages(const struct hslab_route *route)
{
	return route->pins ? READ_ONCE(route->pins->nr) : 0;
}

/* How many bytes these pages have. */
unsigned long hslab_pin_bytes(const struct hslab_route *route)
{
	return route->pins ? READ_ONCE(route->pins->bytes) : 0;
}

/* How many new objects were handed out though their page has no pin. */
unsigned long hslab_pin_skipped(const struct hslab_route *route)
{
	return route->pins ? atomic_long_read(&route->pins->skipped) : 0;
}
