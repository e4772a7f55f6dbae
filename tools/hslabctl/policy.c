// SPDX-License-Identifier: GPL-2.0
/*
 * Policies: what they are called and what values they take; as hslab_policy.c and
 * hslab_attach.c.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

#define GROUP_MAX	31

static bool valid_word(const struct policy *policy, const char *value)
{
	const char *const *word;

	for (word = policy->words; *word; word++)
		if (!strcmp(value, *word))
			return true;
	return false;
}

static bool valid_merge(const struct policy *policy, const char *value)
{
	const char *group;

	if (strncmp(value, "group=", 6))
		return valid_word(policy, value);
	for (group = value + 6; *group; group++)
		if (!isascii(*group) ||
		    (!isalnum((unsigned char)*group) && !strchr("_-.", *group)))
			return false;
	return group > value + 6 && group <= value + 6 + GROUP_MAX;
}

static bool valid_byte(const struct policy *policy, const char *value)
{
	(void)policy;
	return strlen(value) == 4 && !strncmp(value, "0x", 2) &&
	       isxdigit((unsigned char)value[2]) &&
	       isxdigit((unsigned char)value[3]);
}

static bool valid_poison(const struct policy *policy, const char *value)
{
	return valid_byte(policy, value) || valid_word(policy, value);
}

/* A decimal number, without sign or leading zero. */
static bool valid_number(const struct policy *policy, const char *value)
{
	size_t len = strlen(value);
	unsigned long number;

	if (!len || len > 9 || value[strspn(value, "0123456789")] ||
	    (value[0] == '0' && value[1]))
		return false;
	number = strtoul(value, NULL, 10);
	return !number || (number >= policy->min && number <= policy->max);
}

static bool valid_positive(const struct policy *policy, const char *value)
{
	return strcmp(value, "0") && valid_number(policy, value);
}

#define WORDS(...)	((const char *const []){ __VA_ARGS__, NULL })
#define BOOLEAN		valid_word, "0 or 1", WORDS("0", "1"), 0, 0

const struct policy policies[NR_POLICIES] = {
	[POLICY_PROFILE] = { "profile", valid_word,
		"off, fast, balanced, debug or paranoid",
		WORDS("off", "fast", "balanced", "debug", "paranoid"), 0, 0 },
	{ "merge", valid_merge,
	  "never, owner, any or group=NAME (letters, digits, '_', '-', '.', at most 31)",
	  WORDS("never", "owner", "any"), 0, 0 },
	{ "poison", valid_poison, "off, zero, random or a byte such as 0x6b",
	  WORDS("off", "zero", "random"), 0, 0 },
	{ "zero", valid_word, "auto, 0 or 1", WORDS("auto", "0", "1"), 0, 0 },
	{ "verify", valid_word, "off, head or full",
	  WORDS("off", "head", "full"), 0, 0 },
	{ "check", BOOLEAN },
	{ "quarantine_kb", valid_number, "0 or KiB, at most 1048576",
	  NULL, 0, 1048576 },
	{ "pin", valid_number,
	  "0 or the number of pages to pin, at most 1048576", NULL, 0, 1048576 },
	{ "track", BOOLEAN },
	{ "scrub_interval_ms", valid_number,
	  "0 or milliseconds, from 10 to 86400000", NULL, 10, 86400000 },
	{ "poison_typesafe", BOOLEAN },
	{ "on_violation", valid_word, "report, warn, kill or panic",
	  WORDS("report", "warn", "kill", "panic"), 0, 0 },
};

const struct policy attach_policies[NR_ATTACH_POLICIES] = {
	{ "on_violation", valid_word, "report, warn, kill or panic",
	  WORDS("report", "warn", "kill", "panic"), 0, 0 },
	{ "poison", valid_byte, "a byte: 0x00 to 0xff", NULL, 0, 0 },
	{ "track", BOOLEAN },
	{ "quarantine_kb", valid_positive, "KiB, 1 to 1048576", NULL, 1,
	  1048576 },
	{ "mode", valid_word, "count, wipe, poison or quarantine",
	  WORDS("count", "wipe", "poison", "quarantine"), 0, 0 },
};

/* Policies that a profile leaves as they are. */
bool policy_kept_by_profile(int policy)
{
	return !strcmp(policies[policy].name, "on_violation") ||
	       !strcmp(policies[policy].name, "poison_typesafe");
}

/* How many letters to put in, take out or change; names are short. */
static unsigned int distance(const char *a, const char *b)
{
	size_t i, j, n = strlen(b);
	unsigned int row[64];

	if (n >= ARRAY_SIZE(row))
		return -1;
	for (j = 0; j <= n; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		unsigned int corner = row[0];

		row[0] = i + 1;
		for (j = 0; j < n; j++) {
			unsigned int best = corner + (a[i] != b[j]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j + 1] + 1 < best)
				best = row[j + 1] + 1;
			corner = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[n];
}

/* The name that is closest to @word, if any is close; else NULL. */
const char *near_name(const char *word, const char *const *names, size_t nr)
{
	unsigned int best = strlen(word) > 4 ? 3 : 2;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		unsigned int d = distance(word, names[i]);

		if (d < best && d < strlen(names[i])) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

/*
 * Complain of a @name that is none of @names: @what says of what kind; @instead is what
 * to say where none is near.
 */
void complain_unknown(const char *what, const char *name,
		      const char *const *names, size_t nr, const char *instead)
{
	const char *near = near_name(name, names, nr);

	if (near)
		complain("%s '%s'; did you mean '%s'?", what, name, near);
	else
		complain("%s '%s'%s", what, name, instead);
}

static char *complaint(const char *what, const char *got, const char *expected,
		       const char *near)
{
	char *text;
	int len;

	if (near)
		len = asprintf(&text, "%s '%s', expected %s; did you mean '%s'?",
			       what, got, expected, near);
	else
		len = asprintf(&text, "%s '%s', expected %s", what, got,
			       expected);
	if (len < 0)
		abort();
	return text;
}

static char *unknown_policy(const struct policy *table, int nr,
			    const char *name)
{
	const char *names[NR_POLICIES];	/* the larger of the tables */
	char expected[256] = "";
	int i;

	for (i = 0; i < nr; i++) {
		names[i] = table[i].name;
		strcat(strcat(expected, i ? ", " : "one of "), names[i]);
	}
	return complaint("unknown policy", name, expected,
			 near_name(name, names, nr));
}

static char *bad_value(const struct policy *policy, const char *value)
{
	size_t nr = 0;
	char what[64];

	while (policy->words && policy->words[nr])
		nr++;
	snprintf(what, sizeof(what), "bad value of %s", policy->name);
	return complaint(what, value, policy->expected,
			 near_name(value, policy->words, nr));
}

/**
 * policy_parse() - take KEY=VALUE apart
 * @table: policies[] or attach_policies[]
 * @nr: how many there are in @table
 * @text: it
 * @setting: the result; its value is to be freed
 *
 * Return: NULL, or what is wrong with it, to be freed.
 */
char *policy_parse(const struct policy *table, int nr, const char *text,
		   struct setting *setting)
{
	const char *equals = strchr(text, '=');
	char *name, *wrong;
	int i;

	if (!equals)
		return complaint("no value in", text, "KEY=VALUE", NULL);
	name = strndup(text, equals - text);
	if (!name)
		abort();
	for (i = 0; i < nr; i++)
		if (!strcmp(name, table[i].name))
			break;
	wrong = i == nr ? unknown_policy(table, nr, name) :
		!table[i].valid(&table[i], equals + 1) ?
		bad_value(&table[i], equals + 1) : NULL;
	free(name);
	if (wrong)
		return wrong;
	setting->policy = i;
	setting->value = strdup(equals + 1);
	return NULL;
}
