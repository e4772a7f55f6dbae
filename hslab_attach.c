// SPDX-License-Identifier: GPL-2.0
/*
 * What is attached: /sys/kernel/hslab/attach and attached/<name>.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/delay.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "hslab_attach.h"

/*
 * Not zero, which would make root of a dangling cred, and no valid address: 0xa5 in every
 * byte is neither.
 */
#define HSLAB_ATTACH_POISON_BYTE	0xa5

static const char *const hslab_mode_names[HSLAB_NR_ATTACH_MODES] = {
	[HSLAB_ATTACH_COUNT]	= "count",
	[HSLAB_ATTACH_WIPE]	= "wipe",
	[HSLAB_ATTACH_POISON]	= "poison",
	[HSLAB_ATTACH_QUARANTINE]	= "quarantine",
};

#define HSLAB_ATTACH_KB		256	/* of quarantine, unless it is set */
#define HSLAB_ATTACH_KB_MAX	1048576

/* What is attached and by which names. Before hslab_mutex, and never the other way. */
DEFINE_MUTEX(hslab_attach_mutex);
static LIST_HEAD(hslab_attachments);
static struct kset *hslab_attached_kset;

static struct hslab_attachment *hslab_to_attachment(struct kobject *kobj)
{
	return container_of(kobj, struct hslab_attachment, kobj);
}

/*
 * The mutex, for those who write to a file of @a: who holds it may be waiting for the file
 * to be left, as it removes it. -ENODEV then.
 */
static int hslab_attach_lock(struct hslab_attachment *a)
{
	while (!mutex_trylock(&hslab_attach_mutex)) {
		if (READ_ONCE(a->leaving))
			return -ENODEV;
		if (msleep_interruptible(1))
			return -EINTR;
	}
	return 0;
}

/* Once hslab is sealed, @a is not made looser: -EPERM. */
static int hslab_attach_may_loosen(const struct hslab_attachment *a, bool looser,
				   const char *what)
{
	return looser ? hslab_may_release(a->target.name, what) : 0;
}

/*
 * VIOLATIONS
 */

/* The kobject of what is attached by that name, held, or NULL. */
struct kobject *hslab_attach_kobj(const char *name)
{
	struct kobject *kobj = NULL;
	struct hslab_attachment *a;

	mutex_lock(&hslab_attach_mutex);
	list_for_each_entry(a, &hslab_attachments, node)
		if (!strcmp(a->target.name, name))
			kobj = kobject_get(&a->kobj);
	mutex_unlock(&hslab_attach_mutex);
	return kobj;
}

/* For those who keep the names of what goes. With hslab_attach_mutex. */
void hslab_attach_each_track(void (*fn)(const struct hslab_track *track, void *arg),
			     void *arg)
{
	struct hslab_attachment *a;

	lockdep_assert_held(&hslab_attach_mutex);

	list_for_each_entry(a, &hslab_attachments, node)
		hslab_attach_tracks(a, fn, arg);
}

static struct pid *hslab_kill_pid;	/* xchg, cmpxchg */

static void hslab_kill(struct work_struct *work)
{
	struct pid *pid = xchg(&hslab_kill_pid, NULL);

	kill_pid(pid, SIGKILL, 1);
	put_pid(pid);
}

static DECLARE_WORK(hslab_kill_work, hslab_kill);

/* Kill the current task soon, unless one is being killed already. Any context but NMI. */
void hslab_attach_kill(void)
{
	struct pid *pid;

	if (!in_task() || current->flags & PF_KTHREAD || is_global_init(current))
		return;
	pid = get_pid(task_pid(current));
	if (cmpxchg(&hslab_kill_pid, NULL, pid))
		put_pid(pid);	/* not the last: the task has it */
	else
		schedule_work(&hslab_kill_work);
}

/*
 * FILES
 */
#define ATTACHED_SHOW(_name)						\
static ssize_t _name##_show(struct kobject *kobj,			\
			    struct kobj_attribute *attr, char *buf)

ATTACHED_SHOW(mode)
{
	u32 mode = READ_ONCE(hslab_to_attachment(kobj)->mode);

	return sysfs_emit(buf, "%s\n", hslab_mode_names[mode]);
}

/* What wipes is as tight as what poisons. */
static unsigned int hslab_attach_rank(u32 mode)
{
	static const u8 ranks[HSLAB_NR_ATTACH_MODES] = {
		[HSLAB_ATTACH_COUNT]	= 0,
		[HSLAB_ATTACH_WIPE]	= 1,
		[HSLAB_ATTACH_POISON]	= 1,
		[HSLAB_ATTACH_QUARANTINE] = 2,
	};

	return ranks[mode];
}

/*
 * Have another mode, or another bound of its quarantine; on an error nothing is changed.
 * Hooks that still see the old mode have ended before rings are emptied.
 */
static int hslab_attach_change(struct hslab_attachment *a, u32 mode,
			       unsigned int kb)
{
	bool before = a->mode == HSLAB_ATTACH_QUARANTINE;
	bool after = mode == HSLAB_ATTACH_QUARANTINE;
	struct hslab_arrays *arrays = NULL;
	int err;

	lockdep_assert_held(&hslab_attach_mutex);

	if (after) {
		arrays = hslab_attach_arrays(a, kb);
		if (!arrays)
			return -ENOMEM;
	}
	if (after && !before) {
		err = hslab_attach_swaps(true);
		if (err) {
			hslab_attach_arrays_free(arrays);
			return err;
		}
	}
	if (before) {
		WRITE_ONCE(a->mode, after ? HSLAB_ATTACH_DRAINS : mode);
		synchronize_rcu();
	}
	hslab_attach_bound(a, arrays);
	if (before && !after) {
		hslab_attach_aside_end(a);
		hslab_attach_swaps(false);
	}
	a->quarantine_kb = kb;
	WRITE_ONCE(a->mode, mode);
	return 0;
}

static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	char value[HSLAB_VALUE_LEN];
	int mode, err;

	if (hslab_written(value, buf, count))
		value[0] = '\0';
	mode = match_string(hslab_mode_names, HSLAB_NR_ATTACH_MODES, value);
	if (mode < 0) {
		pr_warn_ratelimited("%s: mode takes count, wipe, poison or quarantine\n",
				    a->target.name);
		return -EINVAL;
	}
	err = hslab_attach_lock(a);
	if (!err) {
		err = hslab_attach_may_loosen(a, hslab_attach_rank(mode) <
						 hslab_attach_rank(a->mode),
					      "looser mode");
		if (!err)
			err = hslab_attach_change(a, mode, a->quarantine_kb);
		mutex_unlock(&hslab_attach_mutex);
	}
	return err ? err : count;
}

ATTACHED_SHOW(quarantine_kb)
{
	return sysfs_emit(buf, "%u\n", hslab_to_attachment(kobj)->quarantine_kb);
}

static ssize_t quarantine_kb_store(struct kobject *kobj,
				   struct kobj_attribute *attr, const char *buf,
				   size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	unsigned int kb;
	int err;

	if (kstrtouint(buf, 0, &kb) || !kb || kb > HSLAB_ATTACH_KB_MAX) {
		pr_warn_ratelimited("%s: quarantine_kb takes KiB, 1 to %d\n",
				    a->target.name, HSLAB_ATTACH_KB_MAX);
		return -EINVAL;
	}
	err = hslab_attach_lock(a);
	if (!err) {
		err = hslab_attach_may_loosen(a, kb < a->quarantine_kb,
					      "smaller quarantine_kb");
		if (!err)
			err = hslab_attach_change(a, a->mode, kb);
		mutex_unlock(&hslab_attach_mutex);
	}
	return err ? err : count;
}

ATTACHED_SHOW(track)
{
	return sysfs_emit(buf, "%d\n", READ_ONCE(hslab_to_attachment(kobj)->track));
}

static ssize_t track_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	bool track;
	int err;

	if (kstrtobool(buf, &track)) {
		pr_warn_ratelimited("%s: track takes 0 or 1\n", a->target.name);
		return -EINVAL;
	}
	err = hslab_attach_lock(a);
	if (!err) {
		err = hslab_attach_may_loosen(a, a->track && !track, "track=0");
		if (!err)
			err = hslab_attach_trace(a, track);
		mutex_unlock(&hslab_attach_mutex);
	}
	return err ? err : count;
}

ATTACHED_SHOW(on_violation)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);

	return sysfs_emit(buf, "%s\n", hslab_action_names[READ_ONCE(a->action)]);
}

static ssize_t on_violation_store(struct kobject *kobj,
				  struct kobj_attribute *attr, const char *buf,
				  size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	char value[HSLAB_VALUE_LEN];
	int action, err = 0;

	if (hslab_written(value, buf, count))
		value[0] = '\0';
	action = match_string(hslab_action_names, HSLAB_NR_ACT, value);
	if (action < 0) {
		pr_warn_ratelimited("%s: on_violation takes report, warn, kill or panic\n",
				    a->target.name);
		return -EINVAL;
	}
	if (action < READ_ONCE(a->action))
		err = hslab_may_release(a->target.name, "looser on_violation");
	if (err)
		return err;
	WRITE_ONCE(a->action, action);
	return count;
}

ATTACHED_SHOW(poison)
{
	return sysfs_emit(buf, "0x%02x\n",
			  READ_ONCE(hslab_to_attachment(kobj)->byte));
}

static ssize_t poison_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	int err;
	u8 byte;

	if (kstrtou8(buf, 0, &byte)) {
		pr_warn_ratelimited("%s: poison takes a byte: 0x00 to 0xff\n",
				    a->target.name);
		return -EINVAL;
	}
	err = hslab_attach_lock(a);
	if (err)
		return err;
	set_bit(byte, a->bytes);	/* before anything is filled with it */
	smp_wmb();			/* orders it before the byte, for who fills */
	WRITE_ONCE(a->byte, byte);
	mutex_unlock(&hslab_attach_mutex);
	return count;
}

ATTACHED_SHOW(object_size)
{
	return sysfs_emit(buf, "%u\n", hslab_to_attachment(kobj)->size);
}

ATTACHED_SHOW(aliases)
{
	return sysfs_emit(buf, "%s\n", hslab_to_attachment(kobj)->target.aliases);
}

static u64 hslab_attach_sum(const struct hslab_attachment *a, size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(*(u64 *)((char *)per_cpu_ptr(a->counts, cpu) +
					  offset));
	return sum;
}

/* A file of stats/; @_value may say a, the attachment. */
#define ATTACHED_STAT(_name, _value)					\
ATTACHED_SHOW(_name)							\
{									\
	struct hslab_attachment *a = hslab_to_attachment(kobj);		\
									\
	return sysfs_emit(buf, "%llu\n", (u64)(_value));		\
}									\
static struct kobj_attribute hslab_attached_##_name =			\
	__ATTR(_name, 0400, _name##_show, NULL)

#define ATTACHED_COUNT(_name)						\
	ATTACHED_STAT(_name, hslab_attach_sum(a,			\
			offsetof(struct hslab_attach_counts, _name)))

ATTACHED_COUNT(frees);
ATTACHED_COUNT(bulk);
ATTACHED_COUNT(filled);
ATTACHED_COUNT(kfence);
ATTACHED_COUNT(astray);
ATTACHED_COUNT(aside);
ATTACHED_STAT(held, hslab_attach_held(a));
ATTACHED_STAT(swept, READ_ONCE(a->swept));
/* The kinds that are looked for here; see hslab_attach_quarantine.c. */
ATTACHED_STAT(faults_double_free, atomic64_read(&a->faults[HSLAB_DOUBLE_FREE]));
ATTACHED_STAT(faults_write_after_free,
	      atomic64_read(&a->faults[HSLAB_WRITE_AFTER_FREE]));

static struct attribute *hslab_attached_stats[] = {
	&hslab_attached_frees.attr,
	&hslab_attached_bulk.attr,
	&hslab_attached_filled.attr,
	&hslab_attached_kfence.attr,
	&hslab_attached_astray.attr,
	&hslab_attached_aside.attr,
	&hslab_attached_held.attr,
	&hslab_attached_swept.attr,
	&hslab_attached_faults_double_free.attr,
	&hslab_attached_faults_write_after_free.attr,
	NULL
};

static const struct attribute_group hslab_attached_stats_group = {
	.name = "stats", .attrs = hslab_attached_stats,
};

static ssize_t sweep_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	long swept;
	int err;

	err = hslab_told_to(a->target.name, attr->attr.name, buf, count);
	if (!err)
		err = hslab_attach_lock(a);
	if (err)
		return err;
	if (a->mode == HSLAB_ATTACH_COUNT) {
		pr_warn_ratelimited("%s: sweep needs a mode that fills: wipe, poison or quarantine\n",
				    a->target.name);
		swept = -EINVAL;
	} else {
		swept = hslab_attach_sweep(a);
		if (swept >= 0)
			pr_info("%s: swept, %ld objects filled\n",
				a->target.name, swept);
	}
	mutex_unlock(&hslab_attach_mutex);
	return swept < 0 ? swept : count;
}

/* Who has it may detach: one does, and nobody else frees the attachment meanwhile. */
static bool hslab_detach_claim(struct hslab_attachment *a)
{
	return !xchg(&a->leaving, true);
}

static void hslab_detach(struct hslab_attachment *a)
{
	lockdep_assert_held(&hslab_attach_mutex);
	WARN_ON_ONCE(!a->leaving);

	if (a->mode == HSLAB_ATTACH_QUARANTINE)
		hslab_attach_change(a, HSLAB_ATTACH_COUNT, a->quarantine_kb);
	hslab_attach_unhook(a);
	hslab_attach_rings_free(a);
	hslab_attach_traces_end(a);
	list_del(&a->node);
	kobject_del(&a->kobj);
	kobject_put(&a->kobj);
	wait_for_completion(&a->kobj_gone);
	hslab_attach_forget(&a->target);
	free_percpu(a->counts);
	kfree(a);
}

/*
 * The file goes while it is written to, so that nothing waits for this writer but the
 * module, which cannot be unloaded meanwhile. One of several has it.
 */
static ssize_t detach_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	int err = hslab_told_to(a->target.name, attr->attr.name, buf, count);

	if (!err)
		err = hslab_may_release(a->target.name, attr->attr.name);
	if (!err && !try_module_get(THIS_MODULE))
		err = -ENODEV;
	if (err)
		return err;
	/* Once the file is gone nothing but the claim keeps @a. */
	if (hslab_detach_claim(a)) {
		sysfs_remove_file_self(kobj, &attr->attr);
		mutex_lock(&hslab_attach_mutex);
		pr_info("detached from %s\n", a->target.name);
		hslab_detach(a);
		mutex_unlock(&hslab_attach_mutex);
	} else {
		err = -ENODEV;
	}
	module_put(THIS_MODULE);
	return err ? err : count;
}

static struct kobj_attribute hslab_attached_mode = __ATTR_RW(mode);
static struct kobj_attribute hslab_attached_poison = __ATTR_RW(poison);
static struct kobj_attribute hslab_attached_quarantine_kb =
	__ATTR_RW(quarantine_kb);
static struct kobj_attribute hslab_attached_track = __ATTR_RW(track);
static struct kobj_attribute hslab_attached_on_violation =
	__ATTR_RW(on_violation);
static struct kobj_attribute hslab_attached_object_size = __ATTR_RO(object_size);
static struct kobj_attribute hslab_attached_aliases = __ATTR_RO(aliases);
static struct kobj_attribute hslab_attached_sweep = __ATTR_WO(sweep);
static struct kobj_attribute hslab_attached_detach = __ATTR_WO(detach);

static struct attribute *hslab_attached_attrs[] = {
	&hslab_attached_mode.attr,
	&hslab_attached_poison.attr,
	&hslab_attached_quarantine_kb.attr,
	&hslab_attached_track.attr,
	&hslab_attached_on_violation.attr,
	&hslab_attached_object_size.attr,
	&hslab_attached_aliases.attr,
	&hslab_attached_sweep.attr,
	&hslab_attached_detach.attr,
	NULL
};

static const struct attribute_group hslab_attached_group = {
	.attrs = hslab_attached_attrs,
};

static const struct attribute_group *hslab_attached_groups[] = {
	&hslab_attached_group,
	&hslab_attached_stats_group,
	NULL
};

static void hslab_attached_release(struct kobject *kobj)
{
	complete(&hslab_to_attachment(kobj)->kobj_gone);
}

static const struct kobj_type hslab_attached_ktype = {
	.release	= hslab_attached_release,
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= hslab_attached_groups,
};

/*
 * ATTACHING
 */
static int hslab_attach_to(struct hslab_attachment *a, const char *name)
{
	struct hslab_attachment *other;
	int err;

	err = hslab_attach_find(name, &a->target);
	if (err)
		return err;
	list_for_each_entry(other, &hslab_attachments, node) {
		/* The other's own name may be another cache's now. */
		if (other->target.kmem == a->target.kmem ||
		    !strcmp(other->target.name, name)) {
			pr_warn("attach: %s is attached already, as %s\n", name,
				other->target.name);
			err = -EEXIST;
			goto forget;
		}
	}
	a->size = a->target.size;
	a->slot = a->target.slot;
	a->byte = HSLAB_ATTACH_POISON_BYTE;
	init_completion(&a->kobj_gone);
	a->counts = alloc_percpu(struct hslab_attach_counts);
	err = a->counts ? 0 : -ENOMEM;
	if (err)
		goto forget;
	a->quarantine_kb = HSLAB_ATTACH_KB;
	err = hslab_attach_rings_make(a);
	if (!err)
		err = hslab_attach_hook(a);
	if (err)
		goto counts;
	a->kobj.kset = hslab_attached_kset;
	err = kobject_init_and_add(&a->kobj, &hslab_attached_ktype, NULL, "%s",
				   name);
	if (err)
		goto kobj;
	kobject_uevent(&a->kobj, KOBJ_ADD);
	hslab_attach_traces_add(a);
	list_add_tail(&a->node, &hslab_attachments);
	pr_info("attached to %s, objects of %u bytes%s%s\n", a->target.name,
		a->size, *a->target.aliases ? "; it is also " : "",
		a->target.aliases);
	return 0;

kobj:
	kobject_put(&a->kobj);
	wait_for_completion(&a->kobj_gone);
	hslab_attach_unhook(a);
counts:
	hslab_attach_rings_free(a);
	free_percpu(a->counts);
forget:
	hslab_attach_forget(&a->target);
	return err;
}

/*
 * A cache is about to be destroyed. Merged with others it stays, for them.
 *
 * Context: process context, may sleep.
 */
void hslab_attach_destroyed(struct kmem_cache *kmem)
{
	struct hslab_attachment *a;
	bool wait;

	do {
		wait = false;
		mutex_lock(&hslab_attach_mutex);
		list_for_each_entry(a, &hslab_attachments, node) {
			if (a->target.kmem != kmem ||
			    hslab_attach_shared(&a->target))
				continue;
			/* Somebody who writes to its detach may wait for the mutex. */
			wait = !hslab_detach_claim(a);
			if (wait)
				break;
			pr_notice("detached from %s, which is destroyed\n",
				  a->target.name);
			hslab_detach(a);
			break;
		}
		mutex_unlock(&hslab_attach_mutex);
		if (wait)
			msleep(20);
	} while (wait);
}

static int hslab_may_attach(void)
{
	if (!hslab_slab_cache_off)
		return -EOPNOTSUPP;	/* it was said at load */
	if (!HSLAB_COMPAT_HOOKS) {
		pr_warn("attach: this kernel has no CONFIG_DYNAMIC_FTRACE_WITH_ARGS\n");
		return -EOPNOTSUPP;
	}
	if (security_locked_down(LOCKDOWN_MODULE_PARAMETERS)) {
		pr_warn("attach: the kernel is locked down\n");
		return -EPERM;
	}
	return 0;
}

static ssize_t attach_store(struct kobject *kobj, struct kobj_attribute *attr,
			    const char *buf, size_t count)
{
	struct hslab_attachment *a;
	char name[HSLAB_VALUE_LEN];
	int err;

	err = hslab_written(name, buf, count);
	if (err) {
		pr_warn_ratelimited("attach takes a name in /sys/kernel/slab\n");
		return err;
	}
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		return -ENOMEM;
	mutex_lock(&hslab_attach_mutex);
	err = hslab_may_attach();
	if (!err)
		err = hslab_attach_to(a, name);
	mutex_unlock(&hslab_attach_mutex);
	if (err)
		kfree(a);
	return err ? err : count;
}

static struct kobj_attribute hslab_attach_attr = __ATTR_WO(attach);

/*
 * Memory is short: let quarantined objects go. Who has the mutex may be waiting for
 * memory, so it is only tried for.
 */
static unsigned long hslab_attach_count(struct shrinker *shrinker,
					struct shrink_control *sc)
{
	struct hslab_attachment *a;
	unsigned long sum = 0;

	if (!mutex_trylock(&hslab_attach_mutex))
		return 0;
	list_for_each_entry(a, &hslab_attachments, node)
		sum += hslab_attach_held(a);
	mutex_unlock(&hslab_attach_mutex);
	return sum ? sum : SHRINK_EMPTY;
}

static unsigned long hslab_attach_scan(struct shrinker *shrinker,
				       struct shrink_control *sc)
{
	struct hslab_attachment *a;
	unsigned long sum = 0;

	if (!mutex_trylock(&hslab_attach_mutex))
		return SHRINK_STOP;
	list_for_each_entry(a, &hslab_attachments, node)
		sum += hslab_attach_drain(a, sc->nr_to_scan - sum);
	mutex_unlock(&hslab_attach_mutex);
	return sum ? sum : SHRINK_STOP;
}

static struct shrinker *hslab_attach_shrinker;

int hslab_attach_init(struct kobject *top)
{
	int err;

	hslab_attached_kset = kset_create_and_add("attached",
						  &hslab_cache_uevent_ops, top);
	if (!hslab_attached_kset)
		return -ENOMEM;
	hslab_attach_shrinker = hslab_compat_shrinker_add("hslab-attach",
							  hslab_attach_count,
							  hslab_attach_scan);
	err = -ENOMEM;
	if (!hslab_attach_shrinker)
		goto kset;
	err = sysfs_create_file(top, &hslab_attach_attr.attr);
	if (err)
		goto shrinker;
	return 0;

shrinker:
	hslab_compat_shrinker_remove(hslab_attach_shrinker);
kset:
	kset_unregister(hslab_attached_kset);
	return err;
}

void hslab_attach_exit(struct kobject *top)
{
	struct hslab_attachment *a, *next;

	sysfs_remove_file(top, &hslab_attach_attr.attr);
	hslab_compat_shrinker_remove(hslab_attach_shrinker);
	mutex_lock(&hslab_attach_mutex);
	list_for_each_entry_safe(a, next, &hslab_attachments, node) {
		/* Who writes to a detach would hold the module. */
		WARN_ON_ONCE(!hslab_detach_claim(a));
		hslab_detach(a);
	}
	mutex_unlock(&hslab_attach_mutex);
	/* The last of hslab_destroy_attached() is to give up the module. */
	hslab_compat_wait_for_tasks();
	flush_work(&hslab_kill_work);
	kset_unregister(hslab_attached_kset);
}
