// SPDX-License-Identifier: GPL-2.0
/*
 * hslab.conf: check-config, apply and save.
 *
 * A line is PATTERN KEY=VALUE...; for each cache and key the last line counts whose
 * pattern matches. A profile takes the place of all that lines before it say, but
 * for the keys that profiles leave alone. A line attach NAME KEY=VALUE... is of what
 * hslab is to be attached to. A backslash takes the meaning of what comes after it, so
 * that every name can be written.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

enum kind { OF_CACHES, OF_DEFAULTS, OF_ATTACHED };

struct rule {
	enum kind kind;
	char *name;		/* a pattern; NULL: of the defaults */
	struct setting *settings;
	int nr;
};

struct conf {
	struct rule *rules;
	size_t nr;
	unsigned int errors;
};

static void conf_free(struct conf *conf)
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
static char *conf_span(char *text, const char *letters)
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

static void conf_line(struct conf *conf, char *text, const char *file,
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

static int conf_read_all(struct conf *conf, int nr, char **files)
{
	bool good = nr || conf_read_folder(conf);
	int i;

	for (i = 0; good && i < nr; i++)
		good = conf_read(conf, files[i]);
	return !good ? EXIT_REFUSED : conf->errors ? EXIT_USAGE : EXIT_OK;
}

static bool rule_matches(const struct rule *rule, enum kind kind, const char *name)
{
	if (rule->kind != kind)
		return false;
	switch (kind) {
	case OF_CACHES:
		return !fnmatch(rule->name, name, 0);
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
static void conf_find(const struct conf *conf, enum kind kind, const char *name,
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

/* Write what a folder of policies is to have; a profile is the first of them. */
static int conf_write(const char *folder, const char *const values[NR_POLICIES])
{
	int i, err = 0;

	for (i = 0; i < NR_POLICIES; i++) {
		char *path;

		if (!values[i])
			continue;
		path = tree_path(tree_sysfs, "%s/%s", folder, policies[i].name);
		err |= tree_write(path, values[i]);
		free(path);
	}
	return err;
}

int cmd_check_config(int argc, char **argv)
{
	struct conf conf = { NULL, 0, 0 };
	int status = conf_read_all(&conf, argc - 1, argv + 1);

	conf_free(&conf);
	return status;
}

static int apply_to(const struct conf *conf, const char *name)
{
	const char *values[NR_POLICIES];
	char *folder = tree_path("caches", "%s", name);
	int err;

	conf_find(conf, OF_CACHES, name, values, NR_POLICIES);
	err = conf_write(folder, values);
	free(folder);
	return err;
}

/* What the rules attach to; each name once, where it is first. */
static int apply_attached(const struct conf *conf)
{
	const char *values[NR_ATTACH_POLICIES];
	bool can = false;
	size_t i, j;
	int err = 0;

	for (i = 0; i < conf->nr; i++) {
		const char *name = conf->rules[i].name;

		if (conf->rules[i].kind != OF_ATTACHED)
			continue;
		can = can || can_attach();
		if (!can)
			return -1;
		for (j = 0; !rule_matches(&conf->rules[j], OF_ATTACHED, name);)
			j++;
		if (j < i)
			continue;
		conf_find(conf, OF_ATTACHED, name, values, NR_ATTACH_POLICIES);
		err |= attach_apply(name, values);
	}
	return err;
}

/* To the defaults, all caches and what is attached, or to @cache alone. */
static int apply(const struct conf *conf, const char *cache)
{
	const char *values[NR_POLICIES];
	bool found = false;
	int err = 0;
	char **names;
	size_t nr, i;

	if (!cache) {
		conf_find(conf, OF_DEFAULTS, NULL, values, NR_POLICIES);
		err = conf_write("defaults", values);
	}
	names = tree_caches("*", &nr);
	for (i = 0; i < nr; i++) {
		if (cache && strcmp(cache, names[i]))
			continue;
		err |= apply_to(conf, names[i]);
		found = true;
	}
	tree_free_names(names, nr);
	if (!cache)
		err |= apply_attached(conf);
	if (cache && !found) {
		complain("no cache '%s'", cache);
		return EXIT_USAGE;
	}
	return err ? EXIT_REFUSED : EXIT_OK;
}

/* Nothing is written when any line is wrong. */
int cmd_apply(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "cache", required_argument, NULL, 'c' },
		{ }
	};
	struct conf conf = { NULL, 0, 0 };
	const char *cache = NULL;
	int c, status;

	while ((c = getopt_long(argc, argv, "c:", longs, NULL)) >= 0) {
		if (c != 'c')
			return EXIT_USAGE;
		cache = optarg;
	}
	status = conf_read_all(&conf, argc - optind, argv + optind);
	if (!status)
		status = tree_present() ? apply(&conf, cache) : EXIT_NONE;
	conf_free(&conf);
	return status;
}

/* A name, so that it is read as no more than that. */
static void save_name(FILE *out, const char *name)
{
	const char *letter;

	if (!strcmp(name, "defaults") || !strcmp(name, "attach"))
		putc('\\', out);
	for (letter = name; *letter; letter++) {
		if (strchr("*?[]\\#= \t", *letter))
			putc('\\', out);
		putc(*letter, out);
	}
}

/* The policies of a table, as a folder has them; ends the line. */
static int save_policies(FILE *out, const char *folder, const struct policy *table,
			 int nr)
{
	int i;

	for (i = 0; i < nr; i++) {
		char *path = tree_path(tree_sysfs, "%s/%s", folder, table[i].name);
		char *value = tree_read(path);

		if (!value) {
			complain("%s: %s", path, strerror(errno));
			free(path);
			return -1;
		}
		fprintf(out, " %s=%s", table[i].name, value);
		free(value);
		free(path);
	}
	putc('\n', out);
	return 0;
}

/* A line for each folder in "caches" or "attached"; begins with @word. */
static int save_folders(FILE *out, const char *where, const char *word,
			const struct policy *table, int nr_policies)
{
	char **names;
	size_t nr, i;
	int err = 0;

	names = tree_folders(where, "*", &nr);
	for (i = 0; i < nr && !err; i++) {
		char *folder = tree_path(where, "%s", names[i]);

		fputs(word, out);
		save_name(out, names[i]);
		err = save_policies(out, folder, table, nr_policies);
		free(folder);
	}
	tree_free_names(names, nr);
	return err;
}

/* But for the profiles, which follow from the other policies. */
static int save_all(FILE *out)
{
	const struct policy *single = policies + POLICY_PROFILE + 1;
	const int nr = NR_POLICIES - POLICY_PROFILE - 1;
	int err;

	fputs("# Written by hslabctl save; see hslab.conf(5).\ndefaults", out);
	err = save_policies(out, "defaults", single, nr);
	if (!err)
		err = save_folders(out, "caches", "", single, nr);
	if (!err)
		err = save_folders(out, "attached", "attach ", attach_policies,
				   NR_ATTACH_POLICIES);
	return err;
}

int cmd_save(int argc, char **argv)
{
	struct output output;
	int err;

	if (argc != 2) {
		complain("save takes one FILE, or - for the standard output");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	if (output_open(&output, argv[1]))
		return EXIT_REFUSED;
	err = save_all(output.file);
	return output_close(&output, !err) ? EXIT_REFUSED : EXIT_OK;
}
