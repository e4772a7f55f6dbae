// SPDX-License-Identifier: GPL-2.0
/*
 * Filling payloads and finding out whether a fill is whole.
 *
 * Pure: no locks, no allocation, no printing, no knowledge of caches.
 */
#include <linux/string.h>

#include "hslab_internal.h"

/* From this many words on memset64() is quicker: its `rep stosq` starts slowly. */
#define HSLAB_LONG_FILL		64

/* A row of stores, and a row of compares: @nr is a constant. */
static __always_inline void hslab_put(u64 *words, unsigned int nr, u64 pattern)
{
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < nr; i++)
		words[i] = pattern;
}

static __always_inline bool hslab_same(const u64 *words, unsigned int nr,
				       u64 pattern)
{
	unsigned int i;

#pragma GCC unroll 16
	for (i = 0; i < nr; i++)
		if (unlikely(words[i] != pattern))
			return false;
	return true;
}

/**
 * hslab_fill() - fill a payload
 * @words: the payload
 * @nr: its size in words of 8 bytes
 * @pattern: the word to repeat
 *
 * On the hot path: a store a word, and next to nothing else.
 */
void hslab_fill(u64 *words, unsigned int nr, u64 pattern)
{
	if (nr >= HSLAB_LONG_FILL) {
		memset64(words, pattern, nr);
		return;
	}
	for (; nr >= 16; nr -= 16, words += 16)
		hslab_put(words, 16, pattern);
	if (nr & 8) {
		hslab_put(words, 8, pattern);
		words += 8;
	}
	if (nr & 4) {
		hslab_put(words, 4, pattern);
		words += 4;
	}
	if (nr & 2) {
		hslab_put(words, 2, pattern);
		words += 2;
	}
	if (nr & 1)
		hslab_put(words, 1, pattern);
}

/**
 * hslab_intact() - does a payload still hold its fill, every word of it?
 * @words: the payload
 * @nr: its size in words of 8 bytes
 * @pattern: the word that was repeated
 *
 * On the hot path: a compare and a branch a word, about 2.2 instructions.
 * Where and how it differs is for hslab_first_bad_fill() to find out.
 *
 * Return: true if it does.
 */
bool hslab_intact(const u64 *words, unsigned int nr, u64 pattern)
{
	for (; nr >= 16; nr -= 16, words += 16)
		if (!hslab_same(words, 16, pattern))
			return false;
	if (nr & 8) {
		if (!hslab_same(words, 8, pattern))
			return false;
		words += 8;
	}
	if (nr & 4) {
		if (!hslab_same(words, 4, pattern))
			return false;
		words += 4;
	}
	if (nr & 2) {
		if (!hslab_same(words, 2, pattern))
			return false;
		words += 2;
	}
	return !(nr & 1) || words[0] == pattern;
}

/**
 * hslab_first_bad() - find the first byte that differs
 * @found: what is there
 * @expected: what should be
 * @len: bytes to compare
 *
 * Return: its offset, or -1 when all are alike.
 */
int hslab_first_bad(const void *found, const void *expected, unsigned int len)
{
	const u8 *f = found, *e = expected;
	unsigned int i;

	for (i = 0; i < len; i++)
		if (f[i] != e[i])
			return i;
	return -1;
}

/**
 * hslab_first_bad_fill() - find the first byte that differs from a fill
 * @words: the payload
 * @nr: its size in words of 8 bytes
 * @pattern: the word that was repeated
 * @nr_bad: set to the number of bytes that differ
 *
 * Return: the offset of the first one, or -1 when the fill is whole.
 */
int hslab_first_bad_fill(const u64 *words, unsigned int nr, u64 pattern,
			 unsigned int *nr_bad)
{
	int first = -1;
	unsigned int i;

	*nr_bad = 0;
	for (i = 0; i < nr; i++) {
		u64 diff = words[i] ^ pattern;
		unsigned int byte;

		for (byte = 0; diff && byte < 8; byte++) {
			u8 d = ((const u8 *)&diff)[byte];

			if (!d)
				continue;
			if (first < 0)
				first = i * 8 + byte;
			(*nr_bad)++;
		}
	}
	return first;
}
