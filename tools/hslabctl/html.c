// SPDX-License-Identifier: GPL-2.0
/* HTML that is well-formed XML, too, whatever a string has in it. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* How many bytes the character at @s has; 0 when it is none that XML takes. */
static size_t utf8_len(const unsigned char *s)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code = *s;
	size_t len, i;

	if (code < 0x80)
		return (code >= ' ' && code != 0x7f) || code == '\n' ||
			code == '\t';
	len = code >= 0xf0 ? 4 : code >= 0xe0 ? 3 : 2;
	if (code < 0xc0 || code > 0xf4)
		return 0;
	code &= 0x7f >> len;
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < lowest[len] || code > 0x10ffff || code < 0xa0 ||
	    (code >= 0xd800 && code < 0xe000) || (code & 0xfffe) == 0xfffe)
		return 0;
	return len;
}

/**
 * html_text() - print a string as text of an element or as an attribute
 * @out: where to
 * @text: any bytes; what is no character becomes U+FFFD
 */
void html_text(FILE *out, const char *text)
{
	size_t len;

	for (; *text; text += len ? len : 1) {
		len = utf8_len((const unsigned char *)text);
		if (!len)
			fputs("\xef\xbf\xbd", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (*text == '\'')
			fputs("&#39;", out);
		else
			fwrite(text, 1, len, out);
	}
}

/**
 * html() - print as printf() does, but strings escaped
 * @out: where to
 * @fmt: takes %s, %d, %u, %zu, %lld, %.Nf and %%; is printed as it is else
 */
void html(FILE *out, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	for (; *fmt; fmt++) {
		if (*fmt != '%') {
			putc(*fmt, out);
			continue;
		}
		switch (*++fmt) {
		case 's':
			html_text(out, va_arg(args, const char *));
			break;
		case 'd':
			fprintf(out, "%d", va_arg(args, int));
			break;
		case 'u':
			fprintf(out, "%u", va_arg(args, unsigned int));
			break;
		case 'z':
			fprintf(out, "%zu", va_arg(args, size_t));
			fmt++;
			break;
		case 'l':
			fprintf(out, "%lld", va_arg(args, long long));
			fmt += 2;
			break;
		case '.':
			fprintf(out, "%.*f", fmt[1] - '0', va_arg(args, double));
			fmt += 2;
			break;
		case '%':
			putc('%', out);
			break;
		default:
			abort();
		}
	}
	va_end(args);
}

const char *unit_bytes(char text[UNIT_LEN], long long bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = bytes;
	size_t i = 0;

	while (value >= 1023.95 && i + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		i++;
	}
	snprintf(text, UNIT_LEN, "%.*f %s", i ? 1 : 0, value, units[i]);
	return text;
}

/* By thousands, with U+202F between them, at which no line is broken. */
const char *unit_count(char text[UNIT_LEN], long long count)
{
	char digits[UNIT_LEN];
	size_t len = snprintf(digits, sizeof(digits), "%lld", count), i, n = 0;

	for (i = 0; i < len && n + 5 < UNIT_LEN; i++) {
		if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
			n += snprintf(text + n, UNIT_LEN - n, "\u202f");
		text[n++] = digits[i];
	}
	text[n] = '\0';
	return text;
}

/* Three digits are enough. */
const char *unit_seconds(char text[UNIT_LEN], double seconds)
{
	static const struct {
		double size;
		const char *name;
	} units[] = {
		{ 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" },
		{ 1 / 1e3, "ms" }, { 1 / 1e6, "\u00b5s" }, { 1 / 1e9, "ns" },
	};
	size_t i = 0;
	double value;
	char *end;

	while (seconds < units[i].size && i + 1 < ARRAY_SIZE(units))
		i++;
	if (seconds == 0)
		i = 3;
	value = seconds / units[i].size;
	end = text + snprintf(text, UNIT_LEN, "%.*f",
			      value >= 99.5 ? 0 : value >= 9.995 ? 1 : 2, value);
	while (strchr(text, '.') && (end[-1] == '0' || end[-1] == '.'))
		*--end = '\0';
	snprintf(end, UNIT_LEN - (end - text), " %s", units[i].name);
	return text;
}

/* A size for people, and exactly for programs and those who point at it. */
void html_bytes(FILE *out, long long bytes)
{
	char text[UNIT_LEN];

	html(out, "<data value=\"%lld\" title=\"%lld bytes\">%s</data>", bytes,
	     bytes, unit_bytes(text, bytes));
}

void html_count(FILE *out, long long count)
{
	char text[UNIT_LEN];

	html(out, "<data value=\"%lld\">%s</data>", count,
	     unit_count(text, count));
}
