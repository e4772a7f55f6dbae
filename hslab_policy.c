// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: what they are called, what values they take, what profiles set.
 *
 * One table serves sysfs, the module parameters and hslab_set_policy().
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/stringify.h>

#include "hslab_internal.h"

static const char *const hslab_zero_names[HSLAB_NR_ZERO] = {
	[HSLAB_ZERO_AUTO]	= "auto",
	[HSLAB_ZERO_NO]		= "0",
	[HSLAB_ZERO_YES]	= "1",
};

static const char *const hslab_verify_names[HSLAB_NR_VERIFY] = {
	[HSLAB_VERIFY_OFF]	= "off",
	[HSLAB_VERIFY_HEAD]	= "head",
	[HSLAB_VERIFY_FULL]	= "full",
};

const char *const hslab_action_names[HSLAB_NR_ACT] = {
	[HSLAB_ACT_REPORT]	= "report",
	[HSLAB_ACT_WARN]	= "warn",
	[HSLAB_ACT_KILL]	= "kill",
	[HSLAB_ACT_PANIC]	= "panic",
};

static_assert(ARRAY_SIZE(hslab_zero_names) == HSLAB_NR_ZERO);
static_assert(ARRAY_SIZE(hslab_verify_names) == HSLAB_NR_VERIFY);
static_assert(ARRAY_SIZE(hslab_action_names) == HSLAB_NR_ACT);

/*
 * A profile sets everything but on_violation, which says how much an
 * administrator trusts the machine to go on, not how closely to look, and
 * poison_typesafe, which says what the users of a cache rely on.
 */
struct hslab_profile {
	const char *name;
	struct hslab_policy policy;
};

/* The default, and so written in two places. */
#define HSLAB_BALANCED				\
	.merge = HSLAB_MERGE_NEVER,		\
	.poison = HSLAB_FILL_BYTE,		\
	.poison_byte = 0,			\
	.zero = HSLAB_ZERO_AUTO,		\
	.verify = HSLAB_VERIFY_HEAD,		\
	.check = true

static const struct hslab_profile hslab_profiles[] = {
	{ "off", {
		.merge = HSLAB_MERGE_ANY,
		.poison = HSLAB_FILL_KEPT,
		.zero = HSLAB_ZERO_AUTO,
		.verify = HSLAB_VERIFY_OFF,
		.check = false,
	} },
	{ "fast", {
		.merge = HSLAB_MERGE_NEVER,
		.poison = HSLAB_FILL_KEPT,
		.zero = HSLAB_ZERO_AUTO,
		.verify = HSLAB_VERIFY_OFF,
		.check = true,
	} },
	{ "balanced", { HSLAB_BALANCED } },
	{ "debug", {
		.merge = HSLAB_MERGE_NEVER,
		.poison = HSLAB_FILL_BYTE,
		.poison_byte = 0x6b,
		.zero = HSLAB_ZERO_NO,
		.verify = HSLAB_VERIFY_FULL,
		.check = true,
	} },
	{ "paranoid", {
		.merge = HSLAB_MERGE_NEVER,
		.poison = HSLAB_FILL_RANDOM,
		.zero = HSLAB_ZERO_YES,
		.verify = HSLAB_VERIFY_FULL,
		.check = true,
		.quarantine_kb = 256,
		.pin = 4096,
		.scrub_interval_ms = 60000,
	} },
};

/* balanced, until a module parameter or sysfs says otherwise. */
struct hslab_policy hslab_defaults = {
	HSLAB_BALANCED,
	.on_violation = HSLAB_ACT_REPORT,
};

static int hslab_parse_profile(struct hslab_policy *policy, const char *value)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hslab_profiles); i++) {
		struct hslab_policy before = *policy;

		if (strcmp(value, hslab_profiles[i].name))
			continue;
		*policy = hslab_profiles[i].policy;
		policy->on_violation = before.on_violation;
		policy->poison_typesafe = before.poison_typesafe;
		return 0;
	}
	return -EINVAL;
}

static bool hslab_policy_matches(const struct hslab_policy *a,
				 const struct hslab_policy *b)
{
	return a->merge == b->merge && a->poison == b->poison &&
	       a->poison_byte == b->poison_byte && a->zero == b->zero &&
	       a->verify == b->verify && a->check == b->check &&
	       a->quarantine_kb == b->quarantine_kb && a->pin == b->pin &&
	       a->track == b->track &&
	       a->scrub_interval_ms == b->scrub_interval_ms;
}

static void hslab_format_profile(const struct hslab_policy *policy, char *value)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hslab_profiles); i++) {
		if (hslab_policy_matches(policy, &hslab_profiles[i].policy)) {
			strscpy(value, hslab_profiles[i].name, HSLAB_VALUE_LEN);
			return;
		}
	}
	strscpy(value, "custom", HSLAB_VALUE_LEN);
}

static bool hslab_group_valid(const char *group)
{
	size_t len = strlen(group);

	if (!len || len >= HSLAB_GROUP_LEN)
		return false;
	for (; *group; group++)
		if (!isascii(*group) ||
		    (!isalnum(*group) && !strchr("_-.", *group)))
			return false;
	return true;
}

static int hslab_parse_merge(struct hslab_policy *policy, const char *value)
{
	const char *group = "";
	enum hslab_merge merge;

	if (!strcmp(value, "never")) {
		merge = HSLAB_MERGE_NEVER;
	} else if (!strcmp(value, "owner")) {
		merge = HSLAB_MERGE_OWNER;
	} else if (!strcmp(value, "any")) {
		merge = HSLAB_MERGE_ANY;
	} else if (!strncmp(value, "group=", strlen("group="))) {
		merge = HSLAB_MERGE_GROUP;
		group = value + strlen("group=");
		if (!hslab_group_valid(group))
			return -EINVAL;
	} else {
		return -EINVAL;
	}
	policy->merge = merge;
	memset(policy->group, 0, sizeof(policy->group));
	strscpy(policy->group, group, sizeof(policy->group));
	return 0;
}

static void hslab_format_merge(const struct hslab_policy *policy, char *value)
{
	static const char *const names[HSLAB_NR_MERGE] = {
		[HSLAB_MERGE_NEVER]	= "never",
		[HSLAB_MERGE_OWNER]	= "owner",
		[HSLAB_MERGE_GROUP]	= "group=",
		[HSLAB_MERGE_ANY]	= "any",
	};

	snprintf(value, HSLAB_VALUE_LEN, "%s%s", names[policy->merge],
		 policy->group);
}

static int hslab_parse_poison(struct hslab_policy *policy, const char *value)
{
	u8 byte = 0;

	if (!strcmp(value, "off")) {
		policy->poison = HSLAB_FILL_KEPT;
	} else if (!strcmp(value, "random")) {
		policy->poison = HSLAB_FILL_RANDOM;
	} else if (!strcmp(value, "zero")) {
		policy->poison = HSLAB_FILL_BYTE;
	} else {
		if (strlen(value) != 4 || strncmp(value, "0x", 2) ||
		    !isxdigit(value[2]) || !isxdigit(value[3]) ||
		    kstrtou8(value, 16, &byte))
			return -EINVAL;
		policy->poison = HSLAB_FILL_BYTE;
	}
	policy->poison_byte = byte;
	return 0;
}

static void hslab_format_poison(const struct hslab_policy *policy, char *value)
{
	if (policy->poison == HSLAB_FILL_KEPT)
		strscpy(value, "off", HSLAB_VALUE_LEN);
	else if (policy->poison == HSLAB_FILL_RANDOM)
		strscpy(value, "random", HSLAB_VALUE_LEN);
	else if (!policy->poison_byte)
		strscpy(value, "zero", HSLAB_VALUE_LEN);
	else
		snprintf(value, HSLAB_VALUE_LEN, "0x%02x", policy->poison_byte);
}

static int hslab_parse_zero(struct hslab_policy *policy, const char *value)
{
	int i = match_string(hslab_zero_names, HSLAB_NR_ZERO, value);

	if (i < 0)
		return i;
	policy->zero = i;
	return 0;
}

static void hslab_format_zero(const struct hslab_policy *policy, char *value)
{
	strscpy(value, hslab_zero_names[policy->zero], HSLAB_VALUE_LEN);
}

static int hslab_parse_verify(struct hslab_policy *policy, const char *value)
{
	int i = match_string(hslab_verify_names, HSLAB_NR_VERIFY, value);

	if (i < 0)
		return i;
	policy->verify = i;
	return 0;
}

static void hslab_format_verify(const struct hslab_policy *policy, char *value)
{
	strscpy(value, hslab_verify_names[policy->verify], HSLAB_VALUE_LEN);
}

static int hslab_parse_bool(const char *value, bool *result)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		return -EINVAL;
	*result = value[0] == '1';
	return 0;
}

/*
 * A decimal number up to @max, and nothing else: no sign, no leading zero, and no
 * newline, which kstrtouint() would pass over.
 */
static int hslab_parse_number(const char *value, unsigned int max,
			      unsigned int *result)
{
	unsigned int number;

	if (value[strspn(value, "0123456789")] ||
	    (value[0] == '0' && value[1]) || kstrtouint(value, 10, &number) ||
	    number > max)
		return -EINVAL;
	*result = number;
	return 0;
}

static void hslab_format_number(unsigned int number, char *value)
{
	snprintf(value, HSLAB_VALUE_LEN, "%u", number);
}

static int hslab_parse_check(struct hslab_policy *policy, const char *value)
{
	return hslab_parse_bool(value, &policy->check);
}

static void hslab_format_check(const struct hslab_policy *policy, char *value)
{
	hslab_format_number(policy->check, value);
}

#define HSLAB_QUARANTINE_MAX	1048576		/* KiB */

static int hslab_parse_quarantine(struct hslab_policy *policy,
				  const char *value)
{
	return hslab_parse_number(value, HSLAB_QUARANTINE_MAX,
				  &policy->quarantine_kb);
}

static void hslab_format_quarantine(const struct hslab_policy *policy,
				    char *value)
{
	hslab_format_number(policy->quarantine_kb, value);
}

#define HSLAB_PIN_MAX		1048576		/* pages */

static int hslab_parse_pin(struct hslab_policy *policy, const char *value)
{
	return hslab_parse_number(value, HSLAB_PIN_MAX, &policy->pin);
}

static void hslab_format_pin(const struct hslab_policy *policy, char *value)
{
	hslab_format_number(policy->pin, value);
}

static int hslab_parse_track(struct hslab_policy *policy, const char *value)
{
	return hslab_parse_bool(value, &policy->track);
}

static void hslab_format_track(const struct hslab_policy *policy, char *value)
{
	hslab_format_number(policy->track, value);
}

#define HSLAB_INTERVAL_MIN	10		/* ms */
#define HSLAB_INTERVAL_MAX	86400000	/* a day */

static int hslab_parse_interval(struct hslab_policy *policy, const char *value)
{
	unsigned int ms;

	if (hslab_parse_number(value, HSLAB_INTERVAL_MAX, &ms) ||
	    (ms && ms < HSLAB_INTERVAL_MIN))
		return -EINVAL;
	policy->scrub_interval_ms = ms;
	return 0;
}

static void hslab_format_interval(const struct hslab_policy *policy,
				  char *value)
{
	hslab_format_number(policy->scrub_interval_ms, value);
}

static int hslab_parse_typesafe(struct hslab_policy *policy, const char *value)
{
	return hslab_parse_bool(value, &policy->poison_typesafe);
}

static void hslab_format_typesafe(const struct hslab_policy *policy,
				  char *value)
{
	hslab_format_number(policy->poison_typesafe, value);
}

static int hslab_parse_action(struct hslab_policy *policy, const char *value)
{
	int i = match_string(hslab_action_names, HSLAB_NR_ACT, value);

	if (i < 0)
		return i;
	policy->on_violation = i;
	return 0;
}

static void hslab_format_action(const struct hslab_policy *policy, char *value)
{
	strscpy(value, hslab_action_names[policy->on_violation],
		HSLAB_VALUE_LEN);
}

const struct hslab_policy_field hslab_fields[HSLAB_NR_FIELDS] = {
	[HSLAB_FIELD_PROFILE] = {
		"profile", hslab_parse_profile, hslab_format_profile,
		"off, fast, balanced, debug or paranoid",
	},
	[HSLAB_FIELD_MERGE] = {
		"merge", hslab_parse_merge, hslab_format_merge,
		"never, owner, any or group=NAME (letters, digits, '_', '-', '.', at most 31)",
	},
	[HSLAB_FIELD_POISON] = {
		"poison", hslab_parse_poison, hslab_format_poison,
		"off, zero, random or a byte such as 0x6b",
	},
	[HSLAB_FIELD_ZERO] = {
		"zero", hslab_parse_zero, hslab_format_zero,
		"auto, 0 or 1",
	},
	[HSLAB_FIELD_VERIFY] = {
		"verify", hslab_parse_verify, hslab_format_verify,
		"off, head or full",
	},
	[HSLAB_FIELD_CHECK] = {
		"check", hslab_parse_check, hslab_format_check,
		"0 or 1",
	},
	[HSLAB_FIELD_QUARANTINE_KB] = {
		"quarantine_kb", hslab_parse_quarantine,
		hslab_format_quarantine,
		"0 or KiB, at most " __stringify(HSLAB_QUARANTINE_MAX),
	},
	[HSLAB_FIELD_PIN] = {
		"pin", hslab_parse_pin, hslab_format_pin,
		"0 or the number of pages to pin, at most "
		__stringify(HSLAB_PIN_MAX),
	},
	[HSLAB_FIELD_TRACK] = {
		"track", hslab_parse_track, hslab_format_track,
		"0 or 1",
	},
	[HSLAB_FIELD_SCRUB_INTERVAL_MS] = {
		"scrub_interval_ms", hslab_parse_interval,
		hslab_format_interval,
		"0 or milliseconds, from " __stringify(HSLAB_INTERVAL_MIN)
		" to " __stringify(HSLAB_INTERVAL_MAX),
	},
	[HSLAB_FIELD_POISON_TYPESAFE] = {
		"poison_typesafe", hslab_parse_typesafe,
		hslab_format_typesafe,
		"0 or 1",
	},
	[HSLAB_FIELD_ON_VIOLATION] = {
		"on_violation", hslab_parse_action, hslab_format_action,
		"report, warn, kill or panic",
	},
};

static_assert(ARRAY_SIZE(hslab_fields) == HSLAB_NR_FIELDS);

/**
 * hslab_policy_set() - set one policy
 * @policy: to be changed
 * @field: which
 * @value: the value, without a newline
 *
 * Return: 0, or -EINVAL, with @policy as it was.
 */
int hslab_policy_set(struct hslab_policy *policy,
		     const struct hslab_policy_field *field, const char *value)
{
	struct hslab_policy changed = *policy;

	if (field->parse(&changed, value))
		return -EINVAL;
	*policy = changed;
	return 0;
}

/* Say what a policy takes, after an -EINVAL for it. */
void hslab_policy_complain(const char *who,
			   const struct hslab_policy_field *field)
{
	pr_warn_ratelimited("%s: %s takes %s\n", who, field->name,
			    field->expected);
}

/*
 * Module parameters: the defaults, before the first cache is made. They are set
 * in the order of the command line, so a profile goes first.
 */
static int hslab_param_set(const char *value, const struct kernel_param *param)
{
	const struct hslab_policy_field *field = param->arg;
	int err;

	err = hslab_policy_set(&hslab_defaults, field, value);
	if (err)
		hslab_policy_complain("module parameter", field);
	return err;
}

static const struct kernel_param_ops hslab_param_ops = {
	.set = hslab_param_set,
};

#define HSLAB_PARAM(_name, _field)					\
	module_param_cb(_name, &hslab_param_ops,			\
			(void *)&hslab_fields[_field], 0)

HSLAB_PARAM(profile, HSLAB_FIELD_PROFILE);
MODULE_PARM_DESC(profile, "default profile: off, fast, balanced (the default), debug or paranoid");
HSLAB_PARAM(merge, HSLAB_FIELD_MERGE);
MODULE_PARM_DESC(merge, "default merge policy: never, owner, any or group=NAME");
HSLAB_PARAM(poison, HSLAB_FIELD_POISON);
MODULE_PARM_DESC(poison, "default poison: off, zero, random or a byte such as 0x6b");
HSLAB_PARAM(zero, HSLAB_FIELD_ZERO);
MODULE_PARM_DESC(zero, "zero at allocation by default: auto, 0 or 1");
HSLAB_PARAM(verify, HSLAB_FIELD_VERIFY);
MODULE_PARM_DESC(verify, "verify poison at allocation by default: off, head or full");
HSLAB_PARAM(check, HSLAB_FIELD_CHECK);
MODULE_PARM_DESC(check, "check tags by default: 0 or 1");
HSLAB_PARAM(quarantine_kb, HSLAB_FIELD_QUARANTINE_KB);
MODULE_PARM_DESC(quarantine_kb, "KiB of freed objects a cache keeps from reuse by default: 0 (off) or more");
HSLAB_PARAM(pin, HSLAB_FIELD_PIN);
MODULE_PARM_DESC(pin, "slab pages a cache keeps for ever by default: 0 (off) or more");
HSLAB_PARAM(track, HSLAB_FIELD_TRACK);
MODULE_PARM_DESC(track, "record who allocates and frees by default: 0 or 1");
HSLAB_PARAM(scrub_interval_ms, HSLAB_FIELD_SCRUB_INTERVAL_MS);
MODULE_PARM_DESC(scrub_interval_ms, "milliseconds between scrubs by default: 0 (never) or more");
HSLAB_PARAM(poison_typesafe, HSLAB_FIELD_POISON_TYPESAFE);
MODULE_PARM_DESC(poison_typesafe, "poison SLAB_TYPESAFE_BY_RCU caches by default: 0 or 1");
HSLAB_PARAM(on_violation, HSLAB_FIELD_ON_VIOLATION);
MODULE_PARM_DESC(on_violation, "what to do on a violation by default: report, warn, kill or panic");

const struct hslab_policy_field *hslab_field_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < HSLAB_NR_FIELDS; i++)
		if (!strcmp(name, hslab_fields[i].name))
			return &hslab_fields[i];
	return NULL;
}

/*
 * Does a new object have to be zeroed? auto does as mm/slab.h's
 * slab_want_init_on_alloc(): never where content is kept on purpose.
 */
static bool hslab_wants_zero(const struct hslab_policy *policy,
			     const struct hslab_cache *cache)
{
	switch (policy->zero) {
	case HSLAB_ZERO_YES:
		return true;
	case HSLAB_ZERO_AUTO:
		return want_init_on_alloc(0) && !cache->ctor &&
		       !(cache->geometry.flags & SLAB_TYPESAFE_BY_RCU);
	default:
		return false;
	}
}

/**
 * hslab_policy_word() - what the hot path has to know of a policy
 * @policy: the policy
 * @cache: the cache it is for
 *
 * SLAB_TYPESAFE_BY_RCU: readers may look at an object until a grace period
 * after its free, and may rely on content across its reuse. So it is neither
 * filled nor zeroed, unless poison_typesafe says that nobody relies on content;
 * then a free waits for the grace period before it does anything.
 *
 * Return: the policy word.
 */
u64 hslab_policy_word(const struct hslab_policy *policy,
		      const struct hslab_cache *cache)
{
	bool typesafe = cache->geometry.flags & SLAB_TYPESAFE_BY_RCU;
	u64 word = 0, changes = 0;

	if (policy->check)
		word |= HSLAB_POL_CHECK;
	if (policy->verify == HSLAB_VERIFY_HEAD)
		word |= HSLAB_POL_HEAD;
	else if (policy->verify == HSLAB_VERIFY_FULL)
		word |= HSLAB_POL_FULL;
	if (policy->quarantine_kb)
		word |= HSLAB_POL_QUARANTINE;
	if (policy->track)
		word |= HSLAB_POL_TRACK;
	if (cache->pad_mask)
		word |= HSLAB_POL_PAD;

	/* What changes content. */
	if (hslab_wants_zero(policy, cache))
		changes |= HSLAB_POL_ZERO;
	changes |= hslab_fill_bits(policy->poison, policy->poison_byte);
	if (!typesafe)
		return word | changes;
	if (policy->poison_typesafe && changes)
		word |= changes | HSLAB_POL_DEFER;
	return word;
}
