// SPDX-License-Identifier: GPL-2.0
/*
 * Objects set aside: damaged, and never handed out again while their store lives.
 *
 * They are listed outside of themselves, since who damaged them may go on. An
 * object whose whole tag is gone when it is freed may have been live, or free
 * already: such a suspect is cleared when SLUB is seen to hand it out, at the
 * latest by hslab_sift() before the store goes, so that no object is given back
 * to SLUB that SLUB has.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/preempt.h>

#include "hslab_internal.h"

#define HSLAB_SUSPECT		1UL	/* in the pointer: it may be SLUB's */
#define HSLAB_ASIDE_CHUNK	62

struct hslab_aside {
	struct hslab_aside *next;
	unsigned long nr;
	unsigned long objects[HSLAB_ASIDE_CHUNK];
};

/* The entry of @object, or NULL. Under aside_lock, or when the store goes. */
static unsigned long *hslab_aside_find(struct hslab_store *store,
				       const void *object)
{
	struct hslab_aside *chunk;
	unsigned long i;

	for (chunk = store->aside; chunk; chunk = chunk->next)
		for (i = 0; i < chunk->nr; i++)
			if ((chunk->objects[i] & ~HSLAB_SUSPECT) ==
			    (unsigned long)object)
				return &chunk->objects[i];
	return NULL;
}

/* Make room for an entry; @spare is taken (and set to NULL) if it is needed. */
static bool hslab_aside_room(struct hslab_store *store,
			     struct hslab_aside **spare)
{
	if (store->aside && store->aside->nr < HSLAB_ASIDE_CHUNK)
		return true;
	if (!*spare)
		return false;
	(*spare)->next = store->aside;
	store->aside = *spare;
	*spare = NULL;
	return true;
}

/**
 * hslab_set_aside() - keep an object from ever being handed out again
 * @store: its store
 * @object: the object: not in SLUB's hands, unless it is a suspect
 * @word: its tag, as it was found
 * @suspect: it may be in SLUB's hands
 *
 * Without memory for the list the object is lost, and the store with it when
 * its time comes.
 *
 * Context: any but NMI.
 * Return: true, or false when somebody else has dealt with the object: its tag is
 * not @word any more, or it is on the list.
 */
bool hslab_set_aside(struct hslab_store *store, void *object, u64 word,
		     bool suspect)
{
	struct hslab_aside *spare;
	unsigned long flags;
	bool done;

	spare = kzalloc(sizeof(*spare), GFP_ATOMIC | __GFP_NOWARN);
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	done = !hslab_aside_find(store, object) &&
	       hslab_compat_tag_cmpxchg(hslab_tag(object, store->tag_off), &word,
					hslab_encode(store, object,
						     HSLAB_ASIDE |
						     store->plain));
	if (done) {
		if (hslab_aside_room(store, &spare))
			store->aside->objects[store->aside->nr++] =
				(unsigned long)object |
				(suspect ? HSLAB_SUSPECT : 0);
		else
			store->nr_lost++;
		if (suspect)
			store->nr_suspects++;
		WRITE_ONCE(store->nr_aside, store->nr_aside + 1);
	}
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	kfree(spare);
	return done;
}

/**
 * hslab_clear_suspect() - SLUB, or a magazine, has let go of an object
 * @store: its store
 * @object: the object
 *
 * Context: any but NMI.
 * Return: true if it was a suspect: it was free when it was set aside.
 */
bool hslab_clear_suspect(struct hslab_store *store, const void *object)
{
	unsigned long flags, *entry;
	bool cleared = false;

	if (likely(!READ_ONCE(store->nr_suspects)))
		return false;
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	entry = hslab_aside_find(store, object);
	if (entry && (*entry & HSLAB_SUSPECT)) {
		*entry &= ~HSLAB_SUSPECT;
		store->nr_suspects--;
		cleared = true;
	}
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	return cleared;
}

/* Is @object a suspect, whatever its tag says by now? Any context but NMI. */
bool hslab_is_suspect(struct hslab_store *store, const void *object)
{
	unsigned long flags, *entry;
	bool suspect;

	if (likely(!READ_ONCE(store->nr_suspects)))
		return false;
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	entry = hslab_aside_find(store, object);
	suspect = entry && (*entry & HSLAB_SUSPECT);
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	return suspect;
}

/* How many objects, or bytes, of new slab pages hslab_sift() goes through. */
#define HSLAB_SIFT_OBJECTS	1024
#define HSLAB_SIFT_BYTES	SZ_1M

/**
 * hslab_sift() - find out which suspects are in SLUB's hands
 * @store: the store
 *
 * Takes from SLUB all that it has in the store's slab pages, until it makes new
 * ones and some more, since it may have kept a few beside. A suspect that does
 * not come up is not SLUB's.
 *
 * Context: process context.
 * Return: how many came up, or -ENOMEM.
 */
int hslab_sift(struct hslab_store *store)
{
	unsigned int slot = hslab_slot_size(&store->geometry);
	unsigned long made, more = 0;
	void *object, *taken = NULL;
	int found = 0;

	if (!store->nr_suspects)
		return 0;
	kmem_cache_shrink(store->kmem);		/* leaves no CPU a page of its own */
	migrate_disable();
	made = READ_ONCE(store->nr_made);
	do {
		object = kmem_cache_alloc(store->kmem,
					  GFP_NOWAIT | __GFP_NOWARN);
		if (!object)
			break;
		if (hslab_clear_suspect(store, object)) {
			found++;
		} else {
			*(void **)object = taken;
			taken = object;
		}
		if (READ_ONCE(store->nr_made) != made)
			more++;
	} while (READ_ONCE(store->nr_suspects) && more < HSLAB_SIFT_OBJECTS &&
		 more * slot < HSLAB_SIFT_BYTES);
	migrate_enable();

	while (taken) {
		void *next = *(void **)taken;

		kmem_cache_free(store->kmem, taken);
		taken = next;
	}
	return object ? found : -ENOMEM;
}

/**
 * hslab_aside_release() - give the objects set aside back to SLUB
 * @store: a store that nobody uses
 *
 * Context: process context.
 * Return: false if the kmem_cache has objects that cannot be given back.
 */
bool hslab_aside_release(struct hslab_store *store)
{
	struct hslab_aside *chunk;
	unsigned long i;

	if (store->nr_lost || hslab_sift(store) < 0)
		return false;
	while ((chunk = store->aside)) {
		for (i = 0; i < chunk->nr; i++)
			kmem_cache_free(store->kmem,
					(void *)(chunk->objects[i] &
						 ~HSLAB_SUSPECT));
		store->aside = chunk->next;
		kfree(chunk);
	}
	return true;
}
