/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the suites share: caches that go with their test, damage, and reports
 * that are expected.
 */
#ifndef HSLAB_KUNIT_H
#define HSLAB_KUNIT_H

#include <kunit/test.h>
#include <linux/delay.h>

#include "../hslab_internal.h"

/*
 * plant.c: writing to, and reading from, memory that is not ours, freed objects
 * and tags among it. KASAN does not see it.
 */
void hslab_plant(void *where, const void *bytes, size_t len);
void hslab_plant_byte(void *where, u8 byte);
void hslab_peek(void *to, const void *from, size_t len);
bool hslab_peek_all(const void *from, u8 byte, size_t len);

/*
 * common.c
 */

/* Create a cache, or fail the test; it is destroyed when the test ends. */
struct hslab_cache *hslab_test_cache(struct kunit *test, const char *name,
				     unsigned int size,
				     const struct hslab_args *args);
/* Destroy one of these before the test ends. */
void hslab_test_destroy(struct kunit *test, struct hslab_cache *cache);
/* Only its test changes a cache, so it needs no lock to look at it. */
static inline struct hslab_route *
hslab_test_route(const struct hslab_cache *cache)
{
	return rcu_dereference_protected(cache->route, true);
}

static inline struct hslab_store *
hslab_test_store(const struct hslab_cache *cache)
{
	return hslab_test_route(cache)->store;
}

/* Has @cond come true before 10 s are over? For what hslab does behind our back. */
#define hslab_test_eventually(cond)					\
({									\
	unsigned int _left = 500;					\
	bool _true;							\
									\
	while (!(_true = (cond)) && _left--)				\
		msleep(20);						\
	_true;								\
})

void hslab_test_policy(struct kunit *test, struct hslab_cache *cache,
		       const char *policy, const char *value);
void *hslab_test_alloc(struct kunit *test, struct hslab_cache *cache,
		       gfp_t gfp);

/* How many violations of a kind, and of all kinds, a cache has had. */
u64 hslab_test_faults(const struct hslab_cache *cache, enum hslab_kind kind);
u64 hslab_test_all_faults(const struct hslab_cache *cache);
void hslab_test_counts(const struct hslab_cache *cache,
		       struct hslab_counts *sum);
/* The plain tag of an object, live or free, in the cache's current store. */
u64 hslab_test_plain(const struct hslab_cache *cache, const void *object);

/*
 * Free objects come back when SLUB sees fit, and with KASAN after a quarantine.
 * An object that lies in the same slab page as one that stays live, the anchor,
 * can be waited for. Both of these give what they allocate on the way back.
 */

/* Allocate @victim, and its anchor on the same slab page. */
void hslab_test_victim(struct kunit *test, struct hslab_cache *cache,
		       void **anchor, void **victim);
/* Allocate with @gfp until the free object @victim comes back. */
void hslab_test_take_back(struct kunit *test, struct hslab_cache *cache,
			  gfp_t gfp, void *victim);
/* Allocate until @cache has had another violation of @kind. */
void hslab_test_find(struct kunit *test, struct hslab_cache *cache,
		     enum hslab_kind kind);

/* Start @run on the second CPU, until the test ends, and stay on the first. */
struct task_struct *hslab_test_on_other_cpu(struct kunit *test,
					    int (*run)(void *data), void *data);
/* Stop it before the test ends. */
void hslab_test_stop_other(struct kunit *test, struct task_struct *thread);

/*
 * A reader under RCU on the second CPU, while the test stays on the first; it is
 * skipped where there is one. No route can drain meanwhile. At most 10 s.
 */
struct hslab_reader;
struct hslab_reader *hslab_test_reader(struct kunit *test);
void hslab_test_reader_leaves(struct hslab_reader *reader);

/* The lines of a report. */
#define HSLAB_LINES	12
#define HSLAB_LINE_LEN	192

struct hslab_lines {
	unsigned int nr;
	char line[HSLAB_LINES][HSLAB_LINE_LEN];
};

/* A report that is expected. What is zero here is not in the report. */
struct hslab_expect {
	const char *kind;
	const struct hslab_cache *cache;
	const void *object;
	int offset;			/* -1: none */
	const char *more;		/* second line, less "hslab:   " */
	const char *marks;
	unsigned int nr_bad;
	const char *expected, *found;	/* values, in hex */
	bool aside;
	u64 nr;
	void *caller;			/* a function */
};

/* The last of the reports that debugfs shows. */
void hslab_test_last_report(struct kunit *test, struct hslab_lines *lines);
/* Fails the test if the lines are not those that are expected. */
void hslab_test_report(struct kunit *test, const struct hslab_lines *lines,
		       const struct hslab_expect *expect);
/* The same for the last of the reports that debugfs shows. */
void hslab_test_expect(struct kunit *test, const struct hslab_expect *expect);

/*
 * suite_init() and suite_exit() of a suite that provokes reports: they tell
 * scripts/splats, which takes any other for a failure.
 */
int hslab_suite_provokes(struct kunit_suite *suite);
void hslab_suite_provoked(struct kunit_suite *suite);

#endif /* HSLAB_KUNIT_H */
