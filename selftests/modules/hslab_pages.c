// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_pages: who has a slab page? For the tests of pinned pages, scrubs and
 * bucket sets.
 *
 * Which kmem_cache a page belongs to is read from its struct page, at the place
 * where the page of an object of a kmem_cache of ours has the pointer to that.
 * The module has a hslab cache "pages", of the size that create says, a kmem_cache
 * for a victim, and bucket sets. /sys/kernel/debug/hslab_pages:
 *
 *	run	takes one of
 *		create SIZE	make the cache (destroys the one there was)
 *		destroy		destroy it
 *		alloc N		allocate N objects, note their pages
 *		free		free them; the pages are remembered
 *		owners		of the pages, which are still the cache's?
 *		victim N	allocate N objects of another kmem_cache: do any of
 *				the remembered pages come to that? Free them.
 *		plant free OFFSET [NTH]
 *				write to the NTH of the freed objects, the first (0)
 *				by default
 *		plant pin OFFSET
 *				write to the one object of a page that is not ours,
 *				while all of the others are
 *		buckets N	allocate N objects of each class of two sets and of
 *				hslab_kmalloc(), in turn: do any share a page?
 *		bucket SIZE	allocate and free from a set
 *		bucket-wrong	free memory to the other set, then to its own
 *		bucket-name NAME
 *				create and destroy a set
 *	result	what the last one found out, as words of the form name=value
 */
#define pr_fmt(fmt) "hslab_pages: " fmt

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/hslab.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "command.h"

#define PAGES_MAX	8192		/* objects */

struct pages_spray {
	void **objects;
	struct page **pages;
	unsigned int nr, nr_pages;
};

/* One request at a time; protects all that is static here. */
static DEFINE_MUTEX(pages_mutex);
static char pages_result[128];
static struct hslab_cache *pages_cache;
static unsigned int pages_size;
static unsigned int pages_freed;	/* objects in spray that are free now */
static struct pages_spray pages_spray;
static struct pages_spray pages_victims;
static void *pages_owner;		/* kmem_cache of the cache's pages */

/* Bytes from a struct page to its pointer to the kmem_cache. */
static unsigned int pages_owner_off;

static __printf(1, 2) void pages_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(pages_result, sizeof(pages_result), fmt, args);
	va_end(args);
}

static void *pages_owner_of(struct page *page)
{
	if (!PageSlab(page))
		return NULL;
	return READ_ONCE(*(void **)((char *)page + pages_owner_off));
}

static void pages_ctor(void *object)
{
}

static int __init pages_probe(void)
{
	struct kmem_cache *kmem;
	void **words, *object;
	unsigned int i;

	kmem = kmem_cache_create("hslab_pages:probe", 128, 8, 0, pages_ctor);
	object = kmem ? kmem_cache_alloc(kmem, GFP_KERNEL) : NULL;
	if (object) {
		words = (void **)virt_to_head_page(object);
		for (i = 1; i < sizeof(struct page) / sizeof(*words); i++)
			if (words[i] == kmem)
				pages_owner_off = i * sizeof(*words);
		kmem_cache_free(kmem, object);
	}
	kmem_cache_destroy(kmem);
	return pages_owner_off ? 0 : -ENODEV;
}

static bool pages_has(const struct pages_spray *s, const struct page *page)
{
	unsigned int i;

	for (i = s->nr_pages; i; i--)
		if (s->pages[i - 1] == page)
			return true;
	return false;
}

static void pages_note(struct pages_spray *s, void *object)
{
	struct page *page;

	if (!object)
		return;
	page = virt_to_head_page(object);
	s->objects[s->nr++] = object;
	/* Those of KFENCE lie in pages of its own. */
	if (!is_kfence_address(object) && !pages_has(s, page))
		s->pages[s->nr_pages++] = page;
}

static void pages_forget(struct pages_spray *s)
{
	s->nr = 0;
	s->nr_pages = 0;
}

static int pages_number(const char *arg, unsigned int most, unsigned int *nr)
{
	if (!arg || kstrtouint(arg, 10, nr) || *nr > most)
		return -EINVAL;
	return 0;
}

/*
 * THE CACHE
 */
static int pages_free(char *arg)
{
	while (pages_spray.nr > pages_freed)
		hslab_free(pages_cache, pages_spray.objects[pages_freed++]);
	return 0;
}

static int pages_destroy(char *arg)
{
	pages_free(NULL);
	hslab_cache_destroy(pages_cache);
	pages_cache = NULL;
	return 0;
}

static int pages_create(char *arg)
{
	struct hslab_cache *cache;

	if (pages_number(arg, 1 << 20, &pages_size))
		return -EINVAL;
	pages_destroy(NULL);
	pages_forget(&pages_spray);
	pages_freed = 0;
	cache = hslab_cache_create("pages", pages_size, NULL);
	if (IS_ERR(cache))
		return PTR_ERR(cache);
	pages_cache = cache;
	return 0;
}

static int pages_alloc(char *arg)
{
	unsigned int nr;

	if (!pages_cache || pages_number(arg, PAGES_MAX, &nr))
		return -EINVAL;
	pages_free(NULL);
	pages_forget(&pages_spray);
	pages_freed = 0;
	while (nr--) {
		void *object = hslab_alloc(pages_cache, GFP_KERNEL);

		if (!object)
			return -ENOMEM;
		memset(object, 0xa5, pages_size);
		pages_note(&pages_spray, object);
	}
	if (pages_spray.nr_pages)
		pages_owner = pages_owner_of(pages_spray.pages[0]);
	pages_say("pages=%u", pages_spray.nr_pages);
	return 0;
}

static int pages_owners(char *arg)
{
	unsigned int i, kept = 0;
	unsigned long bytes = 0;

	for (i = 0; i < pages_spray.nr_pages; i++) {
		struct page *page = pages_spray.pages[i];

		if (pages_owner_of(page) != pages_owner)
			continue;
		kept++;
		bytes += page_size(page);
	}
	pages_say("pages=%u kept=%u bytes=%lu", pages_spray.nr_pages, kept,
		  bytes);
	return 0;
}

static int pages_victim(char *arg)
{
	struct pages_spray *v = &pages_victims;
	unsigned int nr, i, taken = 0;
	struct kmem_cache *kmem;

	if (pages_number(arg, PAGES_MAX, &nr))
		return -EINVAL;
	kmem = kmem_cache_create("hslab_pages:victim", pages_size + 16, 8, 0,
				 pages_ctor);
	if (!kmem)
		return -ENOMEM;
	pages_forget(v);
	while (nr--) {
		void *object = kmem_cache_alloc(kmem, GFP_KERNEL);

		if (!object)
			break;
		pages_note(v, object);
	}
	for (i = 0; i < v->nr_pages; i++)
		taken += pages_has(&pages_spray, v->pages[i]);
	for (i = 0; i < v->nr; i++)
		kmem_cache_free(kmem, v->objects[i]);
	kmem_cache_destroy(kmem);
	pages_say("victims=%u taken=%u", v->nr_pages, taken);
	return 0;
}

/*
 * The slot of @page that none of our objects is in, if all others have one; the
 * distance between slots is the least between two objects.
 */
static void *pages_missing(const struct page *page, unsigned int stride,
			   unsigned int phase)
{
	void *start = page_address(page), *slot, *missing = NULL;
	unsigned long size = page_size((struct page *)page);
	unsigned int i;

	for (slot = start + phase; slot + stride <= start + size;
	     slot += stride) {
		for (i = 0; i < pages_spray.nr; i++)
			if (pages_spray.objects[i] == slot)
				break;
		if (i < pages_spray.nr)
			continue;
		if (missing)
			return NULL;
		missing = slot;
	}
	return missing;
}

static void *pages_find_pin(void)
{
	unsigned long stride = ULONG_MAX, phase;
	void *first, *pin;
	unsigned int i = 0;

	while (virt_to_head_page(pages_spray.objects[i]) !=
	       pages_spray.pages[0])
		i++;
	first = pages_spray.objects[i];
	for (i++; i < pages_spray.nr; i++) {
		void *object = pages_spray.objects[i];

		if (virt_to_head_page(object) == virt_to_head_page(first))
			stride = min_t(unsigned long, stride,
				       abs(object - first));
	}
	if (stride == ULONG_MAX)
		return NULL;
	phase = (first - page_address(virt_to_head_page(first))) % stride;
	for (i = 0; i < pages_spray.nr_pages; i++) {
		pin = pages_missing(pages_spray.pages[i], stride, phase);
		if (pin)
			return pin;
	}
	return NULL;
}

static int pages_plant(char *arg)
{
	char *what = strsep(&arg, " "), *at = strsep(&arg, " ");
	unsigned int offset, nth = 0;
	u8 *object = NULL;

	if (!what || pages_number(at, pages_size + 7, &offset) ||
	    (arg && pages_number(arg, PAGES_MAX, &nth)))
		return -EINVAL;
	if (!strcmp(what, "free") && nth < pages_freed)
		object = pages_spray.objects[nth];
	else if (!strcmp(what, "pin") && pages_spray.nr_pages)
		object = pages_find_pin();
	if (!object)
		return -ENOENT;
	object[offset] ^= 0xff;
	return 0;
}

/*
 * BUCKET SETS
 */
static const unsigned int pages_classes[] = {
	16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192
};

static struct hslab_bucket *pages_a, *pages_b;

static unsigned int pages_shared(const struct pages_spray *a,
				 const struct pages_spray *b)
{
	unsigned int i, nr = 0;

	for (i = 0; i < a->nr_pages; i++)
		nr += pages_has(b, a->pages[i]);
	return nr;
}

static int pages_buckets(char *arg)
{
	static struct pages_spray general;
	unsigned int c, i, nr, pages = 0, shared = 0, missing = 0;

	if (pages_number(arg, PAGES_MAX / 4, &nr))
		return -EINVAL;
	pages_free(NULL);
	general.objects = pages_spray.objects + PAGES_MAX / 2;
	general.pages = pages_spray.pages + PAGES_MAX / 2;
	for (c = 0; c < ARRAY_SIZE(pages_classes); c++) {
		unsigned int size = pages_classes[c];
		struct pages_spray *sets[] = { &pages_spray, &pages_victims,
					       &general };

		for (i = 0; i < ARRAY_SIZE(sets); i++)
			pages_forget(sets[i]);
		for (i = 0; i < nr; i++) {
			pages_note(sets[0], hslab_bucket_alloc(pages_a, size,
							       GFP_KERNEL));
			pages_note(sets[1], hslab_bucket_alloc(pages_b, size,
							       GFP_KERNEL));
			pages_note(sets[2], hslab_kmalloc(size, GFP_KERNEL));
		}
		for (i = 0; i < ARRAY_SIZE(sets); i++) {
			pages += sets[i]->nr_pages;
			missing += nr - sets[i]->nr;
			shared += pages_shared(sets[i], sets[(i + 1) % 3]);
		}
		for (i = 0; i < sets[0]->nr; i++)
			hslab_bucket_free(pages_a, sets[0]->objects[i]);
		for (i = 0; i < sets[1]->nr; i++)
			hslab_bucket_free(pages_b, sets[1]->objects[i]);
		for (i = 0; i < sets[2]->nr; i++)
			hslab_kfree(sets[2]->objects[i]);
	}
	pages_forget(&pages_spray);
	pages_freed = 0;
	pages_say("pages=%u shared=%u missing=%u", pages, shared, missing);
	return 0;
}

static int pages_bucket(char *arg)
{
	unsigned int size;
	void *memory;

	if (pages_number(arg, UINT_MAX, &size))
		return -EINVAL;
	memory = hslab_bucket_zalloc(pages_a, size, GFP_KERNEL);
	if (ZERO_OR_NULL_PTR(memory))
		pages_say("got=%s", memory ? "zero-size" : "null");
	else
		pages_say("got=memory zero=%d", !memchr_inv(memory, 0, size));
	hslab_bucket_free(pages_a, memory);
	return 0;
}

static int pages_bucket_wrong(char *arg)
{
	void *memory = hslab_bucket_alloc(pages_a, 100, GFP_KERNEL);

	if (!memory)
		return -ENOMEM;
	hslab_bucket_free(pages_b, memory);
	hslab_bucket_free(pages_a, memory);
	return 0;
}

static int pages_bucket_name(char *arg)
{
	struct hslab_bucket *bucket = hslab_bucket_create(arg, 0, 0, 0);

	pages_say("err=%d", PTR_ERR_OR_ZERO(bucket));
	if (!IS_ERR(bucket))
		hslab_bucket_destroy(bucket);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char *arg);
} pages_actions[] = {
	{ "create", pages_create },
	{ "destroy", pages_destroy },
	{ "alloc", pages_alloc },
	{ "free", pages_free },
	{ "owners", pages_owners },
	{ "victim", pages_victim },
	{ "plant", pages_plant },
	{ "buckets", pages_buckets },
	{ "bucket", pages_bucket },
	{ "bucket-wrong", pages_bucket_wrong },
	{ "bucket-name", pages_bucket_name },
};

/*
 * DEBUGFS
 */
static int pages_request(char *line)
{
	char *name = strsep(&line, " ");
	unsigned int i;

	pages_say("%s", "");
	for (i = 0; i < ARRAY_SIZE(pages_actions); i++)
		if (!strcmp(name, pages_actions[i].name))
			return pages_actions[i].run(line);
	return -EINVAL;
}

static const struct command pages_command = {
	.run	= pages_request,
	.mutex	= &pages_mutex,
	.result	= pages_result,
};

static struct dentry *pages_debugfs;

static void pages_put(void)
{
	hslab_bucket_destroy(pages_a);
	hslab_bucket_destroy(pages_b);
	vfree(pages_spray.objects);
	vfree(pages_spray.pages);
	vfree(pages_victims.objects);
	vfree(pages_victims.pages);
}

static int __init pages_init(void)
{
	struct hslab_bucket *bucket;
	int err;

	err = pages_probe();
	if (err)
		return err;
	err = -ENOMEM;
	pages_spray.objects = vzalloc(PAGES_MAX * sizeof(void *));
	pages_spray.pages = vzalloc(PAGES_MAX * sizeof(void *));
	pages_victims.objects = vzalloc(PAGES_MAX * sizeof(void *));
	pages_victims.pages = vzalloc(PAGES_MAX * sizeof(void *));
	if (!pages_spray.objects || !pages_spray.pages ||
	    !pages_victims.objects || !pages_victims.pages)
		goto fail;
	bucket = hslab_bucket_create("pages-a", 0, 0, HSLAB_KMALLOC_MAX);
	err = PTR_ERR_OR_ZERO(bucket);
	if (err)
		goto fail;
	pages_a = bucket;
	bucket = hslab_bucket_create("pages-b", 0, 0, HSLAB_KMALLOC_MAX);
	err = PTR_ERR_OR_ZERO(bucket);
	if (err)
		goto fail;
	pages_b = bucket;
	pages_debugfs = command_create("hslab_pages", &pages_command);
	return 0;
fail:
	pages_put();
	return err;
}

static void __exit pages_exit(void)
{
	debugfs_remove_recursive(pages_debugfs);
	pages_destroy(NULL);
	pages_put();
}

module_init(pages_init);
module_exit(pages_exit);

MODULE_DESCRIPTION("Tells who has a slab page; for tests of hslab");
MODULE_LICENSE("GPL");
