// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/hslab/caches/<name>: policies, facts and stats/.
 *
 * Attributes are tables; what is written is parsed by hslab_policy.c.
 */
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "hslab_internal.h"

struct hslab_cache_attribute {
	struct attribute attr;
	ssize_t (*show)(struct hslab_cache *cache,
			const struct hslab_cache_attribute *attr, char *buf);
	ssize_t (*store)(struct hslab_cache *cache,
			 const struct hslab_cache_attribute *attr,
			 const char *buf, size_t count);
	unsigned int arg;		/* a field or kind, for those that share a show() */
};

static struct hslab_cache *hslab_to_cache(struct kobject *kobj)
{
	return container_of(kobj, struct hslab_cache, kobj);
}

#define CACHE_SHOW(_name)						\
static ssize_t hslab_##_name##_show(struct hslab_cache *cache,		\
			const struct hslab_cache_attribute *attr, char *buf)

#define CACHE_STORE(_name)						\
static ssize_t hslab_##_name##_store(struct hslab_cache *cache,		\
			const struct hslab_cache_attribute *attr,	\
			const char *buf, size_t count)

#define CACHE_ATTR(_name, _mode, _show, _store, _arg)			\
static struct hslab_cache_attribute hslab_attr_##_name = {		\
	.attr	= { .name = __stringify(_name), .mode = _mode },	\
	.show	= _show,						\
	.store	= _store,						\
	.arg	= _arg,							\
}

#define CACHE_ATTR_RO(_name)						\
	CACHE_ATTR(_name, 0444, hslab_##_name##_show, NULL, 0)
#define CACHE_ATTR_POLICY(_name, _field)				\
	CACHE_ATTR(_name, 0644, hslab_policy_show, hslab_policy_store, _field)

CACHE_SHOW(policy)
{
	char value[HSLAB_VALUE_LEN];

	hslab_cache_policy(cache, &hslab_fields[attr->arg], value);
	return sysfs_emit(buf, "%s\n", value);
}

CACHE_STORE(policy)
{
	const struct hslab_policy_field *field = &hslab_fields[attr->arg];
	char value[HSLAB_VALUE_LEN];
	int err;

	err = hslab_written(value, buf, count);
	if (err)
		hslab_policy_complain(cache->name, field);
	else
		err = hslab_cache_set_policy(cache, field, value);
	return err ? err : count;
}

CACHE_ATTR_POLICY(profile, HSLAB_FIELD_PROFILE);
CACHE_ATTR_POLICY(merge, HSLAB_FIELD_MERGE);
CACHE_ATTR_POLICY(poison, HSLAB_FIELD_POISON);
CACHE_ATTR_POLICY(zero, HSLAB_FIELD_ZERO);
CACHE_ATTR_POLICY(verify, HSLAB_FIELD_VERIFY);
CACHE_ATTR_POLICY(check, HSLAB_FIELD_CHECK);
CACHE_ATTR_POLICY(quarantine_kb, HSLAB_FIELD_QUARANTINE_KB);
CACHE_ATTR_POLICY(pin, HSLAB_FIELD_PIN);
CACHE_ATTR_POLICY(track, HSLAB_FIELD_TRACK);
CACHE_ATTR_POLICY(scrub_interval_ms, HSLAB_FIELD_SCRUB_INTERVAL_MS);
CACHE_ATTR_POLICY(poison_typesafe, HSLAB_FIELD_POISON_TYPESAFE);
CACHE_ATTR_POLICY(on_violation, HSLAB_FIELD_ON_VIOLATION);

CACHE_SHOW(object_size)
{
	return sysfs_emit(buf, "%u\n", cache->size);
}

CACHE_SHOW(slot_size)
{
	unsigned int size;

	mutex_lock(&hslab_mutex);
	size = hslab_slot_size(&hslab_current_route(cache)->store->geometry);
	mutex_unlock(&hslab_mutex);
	return sysfs_emit(buf, "%u\n", size);
}

CACHE_SHOW(align)
{
	return sysfs_emit(buf, "%u\n", cache->geometry.align);
}

/* The flags by name, separated by blanks; "none" without any. */
CACHE_SHOW(flags)
{
	static const struct {
		slab_flags_t flag;
		const char *name;
	} names[] = {
		{ SLAB_HWCACHE_ALIGN,	"hwcache_align" },
		{ SLAB_CACHE_DMA,	"cache_dma" },
		{ SLAB_CACHE_DMA32,	"cache_dma32" },
		{ SLAB_TYPESAFE_BY_RCU,	"typesafe_by_rcu" },
		{ SLAB_ACCOUNT,		"account" },
		{ SLAB_RECLAIM_ACCOUNT,	"reclaim_account" },
		{ SLAB_NOLEAKTRACE,	"noleaktrace" },
	};
	unsigned int i;
	int len = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (cache->geometry.flags & names[i].flag)
			len += sysfs_emit_at(buf, len, "%s%s", len ? " " : "",
					     names[i].name);
	return len + sysfs_emit_at(buf, len, "%s\n", len ? "" : "none");
}

CACHE_SHOW(ctor)
{
	if (!cache->ctor)
		return sysfs_emit(buf, "none\n");
	return sysfs_emit(buf, "%ps\n", cache->ctor);
}

CACHE_SHOW(owner)
{
	return sysfs_emit(buf, "%s\n", cache->owner);
}

CACHE_SHOW(store)
{
	int len;

	mutex_lock(&hslab_mutex);
	len = sysfs_emit(buf, "%u\n", hslab_current_route(cache)->store->id);
	mutex_unlock(&hslab_mutex);
	return len;
}

/* The stores that still have objects of the cache but get no new ones. */
CACHE_SHOW(stores_draining)
{
	struct hslab_route *route;
	int len = 0;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(route, &cache->routes, in_cache)
		if (route != hslab_current_route(cache))
			len += sysfs_emit_at(buf, len, "%s%u", len ? " " : "",
					     route->store->id);
	mutex_unlock(&hslab_mutex);
	return len + sysfs_emit_at(buf, len, "%s\n", len ? "" : "none");
}

CACHE_STORE(shrink)
{
	int err = hslab_told_to(cache->name, attr->attr.name, buf, count);

	if (!err)
		err = hslab_may_release(cache->name, attr->attr.name);
	if (!err)
		hslab_cache_shrink(cache);
	return err ? err : count;
}

CACHE_STORE(scrub)
{
	int err = hslab_told_to(cache->name, attr->attr.name, buf, count);

	if (err)
		return err;
	mutex_lock(&hslab_mutex);
	hslab_scrub(cache);
	mutex_unlock(&hslab_mutex);
	return count;
}

CACHE_ATTR_RO(object_size);
CACHE_ATTR_RO(slot_size);
CACHE_ATTR_RO(align);
CACHE_ATTR_RO(flags);
CACHE_ATTR_RO(ctor);
CACHE_ATTR_RO(owner);
CACHE_ATTR_RO(store);
CACHE_ATTR_RO(stores_draining);
CACHE_ATTR(shrink, 0200, NULL, hslab_shrink_store, 0);
CACHE_ATTR(scrub, 0200, NULL, hslab_scrub_store, 0);

static struct attribute *hslab_cache_attrs[] = {
	&hslab_attr_profile.attr,
	&hslab_attr_merge.attr,
	&hslab_attr_poison.attr,
	&hslab_attr_zero.attr,
	&hslab_attr_verify.attr,
	&hslab_attr_check.attr,
	&hslab_attr_quarantine_kb.attr,
	&hslab_attr_pin.attr,
	&hslab_attr_track.attr,
	&hslab_attr_scrub_interval_ms.attr,
	&hslab_attr_poison_typesafe.attr,
	&hslab_attr_on_violation.attr,
	&hslab_attr_object_size.attr,
	&hslab_attr_slot_size.attr,
	&hslab_attr_align.attr,
	&hslab_attr_flags.attr,
	&hslab_attr_ctor.attr,
	&hslab_attr_owner.attr,
	&hslab_attr_store.attr,
	&hslab_attr_stores_draining.attr,
	&hslab_attr_shrink.attr,
	&hslab_attr_scrub.attr,
	NULL
};

static const struct attribute_group hslab_cache_group = {
	.attrs = hslab_cache_attrs,
};

/* stats/ */
enum hslab_stat {
	HSLAB_STAT_ALLOCS,
	HSLAB_STAT_FREES,
	HSLAB_STAT_LIVE,
	HSLAB_STAT_FAILS,
	HSLAB_STAT_ZERO_SKIPPED,
	HSLAB_STAT_VERIFIED,
	HSLAB_STAT_PAYLOAD_BYTES,
	HSLAB_STAT_TAG_BYTES,
};

/* Bytes of tag and record that an object of the current route has. */
static unsigned int hslab_cache_tag_bytes(struct hslab_cache *cache)
{
	unsigned int bytes;

	mutex_lock(&hslab_mutex);
	bytes = hslab_tag_bytes(&hslab_current_route(cache)->store->geometry);
	mutex_unlock(&hslab_mutex);
	return bytes;
}

CACHE_SHOW(stat)
{
	struct hslab_counts sum;
	s64 live, value;

	mutex_lock(&hslab_mutex);
	hslab_cache_counts(cache, &sum);
	mutex_unlock(&hslab_mutex);
	live = sum.limit - sum.headroom;

	switch ((enum hslab_stat)attr->arg) {
	case HSLAB_STAT_ALLOCS:
		value = sum.allocs - sum.fails;
		break;
	case HSLAB_STAT_FREES:
		value = sum.allocs - sum.fails - live;
		break;
	case HSLAB_STAT_LIVE:
		value = live;
		break;
	case HSLAB_STAT_FAILS:
		value = sum.fails;
		break;
	case HSLAB_STAT_ZERO_SKIPPED:
		value = sum.zero_skipped;
		break;
	case HSLAB_STAT_VERIFIED:
		value = sum.verified;
		break;
	case HSLAB_STAT_PAYLOAD_BYTES:
		value = live * cache->size;
		break;
	case HSLAB_STAT_TAG_BYTES:
		value = live * hslab_cache_tag_bytes(cache);
		break;
	default:
		return -EINVAL;
	}
	return sysfs_emit(buf, "%lld\n", value);
}

CACHE_SHOW(peak)
{
	return sysfs_emit(buf, "%lld\n", hslab_cache_peak(cache));
}

CACHE_SHOW(aside)
{
	return sysfs_emit(buf, "%lld\n", atomic64_read(&cache->aside));
}

CACHE_SHOW(cached)
{
	int len;

	mutex_lock(&hslab_mutex);
	len = sysfs_emit(buf, "%lu\n",
			 hslab_magazine_objects(hslab_current_route(cache)));
	mutex_unlock(&hslab_mutex);
	return len;
}

/* What is counted where it is, on the current route. */
enum hslab_held {
	HSLAB_HELD_QUARANTINED,
	HSLAB_HELD_QUARANTINE_BYTES,
	HSLAB_HELD_QUARANTINE_SKIPPED,
	HSLAB_HELD_PINNED,
	HSLAB_HELD_PINNED_BYTES,
	HSLAB_HELD_PINS_SKIPPED,
	HSLAB_HELD_SCRUBS,
	HSLAB_HELD_SCRUBBED,
	HSLAB_HELD_SCRUB_NS,
};

CACHE_SHOW(held)
{
	struct hslab_route *route;
	u64 value = 0;

	mutex_lock(&hslab_mutex);
	route = hslab_current_route(cache);
	switch ((enum hslab_held)attr->arg) {
	case HSLAB_HELD_QUARANTINED:
		value = hslab_quarantine_objects(route);
		break;
	case HSLAB_HELD_QUARANTINE_BYTES:
		value = hslab_quarantine_objects(route) *
			hslab_slot_size(&route->store->geometry);
		break;
	case HSLAB_HELD_QUARANTINE_SKIPPED:
		value = hslab_quarantine_skipped(route);
		break;
	case HSLAB_HELD_PINNED:
		value = hslab_pin_pages(route);
		break;
	case HSLAB_HELD_PINNED_BYTES:
		value = hslab_pin_bytes(route);
		break;
	case HSLAB_HELD_PINS_SKIPPED:
		value = hslab_pin_skipped(route);
		break;
	case HSLAB_HELD_SCRUBS:
		value = cache->scrub.runs;
		break;
	case HSLAB_HELD_SCRUBBED:
		value = cache->scrub.objects;
		break;
	case HSLAB_HELD_SCRUB_NS:
		value = cache->scrub.ns;
		break;
	}
	mutex_unlock(&hslab_mutex);
	return sysfs_emit(buf, "%llu\n", value);
}

/* Of all routes. */
CACHE_SHOW(rcu_pending)
{
	struct hslab_route *route;
	unsigned long sum = 0;

	mutex_lock(&hslab_mutex);
	list_for_each_entry(route, &cache->routes, in_cache)
		sum += hslab_rcu_objects(route);
	mutex_unlock(&hslab_mutex);
	return sysfs_emit(buf, "%lu\n", sum);
}

CACHE_SHOW(kind)
{
	return sysfs_emit(buf, "%lld\n",
			  atomic64_read(&cache->faults[attr->arg]));
}

/*
 * Counts are for root alone, as /proc/slabinfo and /sys/kernel/slab are: who can
 * follow them knows what a spray has come to.
 */
#define CACHE_ATTR_COUNT(_name)						\
	CACHE_ATTR(_name, 0400, hslab_##_name##_show, NULL, 0)
#define CACHE_ATTR_STAT(_name, _stat)					\
	CACHE_ATTR(_name, 0400, hslab_stat_show, NULL, _stat)
#define CACHE_ATTR_FAULTS(_name, _kind)					\
	CACHE_ATTR(faults_##_name, 0400, hslab_kind_show, NULL, _kind)

CACHE_ATTR_STAT(allocs, HSLAB_STAT_ALLOCS);
CACHE_ATTR_STAT(frees, HSLAB_STAT_FREES);
CACHE_ATTR_STAT(live, HSLAB_STAT_LIVE);
CACHE_ATTR_STAT(fails, HSLAB_STAT_FAILS);
CACHE_ATTR_STAT(zero_skipped, HSLAB_STAT_ZERO_SKIPPED);
CACHE_ATTR_STAT(verified, HSLAB_STAT_VERIFIED);
CACHE_ATTR_STAT(payload_bytes, HSLAB_STAT_PAYLOAD_BYTES);
CACHE_ATTR_STAT(tag_bytes, HSLAB_STAT_TAG_BYTES);
#define CACHE_ATTR_HELD(_name, _held)					\
	CACHE_ATTR(_name, 0400, hslab_held_show, NULL, _held)

CACHE_ATTR_HELD(quarantined, HSLAB_HELD_QUARANTINED);
CACHE_ATTR_HELD(quarantine_bytes, HSLAB_HELD_QUARANTINE_BYTES);
CACHE_ATTR_HELD(quarantine_skipped, HSLAB_HELD_QUARANTINE_SKIPPED);
CACHE_ATTR_HELD(pinned_pages, HSLAB_HELD_PINNED);
CACHE_ATTR_HELD(pinned_bytes, HSLAB_HELD_PINNED_BYTES);
CACHE_ATTR_HELD(pins_skipped, HSLAB_HELD_PINS_SKIPPED);
CACHE_ATTR_HELD(scrubs, HSLAB_HELD_SCRUBS);
CACHE_ATTR_HELD(scrubbed, HSLAB_HELD_SCRUBBED);
CACHE_ATTR_HELD(scrub_ns, HSLAB_HELD_SCRUB_NS);
CACHE_ATTR_COUNT(rcu_pending);
CACHE_ATTR_COUNT(peak);
CACHE_ATTR_COUNT(aside);
CACHE_ATTR_COUNT(cached);
CACHE_ATTR_FAULTS(double_free, HSLAB_DOUBLE_FREE);
CACHE_ATTR_FAULTS(cross_cache_free, HSLAB_CROSS_FREE);
CACHE_ATTR_FAULTS(invalid_free, HSLAB_INVALID_FREE);
CACHE_ATTR_FAULTS(overflow, HSLAB_OVERFLOW);
CACHE_ATTR_FAULTS(write_after_free, HSLAB_WRITE_AFTER_FREE);
CACHE_ATTR_FAULTS(bad_tag, HSLAB_BAD_TAG);
CACHE_ATTR_FAULTS(not_freed, HSLAB_NOT_FREED);

static struct attribute *hslab_stat_attrs[] = {
	&hslab_attr_allocs.attr,
	&hslab_attr_frees.attr,
	&hslab_attr_live.attr,
	&hslab_attr_peak.attr,
	&hslab_attr_fails.attr,
	&hslab_attr_zero_skipped.attr,
	&hslab_attr_verified.attr,
	&hslab_attr_payload_bytes.attr,
	&hslab_attr_tag_bytes.attr,
	&hslab_attr_aside.attr,
	&hslab_attr_cached.attr,
	&hslab_attr_quarantined.attr,
	&hslab_attr_quarantine_bytes.attr,
	&hslab_attr_quarantine_skipped.attr,
	&hslab_attr_rcu_pending.attr,
	&hslab_attr_pinned_pages.attr,
	&hslab_attr_pinned_bytes.attr,
	&hslab_attr_pins_skipped.attr,
	&hslab_attr_scrubs.attr,
	&hslab_attr_scrubbed.attr,
	&hslab_attr_scrub_ns.attr,
	&hslab_attr_faults_double_free.attr,
	&hslab_attr_faults_cross_cache_free.attr,
	&hslab_attr_faults_invalid_free.attr,
	&hslab_attr_faults_overflow.attr,
	&hslab_attr_faults_write_after_free.attr,
	&hslab_attr_faults_bad_tag.attr,
	&hslab_attr_faults_not_freed.attr,
	NULL
};

static_assert(ARRAY_SIZE(hslab_stat_attrs) == 21 + HSLAB_NR_KINDS + 1,
	      "a faults_* file for each kind");

static const struct attribute_group hslab_stat_group = {
	.name = "stats",
	.attrs = hslab_stat_attrs,
};

static const struct attribute_group *hslab_cache_groups[] = {
	&hslab_cache_group,
	&hslab_stat_group,
	NULL
};

static ssize_t hslab_cache_attr_show(struct kobject *kobj,
				     struct attribute *attr, char *buf)
{
	const struct hslab_cache_attribute *a =
		container_of(attr, struct hslab_cache_attribute, attr);

	return a->show ? a->show(hslab_to_cache(kobj), a, buf) : -EIO;
}

static ssize_t hslab_cache_attr_store(struct kobject *kobj,
				      struct attribute *attr, const char *buf,
				      size_t count)
{
	const struct hslab_cache_attribute *a =
		container_of(attr, struct hslab_cache_attribute, attr);

	return a->store ? a->store(hslab_to_cache(kobj), a, buf, count) : -EIO;
}

static const struct sysfs_ops hslab_cache_sysfs_ops = {
	.show	= hslab_cache_attr_show,
	.store	= hslab_cache_attr_store,
};

static void hslab_cache_kobj_release(struct kobject *kobj)
{
	complete(&hslab_to_cache(kobj)->kobj_gone);
}

static const struct kobj_type hslab_cache_ktype = {
	.release	= hslab_cache_kobj_release,
	.sysfs_ops	= &hslab_cache_sysfs_ops,
	.default_groups	= hslab_cache_groups,
};

/* SUBSYSTEM= of the uevents that caches send. */
static const char *
hslab_cache_subsystem(HSLAB_COMPAT_KSET_CONST struct kobject *kobj)
{
	return "hslab";
}

const struct kset_uevent_ops hslab_cache_uevent_ops = {
	.name	= hslab_cache_subsystem,
};

int hslab_sysfs_add_cache(struct hslab_cache *cache)
{
	int err;

	mutex_lock(&hslab_uevent_mutex);
	cache->kobj.kset = hslab_caches_kset;
	err = kobject_init_and_add(&cache->kobj, &hslab_cache_ktype, NULL,
				   "%s", cache->name);
	if (!err)
		kobject_uevent(&cache->kobj, KOBJ_ADD);
	mutex_unlock(&hslab_uevent_mutex);
	return err;
}

/* Returns when nobody is in the cache's files any more. Without hslab_mutex. */
void hslab_sysfs_del_cache(struct hslab_cache *cache)
{
	mutex_lock(&hslab_uevent_mutex);
	if (cache->kobj.state_in_sysfs)		/* it may never have got there */
		kobject_del(&cache->kobj);	/* and sends KOBJ_REMOVE */
	mutex_unlock(&hslab_uevent_mutex);
	kobject_put(&cache->kobj);
	wait_for_completion(&cache->kobj_gone);
}
