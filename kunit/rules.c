// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: which policies a cache of a name starts with, and what is no rule.
 */
#include <linux/ctype.h>
#include <linux/slab.h>

#include "hslab_kunit.h"

#define KEPT	"rules-kept pin=9\n"

static int rules_set(const char *text)
{
	return hslab_rules_set(text, strlen(text));
}

static void expect_shown(struct kunit *test, const char *text)
{
	char *page = (char *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, strlen(text), hslab_rules_show(page));
	KUNIT_EXPECT_STREQ(test, text, page);
	free_page((unsigned long)page);
}

struct rules_case {
	const char *name;		/* of the cache */
	const char *rules;
	const char *field, *value;	/* that it starts with */
};

/* By default pin is 0. */
static const struct rules_case rules_cases[] = {
	{ "rules-a", "rules-a pin=1", "pin", "1" },
	{ "rules-a", "rules-b pin=1", "pin", "0" },
	{ "rules-a", "rules pin=1", "pin", "0" },
	{ "rules-a", "rules* pin=1", "pin", "1" },
	{ "rules-a", "*-[abc] pin=1", "pin", "1" },
	{ "rules-a", "*-[!abc] pin=1", "pin", "0" },
	{ "rules-a", "*-[^b] pin=1", "pin", "0" },
	{ "rules-a", "*-[[:alpha:]] pin=1", "pin", "0" },
	{ "rules-a", "*-[\\a] pin=1", "pin", "1" },
	{ "rules-a", "*-[a pin=1", "pin", "0" },
	{ "rules-[a", "*-[a pin=1", "pin", "1" },
	{ "rules-\xc3\xa4", "rules-?? pin=1", "pin", "1" },
	{ "rules-a", "rules\\-? pin=1", "pin", "1" },
	{ "rules*", "rules\\* pin=1", "pin", "1" },
	{ "rules-a", "rules\\* pin=1", "pin", "0" },
	{ "rules a", "rules?a pin=1", "pin", "1" },
	{ "rules a", "rules\\ a pin=1", "pin", "1" },
	{ "rules;a", "rules\\;a pin=1", "pin", "1" },
	{ "rules\\", "rules\\\\ pin=1", "pin", "1" },
	{ "rules-a", "* pin=1\nrules-a pin=2", "pin", "2" },
	{ "rules-a", "rules-a pin=1;* pin=2", "pin", "2" },
	{ "rules-a", "rules-a pin=1 pin=2", "pin", "2" },
	{ "rules-a", "* pin=1 profile=fast", "pin", "0" },
	{ "rules-a", "* profile=fast pin=1", "pin", "1" },
	{ "rules-a", "* profile=fast\n* pin=1", "verify", "off" },
	{ "rules-a", "* on_violation=warn profile=debug", "on_violation", "warn" },
	{ "rules-a", ";;\t ; ; rules-a\t pin=1 ;", "pin", "1" },
	{ "rules-a", "* merge=group=g", "merge", "group=g" },
};

/* A text on one line */
static void rules_name(const char *text, char *desc)
{
	strscpy(desc, text, KUNIT_PARAM_DESC_SIZE);
	for (; *desc; desc++)
		if (!isprint(*desc))
			*desc = ' ';
}

static void rules_desc(const struct rules_case *c, char *desc)
{
	rules_name(c->rules, desc);
}

KUNIT_ARRAY_PARAM(rules, rules_cases, rules_desc);

static void cache_starts_with(struct kunit *test)
{
	const struct rules_case *c = test->param_value;
	struct hslab_cache *cache;
	char value[HSLAB_VALUE_LEN];

	KUNIT_ASSERT_EQ(test, 0, rules_set(c->rules));
	cache = hslab_test_cache(test, c->name, 64, NULL);
	hslab_field_find(c->field)->format(&cache->policy, value);
	KUNIT_EXPECT_STREQ(test, c->value, value);
	KUNIT_EXPECT_EQ(test, cache->policy.on_violation, cache->action);
}

static const char *const wrong_cases[] = {
	"a",
	"pin=1",
	"a pin",
	"a pin=",
	"a =1",
	"a pin=-1",
	"a pin=1 b",
	"a pin=1;b",
	"a pin=1\nb pin=1 ping=1",
	"a profile=custom",
	"a\\\nb pin=1",
	"a\rb pin=1",
	"a\x1b pin=1",
	"a\x7f pin=1",
};

static void wrong_desc(const char *const *text, char *desc)
{
	rules_name(*text, desc);
}

KUNIT_ARRAY_PARAM(wrong, wrong_cases, wrong_desc);

static void wrong_changes_nothing(struct kunit *test)
{
	const char *const *text = test->param_value;

	KUNIT_ASSERT_EQ(test, 0, rules_set(KEPT));
	KUNIT_EXPECT_EQ(test, -EINVAL, rules_set(*text));
	expect_shown(test, KEPT);
}

static void longest_fits_its_file(struct kunit *test)
{
	char *text = kunit_kmalloc(test, PAGE_SIZE, GFP_KERNEL);
	const size_t len = PAGE_SIZE - 2;

	KUNIT_ASSERT_NOT_NULL(test, text);
	memset(text, 'x', PAGE_SIZE);
	memcpy(text + len - 6, " pin=1", 6);
	text[len] = '\n';
	text[len + 1] = '\0';
	KUNIT_EXPECT_EQ(test, 0, hslab_rules_set(text, len + 1));
	expect_shown(test, text);

	memcpy(text + len - 5, " pin=1", 6);
	KUNIT_EXPECT_EQ(test, -EINVAL, hslab_rules_set(text, len + 1));
}

static void none_again(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, rules_set("a pin=1"));
	KUNIT_EXPECT_EQ(test, 0, rules_set("\n"));
	expect_shown(test, "\n");
	KUNIT_EXPECT_EQ(test, 0, rules_set(""));
	expect_shown(test, "\n");
}

/* Caches of one name are numbered; a rule is for the name that is shown. */
static void rule_of_a_number(struct kunit *test)
{
	struct hslab_cache *first, *second;

	KUNIT_ASSERT_EQ(test, 0, rules_set("rules-n-2 pin=3"));
	first = hslab_cache_make("rules-n", 64, NULL, "test", HSLAB_CACHE_KMEM);
	second = hslab_cache_make("rules-n", 64, NULL, "test", HSLAB_CACHE_KMEM);
	KUNIT_EXPECT_EQ(test, 0, first->policy.pin);
	KUNIT_EXPECT_EQ(test, 3, second->policy.pin);
	hslab_cache_destroy(second);
	hslab_cache_destroy(first);
}

static void rules_end(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, rules_set(""));
}

static struct kunit_case rules_tests[] = {
	KUNIT_CASE_PARAM(cache_starts_with, rules_gen_params),
	KUNIT_CASE_PARAM(wrong_changes_nothing, wrong_gen_params),
	KUNIT_CASE(longest_fits_its_file),
	KUNIT_CASE(none_again),
	KUNIT_CASE(rule_of_a_number),
	{}
};

static struct kunit_suite rules_suite = {
	.name = "hslab_rules",
	.exit = rules_end,
	.test_cases = rules_tests,
};

kunit_test_suite(rules_suite);
