// SPDX-License-Identifier: GPL-2.0
/*
 * Fills: what one writes, and what its verification finds.
 */
#include <linux/random.h>

#include "hslab_kunit.h"

#define WORDS_MAX	272	/* every size up to here: 17 rounds of 16 */
#define WORDS_LARGEST	4096
#define GUARD		4	/* words before and behind the payload */
#define GUARD_WORD	0xa5c3e1f00f1e3c5aULL

struct poison_case {
	const char *name;
	enum hslab_fill_kind kind;
	u8 byte;
};

static const struct poison_case poison_cases[] = {
	{ "zero",	HSLAB_FILL_BYTE,	0x00 },
	{ "0x6b",	HSLAB_FILL_BYTE,	0x6b },
	{ "0xff",	HSLAB_FILL_BYTE,	0xff },
	{ "random",	HSLAB_FILL_RANDOM,	0x00 },
};

KUNIT_ARRAY_PARAM_DESC(poison, poison_cases, name);

static const unsigned int large_sizes[] = {
	500, 511, 512, 513, 1024, 2047, WORDS_LARGEST
};

/* No two bytes of it are alike, so a shift by a byte shows. */
#define RANDOM_WORD	0x8badf00d17c542e9ULL

static u64 pattern_of(const struct poison_case *c)
{
	return hslab_pattern(hslab_fill_bits(c->kind, c->byte), RANDOM_WORD);
}

static u64 *guarded(struct kunit *test)
{
	u64 *all = kunit_kmalloc_array(test, WORDS_LARGEST + 2 * GUARD,
				       sizeof(u64), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, all);
	return all;
}

typedef void check_fn(struct kunit *test, u64 *words, unsigned int nr);

/* Run @check for every size, with the words between their guards. */
static void at_every_size(struct kunit *test, check_fn *check)
{
	u64 *words = guarded(test) + GUARD;
	unsigned int i;

	for (i = 1; i <= WORDS_MAX; i++)
		check(test, words, i);
	for (i = 0; i < ARRAY_SIZE(large_sizes); i++)
		check(test, words, large_sizes[i]);
}

static void pattern_repeats(struct kunit *test)
{
	const struct poison_case *c = test->param_value;
	u64 should = RANDOM_WORD;

	if (c->kind == HSLAB_FILL_BYTE)
		memset(&should, c->byte, sizeof(should));
	KUNIT_EXPECT_EQ(test, pattern_of(c), should);
}

static void check_fill(struct kunit *test, u64 *words, unsigned int nr)
{
	u64 pattern = pattern_of(test->param_value);
	int i;

	for (i = -GUARD; i < (int)nr + GUARD; i++)
		words[i] = GUARD_WORD;
	hslab_fill(words, nr, pattern);
	for (i = -GUARD; i < (int)nr + GUARD; i++) {
		u64 should = i < 0 || i >= (int)nr ? GUARD_WORD : pattern;

		if (words[i] != should) {
			KUNIT_FAIL(test, "%u words filled: word %d is %#llx",
				   nr, i, words[i]);
			break;
		}
	}
}

static void fill_is_exact(struct kunit *test)
{
	at_every_size(test, check_fill);
}

static void check_whole(struct kunit *test, u64 *words, unsigned int nr)
{
	u64 pattern = pattern_of(test->param_value);
	unsigned int nr_bad = 1;
	int i;

	for (i = -GUARD; i < (int)nr + GUARD; i++)
		words[i] = i < 0 || i >= (int)nr ? ~pattern : pattern;
	if (!hslab_intact(words, nr, pattern))
		KUNIT_FAIL(test, "%u words: not intact", nr);
	if (!hslab_intact_head(words, nr, pattern))
		KUNIT_FAIL(test, "%u words: head not intact", nr);
	if (hslab_first_bad_fill(words, nr, pattern, &nr_bad) != -1 || nr_bad)
		KUNIT_FAIL(test, "%u words: %u bytes differ", nr, nr_bad);
}

static void whole_is_whole(struct kunit *test)
{
	at_every_size(test, check_whole);
}

/* Is the one byte of @words at @offset that was changed found, and only it? */
static void check_flip(struct kunit *test, const u64 *words, unsigned int nr,
		       u64 pattern, unsigned int offset)
{
	bool in_head = offset < 8 || offset / 8 == nr - 1;
	unsigned int nr_bad;

	if (hslab_intact(words, nr, pattern))
		KUNIT_FAIL(test, "%u words: intact with byte %u changed", nr,
			   offset);
	if (hslab_intact_head(words, nr, pattern) == in_head)
		KUNIT_FAIL(test, "%u words, byte %u changed: head is %s", nr,
			   offset, in_head ? "intact" : "not intact");
	if (hslab_first_bad_fill(words, nr, pattern, &nr_bad) != offset ||
	    nr_bad != 1)
		KUNIT_FAIL(test, "%u words: byte %u changed, found %d, %u bad",
			   nr, offset,
			   hslab_first_bad_fill(words, nr, pattern, &nr_bad),
			   nr_bad);
}

static void check_every_byte(struct kunit *test, u64 *words, unsigned int nr)
{
	u64 pattern = pattern_of(test->param_value);
	/* Of a large one the first and last 64 words, and some between. */
	unsigned int step = nr > WORDS_MAX ? 509 : 1;
	u8 *bytes = (u8 *)words;
	unsigned int i;

	memset64(words, pattern, nr);
	for (i = 0; i < nr * 8; i++) {
		if (i >= 64 * 8 && i < (nr - 64) * 8 && i % step)
			continue;
		bytes[i] ^= 1 << (i + nr) % 8;
		check_flip(test, words, nr, pattern, i);
		bytes[i] ^= 1 << (i + nr) % 8;
	}
}

static void every_byte_counts(struct kunit *test)
{
	at_every_size(test, check_every_byte);
}

/* Each of the 64 bits of a word, in each of the places of an unrolled row. */
static void every_bit_counts(struct kunit *test)
{
	u64 pattern = pattern_of(test->param_value);
	const unsigned int nr = 31;	/* 16 + 8 + 4 + 2 + 1 */
	u64 *words = guarded(test);
	unsigned int i;

	memset64(words, pattern, nr);
	for (i = 0; i < nr * 64; i++) {
		words[i / 64] ^= 1ULL << (i % 64);
		check_flip(test, words, nr, pattern, i / 8);
		words[i / 64] ^= 1ULL << (i % 64);
	}
}

/* Several damaged bytes: the first is told, and all are counted. */
static void damage_is_counted(struct kunit *test)
{
	u64 pattern = pattern_of(test->param_value);
	const unsigned int nr = 40;
	u64 *words = guarded(test);
	u8 *bytes = (u8 *)words;
	unsigned int first, len, i, nr_bad;

	for (first = 0; first < nr * 8; first += 7) {
		for (len = 1; first + len <= nr * 8; len += 5) {
			memset64(words, pattern, nr);
			for (i = first; i < first + len; i++)
				bytes[i] = ~bytes[i];
			if (hslab_first_bad_fill(words, nr, pattern, &nr_bad) !=
				    first || nr_bad != len)
				KUNIT_FAIL(test, "%u bytes from %u on changed, %u found",
					   len, first, nr_bad);
		}
	}
}

static void first_bad_of_bytes(struct kunit *test)
{
	u8 found[40], expected[40];
	unsigned int len, i;

	get_random_bytes(found, sizeof(found));
	memcpy(expected, found, sizeof(found));
	KUNIT_EXPECT_EQ(test, -1, hslab_first_bad(found, expected, 0));
	for (len = 1; len <= sizeof(found); len++) {
		KUNIT_EXPECT_EQ(test, -1,
				hslab_first_bad(found, expected, len));
		for (i = 0; i < sizeof(found); i++) {
			int should = i < len ? i : -1;

			found[i] ^= 0x80;
			if (hslab_first_bad(found, expected, len) != should)
				KUNIT_FAIL(test, "byte %u of %u", i, len);
			found[i] ^= 0x80;
		}
	}
}

static struct kunit_case poison_tests[] = {
	KUNIT_CASE_PARAM(pattern_repeats, poison_gen_params),
	KUNIT_CASE_PARAM(fill_is_exact, poison_gen_params),
	KUNIT_CASE_PARAM(whole_is_whole, poison_gen_params),
	KUNIT_CASE_PARAM(every_byte_counts, poison_gen_params),
	KUNIT_CASE_PARAM(every_bit_counts, poison_gen_params),
	KUNIT_CASE_PARAM(damage_is_counted, poison_gen_params),
	KUNIT_CASE(first_bad_of_bytes),
	{}
};

static struct kunit_suite poison_suite = {
	.name = "hslab_poison",
	.test_cases = poison_tests,
};

kunit_test_suite(poison_suite);
