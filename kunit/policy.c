// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: what they take, what profiles set, what the hot path is
 * told.
 */
#include <linux/ctype.h>

#include "hslab_kunit.h"

/* A value that a field takes, and how it is shown. */
struct good_case {
	const char *field, *value, *shown;
};

#define A_31	"abcdefghijklmnopqrstuvwxyz01234"

static const struct good_case good_cases[] = {
	{ "profile",	"off",		"off" },
	{ "profile",	"fast",		"fast" },
	{ "profile",	"balanced",	"balanced" },
	{ "profile",	"debug",	"debug" },
	{ "profile",	"paranoid",	"paranoid" },
	{ "merge",	"never",	"never" },
	{ "merge",	"owner",	"owner" },
	{ "merge",	"any",		"any" },
	{ "merge",	"group=a",	"group=a" },
	{ "merge",	"group=Net_2.x-y", "group=Net_2.x-y" },
	{ "merge",	"group=" A_31,	"group=" A_31 },
	{ "merge",	"group=never",	"group=never" },
	{ "poison",	"off",		"off" },
	{ "poison",	"zero",		"zero" },
	{ "poison",	"0x00",		"zero" },
	{ "poison",	"random",	"random" },
	{ "poison",	"0x01",		"0x01" },
	{ "poison",	"0x6b",		"0x6b" },
	{ "poison",	"0xA5",		"0xa5" },
	{ "poison",	"0xff",		"0xff" },
	{ "zero",	"auto",		"auto" },
	{ "zero",	"0",		"0" },
	{ "zero",	"1",		"1" },
	{ "verify",	"off",		"off" },
	{ "verify",	"head",		"head" },
	{ "verify",	"full",		"full" },
	{ "check",	"0",		"0" },
	{ "check",	"1",		"1" },
	{ "quarantine_kb", "0", "0" },
	{ "quarantine_kb", "1", "1" },
	{ "quarantine_kb", "64", "64" },
	{ "quarantine_kb", "1048576", "1048576" },
	{ "pin", "0", "0" },
	{ "pin", "1", "1" },
	{ "pin", "4096", "4096" },
	{ "pin", "1048576", "1048576" },
	{ "track", "0", "0" },
	{ "track", "1", "1" },
	{ "scrub_interval_ms", "0", "0" },
	{ "scrub_interval_ms", "10", "10" },
	{ "scrub_interval_ms", "60000", "60000" },
	{ "scrub_interval_ms", "86400000", "86400000" },
	{ "poison_typesafe", "0", "0" },
	{ "poison_typesafe", "1", "1" },
	{ "on_violation", "report",	"report" },
	{ "on_violation", "warn",	"warn" },
	{ "on_violation", "kill",	"kill" },
	{ "on_violation", "panic",	"panic" },
};

static void good_desc(const struct good_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s=%s", c->field, c->value);
}

KUNIT_ARRAY_PARAM(good, good_cases, good_desc);

/* Policies to start from: none of the values is the same in any two of them. */
static const struct hslab_policy starts[] = {
	{
		.merge = HSLAB_MERGE_NEVER,
		.poison = HSLAB_FILL_BYTE,
		.poison_byte = 0x5a,
		.zero = HSLAB_ZERO_NO,
		.verify = HSLAB_VERIFY_FULL,
		.check = true,
		.quarantine_kb = 3,
		.pin = 5,
		.track = true,
		.scrub_interval_ms = 20,
		.poison_typesafe = false,
		.on_violation = HSLAB_ACT_KILL,
	},
	{
		.merge = HSLAB_MERGE_GROUP,
		.group = "abcdefghijklmnopqrstuvwxyz98765",
		.poison = HSLAB_FILL_RANDOM,
		.zero = HSLAB_ZERO_YES,
		.verify = HSLAB_VERIFY_HEAD,
		.check = false,
		.quarantine_kb = 1048575,
		.pin = 1048575,
		.track = false,
		.scrub_interval_ms = 86399999,
		.poison_typesafe = true,
		.on_violation = HSLAB_ACT_WARN,
	},
};

static void show(const struct hslab_policy *policy, const char *field,
		 char *value)
{
	memset(value, '*', HSLAB_VALUE_LEN);
	hslab_field_find(field)->format(policy, value);
}

/* The field is shown as it should be, and all the others are as they were. */
static void good_value(struct kunit *test)
{
	const struct good_case *c = test->param_value;
	const struct hslab_policy_field *field = hslab_field_find(c->field);
	char value[HSLAB_VALUE_LEN], before[HSLAB_VALUE_LEN];
	struct hslab_policy policy, again;
	unsigned int i, f;

	KUNIT_ASSERT_NOT_NULL(test, field);
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		policy = starts[i];
		KUNIT_EXPECT_EQ(test, 0,
				hslab_policy_set(&policy, field, c->value));
		show(&policy, c->field, value);
		KUNIT_EXPECT_STREQ(test, value, c->shown);

		again = policy;
		KUNIT_EXPECT_EQ(test, 0,
				hslab_policy_set(&again, field, value));
		KUNIT_EXPECT_MEMEQ(test, &again, &policy, sizeof(policy));

		for (f = 0; f < HSLAB_NR_FIELDS; f++) {
			const struct hslab_policy_field *other =
				&hslab_fields[f];

			if (other == field || f == HSLAB_FIELD_PROFILE ||
			    (field == &hslab_fields[HSLAB_FIELD_PROFILE] &&
			     f != HSLAB_FIELD_ON_VIOLATION &&
			     f != HSLAB_FIELD_POISON_TYPESAFE))
				continue;
			show(&starts[i], other->name, before);
			show(&policy, other->name, value);
			KUNIT_EXPECT_STREQ_MSG(test, value, before, "%s",
					       other->name);
		}
	}
}

struct bad_case {
	const char *field, *value;
};

static const struct bad_case bad_cases[] = {
	{ "profile",	"" },
	{ "profile",	"custom" },
	{ "profile",	"Balanced" },
	{ "profile",	"balanced " },
	{ "profile",	"balance" },
	{ "profile",	"off\n" },
	{ "merge",	"" },
	{ "merge",	"Never" },
	{ "merge",	"never " },
	{ "merge",	"neve" },
	{ "merge",	"group" },
	{ "merge",	"group=" },
	{ "merge",	"group=a b" },
	{ "merge",	"group=a/b" },
	{ "merge",	"group=\xe4" },
	{ "merge",	"group=a\n" },
	{ "merge",	"group==a" },
	{ "merge",	"group=" A_31 "5" },
	{ "merge",	"0" },
	{ "poison",	"" },
	{ "poison",	"on" },
	{ "poison",	"0" },
	{ "poison",	"6b" },
	{ "poison",	"0x" },
	{ "poison",	"0x6" },
	{ "poison",	"0x6b6" },
	{ "poison",	"0x06b" },
	{ "poison",	"0X6b" },
	{ "poison",	"0x6g" },
	{ "poison",	"0x+6" },
	{ "poison",	"0x 6" },
	{ "poison",	"0x6 " },
	{ "poison",	"0x6\n" },
	{ "poison",	"0x-1" },
	{ "poison",	" off" },
	{ "poison",	"ZERO" },
	{ "zero",	"" },
	{ "zero",	"2" },
	{ "zero",	"01" },
	{ "zero",	"y" },
	{ "zero",	"on" },
	{ "zero",	"1\n" },
	{ "zero",	"AUTO" },
	{ "verify",	"" },
	{ "verify",	"0" },
	{ "verify",	"1" },
	{ "verify",	"fullest" },
	{ "verify",	"hea" },
	{ "verify",	"head\n" },
	{ "check",	"" },
	{ "check",	"2" },
	{ "check",	"-1" },
	{ "check",	"00" },
	{ "check",	"1 " },
	{ "check",	"1\n" },
	{ "check",	"on" },
	{ "quarantine_kb", "" },
	{ "quarantine_kb", "-1" },
	{ "quarantine_kb", "+1" },
	{ "quarantine_kb", "-0" },
	{ "quarantine_kb", "00" },
	{ "quarantine_kb", "01" },
	{ "quarantine_kb", " 1" },
	{ "quarantine_kb", "1 " },
	{ "quarantine_kb", "1\n" },
	{ "quarantine_kb", "1k" },
	{ "quarantine_kb", "1K" },
	{ "quarantine_kb", "1.0" },
	{ "quarantine_kb", "0x10" },
	{ "quarantine_kb", "1e3" },
	{ "quarantine_kb", "off" },
	{ "quarantine_kb", "1048577" },
	{ "quarantine_kb", "4294967296" },
	{ "quarantine_kb", "4294967297" },
	{ "quarantine_kb", "18446744073709551617" },
	{ "pin", "" },
	{ "pin", "-1" },
	{ "pin", "+1" },
	{ "pin", "-0" },
	{ "pin", "00" },
	{ "pin", "01" },
	{ "pin", " 1" },
	{ "pin", "1 " },
	{ "pin", "1\n" },
	{ "pin", "1k" },
	{ "pin", "1K" },
	{ "pin", "1.0" },
	{ "pin", "0x10" },
	{ "pin", "1e3" },
	{ "pin", "off" },
	{ "pin", "1048577" },
	{ "pin", "4294967297" },
	{ "pin", "18446744073709551617" },
	{ "track", "" },
	{ "track", "2" },
	{ "track", "-1" },
	{ "track", "00" },
	{ "track", "1 " },
	{ "track", "1\n" },
	{ "track", "on" },
	{ "scrub_interval_ms", "" },
	{ "scrub_interval_ms", "-1" },
	{ "scrub_interval_ms", "+1" },
	{ "scrub_interval_ms", "-0" },
	{ "scrub_interval_ms", "00" },
	{ "scrub_interval_ms", "01" },
	{ "scrub_interval_ms", " 1" },
	{ "scrub_interval_ms", "1 " },
	{ "scrub_interval_ms", "1\n" },
	{ "scrub_interval_ms", "1k" },
	{ "scrub_interval_ms", "1K" },
	{ "scrub_interval_ms", "1.0" },
	{ "scrub_interval_ms", "0x10" },
	{ "scrub_interval_ms", "1e3" },
	{ "scrub_interval_ms", "off" },
	{ "scrub_interval_ms", "1" },
	{ "scrub_interval_ms", "9" },
	{ "scrub_interval_ms", "86400001" },
	{ "scrub_interval_ms", "4294967306" },
	{ "scrub_interval_ms", "18446744073709551626" },
	{ "poison_typesafe", "" },
	{ "poison_typesafe", "2" },
	{ "poison_typesafe", "-1" },
	{ "poison_typesafe", "00" },
	{ "poison_typesafe", "1 " },
	{ "poison_typesafe", "1\n" },
	{ "poison_typesafe", "on" },
	{ "on_violation", "" },
	{ "on_violation", "off" },
	{ "on_violation", "panic\n" },
	{ "on_violation", "reports" },
	{ "on_violation", "Kill" },
};

static void bad_desc(const struct bad_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s=%*pE", c->field,
		 (int)strlen(c->value), c->value);
	for (; *desc; desc++)
		if (!isascii(*desc))
			*desc = '?';
}

KUNIT_ARRAY_PARAM(bad, bad_cases, bad_desc);

static void bad_value(struct kunit *test)
{
	const struct bad_case *c = test->param_value;
	const struct hslab_policy_field *field = hslab_field_find(c->field);
	struct hslab_policy policy, before;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, field);
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		/* By memcpy(): the bytes between the members count as well. */
		memcpy(&policy, &starts[i], sizeof(policy));
		memcpy(&before, &policy, sizeof(policy));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				hslab_policy_set(&policy, field, c->value));
		KUNIT_EXPECT_MEMEQ(test, &policy, &before, sizeof(policy));
	}
}

static const char *const field_names[] = {
	"profile", "merge", "poison", "zero", "verify", "check",
	"quarantine_kb", "pin", "track", "scrub_interval_ms",
	"poison_typesafe", "on_violation",
};

static void fields_are_known(struct kunit *test)
{
	static const char *const unknown[] = {
		"", "Merge", "merg", "merge ", "mergee", "state", "name",
	};
	unsigned int i;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(field_names), HSLAB_NR_FIELDS);
	for (i = 0; i < ARRAY_SIZE(field_names); i++) {
		KUNIT_EXPECT_STREQ(test, hslab_fields[i].name, field_names[i]);
		KUNIT_EXPECT_PTR_EQ(test, hslab_field_find(field_names[i]),
				    &hslab_fields[i]);
	}
	for (i = 0; i < ARRAY_SIZE(unknown); i++)
		KUNIT_EXPECT_NULL_MSG(test, hslab_field_find(unknown[i]),
				      "\"%s\"", unknown[i]);
}

/* What a profile sets, as it is shown. */
struct profile_case {
	const char *name, *merge, *poison, *zero, *verify, *check;
	const char *quarantine_kb, *pin, *track, *scrub_interval_ms;
};

static const struct profile_case profile_cases[] = {
	{ "off",	"any",	 "off",	   "auto", "off",  "0",
	  "0",	 "0",	 "0", "0" },
	{ "fast",	"never", "off",	   "auto", "off",  "1",
	  "0",	 "0",	 "0", "0" },
	{ "balanced",	"never", "zero",   "auto", "head", "1",
	  "0",	 "0",	 "0", "0" },
	{ "debug",	"never", "0x6b",   "0",	   "full", "1",
	  "0",	 "0",	 "0", "0" },
	{ "paranoid",	"never", "random", "1",	   "full", "1",
	  "256", "4096", "0", "60000" },
};

KUNIT_ARRAY_PARAM_DESC(profile, profile_cases, name);

static void expect_shown(struct kunit *test, const struct hslab_policy *policy,
			 const char *field, const char *should)
{
	char value[HSLAB_VALUE_LEN];

	show(policy, field, value);
	KUNIT_EXPECT_STREQ_MSG(test, value, should, "%s", field);
}

static void profile_sets(struct kunit *test)
{
	const struct profile_case *c = test->param_value;
	const struct hslab_policy_field *field = hslab_field_find("profile");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct hslab_policy policy = starts[i];

		KUNIT_EXPECT_EQ(test, 0,
				hslab_policy_set(&policy, field, c->name));
		expect_shown(test, &policy, "profile", c->name);
		expect_shown(test, &policy, "merge", c->merge);
		expect_shown(test, &policy, "poison", c->poison);
		expect_shown(test, &policy, "zero", c->zero);
		expect_shown(test, &policy, "verify", c->verify);
		expect_shown(test, &policy, "check", c->check);
		expect_shown(test, &policy, "quarantine_kb", c->quarantine_kb);
		expect_shown(test, &policy, "pin", c->pin);
		expect_shown(test, &policy, "track", c->track);
		expect_shown(test, &policy, "scrub_interval_ms",
			     c->scrub_interval_ms);
		KUNIT_EXPECT_EQ(test, policy.poison_typesafe,
				starts[i].poison_typesafe);
		KUNIT_EXPECT_EQ(test, policy.on_violation,
				starts[i].on_violation);
	}
}

/* Any other value of a field makes a profile "custom", and back. */
static void profile_is_custom(struct kunit *test)
{
	const struct profile_case *c = test->param_value;
	const char *const was[] = {
		c->merge, c->poison, c->zero, c->verify, c->check,
		c->quarantine_kb, c->pin, c->track, c->scrub_interval_ms,
	};
	static const char *const other[] = {
		"group=x", "0x11", "0", "head", "0", "1", "1", "0", "10",
		"owner", "0x6c", "1", "off", "1", "257", "4095", "1", "60001",
	};
	struct hslab_policy policy = {};
	unsigned int i;

	hslab_policy_set(&policy, hslab_field_find("profile"), c->name);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		const char *before = was[i % ARRAY_SIZE(was)];
		const struct hslab_policy_field *field =
			&hslab_fields[HSLAB_FIELD_MERGE + i % ARRAY_SIZE(was)];

		if (!strcmp(other[i], before))
			continue;
		KUNIT_EXPECT_EQ(test, 0,
				hslab_policy_set(&policy, field, other[i]));
		expect_shown(test, &policy, "profile", "custom");
		KUNIT_EXPECT_EQ(test, 0,
				hslab_policy_set(&policy, field, before));
		expect_shown(test, &policy, "profile", c->name);
	}
	hslab_policy_set(&policy, hslab_field_find("on_violation"), "panic");
	expect_shown(test, &policy, "profile", c->name);
	hslab_policy_set(&policy, hslab_field_find("poison_typesafe"), "1");
	expect_shown(test, &policy, "profile", c->name);
}

/* The policy word of a policy, for a kind of cache. */
struct word_case {
	const char *name;
	const char *profile, *field, *value;	/* the policy */
	bool poison_typesafe;
	bool typesafe, ctor, odd;		/* the cache */
	bool zero_as_kernel;		/* HSLAB_POL_ZERO if init_on_alloc */
	u64 word;
};

#define FILL(kind, byte) \
	((u64)HSLAB_FILL_##kind << HSLAB_KIND_SHIFT | \
	 (u64)(byte) << HSLAB_BYTE_SHIFT)
#define CHECK	HSLAB_POL_CHECK
#define HEAD	HSLAB_POL_HEAD
#define FULL	HSLAB_POL_FULL
#define ZERO	HSLAB_POL_ZERO
#define QUARANTINE	HSLAB_POL_QUARANTINE
#define PAD	HSLAB_POL_PAD
#define TRACK	HSLAB_POL_TRACK
#define DEFER	HSLAB_POL_DEFER

static const struct word_case word_cases[] = {
	{ "off", "off", .zero_as_kernel = true, .word = FILL(KEPT, 0) },
	{ "fast", "fast", .zero_as_kernel = true, .word = CHECK },
	{ "balanced", "balanced", .zero_as_kernel = true,
	  .word = CHECK | HEAD | FILL(BYTE, 0) },
	{ "debug", "debug", .word = CHECK | FULL | FILL(BYTE, 0x6b) },
	{ "paranoid", "paranoid",
	  .word = CHECK | FULL | QUARANTINE | ZERO | FILL(RANDOM, 0) },

	{ "balanced, odd size", "balanced", .odd = true, .zero_as_kernel = true,
	  .word = CHECK | HEAD | FILL(BYTE, 0) | PAD },
	{ "off, odd size", "off", .odd = true, .zero_as_kernel = true,
	  .word = PAD },

	{ "off, typesafe", "off", .typesafe = true, .word = 0 },
	{ "balanced, typesafe", "balanced", .typesafe = true,
	  .word = CHECK | HEAD },
	{ "debug, typesafe", "debug", .typesafe = true, .word = CHECK | FULL },
	{ "paranoid, typesafe", "paranoid", .typesafe = true,
	  .word = CHECK | FULL | QUARANTINE },
	{ "paranoid, typesafe, odd size, ctor", "paranoid", .typesafe = true,
	  .odd = true, .ctor = true,
	  .word = CHECK | FULL | QUARANTINE | PAD },

	{ "off, typesafe, poisoned: nothing to do", "off", .typesafe = true,
	  .poison_typesafe = true, .word = 0 },
	{ "fast, typesafe, poisoned: nothing to do", "fast", .typesafe = true,
	  .poison_typesafe = true, .word = CHECK },
	{ "balanced, typesafe, poisoned", "balanced", .typesafe = true,
	  .poison_typesafe = true,
	  .word = CHECK | HEAD | FILL(BYTE, 0) | DEFER },
	{ "debug, typesafe, poisoned", "debug", .typesafe = true,
	  .poison_typesafe = true,
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) | DEFER },
	{ "zero=1, typesafe, poisoned", "fast", "zero", "1", .typesafe = true,
	  .poison_typesafe = true, .word = CHECK | ZERO | DEFER },
	{ "paranoid, typesafe, poisoned", "paranoid", .typesafe = true,
	  .poison_typesafe = true,
	  .word = CHECK | FULL | QUARANTINE | ZERO | FILL(RANDOM, 0) | DEFER },
	{ "debug, poisoned but not typesafe", "debug", .poison_typesafe = true,
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) },

	{ "balanced, ctor: auto does not zero", "balanced", .ctor = true,
	  .word = CHECK | HEAD | FILL(BYTE, 0) },
	{ "paranoid, ctor: 1 does", "paranoid", .ctor = true,
	  .word = CHECK | FULL | QUARANTINE | ZERO | FILL(RANDOM, 0) },

	{ "zero=0", "balanced", "zero", "0",
	  .word = CHECK | HEAD | FILL(BYTE, 0) },
	{ "zero=1", "balanced", "zero", "1",
	  .word = CHECK | HEAD | ZERO | FILL(BYTE, 0) },
	{ "zero=auto", "debug", "zero", "auto", .zero_as_kernel = true,
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) },
	{ "check=0", "debug", "check", "0", .word = FULL | FILL(BYTE, 0x6b) },
	{ "verify=off", "debug", "verify", "off",
	  .word = CHECK | FILL(BYTE, 0x6b) },
	{ "poison=0xff", "debug", "poison", "0xff",
	  .word = CHECK | FULL | FILL(BYTE, 0xff) },
	{ "poison=random", "debug", "poison", "random",
	  .word = CHECK | FULL | FILL(RANDOM, 0) },
	{ "poison=off", "debug", "poison", "off", .word = CHECK | FULL },
	{ "quarantine_kb=1", "debug", "quarantine_kb", "1",
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) | QUARANTINE },
	{ "quarantine_kb=0", "paranoid", "quarantine_kb", "0",
	  .word = CHECK | FULL | ZERO | FILL(RANDOM, 0) },
	{ "track=1", "debug", "track", "1",
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) | TRACK },
	{ "track=1, typesafe", "debug", "track", "1", .typesafe = true,
	  .word = CHECK | FULL | TRACK },
	{ "pin is not in it", "debug", "pin", "9",
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) },
	{ "scrub_interval_ms is not in it", "debug", "scrub_interval_ms", "10",
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) },
	{ "merge and action are not in it", "debug", "merge", "any",
	  .word = CHECK | FULL | FILL(BYTE, 0x6b) },
};

KUNIT_ARRAY_PARAM_DESC(word, word_cases, name);

static void ctor(void *object)
{
}

static void word_is_exact(struct kunit *test)
{
	const struct word_case *c = test->param_value;
	struct hslab_cache *cache = kunit_kzalloc(test, sizeof(*cache),
						  GFP_KERNEL);
	struct hslab_policy policy = { .on_violation = HSLAB_ACT_PANIC };
	u64 word = c->word;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	policy.poison_typesafe = c->poison_typesafe;
	cache->geometry.flags = SLAB_ACCOUNT |
				(c->typesafe ? SLAB_TYPESAFE_BY_RCU : 0);
	cache->ctor = c->ctor ? ctor : NULL;
	cache->pad_mask = c->odd ? 0xffff000000000000ULL : 0;
	KUNIT_ASSERT_EQ(test, 0,
			hslab_policy_set(&policy, hslab_field_find("profile"),
					 c->profile));
	if (c->field)
		KUNIT_ASSERT_EQ(test, 0,
				hslab_policy_set(&policy,
						 hslab_field_find(c->field),
						 c->value));
	if (c->zero_as_kernel && want_init_on_alloc(0))
		word |= HSLAB_POL_ZERO;
	KUNIT_EXPECT_EQ(test, hslab_policy_word(&policy, cache), word);
}

static struct kunit_case policy_tests[] = {
	KUNIT_CASE(fields_are_known),
	KUNIT_CASE_PARAM(good_value, good_gen_params),
	KUNIT_CASE_PARAM(bad_value, bad_gen_params),
	KUNIT_CASE_PARAM(profile_sets, profile_gen_params),
	KUNIT_CASE_PARAM(profile_is_custom, profile_gen_params),
	KUNIT_CASE_PARAM(word_is_exact, word_gen_params),
	{}
};

static struct kunit_suite policy_suite = {
	.name = "hslab_policy",
	.test_cases = policy_tests,
};

kunit_test_suite(policy_suite);
