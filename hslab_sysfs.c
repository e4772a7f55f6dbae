// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/hslab: the files of the top, defaults/ and stores/; those of caches/
 * are in hslab_sysfs_cache.c. Every file is in
 * Documentation/ABI/testing/sysfs-kernel-hslab.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "hslab_internal.h"

struct kset *hslab_caches_kset;

struct kobject *hslab_kobj;
static struct kobject *hslab_defaults_kobj;
static struct kobject *hslab_stores_kobj;

/*
 * What is written
 */

/* Copy what was written to @value, less its newline. -EINVAL if it is no short string. */
int hslab_written(char *value, const char *buf, size_t count)
{
	if (count && buf[count - 1] == '\n')
		count--;
	if (!count || count >= HSLAB_VALUE_LEN || memchr(buf, '\0', count))
		return -EINVAL;
	memcpy(value, buf, count);
	value[count] = '\0';
	return 0;
}

/* Was 1 written to a file that makes something happen? */
int hslab_told_to(const char *who, const char *what, const char *buf,
		  size_t count)
{
	char value[HSLAB_VALUE_LEN];

	if (hslab_written(value, buf, count) || strcmp(value, "1")) {
		pr_warn_ratelimited("%s: %s takes 1\n", who, what);
		return -EINVAL;
	}
	return 0;
}

/* What is kept from reuse is not to be given up once hslab is sealed. */
int hslab_may_release(const char *who, const char *what)
{
	int err;

	mutex_lock(&hslab_mutex);
	err = hslab_seal_action(who, what);
	mutex_unlock(&hslab_mutex);
	return err;
}

/*
 * Stores
 */
static struct hslab_store *hslab_to_store(struct kobject *kobj)
{
	return container_of(kobj, struct hslab_store, kobj);
}

/* The caches that have objects there, separated by blanks. */
static ssize_t caches_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	struct hslab_store *store = hslab_to_store(kobj);
	struct hslab_route *route;
	int len = 0;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(route, &store->routes, in_store)
		len += sysfs_emit_at(buf, len, "%s%s", len ? " " : "",
				     route->cache->name);
	mutex_unlock(&hslab_mutex);
	return len + sysfs_emit_at(buf, len, "\n");
}

static ssize_t slot_size_show(struct kobject *kobj, struct kobj_attribute *attr,
			      char *buf)
{
	return sysfs_emit(buf, "%u\n",
			  hslab_slot_size(&hslab_to_store(kobj)->geometry));
}

static ssize_t kmem_cache_show(struct kobject *kobj,
			       struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", hslab_to_store(kobj)->kmem_name);
}

static struct kobj_attribute hslab_store_caches = __ATTR_RO(caches);
static struct kobj_attribute hslab_store_slot_size = __ATTR_RO(slot_size);
static struct kobj_attribute hslab_store_kmem_cache = __ATTR_RO(kmem_cache);

static struct attribute *hslab_store_attrs[] = {
	&hslab_store_caches.attr,
	&hslab_store_slot_size.attr,
	&hslab_store_kmem_cache.attr,
	NULL
};
ATTRIBUTE_GROUPS(hslab_store);

static void hslab_store_kobj_release(struct kobject *kobj)
{
	complete(&hslab_to_store(kobj)->kobj_gone);
}

static const struct kobj_type hslab_store_ktype = {
	.release	= hslab_store_kobj_release,
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= hslab_store_groups,
};

int hslab_sysfs_add_store(struct hslab_store *store)
{
	int err;

	err = kobject_init_and_add(&store->kobj, &hslab_store_ktype,
				   hslab_stores_kobj, "%u", store->id);
	if (err) {
		kobject_put(&store->kobj);
		wait_for_completion(&store->kobj_gone);
		reinit_completion(&store->kobj_gone);
		memset(&store->kobj, 0, sizeof(store->kobj));
	}
	return err;
}

void hslab_sysfs_del_store(struct hslab_store *store)
{
	kobject_del(&store->kobj);
	kobject_put(&store->kobj);
	wait_for_completion(&store->kobj_gone);
}

/*
 * The top, and defaults/
 */
struct hslab_default_attribute {
	struct kobj_attribute attr;
	enum hslab_field field;
};

static const struct hslab_policy_field *
hslab_default_field(struct kobj_attribute *attr)
{
	return &hslab_fields[container_of(attr, struct hslab_default_attribute,
					  attr)->field];
}

static ssize_t hslab_default_show(struct kobject *kobj,
				  struct kobj_attribute *attr, char *buf)
{
	char value[HSLAB_VALUE_LEN];

	mutex_lock(&hslab_mutex);
	hslab_default_field(attr)->format(&hslab_defaults, value);
	mutex_unlock(&hslab_mutex);
	return sysfs_emit(buf, "%s\n", value);
}

static ssize_t hslab_default_store(struct kobject *kobj,
				   struct kobj_attribute *attr, const char *buf,
				   size_t count)
{
	const struct hslab_policy_field *field = hslab_default_field(attr);
	char value[HSLAB_VALUE_LEN];
	int err;

	err = hslab_written(value, buf, count);
	if (!err) {
		mutex_lock(&hslab_mutex);
		err = hslab_defaults_set(field, value);
		mutex_unlock(&hslab_mutex);
	}
	if (err == -EINVAL)
		hslab_policy_complain("defaults", field);
	return err ? err : count;
}

#define DEFAULT_ATTR(_name, _field)					\
static struct hslab_default_attribute hslab_default_##_name = {		\
	.attr	= __ATTR(_name, 0644, hslab_default_show,		\
			 hslab_default_store),				\
	.field	= _field,						\
}

DEFAULT_ATTR(merge, HSLAB_FIELD_MERGE);
DEFAULT_ATTR(poison, HSLAB_FIELD_POISON);
DEFAULT_ATTR(zero, HSLAB_FIELD_ZERO);
DEFAULT_ATTR(verify, HSLAB_FIELD_VERIFY);
DEFAULT_ATTR(check, HSLAB_FIELD_CHECK);
DEFAULT_ATTR(quarantine_kb, HSLAB_FIELD_QUARANTINE_KB);
DEFAULT_ATTR(pin, HSLAB_FIELD_PIN);
DEFAULT_ATTR(track, HSLAB_FIELD_TRACK);
DEFAULT_ATTR(scrub_interval_ms, HSLAB_FIELD_SCRUB_INTERVAL_MS);
DEFAULT_ATTR(poison_typesafe, HSLAB_FIELD_POISON_TYPESAFE);
DEFAULT_ATTR(on_violation, HSLAB_FIELD_ON_VIOLATION);

static struct attribute *hslab_default_attrs[] = {
	&hslab_default_merge.attr.attr,
	&hslab_default_poison.attr.attr,
	&hslab_default_zero.attr.attr,
	&hslab_default_verify.attr.attr,
	&hslab_default_check.attr.attr,
	&hslab_default_quarantine_kb.attr.attr,
	&hslab_default_pin.attr.attr,
	&hslab_default_track.attr.attr,
	&hslab_default_scrub_interval_ms.attr.attr,
	&hslab_default_poison_typesafe.attr.attr,
	&hslab_default_on_violation.attr.attr,
	NULL
};

static_assert(ARRAY_SIZE(hslab_default_attrs) == HSLAB_NR_FIELDS,
	      "a default for each policy; the profile is a file of the top");

static const struct attribute_group hslab_default_group = {
	.attrs = hslab_default_attrs,
};

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, HSLAB_VERSION "\n");
}

/* The violations of all caches there are or were. */
static ssize_t faults_show(struct kobject *kobj, struct kobj_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&hslab_nr_faults));
}

/* The profile of the defaults; written, that of every cache too. */
static ssize_t profile_show(struct kobject *kobj, struct kobj_attribute *attr,
			    char *buf)
{
	char value[HSLAB_VALUE_LEN];

	mutex_lock(&hslab_mutex);
	hslab_fields[HSLAB_FIELD_PROFILE].format(&hslab_defaults, value);
	mutex_unlock(&hslab_mutex);
	return sysfs_emit(buf, "%s\n", value);
}

static ssize_t profile_store(struct kobject *kobj, struct kobj_attribute *attr,
			     const char *buf, size_t count)
{
	char value[HSLAB_VALUE_LEN];
	int err;

	err = hslab_written(value, buf, count);
	if (!err)
		err = hslab_set_profile_everywhere(value);
	if (err == -EINVAL)
		hslab_policy_complain("all caches",
				      &hslab_fields[HSLAB_FIELD_PROFILE]);
	return err ? err : count;
}

/* What caches start with, by their names. */
static ssize_t rules_show(struct kobject *kobj, struct kobj_attribute *attr,
			  char *buf)
{
	return hslab_rules_show(buf);
}

static ssize_t rules_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	int err = hslab_rules_set(buf, count);

	return err ? err : count;
}

/* Empty all quarantines. */
static ssize_t purge_store(struct kobject *kobj, struct kobj_attribute *attr,
			   const char *buf, size_t count)
{
	int err = hslab_told_to("all caches", attr->attr.name, buf, count);

	if (!err)
		err = hslab_may_release("all caches", attr->attr.name);
	if (!err)
		hslab_quarantine_purge();
	return err ? err : count;
}

static ssize_t seal_show(struct kobject *kobj, struct kobj_attribute *attr,
			 char *buf)
{
	return sysfs_emit(buf, "%d\n", hslab_sealed());
}

/* 0 changes nothing, so that what was read can be written back. */
static ssize_t seal_store(struct kobject *kobj, struct kobj_attribute *attr,
			  const char *buf, size_t count)
{
	char value[HSLAB_VALUE_LEN];
	int err;

	if (hslab_written(value, buf, count) ||
	    (strcmp(value, "0") && strcmp(value, "1"))) {
		pr_warn_ratelimited("seal takes 0 or 1\n");
		return -EINVAL;
	}
	if (value[0] == '1')
		err = hslab_seal();
	else
		err = hslab_sealed() ? -EPERM : 0;
	return err ? err : count;
}

static struct kobj_attribute hslab_top_version = __ATTR_RO(version);
static struct kobj_attribute hslab_top_faults = __ATTR_RO(faults);
static struct kobj_attribute hslab_top_profile = __ATTR_RW(profile);
static struct kobj_attribute hslab_top_rules = __ATTR_RW(rules);
static struct kobj_attribute hslab_top_purge = __ATTR_WO(purge);
static struct kobj_attribute hslab_top_seal = __ATTR_RW(seal);

static struct attribute *hslab_top_attrs[] = {
	&hslab_top_version.attr,
	&hslab_top_faults.attr,
	&hslab_top_profile.attr,
	&hslab_top_rules.attr,
	&hslab_top_purge.attr,
	&hslab_top_seal.attr,
	NULL
};

static const struct attribute_group hslab_top_group = {
	.attrs = hslab_top_attrs,
};

int __init hslab_sysfs_init(void)
{
	int err = -ENOMEM;

	hslab_kobj = kobject_create_and_add("hslab", kernel_kobj);
	if (!hslab_kobj)
		return -ENOMEM;
	hslab_defaults_kobj = kobject_create_and_add("defaults", hslab_kobj);
	hslab_caches_kset = kset_create_and_add("caches",
						&hslab_cache_uevent_ops,
						hslab_kobj);
	hslab_stores_kobj = kobject_create_and_add("stores", hslab_kobj);
	if (!hslab_defaults_kobj || !hslab_caches_kset || !hslab_stores_kobj)
		goto fail;
	err = sysfs_create_group(hslab_kobj, &hslab_top_group);
	if (err)
		goto fail;
	err = sysfs_create_group(hslab_defaults_kobj, &hslab_default_group);
	if (err)
		goto fail;
	return 0;

fail:
	hslab_sysfs_exit();
	return err;
}

void hslab_sysfs_exit(void)
{
	kobject_put(hslab_stores_kobj);
	kset_unregister(hslab_caches_kset);
	kobject_put(hslab_defaults_kobj);
	kobject_put(hslab_kobj);
}
