// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_provoke: commits, on request, the mistakes that hslab is to find.
 *
 * For the selftests, and for who wants to see what a report looks like. It
 * corrupts nothing but caches of its own. /sys/kernel/debug/hslab_provoke:
 *
 *	list	the violations, a line each, separated by tabs: name, cache that
 *		is to report it, kind, offset ("-" for none), what is done
 *	run	takes the name of a violation, or an action and its arguments
 *	result	what the last action found out, as words of the form name=value
 *
 * A CACHE in an action is the name of one of the module's caches. Objects are
 * held in two banks; a bank is given as CACHE:0 (the default) or CACHE:1.
 *
 *	hold CACHE N		allocate N objects, fill them with 0xa5, keep them
 *	release CACHE [N]	free the last N objects held, all by default
 *	share CACHE CACHE	how many slab pages have held objects of both?
 *	peek CACHE		fill an object with 0xa5, free it, look at it
 *	cycle CACHE [zero]	the same, and allocate it again (hslab_zalloc())
 *	zeroed CACHE N		of N new objects, how many are zero?
 *	exhaust CACHE [bulk]	damage all free objects, then allocate; the cache
 *				must have had less than 200 so far
 *	race CACHE N		free an object on two CPUs at a time, N times
 *	foreign CACHE N		free N objects of kmalloc() to the cache
 *	orphan N		destroy a cache with N live objects
 *	orphan-free		free these objects
 *	kernel			does the kernel zero what it allocates?
 */
#define pr_fmt(fmt) "hslab_provoke: " fmt

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/hslab.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

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

static unsigned int provoke_built;	/* runs of the constructor */

static void provoke_ctor(void *object)
{
	provoke_built++;
	memset(object, PROVOKE_BUILT, PROVOKE_SIZE);
}

static struct provoke_cache provoke_caches[PROVOKE_NR] = {
	[PROVOKE_MAIN]	 = { .name = "provoke", .size = PROVOKE_SIZE },
	[PROVOKE_B]	 = { .name = "provoke-b", .size = PROVOKE_SIZE },
	[PROVOKE_PADDED] = { .name = "provoke-odd", .size = PROVOKE_ODD },
	[PROVOKE_RCU]	 = { .name = "provoke-rcu", .size = PROVOKE_SIZE,
			     .args.flags = SLAB_TYPESAFE_BY_RCU },
	[PROVOKE_CTOR]	 = { .name = "provoke-ctor", .size = PROVOKE_SIZE,
			     .args.ctor = provoke_ctor },
	[PROVOKE_M1]	 = { .name = "provoke-m1", .size = PROVOKE_SIZE,
			     .merge = "group=provoke" },
	[PROVOKE_M2]	 = { .name = "provoke-m2", .size = PROVOKE_SIZE,
			     .merge = "group=provoke" },
};

/* One request at a time; protects all that is static here. */
static DEFINE_MUTEX(provoke_mutex);
static char provoke_result[128];

static struct hslab_cache *provoke_handle(enum provoke_id id)
{
	return provoke_caches[id].cache;
}

/* Where hslab has its tag: behind the object, rounded up to 8 bytes. */
static u64 *provoke_tag(const struct provoke_cache *c, void *object)
{
	return object + round_up(c->size, 8);
}

/*
 * Allocate until SLUB has handed out @object again, which shows by its tag,
 * whatever hslab thought of it. Then give everything back.
 */
static int provoke_see_again(const struct provoke_cache *c, void *object)
{
	const u64 *tag = provoke_tag(c, object);
	u64 before = READ_ONCE(*tag);
	unsigned int nr = 0;
	void **taken;
	bool seen;

	taken = kmalloc_array(PROVOKE_SEARCH, sizeof(*taken), GFP_KERNEL);
	if (!taken)
		return -ENOMEM;
	while (READ_ONCE(*tag) == before && nr < PROVOKE_SEARCH) {
		taken[nr] = hslab_alloc(c->cache, GFP_KERNEL);
		if (!taken[nr])
			break;
		nr++;
	}
	seen = READ_ONCE(*tag) != before;
	hslab_free_bulk(c->cache, nr, taken);
	kfree(taken);
	return seen ? 0 : -EAGAIN;
}

/*
 * VIOLATIONS
 */
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

static int provoke_double_free(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(cache, object);
	hslab_free(cache, object);
	return 0;
}

static int provoke_double_free_bulk(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *objects[3] = { hslab_alloc(cache, GFP_KERNEL), NULL, NULL };

	if (!objects[0])
		return -ENOMEM;
	objects[2] = objects[0];
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return 0;
}

/* The object lies in a store that gets no new ones any more. */
static int provoke_double_free_drained(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *objects[2] = { hslab_alloc(cache, GFP_KERNEL),
			     hslab_alloc(cache, GFP_KERNEL) };
	int err = -ENOMEM;

	if (!objects[0] || !objects[1])
		goto out;
	err = hslab_set_policy(cache, "merge", "any");
	if (err)
		goto out;
	hslab_free(cache, objects[0]);
	hslab_free(cache, objects[0]);
	objects[0] = NULL;
	err = hslab_set_policy(cache, "merge", "group=provoke");
out:
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return err;
}

static int provoke_cross_free(const struct provoke_violation *v)
{
	struct hslab_cache *from = provoke_handle(v->from);
	void *object = hslab_alloc(from, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), object);
	hslab_free(from, object);
	return 0;
}

static int provoke_free_inside(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	void *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(cache, object + v->at);
	hslab_free(cache, object);
	return 0;
}

static int provoke_free_stack(const struct provoke_violation *v)
{
	u64 words[(PROVOKE_SIZE + 16) / 8] = { };

	hslab_free(provoke_handle(v->id), words);
	OPTIMIZER_HIDE_VAR(words[0]);
	return 0;
}

static int provoke_free_static(const struct provoke_violation *v)
{
	static u64 words[(PROVOKE_SIZE + 16) / 8];

	hslab_free(provoke_handle(v->id), words);
	return 0;
}

static int provoke_free_vmalloc(const struct provoke_violation *v)
{
	void *area = vzalloc(PAGE_SIZE);

	if (!area)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), area);
	vfree(area);
	return 0;
}

static int provoke_free_page(const struct provoke_violation *v)
{
	unsigned long page = get_zeroed_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), (void *)page);
	free_page(page);
	return 0;
}

static int provoke_free_kmalloc(const struct provoke_violation *v)
{
	void *object = kzalloc(256, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(provoke_handle(v->id), object);
	kfree(object);
	return 0;
}

/* Where the tag of such an object would lie, there is no memory. */
static int provoke_free_memory_end(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), high_memory - 8);
	return 0;
}

static int provoke_free_error(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), ERR_PTR(-ENOMEM));
	return 0;
}

static int provoke_free_number(const struct provoke_violation *v)
{
	hslab_free(provoke_handle(v->id), (void *)0x1234);
	return 0;
}

/* The first byte of a tag, and a byte of the padding, is never 0. */
static int provoke_overflow(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	u8 *object = hslab_alloc(cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object, PROVOKE_DIRT, hslab_cache_size(cache));
	memset(object + v->at, 0, v->len);
	hslab_free(cache, object);
	return 0;
}

/* Overflow into the next object, which is held too, so that no other is hit. */
static int provoke_overflow_far(const struct provoke_violation *v)
{
	struct hslab_cache *cache = provoke_handle(v->id);
	unsigned int slot = round_up(hslab_cache_size(cache), 8) + 16;
	void *objects[64] = { };
	u8 *object = NULL;
	unsigned int i, j;

	if (!hslab_alloc_bulk(cache, GFP_KERNEL, ARRAY_SIZE(objects), objects))
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(objects) && !object; i++)
		for (j = 0; j < ARRAY_SIZE(objects); j++)
			if (objects[j] == objects[i] + slot)
				object = objects[i];
	if (object)
		memset(object + v->at, 0, v->len);
	hslab_free_bulk(cache, ARRAY_SIZE(objects), objects);
	return object ? 0 : -EAGAIN;
}

/* A write to a free object: to its payload, or (at the tag) to the tag. */
static int provoke_write_after_free(const struct provoke_violation *v)
{
	struct provoke_cache *c = &provoke_caches[v->id];
	u8 *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_free(c->cache, object);
	object[v->at] ^= v->flip;
	return provoke_see_again(c, object);
}

static int provoke_kfree(const struct provoke_violation *v)
{
	struct provoke_cache *c = &provoke_caches[v->id];
	void *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	kfree(object);
	return provoke_see_again(c, object);
}

/* The general-purpose caches */
static int provoke_hslab_kfree_twice(const struct provoke_violation *v)
{
	void *object = hslab_kmalloc(64, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	hslab_kfree(object);
	hslab_kfree(object);
	return 0;
}

static int provoke_hslab_kfree_overflow(const struct provoke_violation *v)
{
	u8 *object = hslab_kmalloc(64, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object + v->at, 0, v->len);
	hslab_kfree(object);
	return 0;
}

static int provoke_hslab_kfree_static(const struct provoke_violation *v)
{
	static u64 words[4];

	hslab_kfree(words);
	return 0;
}

#define REPORTED(_cache, _kind, _offset)				\
	.cache = (_cache), .kind = (_kind), .offset = (_offset)

static const struct provoke_violation provoke_violations[] = {
	{ .name = "double-free", .run = provoke_double_free,
	  REPORTED("provoke", "double-free", -1),
	  .what = "hslab_free() of a free object" },
	{ .name = "double-free-odd", .run = provoke_double_free,
	  .id = PROVOKE_PADDED, REPORTED("provoke-odd", "double-free", -1),
	  .what = "the same in a cache with padding" },
	{ .name = "double-free-rcu", .run = provoke_double_free,
	  .id = PROVOKE_RCU, REPORTED("provoke-rcu", "double-free", -1),
	  .what = "the same in a SLAB_TYPESAFE_BY_RCU cache" },
	{ .name = "double-free-bulk", .run = provoke_double_free_bulk,
	  REPORTED("provoke", "double-free", -1),
	  .what = "an object twice in one hslab_free_bulk()" },
	{ .name = "double-free-drained", .run = provoke_double_free_drained,
	  .id = PROVOKE_M1, REPORTED("provoke-m1", "double-free", -1),
	  .what = "an object of a store that the cache has left" },

	{ .name = "cross-cache-free", .run = provoke_cross_free,
	  .id = PROVOKE_B, .from = PROVOKE_MAIN,
	  REPORTED("provoke-b", "cross-cache-free", -1),
	  .what = "hslab_free() of an object of another cache" },
	{ .name = "cross-cache-free-size", .run = provoke_cross_free,
	  .id = PROVOKE_PADDED, .from = PROVOKE_MAIN,
	  REPORTED("provoke-odd", "cross-cache-free", -1),
	  .what = "the same, and the other cache has larger objects" },
	{ .name = "cross-cache-free-merged", .run = provoke_cross_free,
	  .id = PROVOKE_M2, .from = PROVOKE_M1,
	  REPORTED("provoke-m2", "cross-cache-free", -1),
	  .what = "the same, and both caches share a store" },

	{ .name = "invalid-free-inside", .run = provoke_free_inside, .at = 8,
	  REPORTED("provoke", "invalid-free", 8),
	  .what = "a pointer 8 bytes into an object" },
	{ .name = "invalid-free-end", .run = provoke_free_inside,
	  .at = PROVOKE_SIZE - 8,
	  REPORTED("provoke", "invalid-free", PROVOKE_SIZE - 8),
	  .what = "a pointer to the last 8 bytes of an object" },
	{ .name = "invalid-free-misaligned", .run = provoke_free_inside, .at = 1,
	  REPORTED("provoke", "invalid-free", 1),
	  .what = "a pointer 1 byte into an object" },
	{ .name = "invalid-free-stack", .run = provoke_free_stack,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a pointer to the stack" },
	{ .name = "invalid-free-static", .run = provoke_free_static,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a pointer to a module's static data" },
	{ .name = "invalid-free-vmalloc", .run = provoke_free_vmalloc,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "memory of vmalloc()" },
	{ .name = "invalid-free-page", .run = provoke_free_page,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "a page of get_zeroed_page()" },
	{ .name = "invalid-free-kmalloc", .run = provoke_free_kmalloc,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "an object of kmalloc()" },
	{ .name = "invalid-free-memory-end", .run = provoke_free_memory_end,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "the last 8 bytes of the direct map" },
	{ .name = "invalid-free-error", .run = provoke_free_error,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "ERR_PTR(-ENOMEM)" },
	{ .name = "invalid-free-number", .run = provoke_free_number,
	  REPORTED("provoke", "invalid-free", -1),
	  .what = "the pointer 0x1234" },

	{ .name = "overflow-nul", .run = provoke_overflow,
	  .at = PROVOKE_SIZE, .len = 1,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "a NUL behind the end" },
	{ .name = "overflow-8", .run = provoke_overflow,
	  .at = PROVOKE_SIZE, .len = 8,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "8 bytes behind the end" },
	{ .name = "overflow-64", .run = provoke_overflow_far,
	  .at = PROVOKE_SIZE, .len = 64,
	  REPORTED("provoke", "overflow", PROVOKE_SIZE),
	  .what = "64 bytes behind the end, into the next object" },
	{ .name = "overflow-padding", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD, .len = 1,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD),
	  .what = "a NUL into the first byte of the padding" },
	{ .name = "overflow-padding-end", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD + 2, .len = 1,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD + 2),
	  .what = "a NUL into the last byte of the padding" },
	{ .name = "overflow-padding-8", .run = provoke_overflow,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD, .len = 8,
	  REPORTED("provoke-odd", "overflow", PROVOKE_ODD),
	  .what = "8 bytes over the padding and into the tag" },
	{ .name = "overflow-rcu", .run = provoke_overflow,
	  .id = PROVOKE_RCU, .at = PROVOKE_SIZE, .len = 1,
	  REPORTED("provoke-rcu", "overflow", PROVOKE_SIZE),
	  .what = "a NUL behind the end in a SLAB_TYPESAFE_BY_RCU cache" },

	{ .name = "write-after-free-first", .run = provoke_write_after_free,
	  .at = 0, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", 0),
	  .what = "a write to the first byte of a free object" },
	{ .name = "write-after-free-last", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE - 1, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", PROVOKE_SIZE - 1),
	  .what = "a write to the last byte" },
	{ .name = "write-after-free-middle", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE / 2, .flip = 0xff,
	  REPORTED("provoke", "write-after-free", PROVOKE_SIZE / 2),
	  .what = "a write in the middle (found with verify=full)" },
	{ .name = "write-after-free-bit", .run = provoke_write_after_free,
	  .at = 5, .flip = 0x10,
	  REPORTED("provoke", "write-after-free", 5),
	  .what = "one bit in the first word flips" },
	{ .name = "write-after-free-padding", .run = provoke_write_after_free,
	  .id = PROVOKE_PADDED, .at = PROVOKE_ODD + 1, .flip = 0xff,
	  REPORTED("provoke-odd", "write-after-free", PROVOKE_ODD + 1),
	  .what = "a write to the padding of a free object" },
	{ .name = "write-after-free-ctor", .run = provoke_write_after_free,
	  .id = PROVOKE_CTOR, .at = 0, .flip = 0x01,
	  REPORTED("provoke-ctor", "write-after-free", 0),
	  .what = "a write to a free object of a cache with a constructor" },

	{ .name = "bad-tag", .run = provoke_write_after_free,
	  .at = PROVOKE_SIZE + 3, .flip = 0xff,
	  REPORTED("provoke", "bad-tag", PROVOKE_SIZE + 3),
	  .what = "a write to the tag of a free object" },
	{ .name = "bad-tag-rcu", .run = provoke_write_after_free,
	  .id = PROVOKE_RCU, .at = PROVOKE_SIZE, .flip = 0xff,
	  REPORTED("provoke-rcu", "bad-tag", PROVOKE_SIZE),
	  .what = "the same in a SLAB_TYPESAFE_BY_RCU cache" },

	{ .name = "not-freed", .run = provoke_kfree,
	  REPORTED("provoke", "not-freed", -1),
	  .what = "kfree() of an object, which is then allocated again" },

	{ .name = "hslab-kfree-twice", .run = provoke_hslab_kfree_twice,
	  REPORTED("hslab-64", "double-free", -1),
	  .what = "hslab_kfree() of free memory" },
	{ .name = "hslab-kfree-overflow", .run = provoke_hslab_kfree_overflow,
	  .at = 64, .len = 1,
	  REPORTED("hslab-64", "overflow", 64),
	  .what = "a NUL behind the end of hslab_kmalloc(64)" },
	{ .name = "hslab-kfree-static", .run = provoke_hslab_kfree_static,
	  REPORTED("hslab-16", "invalid-free", -1),
	  .what = "hslab_kfree() of a module's static data" },
};

/*
 * ACTIONS
 */
struct provoke_action {
	const char *name;
	int (*run)(struct provoke_cache *c, struct provoke_bank *bank, char *arg);
	bool has_cache;			/* the first word is a cache's name */
};

static __printf(1, 2) void provoke_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(provoke_result, sizeof(provoke_result), fmt, args);
	va_end(args);
}

/* The cache that a NAME or NAME:BANK means, or NULL. */
static struct provoke_cache *provoke_find(char *name, struct provoke_bank **bank)
{
	char *colon = strchrnul(name, ':');
	unsigned int i, nr = 0;

	if (*colon) {
		*colon = '\0';
		if (kstrtouint(colon + 1, 10, &nr) || nr >= PROVOKE_BANKS)
			return NULL;
	}
	for (i = 0; i < PROVOKE_NR; i++) {
		if (strcmp(name, provoke_caches[i].name))
			continue;
		*bank = &provoke_caches[i].banks[nr];
		return &provoke_caches[i];
	}
	return NULL;
}

static int provoke_number(const char *arg, unsigned int most, unsigned int *nr)
{
	if (!arg || kstrtouint(arg, 10, nr) || !*nr || *nr > most)
		return -EINVAL;
	return 0;
}

static int provoke_hold(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	unsigned int nr;

	if (provoke_number(arg, PROVOKE_HELD - bank->nr, &nr))
		return -EINVAL;
	while (nr--) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		memset(object, PROVOKE_DIRT, c->size);
		bank->objects[bank->nr++] = object;
	}
	return 0;
}

static int provoke_release(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int nr = bank->nr;

	if (arg && provoke_number(arg, bank->nr, &nr))
		return -EINVAL;
	while (nr--)
		hslab_free(c->cache, bank->objects[--bank->nr]);
	return 0;
}

static bool provoke_page_has(const struct provoke_bank *bank,
			     const struct page *page)
{
	unsigned int i;

	for (i = 0; i < bank->nr; i++)
		if (virt_to_head_page(bank->objects[i]) == page)
			return true;
	return false;
}

/* The pages of @bank that have objects of @other too; all, without @other. */
static unsigned int provoke_pages(const struct provoke_bank *bank,
				  const struct provoke_bank *other)
{
	unsigned int i, j, nr = 0;

	for (i = 0; i < bank->nr; i++) {
		const struct page *page = virt_to_head_page(bank->objects[i]);

		for (j = 0; j < i; j++)
			if (virt_to_head_page(bank->objects[j]) == page)
				break;
		nr += j == i && (!other || provoke_page_has(other, page));
	}
	return nr;
}

static int provoke_share(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	struct provoke_bank *other;

	if (!arg || !provoke_find(arg, &other))
		return -EINVAL;
	provoke_say("pages=%u others=%u shared=%u", provoke_pages(bank, NULL),
		    provoke_pages(other, NULL), provoke_pages(bank, other));
	return 0;
}

/* What an object holds: a name for a byte repeated, and its first 8 bytes. */
static void provoke_describe(const void *object, unsigned int size,
			     const char *more)
{
	const u8 *bytes = object;
	const char *what = "other";
	unsigned int i;
	u64 word;

	memcpy(&word, object, sizeof(word));
	for (i = sizeof(word); i < size; i++)
		if (bytes[i] != bytes[i - sizeof(word)])
			what = "mixed";
	if (!memchr_inv(object, 0, size))
		what = "zero";
	else if (!memchr_inv(object, PROVOKE_DIRT, size))
		what = "kept";
	else if (!memchr_inv(object, PROVOKE_BUILT, size))
		what = "built";
	else if (!memchr_inv(object, bytes[0], size))
		what = "byte";
	provoke_say("content=%s word=%016llx%s", what,
		    (unsigned long long)be64_to_cpu((__force __be64)word), more);
}

static int provoke_peek(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	void *object = hslab_alloc(c->cache, GFP_KERNEL);

	if (!object)
		return -ENOMEM;
	memset(object, PROVOKE_DIRT, c->size);
	hslab_free(c->cache, object);
	provoke_describe(object, c->size, "");
	return 0;
}

static int provoke_cycle(struct provoke_cache *c, struct provoke_bank *bank,
			 char *arg)
{
	gfp_t gfp = arg && !strcmp(arg, "zero") ? GFP_KERNEL | __GFP_ZERO :
						  GFP_KERNEL;
	void *object = hslab_alloc(c->cache, GFP_KERNEL), *again = NULL;
	unsigned int nr = 0;
	char more[32];
	void **taken;

	taken = kmalloc_array(PROVOKE_SEARCH, sizeof(*taken), GFP_KERNEL);
	if (!object || !taken) {
		hslab_free(c->cache, object);
		kfree(taken);
		return -ENOMEM;
	}
	memset(object, PROVOKE_DIRT, c->size);
	hslab_free(c->cache, object);
	while (again != object && nr < PROVOKE_SEARCH) {
		provoke_built = 0;
		again = hslab_alloc(c->cache, gfp);
		if (!again)
			break;
		taken[nr++] = again;
	}
	if (again == object) {
		snprintf(more, sizeof(more), " built=%u", provoke_built);
		provoke_describe(object, c->size, more);
	}
	hslab_free_bulk(c->cache, nr, taken);
	kfree(taken);
	return again == object ? 0 : -EAGAIN;
}

static int provoke_zeroed(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	unsigned int i, nr, zero = 0;

	if (bank->nr || provoke_number(arg, PROVOKE_HELD, &nr))
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		zero += !memchr_inv(object, 0, c->size);
		bank->objects[bank->nr++] = object;
	}
	provoke_say("zero=%u", zero);
	return provoke_release(c, bank, NULL);
}

/*
 * Take objects until their slab pages are full, so that no other one is free on
 * this CPU: until the page of the last one holds as many as any.
 */
static int provoke_fill_pages(struct provoke_cache *c, struct provoke_bank *bank)
{
	unsigned int i, here, most = 0;
	struct page *page, *last = NULL;

	while (bank->nr < PROVOKE_HELD) {
		void *object = hslab_alloc(c->cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		bank->objects[bank->nr++] = object;
		page = virt_to_head_page(object);
		for (here = i = 0; i < bank->nr; i++)
			here += virt_to_head_page(bank->objects[i]) == page;
		if (bank->nr >= PROVOKE_HELD / 2 && last == page && here == most)
			return 0;
		most = max(most, here);
		last = page;
	}
	return -EAGAIN;
}

/*
 * One object of each slab page stays live, or SLUB would give the page, and the
 * damaged objects on it, back.
 */
static int provoke_exhaust(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int i, j, filled, failed, nr = 0;
	void *objects[64] = { };
	void **damaged;
	int err;

	if (bank->nr)
		return -EINVAL;
	damaged = kmalloc_array(PROVOKE_HELD, sizeof(*damaged), GFP_KERNEL);
	if (!damaged)
		return -ENOMEM;
	err = provoke_fill_pages(c, bank);
	if (err)
		goto out;
	filled = bank->nr;
	for (i = j = 0; i < filled; i++) {
		struct page *page = virt_to_head_page(bank->objects[i]);

		bank->nr = j;
		if (provoke_page_has(bank, page))
			damaged[nr++] = bank->objects[i];
		else
			bank->objects[j++] = bank->objects[i];
	}
	bank->nr = j;
	hslab_free_bulk(c->cache, nr, damaged);
	for (i = 0; i < nr; i++)
		*(u8 *)damaged[i] ^= 0xff;

	if (arg)
		hslab_alloc_bulk(c->cache, GFP_KERNEL, 4, objects);
	else
		objects[0] = hslab_alloc(c->cache, GFP_KERNEL);
	failed = !objects[0];
	hslab_free_bulk(c->cache, arg ? 4 : 1, objects);

	/* Leave none behind: the damaged ones come before new slab pages. */
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		while (!(objects[i] = hslab_alloc(c->cache, GFP_KERNEL)) &&
		       failed < filled)
			failed++;
	}
	hslab_free_bulk(c->cache, ARRAY_SIZE(objects), objects);
	provoke_say("allocs=%u damaged=%u failed=%u",
		    filled + (unsigned int)ARRAY_SIZE(objects), nr, failed);
out:
	kfree(damaged);
	provoke_release(c, bank, NULL);
	return err;
}

struct provoke_racer {
	struct work_struct work;
	struct hslab_cache *cache;
	void *object;
	atomic_t missing;		/* who is not at the start yet */
};

static void provoke_race_free(struct provoke_racer *racer)
{
	atomic_dec(&racer->missing);
	while (atomic_read(&racer->missing))
		cpu_relax();
	hslab_free(racer->cache, racer->object);
}

static void provoke_race_work(struct work_struct *work)
{
	provoke_race_free(container_of(work, struct provoke_racer, work));
}

static int provoke_race(struct provoke_cache *c, struct provoke_bank *bank,
			char *arg)
{
	struct provoke_racer racer = { .cache = c->cache };
	unsigned int nr, cpu;
	int err = 0;

	if (provoke_number(arg, 10000, &nr))
		return -EINVAL;
	INIT_WORK_ONSTACK(&racer.work, provoke_race_work);
	cpus_read_lock();
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	if (cpu >= nr_cpu_ids)
		err = -ENXIO;
	while (!err && nr--) {
		racer.object = hslab_alloc(c->cache, GFP_KERNEL);
		if (!racer.object) {
			err = -ENOMEM;
			break;
		}
		atomic_set(&racer.missing, 2);
		schedule_work_on(cpu, &racer.work);
		provoke_race_free(&racer);
		flush_work(&racer.work);
	}
	migrate_enable();
	cpus_read_unlock();
	destroy_work_on_stack(&racer.work);
	return err;
}

static int provoke_foreign(struct provoke_cache *c, struct provoke_bank *bank,
			   char *arg)
{
	unsigned int nr, changed = 0;
	u8 *copy, *object;

	if (provoke_number(arg, 10000, &nr))
		return -EINVAL;
	copy = kmalloc(256, GFP_KERNEL);
	if (!copy)
		return -ENOMEM;
	while (nr--) {
		object = kmalloc(256, GFP_KERNEL);
		if (!object)
			break;
		get_random_bytes(copy, 256);
		memcpy(object, copy, 256);
		hslab_free(c->cache, object);
		changed += !!memcmp(object, copy, 256);
		kfree(object);
	}
	kfree(copy);
	provoke_say("changed=%u", changed);
	return 0;
}

static struct hslab_cache *provoke_orphans_from;
static void *provoke_orphans[64];
static unsigned int provoke_nr_orphans;

static int provoke_orphan(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	struct hslab_cache *cache;
	unsigned int nr;

	if (provoke_nr_orphans ||
	    provoke_number(arg, ARRAY_SIZE(provoke_orphans), &nr))
		return -EINVAL;
	cache = hslab_cache_create("provoke-orphan", PROVOKE_SIZE, NULL);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	provoke_nr_orphans = hslab_alloc_bulk(cache, GFP_KERNEL, nr,
					      provoke_orphans);
	provoke_orphans_from = cache;
	hslab_cache_destroy(cache);
	return 0;
}

static int provoke_orphan_free(struct provoke_cache *c,
			       struct provoke_bank *bank, char *arg)
{
	unsigned int nr = provoke_nr_orphans;

	provoke_nr_orphans = 0;
	hslab_free_bulk(provoke_orphans_from, nr, provoke_orphans);
	return 0;
}

static int provoke_kernel(struct provoke_cache *c, struct provoke_bank *bank,
			  char *arg)
{
	provoke_say("init_on_alloc=%d", want_init_on_alloc(0));
	return 0;
}

static const struct provoke_action provoke_actions[] = {
	{ "hold", provoke_hold, true },
	{ "release", provoke_release, true },
	{ "share", provoke_share, true },
	{ "peek", provoke_peek, true },
	{ "cycle", provoke_cycle, true },
	{ "zeroed", provoke_zeroed, true },
	{ "exhaust", provoke_exhaust, true },
	{ "race", provoke_race, true },
	{ "foreign", provoke_foreign, true },
	{ "orphan", provoke_orphan, false },
	{ "orphan-free", provoke_orphan_free, false },
	{ "kernel", provoke_kernel, false },
};

/*
 * DEBUGFS
 */
static int provoke_act(const struct provoke_action *action, char *args)
{
	struct provoke_cache *c = NULL;
	struct provoke_bank *bank = NULL;

	if (action->has_cache) {
		char *name = strsep(&args, " ");

		c = name ? provoke_find(name, &bank) : NULL;
		if (!c)
			return -EINVAL;
	}
	return action->run(c, bank, args);
}

static int provoke_request(char *line)
{
	char *name = strsep(&line, " ");
	unsigned int i;

	lockdep_assert_held(&provoke_mutex);

	provoke_say("%s", "");
	for (i = 0; i < ARRAY_SIZE(provoke_violations); i++)
		if (!line && !strcmp(name, provoke_violations[i].name))
			return provoke_violations[i].run(&provoke_violations[i]);
	for (i = 0; i < ARRAY_SIZE(provoke_actions); i++)
		if (!strcmp(name, provoke_actions[i].name))
			return provoke_act(&provoke_actions[i], line);
	return -EINVAL;
}

static ssize_t provoke_run_write(struct file *file, const char __user *ubuf,
				 size_t count, loff_t *pos)
{
	char *line;
	int err;

	if (count > PAGE_SIZE)
		return -EINVAL;
	line = memdup_user_nul(ubuf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&provoke_mutex);
	err = provoke_request(strim(line));
	mutex_unlock(&provoke_mutex);
	kfree(line);
	return err ? err : count;
}

static const struct file_operations provoke_run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= provoke_run_write,
	.llseek	= noop_llseek,
};

static int provoke_list_show(struct seq_file *seq, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(provoke_violations); i++) {
		const struct provoke_violation *v = &provoke_violations[i];

		seq_printf(seq, "%s\t%s\t%s\t", v->name, v->cache, v->kind);
		if (v->offset < 0)
			seq_puts(seq, "-");
		else
			seq_printf(seq, "%d", v->offset);
		seq_printf(seq, "\t%s\n", v->what);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(provoke_list);

static int provoke_result_show(struct seq_file *seq, void *unused)
{
	mutex_lock(&provoke_mutex);
	seq_printf(seq, "%s\n", provoke_result);
	mutex_unlock(&provoke_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(provoke_result);

static struct dentry *provoke_debugfs;

static void provoke_destroy(void)
{
	unsigned int i, b;

	for (i = 0; i < PROVOKE_NR; i++) {
		struct provoke_cache *c = &provoke_caches[i];

		if (!c->cache)
			continue;
		for (b = 0; b < PROVOKE_BANKS; b++)
			provoke_release(c, &c->banks[b], NULL);
		hslab_cache_destroy(c->cache);
	}
}

static int provoke_create(struct provoke_cache *c)
{
	struct hslab_cache *cache;

	cache = hslab_cache_create(c->name, c->size, &c->args);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	c->cache = cache;
	return c->merge ? hslab_set_policy(cache, "merge", c->merge) : 0;
}

static int __init provoke_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < PROVOKE_NR; i++) {
		err = provoke_create(&provoke_caches[i]);
		if (err) {
			provoke_destroy();
			return err;
		}
	}
	provoke_debugfs = debugfs_create_dir("hslab_provoke", NULL);
	debugfs_create_file("run", 0200, provoke_debugfs, NULL,
			    &provoke_run_fops);
	debugfs_create_file("list", 0400, provoke_debugfs, NULL,
			    &provoke_list_fops);
	debugfs_create_file("result", 0400, provoke_debugfs, NULL,
			    &provoke_result_fops);
	return 0;
}

static void __exit provoke_exit(void)
{
	debugfs_remove_recursive(provoke_debugfs);
	if (provoke_nr_orphans)
		provoke_orphan_free(NULL, NULL, NULL);
	provoke_destroy();
}

module_init(provoke_init);
module_exit(provoke_exit);

MODULE_DESCRIPTION("Commits mistakes that hslab has to find; for tests");
MODULE_LICENSE("GPL");
