// SPDX-License-Identifier: GPL-2.0
/*
 * The seal: until reboot, policies can be tightened and not loosened, and the module
 * stays. /sys/kernel/hslab/seal sets it, and so does the kernel's lockdown.
 *
 * Every change of a policy asks here, with hslab_mutex: hslab_cache_change() for
 * caches, hslab_defaults_set() for the defaults. So when a write to seal has
 * returned, no loosening is under way any more.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/module.h>
#include <linux/security.h>
#include <linux/string.h>

#include "hslab_internal.h"

static bool hslab_is_sealed;	/* hslab_mutex; READ/WRITE_ONCE */
static bool hslab_is_loaded;	/* hslab_mutex; module parameters are free before */

/*
 * LOOSER
 *
 * A policy has a rank, and what lowers it is looser. Merging has no order between
 * owner and the groups: a cache would meet others there than it does now.
 */
static bool hslab_merge_looser(const struct hslab_policy *from,
			       const struct hslab_policy *to)
{
	static const u8 ranks[HSLAB_NR_MERGE] = {
		[HSLAB_MERGE_ANY]	= 0,
		[HSLAB_MERGE_OWNER]	= 1,
		[HSLAB_MERGE_GROUP]	= 1,
		[HSLAB_MERGE_NEVER]	= 2,
	};

	if (ranks[to->merge] != ranks[from->merge])
		return ranks[to->merge] < ranks[from->merge];
	return to->merge != from->merge || strcmp(to->group, from->group);
}

/*
 * All bytes are alike: each wipes what was there, and shows a write. A random word
 * is more: who writes to a freed object does not know what would go unnoticed.
 */
static unsigned int hslab_poison_rank(const struct hslab_policy *policy)
{
	switch (policy->poison) {
	case HSLAB_FILL_RANDOM:
		return 2;
	case HSLAB_FILL_BYTE:
		return 1;
	default:
		return 0;
	}
}

static unsigned int hslab_zero_rank(const struct hslab_policy *policy)
{
	static const u8 ranks[HSLAB_NR_ZERO] = {
		[HSLAB_ZERO_NO]		= 0,
		[HSLAB_ZERO_AUTO]	= 1,
		[HSLAB_ZERO_YES]	= 2,
	};

	return ranks[policy->zero];
}

/* The more often the better, and 0 is never. */
static unsigned int hslab_scrub_rank(const struct hslab_policy *policy)
{
	return policy->scrub_interval_ms ? UINT_MAX - policy->scrub_interval_ms :
					   0;
}

static_assert(HSLAB_VERIFY_OFF < HSLAB_VERIFY_HEAD &&
	      HSLAB_VERIFY_HEAD < HSLAB_VERIFY_FULL, "a rank");
static_assert(HSLAB_ACT_REPORT < HSLAB_ACT_WARN &&
	      HSLAB_ACT_WARN < HSLAB_ACT_KILL &&
	      HSLAB_ACT_KILL < HSLAB_ACT_PANIC, "a rank");

/* Any change of a policy that nobody thought of here. */
static bool hslab_differs(const struct hslab_policy_field *field,
			  const struct hslab_policy *from,
			  const struct hslab_policy *to)
{
	char before[HSLAB_VALUE_LEN], after[HSLAB_VALUE_LEN];

	field->format(from, before);
	field->format(to, after);
	return strcmp(before, after);
}

static bool hslab_looser(enum hslab_field field,
			 const struct hslab_policy *from,
			 const struct hslab_policy *to)
{
	switch (field) {
	case HSLAB_FIELD_PROFILE:
		return false;	/* it is what the others are */
	case HSLAB_FIELD_MERGE:
		return hslab_merge_looser(from, to);
	case HSLAB_FIELD_POISON:
		return hslab_poison_rank(to) < hslab_poison_rank(from);
	case HSLAB_FIELD_ZERO:
		return hslab_zero_rank(to) < hslab_zero_rank(from);
	case HSLAB_FIELD_VERIFY:
		return to->verify < from->verify;
	case HSLAB_FIELD_CHECK:
		return to->check < from->check;
	case HSLAB_FIELD_QUARANTINE_KB:
		return to->quarantine_kb < from->quarantine_kb;
	case HSLAB_FIELD_PIN:
		return to->pin < from->pin;
	case HSLAB_FIELD_TRACK:
		return to->track < from->track;
	case HSLAB_FIELD_SCRUB_INTERVAL_MS:
		return hslab_scrub_rank(to) < hslab_scrub_rank(from);
	case HSLAB_FIELD_POISON_TYPESAFE:
		return to->poison_typesafe < from->poison_typesafe;
	case HSLAB_FIELD_ON_VIOLATION:
		return to->on_violation < from->on_violation;
	default:
		return hslab_differs(&hslab_fields[field], from, to);
	}
}

/**
 * hslab_loosened() - what would be looser?
 * @from: policies as they are
 * @to: policies as they would be
 *
 * Pure.
 *
 * Return: the first policy that would be, or NULL.
 */
const struct hslab_policy_field *
hslab_loosened(const struct hslab_policy *from, const struct hslab_policy *to)
{
	enum hslab_field field;

	for (field = 0; field < HSLAB_NR_FIELDS; field++)
		if (hslab_looser(field, from, to))
			return &hslab_fields[field];
	return NULL;
}

/*
 * THE SEAL
 */

/* False if the module is on its way out. */
static bool hslab_seal_for(const char *reason)
{
	lockdep_assert_held(&hslab_mutex);

	if (hslab_is_sealed)
		return true;
	if (!try_module_get(THIS_MODULE))
		return false;
	WRITE_ONCE(hslab_is_sealed, true);
	pr_info("sealed until reboot (%s): policies can only be tightened\n",
		reason);
	return true;
}

/*
 * Is a loosening to be refused? Lockdown may have been raised since the last time,
 * and writes a line to the log when it refuses: so it is asked only when there
 * is something to refuse, and once it did, that is the seal.
 */
static bool hslab_refuses(void)
{
	lockdep_assert_held(&hslab_mutex);

	if (hslab_is_sealed)
		return true;
	if (!hslab_is_loaded)
		return false;
	if (!security_locked_down(LOCKDOWN_MODULE_PARAMETERS))
		return false;
	hslab_seal_for("the kernel is locked down");
	return true;
}

/* As shown in sysfs. */
bool hslab_sealed(void)
{
	return READ_ONCE(hslab_is_sealed);
}

/**
 * hslab_seal() - seal until reboot
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENODEV if the module is being unloaded.
 */
int hslab_seal(void)
{
	bool sealed;

	mutex_lock(&hslab_mutex);
	sealed = hslab_seal_for("told to");
	mutex_unlock(&hslab_mutex);
	return sealed ? 0 : -ENODEV;
}

/**
 * hslab_seal_change() - may policies be changed so?
 * @who: whose they are, for the log
 * @from: policies as they are
 * @to: policies as they would be
 *
 * Context: process context, with hslab_mutex.
 * Return: 0, or -EPERM.
 */
int hslab_seal_change(const char *who, const struct hslab_policy *from,
		      const struct hslab_policy *to)
{
	const struct hslab_policy_field *field = hslab_loosened(from, to);
	char value[HSLAB_VALUE_LEN];

	if (!field || !hslab_refuses())
		return 0;
	field->format(from, value);
	pr_warn_ratelimited("%s: sealed, %s=%s cannot be loosened\n", who,
			    field->name, value);
	return -EPERM;
}

/**
 * hslab_seal_action() - may something be done that weakens what policies do?
 * @who: to which cache, for the log
 * @what: name of the file that it was written to
 *
 * Context: process context, with hslab_mutex.
 * Return: 0, or -EPERM.
 */
int hslab_seal_action(const char *who, const char *what)
{
	if (!hslab_refuses())
		return 0;
	pr_warn_ratelimited("%s: sealed, no %s\n", who, what);
	return -EPERM;
}

/**
 * hslab_defaults_set() - set one policy, or the profile, of the defaults
 * @field: which
 * @value: the value, without a newline
 *
 * Context: process context, with hslab_mutex.
 * Return: 0, or -EINVAL or -EPERM, with nothing changed.
 */
int hslab_defaults_set(const struct hslab_policy_field *field,
		       const char *value)
{
	struct hslab_policy policy = hslab_defaults;
	int err;

	lockdep_assert_held(&hslab_mutex);

	err = hslab_policy_set(&policy, field, value);
	if (!err)
		err = hslab_seal_change("defaults", &hslab_defaults, &policy);
	if (!err)
		hslab_defaults = policy;
	return err;
}

/* At load: the parameters hold, and from there on a kernel locked down is sealed. */
void __init hslab_seal_init(void)
{
	mutex_lock(&hslab_mutex);
	hslab_is_loaded = true;
	hslab_refuses();
	mutex_unlock(&hslab_mutex);
}
