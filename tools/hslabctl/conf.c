// SPDX-License-Identifier: GPL-2.0
/*
 * hslab.conf: reading it, and check-config.
 *
 * A line is PATTERN KEY=VALUE...; for each cache and key the last line counts whose
 * pattern matches. A profile takes the place of all that lines before it say, but
 * for the keys that profiles leave alone. A line attach NAME KEY=VALUE... is of what
 * hslab is to be attached to. A backslash takes the meaning of what comes after it, so
 * that every name can be written.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

void conf_free(struct conf *conf)
{
	while (conf->nr) {
		struct rule *rule = &conf->rules[--conf->nr];

		while (rule->nr)
			free(rule->settings[--rule->nr].value);
		free(rule->settings);
		free(rule->name);
	}
	free(conf->rules);
	conf->rules = NULL;
}

static void conf_error(struct conf *conf, const char *file, unsigned int line,
		       const char *what)
{
	fprintf(stderr, "%s:%u: %s\n", file, line, what);
	conf->errors++;
}

/* One more setting of a rule; what is wrong with it is told. */
static void conf_setting(struct conf *conf, struct rule *rule, const char *word,
			 const char *file, unsigned int line)
{
	struct setting *setting;
	char *wrong;

	rule->settings = realloc(rule->settings,
				 (rule->nr + 1) * sizeof(*rule->settings));
	if (!rule->settings)
		abort();
	setting = &rule->settings[rule->nr];
	wrong = rule->kind == OF_ATTACHED ?
		policy_parse(attach_policies, NR_ATTACH_POLICIES, word, setting) :
		policy_parse(policies, NR_POLICIES, word, setting);
	if (wrong) {
		conf_error(conf, file, line, wrong);
		free(wrong);
		return;
	}
	rule->nr++;
	if (rule->kind == OF_DEFAULTS && setting->policy == POLICY_PROFILE)
		conf_error(conf, file, line,
			   "defaults have no profile, expected single policies");
}

/* Where in @text one of @letters is, or its end; a backslash hides what is after it. */
char *conf_span(char *text, const char *letters)
{
	while (*text && !strchr(letters, *text))
		text += 1 + (*text == '\\' && !strchr("\r\n", text[1]));
	return text;
}

/* The next word of a line, which @rest is behind then; NULL at its end. */
static char *conf_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t\r\n");
	char *end = conf_span(word, " \t\r\n#");

	*rest = end + (*end && *end != '#');
	if (*end == '#')
		**rest = '\0';
	*end = '\0';
	return end > word ? word : NULL;
}

static void conf_add(struct conf *conf, const struct rule *rule)
{
	conf->rules = realloc(conf->rules,
			      (conf->nr + 1) * sizeof(*conf->rules));
	if (!conf->rules)
		abort();
	conf->rules[conf->nr++] = *rule;
}

/* Has a name what no name has, and the kernel's rules do not take? */
static bool conf_has_control(const char *name)
{
	for (; *name; name++)
		if (iscntrl((unsigned char)*name))
			return true;
	return false;
}

/* What is wrong with the NAME of an attach line, or NULL. */
static const char *conf_no_name(char *name)
{
	if (!name || *conf_span(name, "="))
		return "no name, expected attach NAME [KEY=VALUE...]";
	if (*conf_span(name, "*?["))
		return "attach takes one name in /sys/kernel/slab, no glob";
	if (strchr(name, '/'))
		return "attach takes one name in /sys/kernel/slab, no path";
	return NULL;
}

/* A pattern, with a backslash before those of @letters that have none. */
void pattern_print(FILE *out, const char *pattern, size_t len,
		   const char *letters)
{
	const char *end = pattern + len;

	for (; pattern < end; pattern++) {
		if (*pattern == '\\' && pattern + 1 < end)
			putc(*pattern++, out);
		else if (strchr(letters, *pattern))
			putc('\\', out);
		putc(*pattern, out);
	}
}

/* A copy without the backslashes. */
static char *conf_plain(const char *word)
{
	char *plain = strdup(word), *to = plain;

	if (!plain)
		abort();
	for (; *word; word++) {
		if (*word == '\\' && word[1])
			word++;
		*to++ = *word;
	}
	*to = '\0';
	return plain;
}

static void conf_attach_line(struct conf *conf, char *text, const char *file,
			     unsigned int line)
{
	struct rule rule = { OF_ATTACHED, NULL, NULL, 0 };
	char *word = conf_word(&text);
	const char *wrong = conf_no_name(word);

	if (wrong)
		conf_error(conf, file, line, wrong);
	rule.name = conf_plain(word ? word : "");
	while ((word = conf_word(&text)))
		conf_setting(conf, &rule, word, file, line);
	conf_add(conf, &rule);
}

/* Read a line, which is written to; what is wrong with it is told, and counted. */
void conf_line(struct conf *conf, char *text, const char *file,
	       unsigned int line)
{
	struct rule rule = { OF_CACHES, NULL, NULL, 0 };
	char *word = conf_word(&text);

	if (!word)
		return;
	if (!strcmp(word, "attach")) {
		conf_attach_line(conf, text, file, line);
		return;
	}
	if (*conf_span(word, "="))
		conf_error(conf, file, line,
			   "no pattern, expected PATTERN KEY=VALUE...");
	if (conf_has_control(word))
		conf_error(conf, file, line, "a control character in PATTERN");
	if (!strcmp(word, "defaults")) {
		rule.kind = OF_DEFAULTS;
	} else {
		rule.name = strdup(word);
		if (!rule.name)
			abort();
	}
	while ((word = conf_word(&text)))
		conf_setting(conf, &rule, word, file, line);
	if (!rule.settings)
		conf_error(conf, file, line,
			   "nothing to set, expected PATTERN KEY=VALUE...");
	conf_add(conf, &rule);
}

/* Read a file to the end of @conf; false when it cannot be read. */
static bool conf_read(struct conf *conf, const char *file)
{
	FILE *in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	unsigned int line = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t len;
	bool good;

	if (!in) {
		complain("%s: %s", file, strerror(errno));
		return false;
	}
	while ((len = getline(&text, &size, in)) >= 0) {
		line++;
		if ((size_t)len != strlen(text))
			conf_error(conf, file, line, "a byte 0, expected text");
		else
			conf_line(conf, text, file, line);
	}
	good = !ferror(in);
	if (!good)
		complain("%s: cannot be read", file);
	free(text);
	if (in != stdin)
		fclose(in);
	return good;
}

static int is_conf(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && end > entry->d_name && entry->d_name[0] != '.' &&
	       !strcmp(end, ".conf");
}

/* Those of /etc/hslab, in the order of their names; a folder without any is fine. */
static bool conf_read_folder(struct conf *conf)
{
	struct dirent **entries;
	int i, nr = scandir(tree_conf, &entries, is_conf, alphasort);
	bool good = true;

	if (nr < 0) {
		if (errno == ENOENT)
			return true;
		complain("%s: %s", tree_conf, strerror(errno));
		return false;
	}
	for (i = 0; i < nr; i++) {
		char *file = tree_path(tree_conf, "%s", entries[i]->d_name);

		good = good && conf_read(conf, file);
		free(file);
		free(entries[i]);
	}
	free(entries);
	return good;
}

int conf_read_all(struct conf *conf, int nr, char **files)
{
	bool good = nr || conf_read_folder(conf);
	int i;

	for (i = 0; good && i < nr; i++)
		good = conf_read(conf, files[i]);
	return !good ? EXIT_REFUSED : conf->errors ? EXIT_USAGE : EXIT_OK;
}

bool rule_matches(const struct rule *rule, enum kind kind, const char *name)
{
	if (rule->kind != kind)
		return false;
	switch (kind) {
	case OF_CACHES:
		return glob_matches(rule->name, name);
	case OF_ATTACHED:
		return !strcmp(rule->name, name);
	default:
		return true;
	}
}

/*
 * What the rules say of a cache, of the defaults (@name is NULL), or of what is attached,
 * by policy; the values are those of the rules.
 */
void conf_find(const struct conf *conf, enum kind kind, const char *name,
	       const char **values, size_t nr)
{
	size_t i, k;
	int j;

	memset(values, 0, nr * sizeof(*values));
	for (i = 0; i < conf->nr; i++) {
		const struct rule *rule = &conf->rules[i];

		if (!rule_matches(rule, kind, name))
			continue;
		for (j = 0; j < rule->nr; j++) {
			int policy = rule->settings[j].policy;
			bool profile = kind != OF_ATTACHED &&
				       policy == POLICY_PROFILE;

			for (k = 0; profile && k < nr; k++)
				if (!policy_kept_by_profile(k))
					values[k] = NULL;
			values[policy] = rule->settings[j].value;
		}
	}
}

int cmd_check_config(int argc, char **argv)
{
	struct conf conf = { NULL, 0, 0 };
	int status = conf_read_all(&conf, argc - 1, argv + 1);

	conf_free(&conf);
	return status;
}
