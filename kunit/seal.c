// SPDX-License-Identifier: GPL-2.0
/*
 * The seal: what is looser than what. That it is refused is for selftests/seal.sh,
 * since a sealed module cannot be unloaded.
 */
#include "hslab_kunit.h"

/* Values of a policy, and how tight each is. */
struct seal_value {
	const char *value;
	int level;
	bool alone;	/* neither looser nor tighter than others of its level */
};

struct seal_case {
	const char *field;
	struct seal_value values[8];
};

static const struct seal_case seal_cases[] = {
	{ "merge", {
		{ "any", 0 },
		{ "owner", 1, true }, { "group=a", 1, true },
		{ "group=b", 1, true }, { "group=ab", 1, true },
		{ "never", 2 },
	} },
	{ "poison", {
		{ "off", 0 },
		{ "zero", 1 }, { "0x01", 1 }, { "0x6b", 1 }, { "0xff", 1 },
		{ "random", 2 },
	} },
	{ "zero", { { "0", 0 }, { "auto", 1 }, { "1", 2 } } },
	{ "verify", { { "off", 0 }, { "head", 1 }, { "full", 2 } } },
	{ "check", { { "0", 0 }, { "1", 1 } } },
	{ "quarantine_kb", {
		{ "0", 0 }, { "1", 1 }, { "2", 2 }, { "255", 3 }, { "256", 4 },
		{ "1048575", 5 }, { "1048576", 6 },
	} },
	{ "pin", {
		{ "0", 0 }, { "1", 1 }, { "2", 2 }, { "4096", 3 },
		{ "1048575", 4 }, { "1048576", 5 },
	} },
	{ "track", { { "0", 0 }, { "1", 1 } } },
	{ "scrub_interval_ms", {
		{ "0", 0 }, { "86400000", 1 }, { "86399999", 2 },
		{ "60000", 3 }, { "11", 4 }, { "10", 5 },
	} },
	{ "poison_typesafe", { { "0", 0 }, { "1", 1 } } },
	{ "on_violation", {
		{ "report", 0 }, { "warn", 1 }, { "kill", 2 }, { "panic", 3 },
	} },
};

KUNIT_ARRAY_PARAM_DESC(seal, seal_cases, field);

/* The loosest of all policies, and the tightest, but for one field. */
static void policy_at(struct kunit *test, struct hslab_policy *policy,
		      bool tight, const char *field, const char *value)
{
	unsigned int i, v;

	memset(policy, 0, sizeof(*policy));
	for (i = 0; i < ARRAY_SIZE(seal_cases); i++) {
		const struct seal_value *values = seal_cases[i].values;

		for (v = 0; tight && v < 7 && values[v + 1].value; v++)
			;
		if (!tight)
			v = 0;
		KUNIT_ASSERT_EQ(test, 0,
				hslab_policy_set(policy,
						 hslab_field_find(seal_cases[i].field),
						 values[v].value));
	}
	KUNIT_ASSERT_EQ(test, 0, hslab_policy_set(policy,
						  hslab_field_find(field),
						  value));
}

static void expect_loosened(struct kunit *test,
			    const struct hslab_policy *from,
			    const struct hslab_policy *to, const char *field,
			    const char *what)
{
	const struct hslab_policy_field *got = hslab_loosened(from, to);

	KUNIT_EXPECT_STREQ_MSG(test, got ? got->name : "nothing",
			       field ? field : "nothing", "%s", what);
}

/* Every pair of values, whatever the other policies are. */
static void pairs_are_exact(struct kunit *test)
{
	const struct seal_case *c = test->param_value;
	const struct seal_value *a, *b;
	struct hslab_policy from, to;
	unsigned int tight;
	char what[64];

	for (tight = 0; tight < 2; tight++)
		for (a = c->values; a < c->values + 8 && a->value; a++)
			for (b = c->values; b < c->values + 8 && b->value; b++) {
				bool looser = b->level < a->level ||
					      (a != b && a->level == b->level &&
					       a->alone);

				policy_at(test, &from, tight, c->field, a->value);
				policy_at(test, &to, tight, c->field, b->value);
				snprintf(what, sizeof(what), "%s to %s",
					 a->value, b->value);
				expect_loosened(test, &from, &to,
						looser ? c->field : NULL, what);
			}
}

/* Each policy is among the cases: a new one is not forgotten here. */
static void all_fields_have_cases(struct kunit *test)
{
	unsigned int f;

	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(seal_cases), HSLAB_NR_FIELDS - 1);
	for (f = HSLAB_FIELD_MERGE; f < HSLAB_NR_FIELDS; f++)
		KUNIT_EXPECT_STREQ(test, hslab_fields[f].name,
				   seal_cases[f - HSLAB_FIELD_MERGE].field);
}

/* What is tighter in all but one is looser all the same. */
static void one_is_enough(struct kunit *test)
{
	struct hslab_policy from, to;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(seal_cases); i++) {
		const struct seal_case *c = &seal_cases[i];
		const char *last = c->values[1].value;

		policy_at(test, &from, false, c->field, last);
		policy_at(test, &to, true, c->field, c->values[0].value);
		expect_loosened(test, &from, &to, c->field, c->field);
	}
}

/* The first policy that stands against a change of profile, from row to column. */
static void profiles_are_compared(struct kunit *test)
{
	static const char *const names[] = {
		"off", "fast", "balanced", "debug", "paranoid",
	};
	static const char *const first[5][5] = {
		{ NULL, NULL, NULL, "zero", NULL },
		{ "merge", NULL, NULL, "zero", NULL },
		{ "merge", "poison", NULL, "zero", NULL },
		{ "merge", "poison", "verify", NULL, NULL },
		{ "merge", "poison", "poison", "poison", NULL },
	};
	const struct hslab_policy_field *profile = hslab_field_find("profile");
	struct hslab_policy from = {}, to = {};
	unsigned int a, b;
	char what[64];

	for (a = 0; a < ARRAY_SIZE(names); a++)
		for (b = 0; b < ARRAY_SIZE(names); b++) {
			hslab_policy_set(&from, profile, names[a]);
			hslab_policy_set(&to, profile, names[b]);
			snprintf(what, sizeof(what), "%s to %s", names[a],
				 names[b]);
			expect_loosened(test, &from, &to, first[a][b], what);
		}
}

/* Or the suites that loosen policies would fail, one after the other. */
static void is_not_sealed(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, hslab_sealed());
}

static struct kunit_case seal_tests[] = {
	KUNIT_CASE_PARAM(pairs_are_exact, seal_gen_params),
	KUNIT_CASE(all_fields_have_cases),
	KUNIT_CASE(one_is_enough),
	KUNIT_CASE(profiles_are_compared),
	KUNIT_CASE(is_not_sealed),
	{}
};

static struct kunit_suite seal_suite = {
	.name = "hslab_seal",
	.test_cases = seal_tests,
};

kunit_test_suite(seal_suite);
