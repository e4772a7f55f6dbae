// SPDX-License-Identifier: GPL-2.0
/*
 * Objects set aside: damaged, and never handed out again while their store lives.
 *
 * They are listed outside of themselves, since who damaged them may go on. An
 * object whose whole tag is gone when it is freed may have been live, or free
 * already: it is a suspect. Nothing is done to a suspect, and it still counts as
 * live if it was. When SLUB hands it out it was free, and is set aside for good;
 * when a route has as many live objects left as suspects, and none that somebody
 * still has, they were live.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include "hslab_internal.h"

#define HSLAB_ASIDE_CHUNK	31

struct hslab_aside_entry {
	void *object;
	unsigned int cache;		/* whose route counts a suspect; 0: none is */
};

struct hslab_aside {
	struct hslab_aside *next;
	unsigned long nr;
	struct hslab_aside_entry entries[HSLAB_ASIDE_CHUNK];
};

/* The entry of @object, or NULL. Under aside_lock. */
static struct hslab_aside_entry *hslab_aside_find(struct hslab_store *store,
						  const void *object)
{
	struct hslab_aside *chunk;
	unsigned long i;

	for (chunk = store->aside; chunk; chunk = chunk->next)
		for (i = 0; i < chunk->nr; i++)
			if (chunk->entries[i].object == object)
				return &chunk->entries[i];
	return NULL;
}

/* Is there no room for an entry? Under aside_lock. */
static bool hslab_aside_full(const struct hslab_store *store)
{
	return !store->aside || store->aside->nr == HSLAB_ASIDE_CHUNK;
}

/* Make room for an entry; @spare is taken (and set to NULL) if it is needed. */
static bool hslab_aside_room(struct hslab_store *store,
			     struct hslab_aside **spare)
{
	if (!hslab_aside_full(store))
		return true;
	if (!*spare)
		return false;
	(*spare)->next = store->aside;
	store->aside = *spare;
	*spare = NULL;
	return true;
}

/* The tag that says so. */
static bool hslab_aside_mark(struct hslab_store *store, void *object, u64 word)
{
	return hslab_compat_tag_cmpxchg(hslab_tag(object, store->tag_off), &word,
					hslab_encode(store, object,
						     HSLAB_ASIDE |
						     store->plain));
}

/**
 * hslab_set_aside() - keep an object from ever being handed out again
 * @store: its store
 * @object: the object: not in SLUB's hands, unless it is a suspect
 * @word: its tag, as it was found
 * @suspect: number of the cache that freed it, if it may be in SLUB's hands; else 0
 *
 * Without memory for the list the object is lost, and the store with it when
 * its time comes.
 *
 * Context: any but NMI.
 * Return: true, or false when somebody else has dealt with the object: its tag is
 * not @word any more, or it is on the list.
 */
bool hslab_set_aside(struct hslab_store *store, void *object, u64 word,
		     unsigned int suspect)
{
	struct hslab_aside *spare = NULL;
	unsigned long flags;
	bool done;

	raw_spin_lock_irqsave(&store->aside_lock, flags);
	if (hslab_aside_full(store)) {
		/* Nothing is allocated under the lock, so look again after it. */
		raw_spin_unlock_irqrestore(&store->aside_lock, flags);
		spare = kzalloc(sizeof(*spare), GFP_ATOMIC | __GFP_NOWARN);
		raw_spin_lock_irqsave(&store->aside_lock, flags);
	}
	done = !hslab_aside_find(store, object) &&
	       (suspect || hslab_aside_mark(store, object, word));
	if (done && hslab_aside_room(store, &spare)) {
		store->aside->entries[store->aside->nr++] =
			(struct hslab_aside_entry){ object, suspect };
		if (suspect)
			WRITE_ONCE(store->nr_suspects, store->nr_suspects + 1);
	} else if (done && !suspect) {
		store->nr_lost++;
	}
	if (done)
		WRITE_ONCE(store->nr_aside, store->nr_aside + 1);
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	kfree(spare);
	return done;
}

/**
 * hslab_lose() - objects are lost, and not even where they are is known
 * @store: their store, which stays for good
 * @nr: how many
 *
 * Context: any but NMI.
 */
void hslab_lose(struct hslab_store *store, unsigned long nr)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&store->aside_lock, flags);
	store->nr_lost += nr;
	WRITE_ONCE(store->nr_aside, store->nr_aside + nr);
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
}

/* Is @object a suspect, whatever its tag says by now? Any context but NMI. */
bool hslab_is_suspect(struct hslab_store *store, const void *object)
{
	struct hslab_aside_entry *entry;
	unsigned long flags;
	bool suspect;

	if (likely(!READ_ONCE(store->nr_suspects)))
		return false;
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	entry = hslab_aside_find(store, object);
	suspect = entry && entry->cache;
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	return suspect;
}

/**
 * hslab_clear_suspect() - a damaged object has been handed out
 * @store: its store
 * @object: the object
 * @word: its tag, as it was found
 *
 * Context: any but NMI.
 * Return: true if it was a suspect: it was free, and is set aside for good now.
 */
bool hslab_clear_suspect(struct hslab_store *store, void *object, u64 word)
{
	struct hslab_aside_entry *entry;
	unsigned long flags;
	bool cleared = false;

	if (likely(!READ_ONCE(store->nr_suspects)))
		return false;
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	entry = hslab_aside_find(store, object);
	if (entry && entry->cache) {
		hslab_aside_mark(store, object, word);
		entry->cache = 0;
		WRITE_ONCE(store->nr_suspects, store->nr_suspects - 1);
		cleared = true;
	}
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	return cleared;
}

/* What hslab_settle_suspects() does to the suspects of a cache. */
enum hslab_verdict {
	HSLAB_STALE,		/* drop those whose slab page, or tag, is new */
	HSLAB_FREED,		/* drop all: SLUB had, and has, them */
	HSLAB_OVERRUN,		/* keep all: they were live, and nobody's now */
};

static bool hslab_suspect_stale(struct hslab_store *store, const void *object)
{
	u64 word;

	return !hslab_compat_in_slab(object) ||
	       hslab_slab_cache(object) != store->kmem ||
	       !hslab_compat_tag_read(hslab_tag(object, store->tag_off), &word) ||
	       hslab_tag_whole(hslab_decode(store, object, word), store->plain);
}

/* Pass a verdict; how many suspects are kept. Under aside_lock. */
static unsigned long hslab_judge_suspects(struct hslab_store *store,
					  unsigned int cache,
					  enum hslab_verdict verdict)
{
	struct hslab_aside *chunk;
	unsigned long i, kept = 0;

	for (chunk = store->aside; chunk; chunk = chunk->next) {
		for (i = 0; i < chunk->nr; i++) {
			struct hslab_aside_entry *entry = &chunk->entries[i];

			if (entry->cache != cache)
				continue;
			if (verdict == HSLAB_FREED ||
			    (verdict == HSLAB_STALE &&
			     hslab_suspect_stale(store, entry->object))) {
				*entry = chunk->entries[--chunk->nr];
				store->nr_aside--;
				store->nr_suspects--;
				i--;
				continue;
			}
			kept++;
			if (verdict == HSLAB_OVERRUN) {
				entry->cache = 0;
				store->nr_suspects--;
			}
		}
	}
	return kept;
}

/**
 * hslab_settle_suspects() - find out what the suspects of a closed route were
 * @route: the route; its magazines are empty
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_settle_suspects(struct hslab_route *route)
{
	struct hslab_store *store = route->store;
	unsigned int cache = route->cache->id;
	unsigned long flags, nr;
	bool none_live;
	s64 live;

	lockdep_assert_held(&hslab_mutex);

	if (!READ_ONCE(store->nr_suspects))
		return;
	raw_spin_lock_irqsave(&store->aside_lock, flags);
	nr = hslab_judge_suspects(store, cache, HSLAB_STALE);
	live = hslab_route_live(route);
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
	none_live = live && live == nr && hslab_leak_none_live(route);

	raw_spin_lock_irqsave(&store->aside_lock, flags);
	nr = hslab_judge_suspects(store, cache, HSLAB_STALE);
	live = hslab_route_live(route);
	if (!live) {
		hslab_judge_suspects(store, cache, HSLAB_FREED);
	} else if (none_live && live == nr) {
		hslab_judge_suspects(store, cache, HSLAB_OVERRUN);
		this_cpu_add(route->cpu->counts.headroom, nr);
	}
	raw_spin_unlock_irqrestore(&store->aside_lock, flags);
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

	if (store->nr_lost)
		return false;
	while ((chunk = store->aside)) {
		for (i = 0; i < chunk->nr; i++)
			if (!chunk->entries[i].cache)
				kmem_cache_free(store->kmem,
						chunk->entries[i].object);
		store->aside = chunk->next;
		kfree(chunk);
	}
	return true;
}
