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
 * The actions are listed at the top of the file that has them.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "command.h"
#include "provoke.h"

static const struct provoke_part *const provoke_parts[] = {
	&provoke_violations,
	&provoke_actions,
	&provoke_rcu_part,
};

unsigned int provoke_built;	/* runs of the constructor */

static void provoke_ctor(void *object)
{
	provoke_built++;
	memset(object, PROVOKE_BUILT, PROVOKE_SIZE);
}

struct provoke_cache provoke_caches[PROVOKE_NR] = {
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

struct hslab_cache *provoke_handle(enum provoke_id id)
{
	return provoke_caches[id].cache;
}

/* Where hslab has its tag: behind the object, rounded up to 8 bytes. */
u64 *provoke_tag(const struct provoke_cache *c, void *object)
{
	return object + round_up(c->size, 8);
}

struct provoke_search {
	const struct provoke_cache *c;
	const u64 *tag;
	u64 before;
};

/*
 * Allocate until the tag is not what it was before, then give everything back.
 * It is found only where it lies: on the CPU whose magazine or slab has it.
 */
static int provoke_search(const struct provoke_search *search)
{
	unsigned int nr = 0;
	void **taken;
	bool seen;

	taken = kmalloc_array(PROVOKE_SEARCH, sizeof(*taken), GFP_KERNEL);
	if (!taken)
		return -ENOMEM;
	while (READ_ONCE(*search->tag) == search->before &&
	       nr < PROVOKE_SEARCH) {
		taken[nr] = hslab_alloc(search->c->cache, GFP_KERNEL);
		if (!taken[nr])
			break;
		nr++;
	}
	seen = READ_ONCE(*search->tag) != search->before;
	hslab_free_bulk(search->c->cache, nr, taken);
	kfree(taken);
	return seen ? 0 : -EAGAIN;
}

/*
 * Allocate until SLUB has handed out @object again, which shows by its tag,
 * whatever hslab thought of it. We may have been moved since it was freed, and so go
 * to each CPU ourselves: whoever finds it may be killed for it.
 */
int provoke_see_again(const struct provoke_cache *c, void *object)
{
	const u64 *tag = provoke_tag(c, object);
	struct provoke_search search = { c, tag, READ_ONCE(*tag) };
	int cpu, err = provoke_search(&search);
	cpumask_var_t allowed;

	if (!err)
		return 0;
	if (!alloc_cpumask_var(&allowed, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(allowed, current->cpus_ptr);
	cpus_read_lock();
	for_each_online_cpu(cpu)
		if (err && !set_cpus_allowed_ptr(current, cpumask_of(cpu)))
			err = provoke_search(&search);
	set_cpus_allowed_ptr(current, allowed);
	cpus_read_unlock();
	free_cpumask_var(allowed);
	return err;
}

/* Free the last @nr objects that are held. */
void provoke_free_held(struct provoke_cache *c, struct provoke_bank *bank,
		       unsigned int nr)
{
	while (nr--)
		hslab_free(c->cache, bank->objects[--bank->nr]);
}

void provoke_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vscnprintf(provoke_result, sizeof(provoke_result), fmt, args);
	va_end(args);
}

/* The cache that a NAME or NAME:BANK means, or NULL. */
struct provoke_cache *provoke_find(char *name, struct provoke_bank **bank)
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

int provoke_number(const char *arg, unsigned int most, unsigned int *nr)
{
	if (!arg || kstrtouint(arg, 10, nr) || !*nr || *nr > most)
		return -EINVAL;
	return 0;
}

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
	unsigned int i, p;

	lockdep_assert_held(&provoke_mutex);

	provoke_say("%s", "");
	for (p = 0; p < ARRAY_SIZE(provoke_parts); p++) {
		const struct provoke_part *part = provoke_parts[p];

		for (i = 0; i < part->nr_violations; i++)
			if (!line && !strcmp(name, part->violations[i].name))
				return part->violations[i].run(&part->violations[i]);
		for (i = 0; i < part->nr_actions; i++)
			if (!strcmp(name, part->actions[i].name))
				return provoke_act(&part->actions[i], line);
	}
	return -EINVAL;
}

static void provoke_list_one(struct seq_file *seq,
			     const struct provoke_violation *v)
{
	seq_printf(seq, "%s\t%s\t%s\t", v->name, v->cache, v->kind);
	if (v->offset < 0)
		seq_puts(seq, "-");
	else
		seq_printf(seq, "%d", v->offset);
	seq_printf(seq, "\t%s\n", v->what);
}

static int provoke_list_show(struct seq_file *seq, void *unused)
{
	unsigned int i, p;

	for (p = 0; p < ARRAY_SIZE(provoke_parts); p++)
		for (i = 0; i < provoke_parts[p]->nr_violations; i++)
			provoke_list_one(seq, &provoke_parts[p]->violations[i]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(provoke_list);

static const struct command provoke_command = {
	.run	= provoke_request,
	.mutex	= &provoke_mutex,
	.result	= provoke_result,
};

static struct dentry *provoke_debugfs;

static void provoke_destroy(void)
{
	unsigned int i, b;

	for (i = 0; i < PROVOKE_NR; i++) {
		struct provoke_cache *c = &provoke_caches[i];

		if (!c->cache)
			continue;
		for (b = 0; b < PROVOKE_BANKS; b++)
			provoke_free_held(c, &c->banks[b], c->banks[b].nr);
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
	provoke_debugfs = command_create("hslab_provoke", &provoke_command);
	debugfs_create_file("list", 0400, provoke_debugfs, NULL,
			    &provoke_list_fops);
	return 0;
}

static void __exit provoke_exit(void)
{
	unsigned int p;

	debugfs_remove_recursive(provoke_debugfs);
	for (p = 0; p < ARRAY_SIZE(provoke_parts); p++)
		if (provoke_parts[p]->exit)
			provoke_parts[p]->exit();
	provoke_destroy();
}

module_init(provoke_init);
module_exit(provoke_exit);

MODULE_DESCRIPTION("Commits mistakes that hslab has to find; for tests");
MODULE_LICENSE("GPL");
