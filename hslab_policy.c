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

static const char *const hslab_action_names[HSLAB_NR_ACT] = {
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
 * administrator trusts the machine to go on, not how closely to look.
 */
struct hslab_profile {
	const char *name;
	struct hslab_policy policy;
};

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
	{ "balanced", {
		.merge = HSLAB_MERGE_NEVER,
		.poison = HSLAB_FILL_BYTE,
		.poison_byte = 0,
		.zero = HSLAB_ZERO_AUTO,
		.verify = HSLAB_VERIFY_HEAD,
		.check = true,
	} },
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
	} },
};

/* balanced, until a module parameter or sysfs says otherwise. */
struct hslab_policy hslab_defaults = {
	.merge = HSLAB_MERGE_NEVER,
	.poison = HSLAB_FILL_BYTE,
	.poison_byte = 0,
	.zero = HSLAB_ZERO_AUTO,
	.verify = HSLAB_VERIFY_HEAD,
	.check = true,
	.on_violation = HSLAB_ACT_REPORT,
};

static int hslab_parse_profile(struct hslab_policy *policy, const char *value)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hslab_profiles); i++) {
		enum hslab_action action = policy->on_violation;

		if (strcmp(value, hslab_profiles[i].name))
			continue;
		*policy = hslab_profiles[i].policy;
		policy->on_violation = action;
		return 0;
	}
	return -EINVAL;
}

static bool hslab_policy_matches(const struct hslab_policy *a,
				 const struct hslab_policy *b)
{
	return a->merge == b->merge && a->poison == b->poison &&
	       a->poison_byte == b->poison_byte && a->zero == b->zero &&
	       a->verify == b->verify && a->check == b->check;
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

static int hslab_parse_check(struct hslab_policy *policy, const char *value)
{
	if (strcmp(value, "0") && strcmp(value, "1"))
		return -EINVAL;
	policy->check = value[0] == '1';
	return 0;
}

static void hslab_format_check(const struct hslab_policy *policy, char *value)
{
	strscpy(value, policy->check ? "1" : "0", HSLAB_VALUE_LEN);
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
 * after its free, and may rely on content across its reuse, so it is neither
 * filled nor zeroed.
 *
 * Return: the policy word.
 */
u64 hslab_policy_word(const struct hslab_policy *policy,
		      const struct hslab_cache *cache)
{
	bool typesafe = cache->geometry.flags & SLAB_TYPESAFE_BY_RCU;
	u64 word = 0;

	if (policy->check)
		word |= HSLAB_POL_CHECK;
	if (policy->verify == HSLAB_VERIFY_HEAD)
		word |= HSLAB_POL_HEAD;
	else if (policy->verify == HSLAB_VERIFY_FULL)
		word |= HSLAB_POL_FULL;
	if (cache->pad_mask)
		word |= HSLAB_POL_PAD;
	if (typesafe)
		return word;
	if (hslab_wants_zero(policy, cache))
		word |= HSLAB_POL_ZERO;
	return word | hslab_fill_bits(policy->poison, policy->poison_byte);
}
