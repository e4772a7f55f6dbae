// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of a tracked cache, for people: in debugfs's caches/<name>, the files
 * alloc_traces, free_traces, objects and lifetimes.
 *
 * Objects are found by a walk over all slab pages, so that tracking keeps no list
 * of them. What is shown is collected when a file is opened.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include "hslab_internal.h"

/*
 * COLLECTING
 */

/* Where a walk is; all that it needs besides the table. */
struct hslab_collecting {
	struct hslab_traces *t;
	const struct hslab_cache *cache;
	enum hslab_event event;
	bool full;			/* no memory */
};

static unsigned int hslab_cpu_words(void)
{
	return BITS_TO_LONGS(nr_cpu_ids);
}

/* Its CPUs, for hslab_trace.cpus. */
static unsigned long *hslab_trace_cpus(const struct hslab_traces *t,
				       const struct hslab_trace *trace)
{
	return t->cpus + (size_t)trace->cpus * hslab_cpu_words();
}

/* The place of a stack in the table, which has free ones: itself, or a free one. */
static struct hslab_trace *hslab_trace_place(struct hslab_traces *t,
					     const struct hslab_track *track)
{
	unsigned int i = (track->handle * 0x9e3779b1U) >> 7;

	for (;; i++) {
		struct hslab_trace *trace = &t->traces[i & (t->size - 1)];

		if (!trace->nr || (trace->track.handle == track->handle &&
				   trace->track.known == track->known))
			return trace;
	}
}

/* Make room for one more stack: the table is never more than half full. */
static bool hslab_traces_room(struct hslab_traces *t)
{
	struct hslab_traces more = *t;
	unsigned int i;

	if (2 * (t->nr + 1) <= t->size)
		return true;
	more.size = t->size ? 2 * t->size : 64;
	more.traces = kvcalloc(more.size, sizeof(*more.traces), GFP_KERNEL);
	more.cpus = kvcalloc((size_t)more.size * hslab_cpu_words(),
			     sizeof(*more.cpus), GFP_KERNEL);
	if (!more.traces || !more.cpus) {
		hslab_traces_free(&more);
		return false;
	}
	for (i = 0; i < t->size; i++)
		if (t->traces[i].nr)
			*hslab_trace_place(&more, &t->traces[i].track) =
				t->traces[i];
	if (t->cpus)
		memcpy(more.cpus, t->cpus, (size_t)t->nr * hslab_cpu_words() *
					   sizeof(*t->cpus));
	hslab_traces_free(t);
	*t = more;
	return true;
}

static void hslab_traces_add(struct hslab_traces *t,
			     const struct hslab_track *track)
{
	struct hslab_trace *trace = hslab_trace_place(t, track);

	if (!trace->nr) {
		*trace = (struct hslab_trace){
			.track = *track,
			.min_when = track->when, .max_when = track->when,
			.first_when = track->when,
			.min_pid = track->pid, .max_pid = track->pid,
			.cpus = t->nr++,
		};
	}
	trace->nr++;
	if (track->known != HSLAB_RECORDED)
		return;
	trace->min_when = min(trace->min_when, track->when);
	trace->max_when = max(trace->max_when, track->when);
	trace->sum_when += track->when - trace->first_when;
	trace->min_pid = min_t(u32, trace->min_pid, track->pid);
	trace->max_pid = max_t(u32, trace->max_pid, track->pid);
	if (track->cpu < nr_cpu_ids)
		__set_bit(track->cpu, hslab_trace_cpus(t, trace));
}

/* Is an object with such a tag one that @event happened to last? */
static bool hslab_trace_wanted(u64 plain, enum hslab_event event)
{
	u64 state = plain & HSLAB_STATE_MASK;

	if (event == HSLAB_EV_ALLOC)
		return state == HSLAB_LIVE;
	return state == HSLAB_FREE || state == HSLAB_QUARANTINED ||
	       state == HSLAB_PINNED;
}

static void hslab_traces_object(struct hslab_store *store, void *object,
				void *arg)
{
	struct hslab_track tracks[HSLAB_NR_EV];
	struct hslab_collecting *c = arg;
	u64 plain;

	if (c->full || !hslab_track_read(store, object, &plain, tracks) ||
	    !hslab_tag_whole(plain, store->plain) ||
	    hslab_cache_id(plain) != c->cache->id ||
	    !hslab_trace_wanted(plain, c->event))
		return;
	/* A free object that nobody ever had */
	if (c->event == HSLAB_EV_FREE &&
	    tracks[HSLAB_EV_FREE].known == HSLAB_NO_RECORD)
		return;
	if (hslab_traces_room(c->t))
		hslab_traces_add(c->t, &tracks[c->event]);
	else
		c->full = true;
}

/* More objects first, and the same order each time. */
static int hslab_traces_compare(const void *a, const void *b)
{
	const struct hslab_trace *x = a, *y = b;

	if (x->nr != y->nr)
		return x->nr > y->nr ? -1 : 1;
	return x->track.handle < y->track.handle ? -1 :
	       x->track.handle > y->track.handle;
}

void hslab_traces_sort(struct hslab_traces *t)
{
	sort(t->traces, t->nr, sizeof(*t->traces), hslab_traces_compare, NULL);
}

/*
 * Walk the tracked stores of a cache. 0, or what hslab_slab_walk() said. That no
 * route comes or goes is the caller's to see to.
 */
static long hslab_walk_cache(const struct hslab_cache *cache, bool *tracked,
			     s64 *untracked, hslab_walk_t *fn, void *arg)
{
	struct hslab_route *route;
	long nr, status = 0;

	*tracked = false;
	*untracked = 0;
	list_for_each_entry(route, &cache->routes, in_cache) {
		if (!route->store->geometry.tracked) {
			*untracked += hslab_route_live(route);
			continue;
		}
		*tracked = true;
		nr = hslab_slab_walk(route->store, fn, arg);
		if (nr < 0)
			status = nr;
	}
	return status;
}

/**
 * hslab_traces_collect() - group a cache's objects by the stack of an event
 * @t: gets them, for hslab_traces_free()
 * @cache: the cache
 * @event: ALLOC, for its live objects, or FREE, for its free ones
 *
 * Context: process context, with hslab_mutex, or from hslab_drain() for a cache
 * that was destroyed.
 * Return: 0 or -ENOMEM.
 */
int hslab_traces_collect(struct hslab_traces *t, struct hslab_cache *cache,
			 enum hslab_event event)
{
	struct hslab_collecting c = { .t = t, .cache = cache, .event = event };
	unsigned int i, nr = 0;

	memset(t, 0, sizeof(*t));
	t->now = local_clock();
	t->status = hslab_walk_cache(cache, &t->tracked, &t->untracked,
				     hslab_traces_object, &c);
	if (c.full) {
		hslab_traces_free(t);
		return -ENOMEM;
	}
	for (i = 0; i < t->size; i++)
		if (t->traces[i].nr)
			t->traces[nr++] = t->traces[i];
	hslab_traces_sort(t);
	return 0;
}

void hslab_traces_free(struct hslab_traces *t)
{
	kvfree(t->traces);
	kvfree(t->cpus);
	t->traces = NULL;
	t->cpus = NULL;
}

/*
 * ALLOC_TRACES AND FREE_TRACES
 */
static u64 hslab_age_ms(u64 now, u64 when)
{
	return now > when ? (now - when) / NSEC_PER_MSEC : 0;
}

/* Why there may be nothing, or not all, to see; true if there is something. */
static bool hslab_show_status(struct seq_file *seq, bool tracked, long status)
{
	if (!tracked)
		seq_puts(seq, "not tracked\n");
	else if (status)
		seq_puts(seq, "cannot tell where objects are on this kernel\n");
	return tracked && !status;
}

static void hslab_show_trace(struct seq_file *seq, const struct hslab_traces *t,
			     const struct hslab_trace *trace)
{
	unsigned long caller = hslab_symbol_caller(&trace->track);
	char name[HSLAB_WHERE_LEN] = "unknown";

	if (caller)
		hslab_symbol(name, sizeof(name), caller, trace->track.when);
	seq_printf(seq, "%7lu %s", trace->nr, name);
	if (trace->track.known == HSLAB_RECORDED) {
		u64 mean = trace->first_when +
			   div64_s64((s64)trace->sum_when, trace->nr);

		seq_printf(seq, " age=%llu/%llu/%llu",
			   hslab_age_ms(t->now, trace->max_when),
			   hslab_age_ms(t->now, mean),
			   hslab_age_ms(t->now, trace->min_when));
		seq_printf(seq, " pid=%u", trace->min_pid);
		if (trace->max_pid != trace->min_pid)
			seq_printf(seq, "-%u", trace->max_pid);
		seq_printf(seq, " cpus=%*pbl", nr_cpu_ids,
			   hslab_trace_cpus(t, trace));
	}
	seq_putc(seq, '\n');
	if (caller)
		hslab_stack_print(seq, false, "        ", &trace->track);
	seq_putc(seq, '\n');
}

static int hslab_traces_show(struct seq_file *seq, void *unused)
{
	struct hslab_traces *t = seq->private;
	unsigned int i;

	if (!hslab_show_status(seq, t->tracked, t->status))
		return 0;
	for (i = 0; i < t->nr; i++)
		hslab_show_trace(seq, t, &t->traces[i]);
	if (t->untracked)
		seq_printf(seq, "%7lld not tracked\n\n", t->untracked);
	if (!t->nr && !t->untracked)
		seq_puts(seq, "none\n");
	return 0;
}

/**
 * hslab_traces_present() - open a file that shows traces
 * @file: the file; hslab_traces_release() is its release()
 * @traces: what it shows, sorted; taken over, and freed on an error
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int hslab_traces_present(struct file *file, const struct hslab_traces *traces)
{
	struct hslab_traces *t = kmemdup(traces, sizeof(*t), GFP_KERNEL);
	struct hslab_traces unshown = *traces;
	int err = -ENOMEM;

	if (t)
		err = single_open(file, hslab_traces_show, t);
	if (err) {
		hslab_traces_free(&unshown);
		kfree(t);
	}
	return err;
}

static int hslab_traces_open(struct inode *inode, struct file *file,
			     enum hslab_event event)
{
	struct hslab_cache *cache = inode->i_private;
	struct hslab_traces t;
	int err;

	mutex_lock(&hslab_mutex);
	err = hslab_traces_collect(&t, cache, event);
	mutex_unlock(&hslab_mutex);
	if (event == HSLAB_EV_FREE)
		t.untracked = 0;
	return err ? err : hslab_traces_present(file, &t);
}

int hslab_traces_release(struct inode *inode, struct file *file)
{
	struct hslab_traces *t = ((struct seq_file *)file->private_data)->private;

	hslab_traces_free(t);
	kfree(t);
	return single_release(inode, file);
}

static int hslab_alloc_traces_open(struct inode *inode, struct file *file)
{
	return hslab_traces_open(inode, file, HSLAB_EV_ALLOC);
}

static int hslab_free_traces_open(struct inode *inode, struct file *file)
{
	return hslab_traces_open(inode, file, HSLAB_EV_FREE);
}

static const struct file_operations hslab_alloc_traces_fops = {
	.owner		= THIS_MODULE,
	.open		= hslab_alloc_traces_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= hslab_traces_release,
};

static const struct file_operations hslab_free_traces_fops = {
	.owner		= THIS_MODULE,
	.open		= hslab_free_traces_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= hslab_traces_release,
};

/*
 * OBJECTS
 */
struct hslab_seen {
	const void *object;
	u64 state;
	struct hslab_track track;	/* of what happened to it last */
};

struct hslab_objects {
	struct hslab_seen *seen;
	size_t nr, size;
	u64 now;
	long status;
	bool tracked;
	const struct hslab_cache *cache;	/* for the walk only */
	bool full;
};

static void hslab_objects_object(struct hslab_store *store, void *object,
				 void *arg)
{
	struct hslab_track tracks[HSLAB_NR_EV];
	struct hslab_objects *o = arg;
	u64 plain;

	if (o->full || !hslab_track_read(store, object, &plain, tracks) ||
	    !hslab_tag_whole(plain, store->plain) ||
	    hslab_cache_id(plain) != o->cache->id)
		return;
	if (o->nr == o->size) {
		size_t size = o->size ? 2 * o->size : 128;
		struct hslab_seen *more = kvcalloc(size, sizeof(*more),
						   GFP_KERNEL);

		if (!more) {
			o->full = true;
			return;
		}
		if (o->nr)
			memcpy(more, o->seen, o->nr * sizeof(*more));
		kvfree(o->seen);
		o->seen = more;
		o->size = size;
	}
	plain &= HSLAB_STATE_MASK;
	o->seen[o->nr++] = (struct hslab_seen){
		.object = object,
		.state = plain,
		.track = tracks[plain == HSLAB_LIVE ? HSLAB_EV_ALLOC :
						      HSLAB_EV_FREE],
	};
}

static const char *hslab_state_name(u64 state)
{
	switch (state) {
	case HSLAB_LIVE:
		return "live";
	case HSLAB_FREE:
		return "free";
	case HSLAB_QUARANTINED:
		return "quarantined";
	case HSLAB_PINNED:
		return "pinned";
	case HSLAB_ASIDE:
		return "aside";
	default:
		return "unknown";
	}
}

static void *hslab_objects_start(struct seq_file *seq, loff_t *pos)
{
	struct hslab_objects *o = seq->private;

	if (!*pos)
		return SEQ_START_TOKEN;
	return *pos <= o->nr ? &o->seen[*pos - 1] : NULL;
}

static void *hslab_objects_next(struct seq_file *seq, void *v, loff_t *pos)
{
	++*pos;
	return hslab_objects_start(seq, pos);
}

static void hslab_objects_stop(struct seq_file *seq, void *v)
{
}

static int hslab_objects_show(struct seq_file *seq, void *v)
{
	struct hslab_objects *o = seq->private;
	char name[HSLAB_WHERE_LEN] = "unknown";
	const struct hslab_seen *seen = v;
	unsigned long caller;

	if (v == SEQ_START_TOKEN) {
		hslab_show_status(seq, o->tracked, o->status);
		return 0;
	}
	if (seen->track.known != HSLAB_RECORDED) {
		seq_printf(seq, "%p %s %s\n", seen->object,
			   hslab_state_name(seen->state),
			   seen->track.known == HSLAB_NO_RECORD ? "new" :
								  "unknown");
		return 0;
	}
	caller = hslab_symbol_caller(&seen->track);
	if (caller)
		hslab_symbol(name, sizeof(name), caller, seen->track.when);
	seq_printf(seq, "%p %s age=%llu pid=%d cpu=%u %s\n", seen->object,
		   hslab_state_name(seen->state),
		   hslab_age_ms(o->now, seen->track.when), seen->track.pid,
		   seen->track.cpu, name);
	return 0;
}

static const struct seq_operations hslab_objects_ops = {
	.start	= hslab_objects_start,
	.next	= hslab_objects_next,
	.stop	= hslab_objects_stop,
	.show	= hslab_objects_show,
};

static int hslab_objects_open(struct inode *inode, struct file *file)
{
	struct hslab_cache *cache = inode->i_private;
	struct hslab_objects *o;
	s64 untracked;

	o = __seq_open_private(file, &hslab_objects_ops, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->cache = cache;
	o->now = local_clock();
	mutex_lock(&hslab_mutex);
	o->status = hslab_walk_cache(cache, &o->tracked, &untracked,
				     hslab_objects_object, o);
	mutex_unlock(&hslab_mutex);
	if (o->full) {
		kvfree(o->seen);
		seq_release_private(inode, file);
		return -ENOMEM;
	}
	return 0;
}

static int hslab_objects_release(struct inode *inode, struct file *file)
{
	struct hslab_objects *o =
		((struct seq_file *)file->private_data)->private;

	kvfree(o->seen);
	return seq_release_private(inode, file);
}

static const struct file_operations hslab_objects_fops = {
	.owner		= THIS_MODULE,
	.open		= hslab_objects_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= hslab_objects_release,
};

/*
 * LIFETIMES
 */
static int hslab_lifetimes_show(struct seq_file *seq, void *unused)
{
	struct hslab_cache *cache = seq->private;
	struct hslab_route *route;
	bool tracked = false;
	unsigned int n;
	u64 nr;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(route, &cache->routes, in_cache)
		tracked |= route->store->geometry.tracked;
	for (n = 0; n < HSLAB_LIFETIMES && tracked; n++) {
		nr = hslab_track_lifetimes(cache, n);
		if (nr)
			seq_printf(seq, "%llu ns: %llu\n", 1ULL << n, nr);
	}
	mutex_unlock(&hslab_mutex);
	hslab_show_status(seq, tracked, 0);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hslab_lifetimes);

void hslab_traces_add_files(struct hslab_cache *cache)
{
	debugfs_create_file("alloc_traces", 0400, cache->debugfs, cache,
			    &hslab_alloc_traces_fops);
	debugfs_create_file("free_traces", 0400, cache->debugfs, cache,
			    &hslab_free_traces_fops);
	debugfs_create_file("objects", 0400, cache->debugfs, cache,
			    &hslab_objects_fops);
	debugfs_create_file("lifetimes", 0400, cache->debugfs, cache,
			    &hslab_lifetimes_fops);
}
