// SPDX-License-Identifier: GPL-2.0
/*
 * Printing the stacks that were recorded.
 *
 * Leaked objects outlive the module that leaked them, and what is found at its
 * addresses later is another's. So when a module goes, the names of all its
 * addresses are kept that stand in the stack of any object of a tracked store, or of
 * a report; and what was recorded before that time is printed with them. When its
 * initialisation is over the same is done for the functions that go then (__init).
 * Nothing of that is in the way of an allocation or a free.
 */
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched/clock.h>
#include <linux/stackdepot.h>

#include "hslab_attach.h"
#include "hslab_internal.h"

/* The name that an address had until its module went. */
struct hslab_gone {
	struct hlist_node in_hash;	/* RCU readers */
	struct list_head in_order;	/* oldest first */
	struct rcu_head rcu;
	unsigned long addr;
	u64 until;			/* local_clock() */
	char name[HSLAB_WHERE_LEN];
};

/* Protected by hslab_mutex. */
#define HSLAB_GONE_MAX	4096

static DEFINE_HASHTABLE(hslab_gone, 8);
static LIST_HEAD(hslab_gone_order);
static unsigned int hslab_nr_gone;

/*
 * NAMES
 */

/* What @addr was called at the time @when, if its module has gone since. RCU. */
static const struct hslab_gone *hslab_gone_find(unsigned long addr, u64 when)
{
	const struct hslab_gone *gone, *first = NULL;

	hash_for_each_possible_rcu(hslab_gone, gone, in_hash, addr)
		if (gone->addr == addr && when < gone->until &&
		    (!first || gone->until < first->until))
			first = gone;
	return first;
}

/**
 * hslab_symbol() - the name of an address in a recorded stack
 * @text: where to put it
 * @size: bytes there
 * @addr: the address
 * @when: when it was recorded
 *
 * Context: any but NMI.
 */
void hslab_symbol(char *text, size_t size, unsigned long addr, u64 when)
{
	const struct hslab_gone *gone;

	rcu_read_lock();
	gone = hslab_gone_find(addr, when);
	if (gone)
		strscpy(text, gone->name, size);
	rcu_read_unlock();
	if (gone)
		return;
	snprintf(text, size, "%pS", (void *)addr);
	if (text[0] == '0')	/* none has it: no bare addresses are printed */
		strscpy(text, "?", size);
}

/* The entries of a recorded stack; 0 if it is not known. */
static unsigned int hslab_stack_fetch(const struct hslab_track *track,
				      unsigned long **entries)
{
	if (track->known != HSLAB_RECORDED || !track->handle)
		return 0;
	return stack_depot_fetch(track->handle, entries);
}

/* Who called hslab; 0 if that is not known. */
unsigned long hslab_symbol_caller(const struct hslab_track *track)
{
	unsigned long *entries;
	unsigned int i, nr = hslab_stack_fetch(track, &entries);

	for (i = 0; i < nr; i++)
		if (!within_module(entries[i], THIS_MODULE))
			return entries[i];
	return nr ? entries[nr - 1] : 0;
}

/*
 * STACKS
 */

/* A line, to a file or (without) the console, as a warning or an error. */
void hslab_line(struct seq_file *seq, bool warning, const char *fmt, ...)
{
	struct va_format vaf;
	va_list args;

	va_start(args, fmt);
	vaf.fmt = fmt;
	vaf.va = &args;
	if (seq)
		seq_printf(seq, "%pV\n", &vaf);
	else if (warning)
		pr_warn("%pV\n", &vaf);
	else
		pr_err("%pV\n", &vaf);
	va_end(args);
}

/**
 * hslab_stack_print() - print a recorded stack, a line a frame
 * @seq: the file, or NULL for the console
 * @warning: the console is to have it as a warning, not an error
 * @indent: what lines begin with
 * @track: what was recorded
 *
 * Context: any but NMI.
 */
void hslab_stack_print(struct seq_file *seq, bool warning, const char *indent,
		       const struct hslab_track *track)
{
	unsigned int i, nr;
	char name[HSLAB_WHERE_LEN];
	unsigned long *entries;

	nr = hslab_stack_fetch(track, &entries);
	if (!nr)
		hslab_line(seq, warning, "%s(the stack is not known)", indent);
	for (i = 0; i < nr; i++) {
		hslab_symbol(name, sizeof(name), entries[i], track->when);
		hslab_line(seq, warning, "%s%s", indent, name);
	}
}

/**
 * hslab_track_print() - print who allocated and freed the object of a violation
 * @seq: the file, or NULL for the console
 * @fault: the violation
 *
 * Nothing is printed of an object that is not tracked.
 *
 * Context: any but NMI.
 */
void hslab_track_print(struct seq_file *seq, const struct hslab_fault *fault)
{
	static const char *const what[HSLAB_NR_EV] = {
		[HSLAB_EV_ALLOC]	= "allocated",
		[HSLAB_EV_FREE]		= "freed",
	};
	enum hslab_event event;

	for (event = 0; event < HSLAB_NR_EV; event++) {
		const struct hslab_track *t = &fault->tracks[event];
		u64 age = fault->when > t->when ? fault->when - t->when : 0;

		if (t->known == HSLAB_RECORD_DAMAGED)
			hslab_line(seq, false, "hslab:   %s by unknown: the record is damaged",
				   what[event]);
		if (t->known != HSLAB_RECORDED)
			continue;
		hslab_line(seq, false, "hslab:   %s by pid %d on CPU %u, %llu.%03llu s ago:",
			   what[event], t->pid, t->cpu, age / NSEC_PER_SEC,
			   age % NSEC_PER_SEC / NSEC_PER_MSEC);
		hslab_stack_print(seq, false, "hslab:     ", t);
	}
}

/*
 * MODULES, AND PARTS OF THEM, THAT GO
 */
struct hslab_going {
	const struct module *module;
	bool init_only;			/* what is __init goes, the rest stays */
	u64 when;
	unsigned long lost;		/* no memory for these */
};

static void hslab_gone_drop(struct hslab_gone *gone)
{
	hash_del_rcu(&gone->in_hash);
	list_del(&gone->in_order);
	kfree_rcu(gone, rcu);
	hslab_nr_gone--;
}

static void hslab_gone_add(unsigned long addr, struct hslab_going *going)
{
	struct hslab_gone *gone;

	lockdep_assert_held(&hslab_mutex);

	hash_for_each_possible(hslab_gone, gone, in_hash, addr)
		if (gone->addr == addr && gone->until == going->when)
			return;
	gone = kmalloc(sizeof(*gone), GFP_KERNEL);
	if (!gone) {
		going->lost++;
		return;
	}
	gone->addr = addr;
	gone->until = going->when;
	snprintf(gone->name, sizeof(gone->name), "%pS", (void *)addr);
	hash_add_rcu(hslab_gone, &gone->in_hash, addr);
	list_add_tail(&gone->in_order, &hslab_gone_order);
	if (++hslab_nr_gone > HSLAB_GONE_MAX)
		hslab_gone_drop(list_first_entry(&hslab_gone_order,
						 struct hslab_gone, in_order));
}

static bool hslab_goes(unsigned long addr, const struct hslab_going *going)
{
	return going->init_only ? within_module_init(addr, going->module) :
				  within_module(addr, going->module);
}

/* Keep the names of a stack's entries that go. */
static void hslab_going_track(const struct hslab_track *track, void *arg)
{
	struct hslab_going *going = arg;
	unsigned long *entries;
	unsigned int i, nr = hslab_stack_fetch(track, &entries);

	for (i = 0; i < nr; i++) {
		bool named;

		if (!hslab_goes(entries[i], going))
			continue;
		rcu_read_lock();
		named = hslab_gone_find(entries[i], track->when);
		rcu_read_unlock();
		if (!named)
			hslab_gone_add(entries[i], going);
	}
}

static void hslab_going_object(struct hslab_store *store, void *object,
			       void *arg)
{
	struct hslab_track tracks[HSLAB_NR_EV];
	u64 plain;

	if (!hslab_track_read(store, object, &plain, tracks))
		return;
	hslab_going_track(&tracks[HSLAB_EV_ALLOC], arg);
	hslab_going_track(&tracks[HSLAB_EV_FREE], arg);
}

static int hslab_symbol_notify(struct notifier_block *nb, unsigned long state,
			       void *module)
{
	struct hslab_going going = {
		.module		= module,
		.init_only	= state == MODULE_STATE_LIVE,
	};
	struct hslab_store *store;

	hslab_track_forget();
	if (state != MODULE_STATE_GOING && state != MODULE_STATE_LIVE)
		return NOTIFY_DONE;
	mutex_lock(&hslab_attach_mutex);
	mutex_lock(&hslab_mutex);
	going.when = local_clock();
	list_for_each_entry(store, &hslab_stores, node)
		if (store->geometry.tracked)
			hslab_slab_walk(store, hslab_going_object, &going);
	hslab_faults_tracks(hslab_going_track, &going);
	hslab_attach_each_track(hslab_going_track, &going);
	mutex_unlock(&hslab_mutex);
	mutex_unlock(&hslab_attach_mutex);
	if (going.lost)
		pr_warn("hslab: no memory to keep the names of %lu addresses of module %s\n",
			going.lost, going.module->name);
	return NOTIFY_DONE;
}

static struct notifier_block hslab_symbol_notifier = {
	.notifier_call = hslab_symbol_notify,
};

int __init hslab_symbol_init(void)
{
	hslab_track_forget();
	return register_module_notifier(&hslab_symbol_notifier);
}

/* At unload: nobody prints any more. */
void hslab_symbol_exit(void)
{
	struct hslab_gone *gone, *next;

	unregister_module_notifier(&hslab_symbol_notifier);
	list_for_each_entry_safe(gone, next, &hslab_gone_order, in_order) {
		list_del(&gone->in_order);
		kfree(gone);
	}
}
