/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of hslab_provoke share.
 *
 * A file of violations or actions is a part: it has a table of them, and its
 * struct provoke_part is named here and in provoke_parts[] of provoke.c.
 */
#ifndef HSLAB_PROVOKE_H
#define HSLAB_PROVOKE_H

#include <linux/hslab.h>
#include <linux/kernel.h>
#include <linux/types.h>

#define PROVOKE_SIZE	200
#define PROVOKE_ODD	61
#define PROVOKE_DIRT	0xa5
#define PROVOKE_BUILT	0xc7	/* what the constructor writes */

#define PROVOKE_BANKS	2
#define PROVOKE_HELD	512	/* objects a bank */

/* The most objects that are allocated to see a certain one again. */
#define PROVOKE_SEARCH	1024

enum provoke_id {
	PROVOKE_MAIN,
	PROVOKE_B,
	PROVOKE_PADDED,
	PROVOKE_RCU,
	PROVOKE_CTOR,
	PROVOKE_M1,
	PROVOKE_M2,
	PROVOKE_NR
};

struct provoke_bank {
	void *objects[PROVOKE_HELD];
	unsigned int nr;
};

struct provoke_cache {
	const char *name;
	unsigned int size;
	struct hslab_args args;
	const char *merge;		/* policy, or NULL for the default */
	struct hslab_cache *cache;
	struct provoke_bank banks[PROVOKE_BANKS];
};

struct provoke_violation {
	const char *name;
	int (*run)(const struct provoke_violation *v);
	enum provoke_id id;		/* the cache that is wronged */
	enum provoke_id from;		/* and where the object is from */
	unsigned int at;		/* first byte that is written, or pointed to */
	unsigned int len;		/* bytes written */
	u8 flip;			/* bits that a write after free changes */

	/* What hslab has to say. */
	const char *cache;
	const char *kind;
	int offset;			/* -1: none */
	const char *what;
};

#define REPORTED(_cache, _kind, _offset)				\
	.cache = (_cache), .kind = (_kind), .offset = (_offset)

struct provoke_action {
	const char *name;
	int (*run)(struct provoke_cache *c, struct provoke_bank *bank, char *arg);
	bool has_cache;			/* the first word is a cache's name */
};

struct provoke_part {
	const struct provoke_violation *violations;
	unsigned int nr_violations;
	const struct provoke_action *actions;
	unsigned int nr_actions;
	void (*exit)(void);		/* before the caches go; or NULL */
};

/* provoke.c; for requests and exit(), of which one runs at a time */
extern struct provoke_cache provoke_caches[PROVOKE_NR];
extern unsigned int provoke_built;	/* runs of the constructor */
struct hslab_cache *provoke_handle(enum provoke_id id);
struct provoke_cache *provoke_find(char *name, struct provoke_bank **bank);
u64 *provoke_tag(const struct provoke_cache *c, void *object);
int provoke_see_again(const struct provoke_cache *c, void *object);
void provoke_free_held(struct provoke_cache *c, struct provoke_bank *bank,
		       unsigned int nr);
__printf(1, 2) void provoke_say(const char *fmt, ...);
int provoke_number(const char *arg, unsigned int most, unsigned int *nr);

/* provoke_violations.c */
extern const struct provoke_part provoke_violations;

/* provoke_actions.c */
extern const struct provoke_part provoke_actions;
void provoke_describe(const void *object, unsigned int size, const char *more);

/* provoke_rcu.c */
extern const struct provoke_part provoke_rcu_part;

#endif /* HSLAB_PROVOKE_H */
