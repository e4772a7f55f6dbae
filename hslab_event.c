// SPDX-License-Identifier: GPL-2.0
/*
 * Telling others of a violation: a trace event at once, a uevent soon after.
 *
 * A report may come in hardirq context and under locks, so what sends uevents is a
 * work item. It takes the reports from the ring of the last ones, at most
 * HSLAB_UEVENTS a second; what was overwritten before it got there is counted, and
 * the next uevent says how many these were.
 */
#include <linux/jiffies.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "hslab_attach.h"
#include "hslab_internal.h"

#define CREATE_TRACE_POINTS
#include "hslab_trace.h"

#define HSLAB_UEVENTS	10	/* in HSLAB_UEVENT_PAUSE jiffies */
#define HSLAB_UEVENT_PAUSE	HZ

/* See LOCK ORDER in hslab_internal.h. */
DEFINE_MUTEX(hslab_uevent_mutex);

/* Of the one work item, and of hslab_event_exit() after it. */
static struct {
	unsigned long next;		/* report to look at */
	unsigned long missed;		/* since the last that was sent */
	unsigned int left;		/* that may be sent until then: */
	unsigned long until;		/* jiffies; set with the first of them */
} hslab_uevents = {
	.left = HSLAB_UEVENTS,
};

/*
 * The kobject to send from: that of the cache, or, when that is gone or not there
 * yet, the module's. A cache that took the name of one that is gone stands in
 * for it.
 */
static struct kobject *hslab_uevent_kobj(const char *name)
{
	struct kobject *kobj = &THIS_MODULE->mkobj.kobj;
	struct hslab_cache *cache;

	lockdep_assert_held(&hslab_uevent_mutex);

	mutex_lock(&hslab_mutex);
	list_for_each_entry(cache, &hslab_caches, node) {
		if (strcmp(cache->name, name))
			continue;
		/* It leaves sysfs, and is freed, with hslab_uevent_mutex only. */
		if (!cache->dying && cache->kobj.state_in_sysfs)
			kobj = &cache->kobj;
		break;
	}
	mutex_unlock(&hslab_mutex);
	return kobj;
}

static int hslab_uevent_send(const struct hslab_fault *fault,
			     unsigned long missed)
{
	char kind[HSLAB_NAME_LEN], cache[HSLAB_NAME_LEN + 16];
	char other[HSLAB_NAME_LEN + 16], nr[32], lost[40];
	char *env[6] = { kind, cache, other, nr, lost, NULL };
	struct kobject *attached = NULL;
	int err;

	snprintf(kind, sizeof(kind), "HSLAB_KIND=%s",
		 hslab_kind_names[fault->kind]);
	snprintf(cache, sizeof(cache), "HSLAB_CACHE=%s", fault->cache);
	snprintf(other, sizeof(other), "HSLAB_OTHER=%s", fault->other);
	snprintf(nr, sizeof(nr), "HSLAB_NR=%llu", fault->nr);
	snprintf(lost, sizeof(lost), "HSLAB_MISSED=%lu", missed);

	if (fault->attached)
		attached = hslab_attach_kobj(fault->cache);
	mutex_lock(&hslab_uevent_mutex);
	err = kobject_uevent_env(attached ?: hslab_uevent_kobj(fault->attached ?
							       "" : fault->cache),
				 KOBJ_CHANGE, env);
	mutex_unlock(&hslab_uevent_mutex);
	kobject_put(attached);
	return err;
}

/* Send what has not been sent, oldest first, as far as that is allowed. */
static void hslab_uevents_flush(void)
{
	unsigned long nr = hslab_nr_reports();
	struct hslab_fault *fault;

	fault = kmalloc(sizeof(*fault), GFP_KERNEL);
	if (!fault)
		return;
	while (hslab_uevents.next != nr && hslab_uevents.left) {
		bool known = hslab_recall(hslab_uevents.next++, fault);

		if (!known || hslab_uevent_send(fault, hslab_uevents.missed))
			hslab_uevents.missed++;
		else
			hslab_uevents.missed = 0;
		hslab_uevents.left -= known;
	}
	kfree(fault);
}

static void hslab_uevents_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(hslab_uevent_work, hslab_uevents_work);

static void hslab_uevents_work(struct work_struct *work)
{
	if (time_after_eq(jiffies, hslab_uevents.until))
		hslab_uevents.left = HSLAB_UEVENTS;
	if (hslab_uevents.left == HSLAB_UEVENTS)
		hslab_uevents.until = jiffies + HSLAB_UEVENT_PAUSE;
	hslab_uevents_flush();
	if (hslab_uevents.next != hslab_nr_reports())
		schedule_delayed_work(&hslab_uevent_work, HSLAB_UEVENT_PAUSE);
}

/**
 * hslab_event() - tell others of a violation
 * @fault: the violation, which hslab_recall() knows
 *
 * Context: any but NMI.
 */
void hslab_event(const struct hslab_fault *fault)
{
	trace_violation(fault);
	schedule_delayed_work(&hslab_uevent_work, 0);
}

/* At unload, when all caches are gone and nobody reports anything any more. */
void hslab_event_exit(void)
{
	cancel_delayed_work_sync(&hslab_uevent_work);
	hslab_uevents.left = HSLAB_LAST;
	hslab_uevents_flush();
}
