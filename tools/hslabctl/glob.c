// SPDX-License-Identifier: GPL-2.0
/*
 * Patterns, as the kernel reads those of its rules: *, ?, [a-z] and [!a-z], and a
 * backslash takes the meaning from what comes after it, but for between brackets.
 * fnmatch() has more, and so a line of hslab.conf would not be for the same caches
 * when they are there as when they come.
 */
#include "hslabctl.h"

/* Behind a class that begins behind its bracket, NULL if it does not end. */
static const char *glob_class(const char *at, unsigned char c, bool *matches)
{
	bool inverted = *at == '!', found = false;
	const char *begin = at + inverted;

	/* A bracket that is the first is one of the letters. */
	for (at = begin; *at && (at == begin || *at != ']'); at++) {
		unsigned char from = *at, to = from;

		if (at[1] == '-' && at[2] && at[2] != ']') {
			to = at[2];
			at += 2;
		}
		found |= from <= c && c <= to;
	}
	*matches = found != inverted;
	return *at ? at + 1 : NULL;
}

/* Is the next of a pattern, which goes on behind it then, for this letter? */
static bool glob_one(const char **pattern, char c)
{
	const char *at = *pattern, *end;
	bool matches;

	if (*at == '[') {
		end = glob_class(at + 1, c, &matches);
		if (end) {
			*pattern = end;
			return matches;
		}
	}
	if (*at == '?') {
		*pattern = at + 1;
		return true;
	}
	at += *at == '\\';
	*pattern = at + 1;
	return *at == c;
}

/**
 * glob_matches() - is a pattern for a name?
 * @pattern: the pattern
 * @name: the name
 *
 * Return: whether it is.
 */
bool glob_matches(const char *pattern, const char *name)
{
	const char *star = NULL, *tried = NULL;	/* what the last * is for so far */

	while (*pattern || *name) {
		if (*pattern == '*') {
			star = ++pattern;
			tried = name;
		} else if (*name && *pattern && glob_one(&pattern, *name)) {
			name++;
		} else if (star && *tried) {
			pattern = star;
			name = ++tried;
		} else {
			return false;
		}
	}
	return true;
}
