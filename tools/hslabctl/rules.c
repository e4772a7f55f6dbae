// SPDX-License-Identifier: GPL-2.0
/* rules: what caches to come start with, by their names. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

#define RULES_MAX	4095u	/* bytes of /sys/kernel/hslab/rules */

/* Is it the name of a cache of hslab's own, which cannot come once more? */
static bool is_internal(const char *name)
{
	char *owner = tree_read_at(tree_sysfs, "caches/%s/owner", name);
	bool is = owner && !strcmp(owner, "hslab");

	free(owner);
	return is;
}

/* The lines for caches, as the kernel takes them for those to come; to be freed. */
static char *rules_text(const struct conf *conf)
{
	char *text;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);
	int j;

	if (!out)
		abort();
	for (i = 0; i < conf->nr; i++) {
		const struct rule *rule = &conf->rules[i];

		if (rule->kind != OF_CACHES || is_internal(rule->name))
			continue;
		pattern_print(out, rule->name, strlen(rule->name), ";");
		for (j = 0; j < rule->nr; j++)
			fprintf(out, " %s=%s",
				policies[rule->settings[j].policy].name,
				rule->settings[j].value);
		putc('\n', out);
	}
	if (!ftell(out))
		putc('\n', out);	/* to write nothing would change nothing */
	if (fclose(out))
		abort();
	return text;
}

/* Caches to come get theirs from the kernel, which has room for so many bytes. */
int rules_apply(const struct conf *conf)
{
	char *text = rules_text(conf);
	bool room = strlen(text) <= RULES_MAX;
	int err;

	if (!room)
		complain("note: no room for rules of %zu bytes (%u): udev is to set new caches",
			 strlen(text), RULES_MAX);
	err = tree_write(room ? text : "\n", "rules");
	free(text);
	return err;
}

/* What the kernel has, to be freed; NULL after saying why it cannot be read. */
char *rules_read(void)
{
	char *text = tree_read_at(tree_sysfs, "rules");

	if (!text)
		complain("%s/rules: %s", tree_sysfs, strerror(errno));
	return text;
}

static int rules_show(void)
{
	char *text = rules_read();

	if (!text)
		return EXIT_REFUSED;
	if (*text)
		puts(text);
	free(text);
	return EXIT_OK;
}

/* Each word is a line of an hslab.conf. */
static int rules_set(char **lines, int nr)
{
	struct conf conf = { NULL, 0, 0 };
	int i, status = EXIT_OK;
	char *text;

	for (i = 0; i < nr; i++) {
		size_t before = conf.nr;

		conf_line(&conf, lines[i], "rule", i + 1);
		if (conf.nr > before)
			continue;
		complain("rule %d is empty; did you mean rules clear?", i + 1);
		status = EXIT_USAGE;
	}
	for (i = 0; i < (int)conf.nr; i++)
		if (conf.rules[i].kind != OF_CACHES) {
			complain("rules are for caches, not for defaults or what is attached");
			status = EXIT_USAGE;
		}
	if (conf.errors)
		status = EXIT_USAGE;
	text = rules_text(&conf);
	if (!status && strlen(text) > RULES_MAX) {
		complain("no room for rules of %zu bytes, at most %u", strlen(text),
			 RULES_MAX);
		status = EXIT_USAGE;
	}
	if (!status && tree_write(text, "rules"))
		status = EXIT_REFUSED;
	free(text);
	conf_free(&conf);
	return status;
}

int cmd_rules(int argc, char **argv)
{
	bool set = argc > 2 && !strcmp(argv[1], "set");

	if (argc > 1 && !set && (argc > 2 || strcmp(argv[1], "clear"))) {
		complain("rules takes set 'PATTERN KEY=VALUE...' ..., clear, or nothing");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	if (argc == 1)
		return rules_show();
	return rules_set(argv + 2, argc - 2);
}
