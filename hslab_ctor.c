// SPDX-License-Identifier: GPL-2.0
/*
 * The constructors that hslab gives to its kmem_caches.
 *
 * SLUB hands a constructor the object and nothing else, and neither the place
 * of the tag nor its secrets can be told from an address alone. So each store
 * has a constructor of its own, from this table, which knows its number.
 */
#include <linux/string.h>

#include "hslab_internal.h"

struct hslab_store *hslab_store_of_ctor[HSLAB_STORES_MAX];

/*
 * Make the object of a new slab page: SLUB has just got the page, and nobody
 * has owned the object. Context: that of an allocation, whatever it is; must
 * not sleep.
 */
static noinline void hslab_construct(void *object, unsigned int id)
{
	struct hslab_store *store = READ_ONCE(hslab_store_of_ctor[id]);
	u64 fresh = READ_ONCE(store->fresh);
	u64 plain = HSLAB_FREE | store->plain | fresh;

	if (unlikely(READ_ONCE(store->nr_learned) < HSLAB_LEARN_FROM))
		hslab_slab_learn(store, object);
	if (hslab_fill_kind(fresh) != HSLAB_FILL_FRESH)
		hslab_fill(object, store->tag_off / sizeof(u64),
			   hslab_pattern(fresh, store->random));
	WRITE_ONCE(*hslab_tag(object, store->tag_off),
		   hslab_encode(store, object, plain));
	if (store->geometry.tracked)
		memset(hslab_tag(object, store->tag_off) + 1, 0,
		       HSLAB_RECORD_SIZE);
}

/* A macro for each hexadecimal digit, most significant first. */
#define EACH_DIGIT(do, ...)						\
	do(__VA_ARGS__, 0) do(__VA_ARGS__, 1) do(__VA_ARGS__, 2)	\
	do(__VA_ARGS__, 3) do(__VA_ARGS__, 4) do(__VA_ARGS__, 5)	\
	do(__VA_ARGS__, 6) do(__VA_ARGS__, 7) do(__VA_ARGS__, 8)	\
	do(__VA_ARGS__, 9) do(__VA_ARGS__, a) do(__VA_ARGS__, b)	\
	do(__VA_ARGS__, c) do(__VA_ARGS__, d) do(__VA_ARGS__, e)	\
	do(__VA_ARGS__, f)

/* The same again: a macro is not expanded within itself. */
#define EACH_LAST_DIGIT(do, ...)					\
	do(__VA_ARGS__, 0) do(__VA_ARGS__, 1) do(__VA_ARGS__, 2)	\
	do(__VA_ARGS__, 3) do(__VA_ARGS__, 4) do(__VA_ARGS__, 5)	\
	do(__VA_ARGS__, 6) do(__VA_ARGS__, 7) do(__VA_ARGS__, 8)	\
	do(__VA_ARGS__, 9) do(__VA_ARGS__, a) do(__VA_ARGS__, b)	\
	do(__VA_ARGS__, c) do(__VA_ARGS__, d) do(__VA_ARGS__, e)	\
	do(__VA_ARGS__, f)

#define DEFINE_CTOR(d2, d1, d0)						\
	static notrace void hslab_ctor_##d2##d1##d0(void *object)	\
	{								\
		hslab_construct(object, 0x##d2##d1##d0);		\
	}
#define DEFINE_16_CTORS(d2, d1)		EACH_LAST_DIGIT(DEFINE_CTOR, d2, d1)
#define DEFINE_256_CTORS(d2)		EACH_DIGIT(DEFINE_16_CTORS, d2)

DEFINE_256_CTORS(0)
DEFINE_256_CTORS(1)
DEFINE_256_CTORS(2)
DEFINE_256_CTORS(3)

#define LIST_CTOR(d2, d1, d0)						\
	[0x##d2##d1##d0] = hslab_ctor_##d2##d1##d0,
#define LIST_16_CTORS(d2, d1)		EACH_LAST_DIGIT(LIST_CTOR, d2, d1)
#define LIST_256_CTORS(d2)		EACH_DIGIT(LIST_16_CTORS, d2)

void (*const hslab_ctors[HSLAB_STORES_MAX])(void *object) = {
	LIST_256_CTORS(0)
	LIST_256_CTORS(1)
	LIST_256_CTORS(2)
	LIST_256_CTORS(3)
};
