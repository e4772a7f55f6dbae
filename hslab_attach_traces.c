// SPDX-License-Identifier: GPL-2.0
/*
 * Who frees the objects of an attached cache: debugfs's attached/<name>/free_traces.
 *
 * These objects have no tag with a record of their own, so frees are counted as they
 * come, by the stack, in a table of the attachment's. It has room for so many stacks; what
 * others free is counted without.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/tracepoint.h>

#include "hslab_attach.h"

#define HSLAB_FREERS		1024	/* places for stacks, a power of 2 */
#define HSLAB_FREERS_LOOKED	16	/* at so many, one after another */

/*
 * Written without a lock: numbers may lag behind each other for a moment, and of two least
 * or greatest ones at the same time one may be lost.
 */
struct hslab_freer {
	u32 handle;			/* stack depot, 0: this place is free; cmpxchg */
	u32 min_pid, max_pid;
	atomic64_t nr;
	atomic64_t sum_when;		/* of differences from hslab_freers.since */
	u64 min_when, max_when;		/* local_clock(), ns */
};

struct hslab_freers {
	u64 since;			/* local_clock() */
	atomic64_t others;		/* frees for which there was no place, or no stack */
	struct hslab_freer freers[HSLAB_FREERS];
	unsigned long cpus[];		/* for each place a bit for each CPU */
};

static unsigned int hslab_freer_words(void)
{
	return BITS_TO_LONGS(nr_cpu_ids);
}

static size_t hslab_freers_size(void)
{
	return struct_size((struct hslab_freers *)NULL, cpus,
			   HSLAB_FREERS * hslab_freer_words());
}

/* The place of a stack: its own, a free one, or NULL. */
static struct hslab_freer *hslab_freer_place(struct hslab_freers *f, u32 handle)
{
	unsigned int first = hash_32(handle, ilog2(HSLAB_FREERS)), i;

	for (i = 0; i < HSLAB_FREERS_LOOKED; i++) {
		struct hslab_freer *freer =
			&f->freers[(first + i) % HSLAB_FREERS];
		u32 here = READ_ONCE(freer->handle);

		if (!here)
			here = cmpxchg(&freer->handle, 0, handle) ?: handle;
		if (here == handle)
			return freer;
	}
	return NULL;
}

/**
 * hslab_attach_traced() - count a free by who did it
 * @a: the attachment, with track
 * @handle: the stack in the depot; 0 if it is not known
 * @when: local_clock()
 *
 * Context: any but NMI, with preemption off.
 */
void hslab_attach_traced(struct hslab_attachment *a, u32 handle, u64 when)
{
	/* pairs with smp_store_release() in hslab_attach_trace() */
	struct hslab_freers *f = smp_load_acquire(&a->freers);
	struct hslab_freer *freer;
	u32 pid = task_pid_nr(current);
	unsigned long *cpus;

	if (!f)
		return;
	freer = handle ? hslab_freer_place(f, handle) : NULL;
	if (!freer) {
		atomic64_inc(&f->others);
		return;
	}
	if (pid < READ_ONCE(freer->min_pid))
		WRITE_ONCE(freer->min_pid, pid);
	if (pid > READ_ONCE(freer->max_pid))
		WRITE_ONCE(freer->max_pid, pid);
	if (when < READ_ONCE(freer->min_when))
		WRITE_ONCE(freer->min_when, when);
	if (when > READ_ONCE(freer->max_when))
		WRITE_ONCE(freer->max_when, when);
	cpus = f->cpus + (freer - f->freers) * hslab_freer_words();
	if (!test_bit(raw_smp_processor_id(), cpus))
		set_bit(raw_smp_processor_id(), cpus);
	atomic64_add(when - f->since, &freer->sum_when);
	atomic64_inc(&freer->nr);
}

/**
 * hslab_attach_trace() - count frees by who does them from now on, or not any more
 * @a: the attachment
 * @on: whether; what was counted before is forgotten when it begins again
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: 0; -ENOMEM, or why there is no stack depot, and nothing is changed then.
 */
int hslab_attach_trace(struct hslab_attachment *a, bool on)
{
	struct hslab_freers *f = a->freers;
	unsigned int i;
	int err;

	lockdep_assert_held(&hslab_attach_mutex);

	if (on == a->track)
		return 0;
	if (!on) {
		WRITE_ONCE(a->track, false);
		/* Nobody counts any more, when it is begun again. */
		tracepoint_synchronize_unregister();
		synchronize_rcu();
		return 0;
	}
	err = hslab_depot_ready();
	if (err)
		return err;
	if (f)
		memset(f, 0, hslab_freers_size());
	else
		f = kvzalloc(hslab_freers_size(), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	for (i = 0; i < HSLAB_FREERS; i++) {
		f->freers[i].min_pid = U32_MAX;
		f->freers[i].min_when = U64_MAX;
	}
	f->since = local_clock();
	/* pairs with smp_load_acquire() in hslab_attach_traced() */
	smp_store_release(&a->freers, f);
	WRITE_ONCE(a->track, true);
	return 0;
}

/* Its stacks, for those who keep the names of what goes. With hslab_attach_mutex. */
void hslab_attach_tracks(const struct hslab_attachment *a,
			 void (*fn)(const struct hslab_track *track, void *arg),
			 void *arg)
{
	unsigned int i;

	for (i = 0; a->freers && i < HSLAB_FREERS; i++) {
		const struct hslab_freer *freer = &a->freers->freers[i];
		struct hslab_track track = {
			.known = HSLAB_RECORDED,
			.handle = READ_ONCE(freer->handle),
			.when = READ_ONCE(freer->max_when),
		};

		if (track.handle)
			fn(&track, arg);
	}
}

/*
 * THE FILE
 */

/* As it is now, in the form in which hslab's own traces are shown. */
static int hslab_freers_collect(struct hslab_traces *t,
				const struct hslab_attachment *a)
{
	/* pairs with smp_store_release() in hslab_attach_trace() */
	const struct hslab_freers *f = smp_load_acquire(&a->freers);
	unsigned int words = hslab_freer_words(), i;

	memset(t, 0, sizeof(*t));
	t->now = local_clock();
	t->tracked = f;
	if (!f)
		return 0;
	t->untracked = atomic64_read(&f->others);
	t->traces = kvcalloc(HSLAB_FREERS, sizeof(*t->traces), GFP_KERNEL);
	t->cpus = kvcalloc(HSLAB_FREERS * words, sizeof(*t->cpus), GFP_KERNEL);
	if (!t->traces || !t->cpus)
		return -ENOMEM;
	for (i = 0; i < HSLAB_FREERS; i++) {
		const struct hslab_freer *freer = &f->freers[i];
		u64 nr = atomic64_read(&freer->nr);

		if (!nr)
			continue;
		t->traces[t->nr++] = (struct hslab_trace) {
			.track = {
				.known = HSLAB_RECORDED,
				.handle = freer->handle,
				.when = READ_ONCE(freer->max_when),
			},
			.nr = nr,
			.first_when = f->since,
			.sum_when = atomic64_read(&freer->sum_when),
			.min_when = READ_ONCE(freer->min_when),
			.max_when = READ_ONCE(freer->max_when),
			.min_pid = READ_ONCE(freer->min_pid),
			.max_pid = READ_ONCE(freer->max_pid),
			.cpus = i,
		};
	}
	/* The last: who is counted has its CPU there. */
	memcpy(t->cpus, f->cpus, HSLAB_FREERS * words * sizeof(*t->cpus));
	return 0;
}

static int hslab_freers_open(struct inode *inode, struct file *file)
{
	struct hslab_traces t;
	int err = hslab_freers_collect(&t, inode->i_private);

	if (err) {
		hslab_traces_free(&t);
		return err;
	}
	hslab_traces_sort(&t);
	return hslab_traces_present(file, &t);
}

static const struct file_operations hslab_freers_fops = {
	.owner		= THIS_MODULE,
	.open		= hslab_freers_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= hslab_traces_release,
};

void hslab_attach_traces_add(struct hslab_attachment *a)
{
	a->debugfs = hslab_debugfs_add_attached(a->target.name);
	debugfs_create_file("free_traces", 0400, a->debugfs, a,
			    &hslab_freers_fops);
}

/* When nobody frees any more; returns when nobody reads. */
void hslab_attach_traces_end(struct hslab_attachment *a)
{
	debugfs_remove_recursive(a->debugfs);
	kvfree(a->freers);
}
