// SPDX-License-Identifier: GPL-2.0
/*
 * Reports of violations: one grammar, printed to the console and to debugfs.
 *
 *	BUG: hslab: KIND in cache NAME, object PTR of N bytes[, offset O]
 *	hslab:   [what more is known of the object]
 *	hslab:   offset O: MARKS (B bytes differ)
 *	hslab:   found by COMM[PID] on CPU C at CALLER
 *	hslab:   object set aside | object left as it is; F of this kind in the cache
 *
 * A mark is '.' for a byte that is as it should be and '!' for one that is not.
 * Values are shown only with the module parameter show_values, since they may
 * be secrets, of the kernel or of hslab.
 */
#include <linux/module.h>
#include <linux/panic.h>
#include <linux/ratelimit.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/stacktrace.h>

#include "hslab_internal.h"

const char *const hslab_kind_names[HSLAB_NR_KINDS] = {
	[HSLAB_DOUBLE_FREE]		= "double-free",
	[HSLAB_CROSS_FREE]		= "cross-cache-free",
	[HSLAB_INVALID_FREE]		= "invalid-free",
	[HSLAB_OVERFLOW]		= "overflow",
	[HSLAB_WRITE_AFTER_FREE]	= "write-after-free",
	[HSLAB_BAD_TAG]			= "bad-tag",
	[HSLAB_NOT_FREED]		= "not-freed",
};

static_assert(ARRAY_SIZE(hslab_kind_names) == HSLAB_NR_KINDS);

static bool hslab_show_values;	/* hslab_mutex; READ/WRITE_ONCE */

/* Once sealed, it cannot be set. */
static int hslab_show_values_set(const char *value,
				 const struct kernel_param *param)
{
	struct kernel_param parsed = *param;
	bool show;
	int err;

	parsed.arg = &show;
	err = param_set_bool(value, &parsed);
	if (err)
		return err;
	mutex_lock(&hslab_mutex);
	if (show && !hslab_show_values)
		err = hslab_seal_action("module parameter", param->name);
	if (!err)
		WRITE_ONCE(hslab_show_values, show);
	mutex_unlock(&hslab_mutex);
	return err;
}

static const struct kernel_param_ops hslab_show_values_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= hslab_show_values_set,
	.get	= param_get_bool,
};
module_param_cb(show_values, &hslab_show_values_ops, &hslab_show_values, 0600);
__MODULE_PARM_TYPE(show_values, "bool");
MODULE_PARM_DESC(show_values, "show the values of damaged bytes in reports (0: only marks)");

/* Violations of all caches since the module was loaded. */
atomic64_t hslab_nr_faults;

/* The last reports; number N is at N modulo HSLAB_LAST. */
static DEFINE_RAW_SPINLOCK(hslab_last_lock);
static struct hslab_fault hslab_last[HSLAB_LAST];
static unsigned long hslab_nr_last;		/* ever */

/* Keeps the lines of a report together on the console. */
static DEFINE_RAW_SPINLOCK(hslab_print_lock);

static DEFINE_RATELIMIT_STATE(hslab_ratelimit, 5 * HZ, 10);

/* A line of a report, to the console without a seq_file. */
#define hslab_print(seq, ...)	hslab_line(seq, false, __VA_ARGS__)

/* Where an object is that nobody may free, or own; NULL if it is simply free. */
static const char *hslab_place(enum hslab_state state)
{
	switch (state) {
	case HSLAB_RCU:
		return "waits for a grace period";
	case HSLAB_QUARANTINED:
		return "is in quarantine";
	case HSLAB_PINNED:
		return "keeps its slab page";
	case HSLAB_ASIDE:
		return "was set aside";
	default:
		return NULL;
	}
}

static void hslab_print_kind(struct seq_file *seq, const struct hslab_fault *f)
{
	const char *place = hslab_place(f->state);

	switch (f->kind) {
	case HSLAB_DOUBLE_FREE:
		if (place)
			hslab_print(seq, "hslab:   it %s", place);
		break;
	case HSLAB_CROSS_FREE:
		hslab_print(seq, "hslab:   it belongs to cache %s", f->other);
		break;
	case HSLAB_INVALID_FREE:
		if (f->offset > 0)
			hslab_print(seq, "hslab:   pointer is %d bytes into it",
				    f->offset);
		else
			hslab_print(seq, "hslab:   not an object of %s cache",
				    f->size ? "the" : "any");
		break;
	case HSLAB_OVERFLOW:
		hslab_print(seq, "hslab:   written past its end");
		break;
	case HSLAB_WRITE_AFTER_FREE:
		hslab_print(seq, "hslab:   written after cache %s freed it",
			    f->other);
		break;
	case HSLAB_BAD_TAG:
		hslab_print(seq, "hslab:   tag overwritten while it %s",
			    f->state == HSLAB_RCU ? "waited for a grace period" :
						    "was free");
		break;
	case HSLAB_NOT_FREED:
		if (f->gone) {
			hslab_print(seq, "hslab:   their slab pages have gone: freed around hslab");
			break;
		}
		if (f->astray) {
			hslab_print(seq,
				    "hslab:   no object of the cache: SLUB's free list is damaged");
			break;
		}
		if (place) {
			hslab_print(seq,
				    "hslab:   hslab has it, and it %s: freed around hslab, or given out twice",
				    place);
			break;
		}
		hslab_print(seq, "hslab:   cache %s has it: freed around hslab, or given out twice",
			    f->other);
		break;
	default:
		break;
	}
}

static void hslab_print_bytes(struct seq_file *seq, const struct hslab_fault *f)
{
	char marks[HSLAB_SHOWN + 1];
	unsigned int i;

	if (!f->nr_shown)
		return;
	for (i = 0; i < f->nr_shown; i++)
		marks[i] = f->found[i] == f->expected[i] ? '.' : '!';
	marks[i] = '\0';
	hslab_print(seq, "hslab:   offset %d: %s (%u byte%s differ%s)", f->offset,
		    marks, f->nr_bad, f->nr_bad == 1 ? "" : "s",
		    f->nr_bad == 1 ? "s" : "");
	if (READ_ONCE(hslab_show_values)) {
		hslab_print(seq, "hslab:   expected %*ph", f->nr_shown, f->expected);
		hslab_print(seq, "hslab:   found    %*ph", f->nr_shown, f->found);
	}
}

static void hslab_print_fault(struct seq_file *seq, const struct hslab_fault *f)
{
	if (f->gone)
		hslab_print(seq, "BUG: hslab: %s in cache %s, %lu object%s of %u bytes",
			    hslab_kind_names[f->kind], f->cache, f->gone,
			    f->gone == 1 ? "" : "s", f->size);
	else if (f->offset >= 0)
		hslab_print(seq, "BUG: hslab: %s in cache %s, object %p of %u bytes, offset %d",
			    hslab_kind_names[f->kind], f->cache, f->object,
			    f->size, f->offset);
	else
		hslab_print(seq, "BUG: hslab: %s in cache %s, object %p of %u bytes",
			    hslab_kind_names[f->kind], f->cache, f->object,
			    f->size);
	hslab_print_kind(seq, f);
	hslab_print_bytes(seq, f);
	hslab_print(seq, "hslab:   found by %s[%d] on CPU %u at %s", f->comm,
		    f->pid, f->cpu, f->where);
	hslab_track_print(seq, f);
	hslab_print(seq, "hslab:   %s; %llu of this kind in the cache",
		    f->gone ? "counted as freed" :
		    f->aside ? "object set aside" : "object left as it is",
		    f->nr);
}

static void hslab_remember(const struct hslab_fault *fault)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&hslab_last_lock, flags);
	hslab_last[hslab_nr_last % HSLAB_LAST] = *fault;
	WRITE_ONCE(hslab_nr_last, hslab_nr_last + 1);
	raw_spin_unlock_irqrestore(&hslab_last_lock, flags);
}

static void hslab_print_console(const struct hslab_fault *fault)
{
	unsigned long stack[16];
	unsigned int depth;
	unsigned long flags;

	depth = stack_trace_save(stack, ARRAY_SIZE(stack), 2);
	raw_spin_lock_irqsave(&hslab_print_lock, flags);
	hslab_print_fault(NULL, fault);
	if (depth) {
		pr_err("hslab:   Call Trace:\n");
		stack_trace_print(stack, depth, 4);
	}
	raw_spin_unlock_irqrestore(&hslab_print_lock, flags);
}

static void hslab_act(const struct hslab_fault *fault)
{
	switch (fault->action) {
	case HSLAB_ACT_WARN:
		WARN(1, "hslab: %s in cache %s\n",
		     hslab_kind_names[fault->kind], fault->cache);
		break;
	case HSLAB_ACT_KILL:
		if (in_task() && !(current->flags & PF_KTHREAD) &&
		    !is_global_init(current))
			send_sig(SIGKILL, current, 1);
		break;
	case HSLAB_ACT_PANIC:
		panic("hslab: %s in cache %s\n",
		      hslab_kind_names[fault->kind], fault->cache);
		break;
	default:
		break;
	}
}

/**
 * hslab_report() - report a violation, and do what the cache's policy wants
 * @fault: the violation; who found it, and when, is filled in
 *
 * The violation has been contained and counted before. The console gets at most
 * 10 reports in 5 seconds (and all that end in a panic), uevents tell of 10 a
 * second, the trace event of each, and debugfs has the last 64 in any case. Action
 * kill does nothing to kernel threads and interrupts.
 *
 * Context: any but NMI.
 */
void hslab_report(struct hslab_fault *fault)
{
	fault->cpu = raw_smp_processor_id();
	fault->pid = task_pid_nr(current);
	strscpy(fault->comm, current->comm, sizeof(fault->comm));
	snprintf(fault->where, sizeof(fault->where), "%pS",
		 (void *)fault->caller);
	fault->when = local_clock();

	atomic64_inc(&hslab_nr_faults);
	hslab_remember(fault);
	hslab_event(fault);
	if (fault->action == HSLAB_ACT_PANIC || __ratelimit(&hslab_ratelimit))
		hslab_print_console(fault);
	hslab_act(fault);
}

/* How many reports there have been. */
unsigned long hslab_nr_reports(void)
{
	return READ_ONCE(hslab_nr_last);
}

/* Copy report number @nr, from 0. False if it is not among the last any more. */
bool hslab_recall(unsigned long nr, struct hslab_fault *fault)
{
	bool known;

	raw_spin_lock_irq(&hslab_last_lock);
	known = hslab_nr_last - nr - 1 < HSLAB_LAST;
	if (known)
		*fault = hslab_last[nr % HSLAB_LAST];
	raw_spin_unlock_irq(&hslab_last_lock);
	return known;
}

/* Call @fn for what was recorded of the objects of the last reports. */
void hslab_faults_tracks(void (*fn)(const struct hslab_track *track, void *arg),
			 void *arg)
{
	struct hslab_track tracks[HSLAB_NR_EV];
	unsigned int i, event;

	for (i = 0; i < HSLAB_LAST; i++) {
		raw_spin_lock_irq(&hslab_last_lock);
		memcpy(tracks, hslab_last[i].tracks, sizeof(tracks));
		raw_spin_unlock_irq(&hslab_last_lock);
		for (event = 0; event < HSLAB_NR_EV; event++)
			fn(&tracks[event], arg);
	}
}

/* The last reports, oldest first, for debugfs. */
void hslab_faults_show(struct seq_file *seq)
{
	unsigned long i, nr;
	struct hslab_fault *fault;

	fault = kmalloc(sizeof(*fault), GFP_KERNEL);
	if (!fault)
		return;
	nr = hslab_nr_reports();
	for (i = nr > HSLAB_LAST ? nr - HSLAB_LAST : 0; i < nr; i++) {
		if (!hslab_recall(i, fault))
			continue;
		seq_printf(seq, "[%5llu.%06llu]\n", fault->when / NSEC_PER_SEC,
			   fault->when % NSEC_PER_SEC / NSEC_PER_USEC);
		hslab_print_fault(seq, fault);
	}
	kfree(fault);
}
