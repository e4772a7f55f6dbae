// SPDX-License-Identifier: GPL-2.0
/*
 * From a name in /sys/kernel/slab to the kmem_cache, and what speaks against touching it.
 *
 * SLUB tells what a cache is like in its files there, and the folder's kobject lies
 * in the kmem_cache: how far from its start is seen from a cache of our own.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/magic.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hslab_attach.h"

#define SLAB_FOLDER	"/sys/kernel/slab"
#define PATH_LEN	(sizeof(SLAB_FOLDER) + 2 * HSLAB_NAME_LEN)

/* The kobject of a folder in SLAB_FOLDER, held, and its own name. ERR_PTR without. */
static struct kobject *hslab_slab_kobj(const char *name,
				       struct hslab_target *t)
{
	struct kobject *kobj = NULL;
	struct kernfs_node *kn;
	char text[PATH_LEN];
	struct path path;
	int err;

	snprintf(text, sizeof(text), SLAB_FOLDER "/%s", name);
	err = kern_path(text, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &path);
	if (err)
		return ERR_PTR(err);
	if (path.dentry->d_sb->s_magic == SYSFS_MAGIC) {
		kn = d_inode(path.dentry)->i_private;
		/*
		 * A folder that is being removed outlives its kobject. Until it is, the
		 * kobject is there, and its end is a long way behind.
		 */
		preempt_disable();
		if (atomic_read(&kn->active) >= 0)
			kobj = kobject_get_unless_zero(kn->priv);
		preempt_enable();
		if (kobj && t) {
			strscpy(t->real, kn->name, sizeof(t->real));
			kernfs_get(kn);
			t->kn = kn;
		}
	}
	path_put(&path);
	return kobj ? kobj : ERR_PTR(-ENOENT);
}

/*
 * A file of a cache's folder, less the newline: as SLUB shows it, and not by its path, which
 * a task need not have.
 */
static int hslab_slab_read(const struct hslab_target *t, const char *file, char *value,
			   size_t size)
{
	struct kernfs_node *kn = kernfs_find_and_get(t->kn, file);
	ssize_t len = -ENOMEM;
	char *page;

	if (!kn)
		return -ENOENT;
	page = (char *)get_zeroed_page(GFP_KERNEL);
	if (page) {
		len = t->kobj->ktype->sysfs_ops->show(t->kobj, kn->priv, page);
		strscpy(value, strim(page), size);
		free_page((unsigned long)page);
	}
	kernfs_put(kn);
	return min_t(ssize_t, len, 0);
}

static int hslab_slab_number(const struct hslab_target *t, const char *file,
			     unsigned int *number)
{
	char value[32];
	int err;

	err = hslab_slab_read(t, file, value, sizeof(value));
	return err ? err : kstrtouint(value, 10, number);
}

/* The first of the numbers in a file; 0 where this SLUB has no such file. */
static int hslab_slab_count(const struct hslab_target *t, const char *file,
			    unsigned long *count)
{
	char value[512];
	int err;

	*count = 0;
	err = hslab_slab_read(t, file, value, sizeof(value));
	if (err == -ENOENT)
		return 0;
	if (!err)
		err = sscanf(value, "%lu", count) == 1 ? 0 : -EINVAL;
	return err;
}

/* Bytes from a kmem_cache to its kobject, and the type of that; learned once. */
static int hslab_kobj_offset(unsigned long *offset,
			     const struct kobj_type **type)
{
	static const char name[] = "hslab:find";
	static unsigned long known;	/* hslab_attach_mutex */
	static const struct kobj_type *known_type;
	struct kmem_cache *kmem;
	struct kobject *kobj;
	long distance;

	if (!known) {
		/* A constructor, so that it is not merged. */
		kmem = kmem_cache_create(name, 64, 8, 0, hslab_ctors[0]);
		if (!kmem)
			return -ENOMEM;
		kobj = hslab_slab_kobj(name, NULL);
		distance = (char *)kobj - (char *)kmem;
		if (!IS_ERR(kobj)) {
			known_type = kobj->ktype;
			kobject_put(kobj);
		}
		kmem_cache_destroy(kmem);
		if (IS_ERR(kobj) || distance <= 0 || distance > SZ_4K) {
			pr_warn("attach: no kmem_cache is found in " SLAB_FOLDER "\n");
			return IS_ERR(kobj) ? PTR_ERR(kobj) : -EOPNOTSUPP;
		}
		known = distance;
	}
	*offset = known;
	*type = known_type;
	return 0;
}

/*
 * NAMES
 */
#define NAMES_SIZE	SZ_64K

struct hslab_names {
	struct dir_context ctx;
	char *names;			/* each with its NUL */
	size_t len;
};

static bool hslab_names_add(struct dir_context *ctx, const char *name, int len,
			    loff_t offset, u64 ino, unsigned int type)
{
	struct hslab_names *n = container_of(ctx, struct hslab_names, ctx);

	if (len >= HSLAB_NAME_LEN || *name == '.')
		return true;
	if (n->len + len + 1 > NAMES_SIZE)
		return false;
	memcpy(n->names + n->len, name, len);
	n->names[n->len + len] = '\0';
	n->len += len + 1;
	return true;
}

/* All names in SLAB_FOLDER; nothing is changed on an error. */
static int hslab_names_read(struct hslab_names *n)
{
	struct file *f;
	int err;

	n->ctx.actor = hslab_names_add;
	n->len = 0;
	n->names = kvmalloc(NAMES_SIZE, GFP_KERNEL);
	if (!n->names)
		return -ENOMEM;
	f = filp_open(SLAB_FOLDER, O_RDONLY | O_DIRECTORY, 0);
	err = PTR_ERR_OR_ZERO(f);
	if (!err) {
		err = iterate_dir(f, &n->ctx);
		filp_close(f, NULL);
	}
	if (err)
		kvfree(n->names);
	return err;
}

/* The other names of a target's cache, which is one for them all. */
static int hslab_find_aliases(struct hslab_target *t)
{
	struct hslab_names n = {};
	size_t i, len = 0;
	int err;

	err = hslab_names_read(&n);
	if (err)
		return err;
	for (i = 0; i < n.len; i += strlen(n.names + i) + 1) {
		const char *name = n.names + i;
		struct kobject *kobj;

		if (!strcmp(name, t->name) || *name == ':')
			continue;
		kobj = hslab_slab_kobj(name, NULL);
		if (IS_ERR(kobj))
			continue;
		if (kobj == t->kobj && len < sizeof(t->aliases))
			len += scnprintf(t->aliases + len,
					 sizeof(t->aliases) - len, "%s%s",
					 len ? " " : "", name);
		kobject_put(kobj);
	}
	kvfree(n.names);
	return 0;
}

/* By how many insertions, deletions and replacements two names differ (Levenshtein). */
static unsigned int hslab_distance(const char *a, const char *b)
{
	unsigned char row[HSLAB_NAME_LEN + 1];
	unsigned int i, j, len = strnlen(b, HSLAB_NAME_LEN);

	for (j = 0; j <= len; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		unsigned char diagonal = row[0];

		row[0] = i + 1;
		for (j = 0; j < len; j++) {
			unsigned char above = row[j + 1];

			row[j + 1] = min3(above + 1, row[j] + 1,
					  diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[len];
}

/* There is no such cache: say which name is nearest. */
static void hslab_suggest(const char *name)
{
	struct hslab_names n = {};
	const char *best = NULL;
	unsigned int least = UINT_MAX;
	size_t i;

	if (!hslab_names_read(&n)) {
		for (i = 0; i < n.len; i += strlen(n.names + i) + 1) {
			unsigned int d = hslab_distance(name, n.names + i);

			if (n.names[i] != ':' && d < least) {
				least = d;
				best = n.names + i;
			}
		}
	}
	if (best && least <= strlen(name) / 2 + 1)
		pr_warn("attach: there is no cache %s; did you mean %s?\n", name,
			best);
	else
		pr_warn("attach: there is no cache %s in " SLAB_FOLDER "\n", name);
	if (best)
		kvfree(n.names);
}

/*
 * WHAT SPEAKS AGAINST IT
 */
/* sanity_checks, slub_debug=F alone, is none: it adds nothing to objects. */
static int hslab_find_refuses(const struct hslab_target *t)
{
	static const struct {
		const char *file, *why;
	} flags[] = {
		{ "destroy_by_rcu",
		  "it is SLAB_TYPESAFE_BY_RCU: its readers look at freed objects" },
		{ "red_zone", "slub_debug looks after it" },
		{ "poison", "slub_debug looks after it" },
		{ "store_user", "slub_debug looks after it" },
	};
	char ctor[128];
	unsigned int i, set;
	int err;

	if (strstarts(t->real, "hslab:")) {
		pr_warn("attach: %s is hslab's own, see /sys/kernel/hslab/caches\n",
			t->real);
		return -EINVAL;
	}
	err = hslab_slab_read(t, "ctor", ctor, sizeof(ctor));
	if (err)
		return err;
	if (*ctor) {
		pr_warn("attach: not to %s: it has a constructor, %s, whose work must not be wiped\n",
			t->name, ctor);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		err = hslab_slab_number(t, flags[i].file, &set);
		if (err == -ENOENT)
			continue;	/* SLUB without debugging has no such file */
		if (err)
			return err;
		if (set) {
			pr_warn("attach: not to %s: %s\n", t->name,
				flags[i].why);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/**
 * hslab_attach_find() - find the kmem_cache of a name
 * @name: a name in /sys/kernel/slab
 * @target: what is found; hslab_attach_forget() it
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: 0; -EINVAL for what can be no name, or is a cache of hslab's, -ENOENT where there
 * is none, -EOPNOTSUPP where its objects must not be touched (the log says why), -ENOMEM.
 */
int hslab_attach_find(const char *name, struct hslab_target *target)
{
	const struct kobj_type *type;
	unsigned long offset;
	unsigned int size;
	int err;

	memset(target, 0, sizeof(*target));
	if (!*name || *name == '.' || strchr(name, '/') ||
	    strscpy(target->name, name, sizeof(target->name)) < 0) {
		pr_warn("attach: expected a name in " SLAB_FOLDER "\n");
		return -EINVAL;
	}
	err = hslab_kobj_offset(&offset, &type);
	if (err)
		return err;
	target->kobj = hslab_slab_kobj(name, target);
	if (IS_ERR(target->kobj)) {
		err = PTR_ERR(target->kobj);
		if (err == -ENOENT)
			hslab_suggest(name);
		return err;
	}
	if (target->kobj->ktype != type) {
		pr_warn("attach: %s is no kmem_cache in " SLAB_FOLDER "\n", name);
		hslab_attach_forget(target);
		return -EINVAL;
	}
	target->kmem = (void *)target->kobj - offset;
	err = hslab_slab_number(target, "object_size",
				&target->size);
	if (!err)
		err = hslab_slab_number(target, "slab_size",
					&target->slot);
	if (!err)
		err = hslab_find_refuses(target);
	if (!err)
		err = hslab_find_aliases(target);
	size = err ? 0 : kmem_cache_size(target->kmem);
	if (!err && (size != target->size || target->slot < size || !size)) {
		pr_warn("attach: %s says that its objects have %u bytes, and the kernel %u\n",
			name, target->size, size);
		err = -EOPNOTSUPP;
	}
	if (err)
		hslab_attach_forget(target);
	return err;
}

/* The kmem_cache may go. */
void hslab_attach_forget(struct hslab_target *target)
{
	kernfs_put(target->kn);
	kobject_put(target->kobj);
	target->kobj = NULL;
}

/* Does the cache of a target have several users now, of whom one may leave? */
bool hslab_attach_shared(const struct hslab_target *target)
{
	unsigned int others;

	return !hslab_slab_number(target, "aliases", &others) && others;
}

/**
 * hslab_attach_spare() - how many free objects a CPU may come by
 * @target: the cache
 * @most: the number
 *
 * What SLUB has on its lists for all CPUs, and as much as it may have for one: a slab that
 * it is at, and others, or sheaves (main, spare, and 10 full ones of a node in 7.3,
 * MAX_FULL_SHEAVES of mm/slub.c).
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: 0, or an error of reading SLUB's files.
 */
int hslab_attach_spare(const struct hslab_target *target, unsigned long *most)
{
	static const struct {
		const char *file;
		int times;
	} files[] = {
		{ "total_objects", 1 }, { "objects", -1 }, { "objs_per_slab", 2 },
		{ "cpu_partial", 1 }, { "sheaf_capacity", 12 },
	};
	unsigned long count;
	long sum = 0;
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		err = hslab_slab_count(target, files[i].file, &count);
		if (err)
			return err;
		sum += (long)count * files[i].times;
	}
	*most = max(sum, 1L);
	return 0;
}
