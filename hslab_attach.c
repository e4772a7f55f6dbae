// SPDX-License-Identifier: GPL-2.0
/*
 * What is attached: /sys/kernel/hslab/attach and attached/<name>.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/poison.h>
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
};

/* What is attached and by which names. Before hslab_mutex, and never the other way. */
static DEFINE_MUTEX(hslab_attach_mutex);
static LIST_HEAD(hslab_attachments);
static struct kobject *hslab_attached_kobj;

static struct hslab_attachment *hslab_to_attachment(struct kobject *kobj)
{
	return container_of(kobj, struct hslab_attachment, kobj);
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

static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	struct hslab_attachment *a = hslab_to_attachment(kobj);
	char value[HSLAB_VALUE_LEN];
	int mode;

	if (hslab_written(value, buf, count))
		value[0] = '\0';
	mode = match_string(hslab_mode_names, HSLAB_NR_ATTACH_MODES, value);
	if (mode < 0) {
		pr_warn_ratelimited("%s: mode takes count, wipe or poison\n",
				    a->target.name);
		return -EINVAL;
	}
	WRITE_ONCE(a->mode, mode);
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
	u8 byte;

	if (kstrtou8(buf, 0, &byte)) {
		pr_warn_ratelimited("%s: poison takes a byte: 0x00 to 0xff\n",
				    a->target.name);
		return -EINVAL;
	}
	WRITE_ONCE(a->byte, byte);
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

#define ATTACHED_COUNT(_name)						\
ATTACHED_SHOW(_name)							\
{									\
	return sysfs_emit(buf, "%llu\n",				\
			  hslab_attach_sum(hslab_to_attachment(kobj),	\
				offsetof(struct hslab_attach_counts, _name))); \
}									\
static struct kobj_attribute hslab_attached_##_name =			\
	__ATTR(_name, 0400, _name##_show, NULL)

ATTACHED_COUNT(frees);
ATTACHED_COUNT(bulk);
ATTACHED_COUNT(filled);
ATTACHED_COUNT(kfence);
ATTACHED_COUNT(astray);

static struct attribute *hslab_attached_stats[] = {
	&hslab_attached_frees.attr,
	&hslab_attached_bulk.attr,
	&hslab_attached_filled.attr,
	&hslab_attached_kfence.attr,
	&hslab_attached_astray.attr,
	NULL
};

static const struct attribute_group hslab_attached_stats_group = {
	.name = "stats", .attrs = hslab_attached_stats,
};

static void hslab_detach(struct hslab_attachment *a)
{
	lockdep_assert_held(&hslab_attach_mutex);

	hslab_attach_unhook(a);
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
	if (sysfs_remove_file_self(kobj, &attr->attr)) {
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
static struct kobj_attribute hslab_attached_object_size = __ATTR_RO(object_size);
static struct kobj_attribute hslab_attached_aliases = __ATTR_RO(aliases);
static struct kobj_attribute hslab_attached_detach = __ATTR_WO(detach);

static struct attribute *hslab_attached_attrs[] = {
	&hslab_attached_mode.attr,
	&hslab_attached_poison.attr,
	&hslab_attached_object_size.attr,
	&hslab_attached_aliases.attr,
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
		if (other->target.kmem == a->target.kmem) {
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
	err = hslab_attach_hook(a);
	if (err)
		goto counts;
	err = kobject_init_and_add(&a->kobj, &hslab_attached_ktype,
				   hslab_attached_kobj, "%s", name);
	if (err)
		goto kobj;
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
	free_percpu(a->counts);
forget:
	hslab_attach_forget(&a->target);
	return err;
}

static int hslab_may_attach(void)
{
	if (!hslab_slab_cache_off)
		return -EOPNOTSUPP;	/* it was said at load */
	if (security_locked_down(LOCKDOWN_KPROBES)) {
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

int hslab_attach_init(struct kobject *top)
{
	int err;

	hslab_attached_kobj = kobject_create_and_add("attached", top);
	if (!hslab_attached_kobj)
		return -ENOMEM;
	err = sysfs_create_file(top, &hslab_attach_attr.attr);
	if (err)
		kobject_put(hslab_attached_kobj);
	return err;
}

void hslab_attach_exit(struct kobject *top)
{
	struct hslab_attachment *a, *next;

	sysfs_remove_file(top, &hslab_attach_attr.attr);
	mutex_lock(&hslab_attach_mutex);
	list_for_each_entry_safe(a, next, &hslab_attachments, node)
		hslab_detach(a);
	mutex_unlock(&hslab_attach_mutex);
	kobject_put(hslab_attached_kobj);
}
