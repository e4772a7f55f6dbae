// SPDX-License-Identifier: GPL-2.0
/*
 * Damage. Built without KASAN's instrumentation: see the Kbuild file.
 */
#include "hslab_kunit.h"

/* Byte by byte, and volatile: the compiler makes no memcpy() of it. */
noinline void hslab_plant(void *where, const void *bytes, size_t len)
{
	const u8 *from = bytes;
	u8 *to = where;
	size_t i;

	for (i = 0; i < len; i++)
		WRITE_ONCE(to[i], from[i]);
}

noinline void hslab_plant_byte(void *where, u8 byte)
{
	WRITE_ONCE(*(u8 *)where, byte);
}

noinline void hslab_peek(void *to, const void *from, size_t len)
{
	const u8 *f = from;
	u8 *t = to;
	size_t i;

	for (i = 0; i < len; i++)
		t[i] = READ_ONCE(f[i]);
}

/* By words: large objects are looked at too. @from is aligned to them. */
noinline bool hslab_peek_all(const void *from, u8 byte, size_t len)
{
	u64 word = byte * 0x0101010101010101ULL;
	const u64 *words = from;
	const u8 *bytes;

	for (; len >= sizeof(word); len -= sizeof(word))
		if (READ_ONCE(*words++) != word)
			return false;
	for (bytes = (const u8 *)words; len; len--)
		if (READ_ONCE(*bytes++) != byte)
			return false;
	return true;
}
