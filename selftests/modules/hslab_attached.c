// SPDX-License-Identifier: GPL-2.0
/*
 * hslab_attached: a module that knows nothing of hslab, with caches for hslab to be
 * attached to. For the tests of that, and for the demonstration.
 *
 * Its caches, of which WHAT is one:
 *
 *	victim		attached-victim, 320 bytes, never merged
 *	odd		attached-odd, the same with 317 bytes
 *	ctor		attached-ctor, with a constructor
 *	typesafe	attached-typesafe, SLAB_TYPESAFE_BY_RCU
 *	twin-a twin-b	attached-twin-a and -b, which SLUB merges
 *	kmalloc		no cache of its own: kmalloc() of 2048 bytes
 *	kmalloc-256	the same with 256 bytes
 *	cred		nor this: prepare_creds(), given up by abort_creds()
 *
 * /sys/kernel/debug/hslab_attached:
 *
 *	run	takes one of
 *		secret WHAT	fill an object with a secret, free it, and see how
 *				much of the secret can be read in the freed memory
 *		cycle WHAT HOW N
 *				allocate N objects and free them, HOW is one of free,
 *				bulk, kfree, kfree-bulk (without the cache) and rcu
 *		reuse WHAT N	free an object, allocate N: is it among them?
 *		spill WHAT N	allocate N objects, fill them with a secret, and
 *				free but every fifth; those go with the next spill,
 *				of none at the latest
 *		spilled WHAT	how many of those that were freed still have it
 *		stray WHAT OFFSET
 *				free an object, and change a byte of it
 *		again WHAT	free that once more
 *		double WHAT	free an object twice: for a cache that survives it
 *		map N		map N pages of user space, each an area of its own, and
 *				unmap them, every second one first
 *		nothing		free NULL, ZERO_SIZE_PTR, and memory of no cache
 *		read WHAT	look at a freed object, one that KFENCE has, if it
 *				gives us one
 *		destroy WHAT	destroy a cache
 *		create WHAT	and create it again
 *	result	what the last one found out, as words of the form name=value
 */
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kfence.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "command.h"

#define ATTACHED_MAX	8192		/* objects */
#define ATTACHED_SECRET	0x5c5c5c5c5c5c5c5cULL

enum attached_what {
	ATTACHED_VICTIM,
	ATTACHED_ODD,
	ATTACHED_CTOR,
	ATTACHED_TYPESAFE,
	ATTACHED_TWIN_A,
	ATTACHED_TWIN_B,
	ATTACHED_NR_CACHES,
	ATTACHED_KMALLOCED = ATTACHED_NR_CACHES,
	ATTACHED_KMALLOCED_256,
	ATTACHED_CRED,
	ATTACHED_NR
};

static void attached_ctor(void *object)
{
	memset(object, 0x11, 64);
}

static const struct attached_cache {
	const char *word, *name;
	unsigned int size, usersize;
	slab_flags_t flags;
	void (*ctor)(void *object);
} attached_caches[ATTACHED_NR] = {
	/* A window for copies to and from user space keeps SLUB from merging. */
	[ATTACHED_VICTIM]	= { "victim", "attached-victim", 320, 8 },
	[ATTACHED_ODD]		= { "odd", "attached-odd", 317, 8 },
	[ATTACHED_CTOR]		= { "ctor", "attached-ctor", 320, 0, 0, attached_ctor },
	[ATTACHED_TYPESAFE]	= { "typesafe", "attached-typesafe", 320, 0,
				    SLAB_TYPESAFE_BY_RCU },
	[ATTACHED_TWIN_A]	= { "twin-a", "attached-twin-a", 1336 },
	[ATTACHED_TWIN_B]	= { "twin-b", "attached-twin-b", 1336 },
	[ATTACHED_KMALLOCED]	= { "kmalloc", NULL, 2048 },
	[ATTACHED_KMALLOCED_256] = { "kmalloc-256", NULL, 256 },
	[ATTACHED_CRED]		= { "cred", NULL, sizeof(struct cred) },
};

/* One request at a time; protects all that is static here. */
static DEFINE_MUTEX(attached_mutex);
static char attached_result[128];
static struct kmem_cache *attached_kmem[ATTACHED_NR_CACHES];
static void *attached_astray;		/* the last of stray */
static void **attached_objects;		/* ATTACHED_MAX of them */
static void **attached_spilt;		/* as many; by "spill" */
static unsigned int attached_nr_spilt;
static enum attached_what attached_spilt_what;

static __printf(1, 2) void attached_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(attached_result, sizeof(attached_result), fmt, args);
	va_end(args);
}

static bool attached_is_kmalloced(enum attached_what what)
{
	return what == ATTACHED_KMALLOCED || what == ATTACHED_KMALLOCED_256;
}

static void *attached_alloc(enum attached_what what)
{
	if (what == ATTACHED_CRED)
		return prepare_creds();
	if (attached_is_kmalloced(what))
		return kmalloc(attached_caches[what].size, GFP_KERNEL);
	return attached_kmem[what] ?
	       kmem_cache_alloc(attached_kmem[what], GFP_KERNEL) : NULL;
}

static void attached_free(enum attached_what what, void *object)
{
	if (what == ATTACHED_CRED) {
		abort_creds(object);
		rcu_barrier();
	} else if (attached_is_kmalloced(what)) {
		kfree(object);
	} else {
		kmem_cache_free(attached_kmem[what], object);
	}
}

/* One that KFENCE has not, since that looks after its own. */
static void *attached_alloc_slab(enum attached_what what)
{
	unsigned int i;

	for (i = 0; i < 100; i++) {
		void *object = attached_alloc(what);

		if (!object || !is_kfence_address(object))
			return object;
		attached_free(what, object);
	}
	return NULL;
}

/*
 * Words of the secret that are whole, in bytes; and how many of the words are all of the
 * one byte that the object begins with now.
 */
static int attached_secret(enum attached_what what)
{
	unsigned int i, readable = 0, same = 0;
	unsigned int size = attached_caches[what].size & ~7U;
	u64 *object = attached_alloc_slab(what);
	u64 fill;

	if (!object || what == ATTACHED_CRED)
		return object ? -EINVAL : -ENOMEM;
	for (i = 0; i < size / sizeof(u64); i++)
		WRITE_ONCE(object[i], ATTACHED_SECRET);
	attached_free(what, object);
	fill = (READ_ONCE(object[0]) & 0xff) * 0x0101010101010101ULL;
	for (i = 0; i < size / sizeof(u64); i++) {
		u64 word = READ_ONCE(object[i]);

		readable += word == ATTACHED_SECRET ? sizeof(word) : 0;
		same += word == fill ? sizeof(word) : 0;
	}
	attached_say("readable=%u byte=0x%02x same=%u", readable,
		     (unsigned int)(fill & 0xff), same);
	return 0;
}

struct attached_object {
	struct rcu_head rcu;
};

static int attached_cycle(enum attached_what what, const char *how,
			  unsigned int nr)
{
	unsigned int i, got;

	if (what == ATTACHED_CRED)
		return -EINVAL;
	for (got = 0; got < nr; got++) {
		attached_objects[got] = attached_alloc(what);
		if (!attached_objects[got])
			break;
	}
	if (!strcmp(how, "bulk") && what < ATTACHED_NR_CACHES)
		kmem_cache_free_bulk(attached_kmem[what], got, attached_objects);
	else if (!strcmp(how, "kfree-bulk"))
		kfree_bulk(got, attached_objects);
	else
		for (i = 0; i < got; i++) {
			if (!strcmp(how, "kfree"))
				kfree(attached_objects[i]);
			else if (!strcmp(how, "rcu"))
				kfree_rcu((struct attached_object *)
					  attached_objects[i], rcu);
			else
				attached_free(what, attached_objects[i]);
		}
	attached_say("freed=%u", got);
	return got == nr ? 0 : -ENOMEM;
}

static int attached_reuse(enum attached_what what, unsigned int nr)
{
	void *object = attached_alloc_slab(what);
	unsigned int i, got, found = 0;

	if (!object)
		return -ENOMEM;
	attached_free(what, object);
	for (got = 0; got < nr; got++) {
		attached_objects[got] = attached_alloc(what);
		if (!attached_objects[got])
			break;
		found += attached_objects[got] == object;
	}
	for (i = 0; i < got; i++)
		attached_free(what, attached_objects[i]);
	attached_say("reused=%u", found);
	return 0;
}

/* Slabs of which an object is in use stay. */
static bool attached_stays(unsigned int i)
{
	return !(i % 5);
}

static int attached_spill(enum attached_what what, unsigned int nr)
{
	unsigned int i, words = attached_caches[what].size / sizeof(u64);

	for (i = 0; i < attached_nr_spilt; i++)
		if (attached_stays(i))
			attached_free(attached_spilt_what, attached_spilt[i]);
	attached_spilt_what = what;
	for (i = 0; i < nr; i++) {
		attached_spilt[i] = attached_alloc_slab(what);
		if (!attached_spilt[i])
			break;
		memset64(attached_spilt[i], ATTACHED_SECRET, words);
	}
	attached_nr_spilt = i;
	for (i = 0; i < attached_nr_spilt; i++)
		if (!attached_stays(i))
			attached_free(what, attached_spilt[i]);
	attached_say("spilt=%u", attached_nr_spilt);
	return attached_nr_spilt == nr ? 0 : -ENOMEM;
}

/* A word or two are SLUB's, so more than half of them have to be there. */
static int attached_spilled(void)
{
	unsigned int words = attached_caches[attached_spilt_what].size / sizeof(u64);
	unsigned int i, j, same, freed = 0, left = 0;

	for (i = 0; i < attached_nr_spilt; i++) {
		if (attached_stays(i))
			continue;
		freed++;
		for (j = 0, same = 0; j < words; j++)
			same += READ_ONCE(((u64 *)attached_spilt[i])[j]) ==
				ATTACHED_SECRET;
		left += same > words / 2;
	}
	attached_say("freed=%u secret=%u", freed, left);
	return 0;
}

static int attached_stray(enum attached_what what, unsigned int offset)
{
	u8 *object = attached_alloc_slab(what);

	if (!object)
		return -ENOMEM;
	attached_free(what, object);
	WRITE_ONCE(object[offset], READ_ONCE(object[offset]) ^ 0xff);
	attached_astray = object;
	attached_say("offset=%u", offset);
	return 0;
}

static int attached_double(enum attached_what what)
{
	void *object = attached_alloc_slab(what);

	if (!object || what == ATTACHED_CRED)
		return object ? -EINVAL : -ENOMEM;
	attached_free(what, object);
	attached_free(what, object);
	attached_say("freed=2");
	return 0;
}

static int attached_again(enum attached_what what)
{
	if (!attached_astray || what == ATTACHED_CRED)
		return -EINVAL;
	attached_free(what, attached_astray);
	return 0;
}

static int attached_nothing(void)
{
	void *object = kmalloc(SZ_64K, GFP_KERNEL);

	kfree(NULL);
	kfree(ZERO_SIZE_PTR);
	kfree(object);
	attached_say("freed=0");
	return 0;
}

/* The caller's user space; areas that differ are not joined. */
static int attached_map(unsigned int nr)
{
	unsigned int i, got, step;

	for (got = 0; got < nr; got++) {
		unsigned long prot = got % 2 ? PROT_READ : PROT_READ | PROT_WRITE;
		unsigned long address = vm_mmap(NULL, 0, PAGE_SIZE, prot,
						MAP_PRIVATE | MAP_ANONYMOUS, 0);

		if (IS_ERR_VALUE(address))
			break;
		attached_objects[got] = (void *)address;
	}
	for (step = 0; step < 2; step++)
		for (i = step; i < got; i += 2)
			vm_munmap((unsigned long)attached_objects[i], PAGE_SIZE);
	attached_say("mapped=%u", got);
	return got == nr ? 0 : -ENOMEM;
}

static int attached_read(enum attached_what what)
{
	unsigned int i;

	if (what == ATTACHED_CRED)
		return -EINVAL;
	for (i = 0; i < 1000; i++) {
		u8 *object = attached_alloc(what);
		bool kfence = is_kfence_address(object);
		u8 byte;

		if (!object)
			return -ENOMEM;
		attached_free(what, object);
		if (kfence) {
			byte = READ_ONCE(object[8]);
			attached_say("kfence=1 after=%u byte=%u", i, byte);
			return 0;
		}
		usleep_range(1000, 2000);
	}
	attached_say("kfence=0");
	return 0;
}

static int attached_create(enum attached_what what)
{
	const struct attached_cache *c = &attached_caches[what];

	if (what >= ATTACHED_NR_CACHES || attached_kmem[what])
		return -EINVAL;
	attached_kmem[what] = kmem_cache_create_usercopy(c->name, c->size, 8,
							 c->flags, 0,
							 c->usersize, c->ctor);
	return attached_kmem[what] ? 0 : -ENOMEM;
}

static int attached_destroy(enum attached_what what)
{
	if (what >= ATTACHED_NR_CACHES || !attached_kmem[what])
		return -EINVAL;
	kmem_cache_destroy(attached_kmem[what]);
	attached_kmem[what] = NULL;
	return 0;
}

static int attached_run(char *line)
{
	char *action = strsep(&line, " "), *word = strsep(&line, " ");
	char *how = action && !strcmp(action, "cycle") ? strsep(&line, " ") : NULL;
	unsigned int what, nr = 0;

	attached_say(" ");
	if (!strcmp(action, "nothing"))
		return attached_nothing();
	if (!strcmp(action, "map") && word && !kstrtouint(word, 10, &nr) &&
	    nr <= ATTACHED_MAX)
		return attached_map(nr);
	for (what = 0; what < ATTACHED_NR; what++)
		if (word && !strcmp(word, attached_caches[what].word))
			break;
	if (what == ATTACHED_NR ||
	    (line && (kstrtouint(line, 10, &nr) || nr > ATTACHED_MAX)))
		return -EINVAL;
	if (!strcmp(action, "secret"))
		return attached_secret(what);
	if (how)
		return attached_cycle(what, how, nr);
	if (!strcmp(action, "reuse"))
		return attached_reuse(what, nr);
	if (!strcmp(action, "spill"))
		return what == ATTACHED_CRED ? -EINVAL : attached_spill(what, nr);
	if (!strcmp(action, "spilled"))
		return attached_spilled();
	if (!strcmp(action, "stray") && nr < attached_caches[what].size)
		return attached_stray(what, nr);
	if (!strcmp(action, "again"))
		return attached_again(what);
	if (!strcmp(action, "double"))
		return attached_double(what);
	if (!strcmp(action, "read"))
		return attached_read(what);
	if (!strcmp(action, "create"))
		return attached_create(what);
	if (!strcmp(action, "destroy"))
		return attached_destroy(what);
	return -EINVAL;
}

static const struct command attached_command = {
	.run	= attached_run,
	.mutex	= &attached_mutex,
	.result	= attached_result,
};

static struct dentry *attached_dir;

static void attached_clear(void)
{
	unsigned int what;

	debugfs_remove_recursive(attached_dir);
	attached_spill(attached_spilt_what, 0);
	for (what = 0; what < ATTACHED_NR_CACHES; what++)
		kmem_cache_destroy(attached_kmem[what]);
	vfree(attached_spilt);
	vfree(attached_objects);
}

static int __init attached_init(void)
{
	unsigned int what;
	int err = 0;

	attached_objects = vmalloc(array_size(ATTACHED_MAX, sizeof(void *)));
	attached_spilt = vmalloc(array_size(ATTACHED_MAX, sizeof(void *)));
	if (!attached_objects || !attached_spilt) {
		vfree(attached_objects);
		vfree(attached_spilt);
		return -ENOMEM;
	}
	for (what = 0; what < ATTACHED_NR_CACHES && !err; what++)
		err = attached_create(what);
	if (err) {
		attached_clear();
		return err;
	}
	attached_dir = command_create("hslab_attached", &attached_command);
	return 0;
}

static void __exit attached_exit(void)
{
	attached_clear();
}

module_init(attached_init);
module_exit(attached_exit);

MODULE_DESCRIPTION("Caches that hslab is attached to, for tests");
MODULE_LICENSE("GPL");
