// SPDX-License-Identifier: GPL-2.0
/*
 * Merging: who shares slots with whom, and what a slot takes.
 */
#include "hslab_kunit.h"

/* One side of a decision, and the reason for which it does not share with the first. */
struct merge_case {
	const char *name;
	struct hslab_geometry geometry;
	struct hslab_domain domain;
	enum hslab_refusal refusal;
};

#define BASE								\
	.geometry = { .payload = 128, .align = 64,			\
		      .flags = SLAB_ACCOUNT,				\
		      .useroffset = 16, .usersize = 32 }
#define ANY	.domain = { .merge = HSLAB_MERGE_ANY }

/*
 * Each but the first differs from the first in what its name says, and in what
 * is looked at after it where that is said.
 */
static const struct merge_case any_cases[] = {
	{ "any: the same", BASE, ANY, HSLAB_SHARE },
	{ "any: number of a cache is not looked at", BASE,
	  .domain = { .merge = HSLAB_MERGE_ANY, .cache = 7 },
	  HSLAB_SHARE },
	{ "any and never", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 7 },
	  HSLAB_REFUSE_POLICY },
	{ "any and owner", BASE,
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "ext4" },
	  HSLAB_REFUSE_POLICY },
	{ "any and group", BASE,
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "net" },
	  HSLAB_REFUSE_POLICY },
	{ "smaller",
	  .geometry = { .payload = 120, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 32 },
	  ANY, HSLAB_REFUSE_SIZE },
	{ "larger, and all the rest differs too",
	  .geometry = { .payload = 136, .align = 8,
			.flags = SLAB_RECLAIM_ACCOUNT },
	  ANY, HSLAB_REFUSE_SIZE },
	{ "larger, and policy differs",
	  .geometry = { .payload = 136, .align = 8 },
	  .domain = { .merge = HSLAB_MERGE_NEVER },
	  HSLAB_REFUSE_POLICY },
	{ "alignment",
	  .geometry = { .payload = 128, .align = 8, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 32 },
	  ANY, HSLAB_REFUSE_ALIGN },
	{ "alignment, flags and window",
	  .geometry = { .payload = 128, .align = 128,
			.flags = SLAB_RECLAIM_ACCOUNT },
	  ANY, HSLAB_REFUSE_ALIGN },
	{ "typesafe",
	  .geometry = { .payload = 128, .align = 64,
			.flags = SLAB_ACCOUNT | SLAB_TYPESAFE_BY_RCU,
			.useroffset = 16, .usersize = 32 },
	  ANY, HSLAB_REFUSE_RCU },
	{ "typesafe, other flags and window",
	  .geometry = { .payload = 128, .align = 64,
			.flags = SLAB_TYPESAFE_BY_RCU },
	  ANY, HSLAB_REFUSE_RCU },
	{ "no flags",
	  .geometry = { .payload = 128, .align = 64,
			.useroffset = 16, .usersize = 32 },
	  ANY, HSLAB_REFUSE_FLAGS },
	{ "another flag, and window",
	  .geometry = { .payload = 128, .align = 64,
			.flags = SLAB_ACCOUNT | SLAB_RECLAIM_ACCOUNT },
	  ANY, HSLAB_REFUSE_FLAGS },
	{ "offset of the window",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 8, .usersize = 32 },
	  ANY, HSLAB_REFUSE_USERCOPY },
	{ "size of the window",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 33 },
	  ANY, HSLAB_REFUSE_USERCOPY },
	{ "tracked",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 32, .tracked = true },
	  ANY, HSLAB_REFUSE_TRACK },
	{ "tracked, another window",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 33, .tracked = true },
	  ANY, HSLAB_REFUSE_USERCOPY },
	{ "no window",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT },
	  ANY, HSLAB_REFUSE_USERCOPY },
};

static const struct merge_case never_cases[] = {
	{ "never: itself", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 7 }, HSLAB_SHARE },
	{ "never: another of the same kind", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 8 },
	  HSLAB_REFUSE_POLICY },
	{ "never: number 0 is another too", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER }, HSLAB_REFUSE_POLICY },
	{ "never: itself, tracked",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 32, .tracked = true },
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 7 },
	  HSLAB_REFUSE_TRACK },
	{ "never: itself with another size",
	  .geometry = { .payload = 8, .align = 64, .flags = SLAB_ACCOUNT,
			.useroffset = 16, .usersize = 32 },
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 7 },
	  HSLAB_REFUSE_SIZE },
};

static const struct merge_case bucket_cases[] = {
	{ "bucket: itself", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 7, .bucket = true },
	  HSLAB_SHARE },
	{ "bucket: another of the same kind", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 8, .bucket = true },
	  HSLAB_REFUSE_BUCKET },
	{ "bucket and never", BASE,
	  .domain = { .merge = HSLAB_MERGE_NEVER, .cache = 8 },
	  HSLAB_REFUSE_BUCKET },
	{ "bucket and any", BASE, ANY, HSLAB_REFUSE_BUCKET },
	{ "bucket and group, another size",
	  .geometry = { .payload = 8, .align = 8 },
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "net" },
	  HSLAB_REFUSE_BUCKET },
};

static const struct merge_case owner_cases[] = {
	{ "owner: the same", BASE,
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "ext4" },
	  HSLAB_SHARE },
	{ "owner: another", BASE,
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "xfs" },
	  HSLAB_REFUSE_OWNER },
	{ "owner: a longer name", BASE,
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "ext4x" },
	  HSLAB_REFUSE_OWNER },
	{ "owner: a shorter name", BASE,
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "ext" },
	  HSLAB_REFUSE_OWNER },
	{ "owner and group of that name", BASE,
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "ext4" },
	  HSLAB_REFUSE_POLICY },
	{ "owner: the same, another size",
	  .geometry = { .payload = 8, .align = 8 },
	  .domain = { .merge = HSLAB_MERGE_OWNER, .name = "ext4" },
	  HSLAB_REFUSE_SIZE },
};

static const struct merge_case group_cases[] = {
	{ "group: the same", BASE,
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "net" },
	  HSLAB_SHARE },
	{ "group: another", BASE,
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "Net" },
	  HSLAB_REFUSE_GROUP },
	{ "group: a longer name", BASE,
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "net." },
	  HSLAB_REFUSE_GROUP },
	{ "group: the same, another window",
	  .geometry = { .payload = 128, .align = 64, .flags = SLAB_ACCOUNT,
			.usersize = 48 },
	  .domain = { .merge = HSLAB_MERGE_GROUP, .name = "net" },
	  HSLAB_REFUSE_USERCOPY },
};

static const struct {
	const struct merge_case *cases;
	unsigned int nr;
} merge_tables[] = {
	{ any_cases, ARRAY_SIZE(any_cases) },
	{ never_cases, ARRAY_SIZE(never_cases) },
	{ bucket_cases, ARRAY_SIZE(bucket_cases) },
	{ owner_cases, ARRAY_SIZE(owner_cases) },
	{ group_cases, ARRAY_SIZE(group_cases) },
};

static enum hslab_refusal decide(const struct merge_case *a,
				 const struct merge_case *b)
{
	return hslab_merge_decide(&a->geometry, &a->domain, &b->geometry,
				  &b->domain);
}

static const char *refusal_name(unsigned int refusal)
{
	return refusal < HSLAB_NR_REFUSALS ? hslab_refusal_names[refusal] : "?";
}

/* Every case of the tables against the first of its table. */
static void refusals_are_exact(struct kunit *test)
{
	bool seen[HSLAB_NR_REFUSALS] = {};
	unsigned int t, i;

	for (t = 0; t < ARRAY_SIZE(merge_tables); t++) {
		const struct merge_case *first = merge_tables[t].cases;

		for (i = 0; i < merge_tables[t].nr; i++) {
			const struct merge_case *c = &first[i];

			KUNIT_EXPECT_EQ_MSG(test, decide(first, c), c->refusal,
					    "%s: %s", c->name,
					    refusal_name(decide(first, c)));
			seen[c->refusal] = true;
		}
	}
	for (i = 0; i < HSLAB_NR_REFUSALS; i++)
		KUNIT_EXPECT_TRUE_MSG(test, seen[i], "no case for \"%s\"",
				      refusal_name(i));
}

static const struct merge_case *nth_case(unsigned int n)
{
	unsigned int t;

	for (t = 0; t < ARRAY_SIZE(merge_tables); t++) {
		if (n < merge_tables[t].nr)
			return &merge_tables[t].cases[n];
		n -= merge_tables[t].nr;
	}
	return NULL;
}

static void decision_is_symmetric(struct kunit *test)
{
	const struct merge_case *a, *b;
	unsigned int i, j;

	for (i = 0; (a = nth_case(i)); i++)
		for (j = 0; (b = nth_case(j)); j++)
			KUNIT_EXPECT_EQ_MSG(test, decide(a, b), decide(b, a),
					    "\"%s\" with \"%s\"", a->name,
					    b->name);
}

static void decision_is_reflexive(struct kunit *test)
{
	const struct merge_case *a;
	unsigned int i;

	for (i = 0; (a = nth_case(i)); i++) {
		bool typesafe = a->geometry.flags & SLAB_TYPESAFE_BY_RCU;

		KUNIT_EXPECT_EQ_MSG(test, decide(a, a),
				    typesafe ? HSLAB_REFUSE_RCU : HSLAB_SHARE,
				    "\"%s\"", a->name);
	}
}

/* Two SLAB_TYPESAFE_BY_RCU caches never share, whatever they ask for. */
static void typesafe_is_alone(struct kunit *test)
{
	static const struct hslab_geometry g = {
		.payload = 64, .align = 8, .flags = SLAB_TYPESAFE_BY_RCU,
	};
	static const struct hslab_domain any = { .merge = HSLAB_MERGE_ANY };
	static const struct hslab_domain one = { .merge = HSLAB_MERGE_NEVER,
						 .cache = 1 };
	static const struct hslab_domain two = { .merge = HSLAB_MERGE_NEVER,
						 .cache = 2 };

	KUNIT_EXPECT_EQ(test, hslab_merge_decide(&g, &any, &g, &any),
			HSLAB_REFUSE_RCU);
	KUNIT_EXPECT_EQ(test, hslab_merge_decide(&g, &one, &g, &two),
			HSLAB_REFUSE_RCU);
	KUNIT_EXPECT_EQ(test, hslab_merge_decide(&g, &one, &g, &one),
			HSLAB_SHARE);
}

/* Sharing has to be an equivalence, or a store could take in two that clash. */
static void decision_is_transitive(struct kunit *test)
{
	const struct merge_case *a, *b, *c;
	unsigned int i, j, k;

	for (i = 0; (a = nth_case(i)); i++)
		for (j = 0; (b = nth_case(j)); j++) {
			if (decide(a, b) != HSLAB_SHARE)
				continue;
			for (k = 0; (c = nth_case(k)); k++)
				KUNIT_EXPECT_EQ_MSG(test, decide(a, c),
						    decide(b, c),
						    "\"%s\", \"%s\", \"%s\"",
						    a->name, b->name, c->name);
		}
}

static void refusals_have_names(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < HSLAB_NR_REFUSALS; i++) {
		KUNIT_ASSERT_NOT_NULL(test, hslab_refusal_names[i]);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, hslab_refusal_names[i],
					    hslab_refusal_names[j]);
	}
}

struct slot_case {
	unsigned int payload, align, slot;
	bool tracked;
};

/* Payload, tag and free pointer, 8 bytes each, and a record if tracked, aligned. */
static const struct slot_case slot_cases[] = {
	{ 8,		8,	24 },
	{ 16,		8,	32 },
	{ 24,		8,	40 },
	{ 48,		64,	64 },
	{ 56,		64,	128 },
	{ 64,		8,	80 },
	{ 64,		64,	128 },
	{ 112,		64,	128 },
	{ 120,		16,	144 },
	{ 192,		8,	208 },
	{ 240,		256,	256 },
	{ 256,		256,	512 },
	{ 1024,		8,	1040 },
	{ 4080,		4096,	4096 },
	{ 4096,		8,	4112 },
	{ 4096,		4096,	8192 },
	{ 8,		4096,	4096 },
	{ HSLAB_MAX_SIZE, 8,	KMALLOC_MAX_SIZE },
	{ 8,		8,	24 + HSLAB_RECORD_SIZE, true },
	{ 64,		64,	128, true },
	{ 72,		64,	192, true },
};

static void slot_desc(const struct slot_case *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%u bytes, alignment %u%s",
		 c->payload, c->align, c->tracked ? ", tracked" : "");
}

KUNIT_ARRAY_PARAM(slot, slot_cases, slot_desc);

static void slot_size(struct kunit *test)
{
	const struct slot_case *c = test->param_value;
	struct hslab_geometry geometry = {
		.payload = c->payload,
		.align = c->align,
		.tracked = c->tracked,
	};

	KUNIT_EXPECT_EQ(test, c->slot, hslab_slot_size(&geometry));
}

static struct kunit_case merge_tests[] = {
	KUNIT_CASE(refusals_are_exact),
	KUNIT_CASE(decision_is_symmetric),
	KUNIT_CASE(decision_is_reflexive),
	KUNIT_CASE(typesafe_is_alone),
	KUNIT_CASE(decision_is_transitive),
	KUNIT_CASE(refusals_have_names),
	KUNIT_CASE_PARAM(slot_size, slot_gen_params),
	{}
};

static struct kunit_suite merge_suite = {
	.name = "hslab_merge",
	.test_cases = merge_tests,
};

kunit_test_suite(merge_suite);
