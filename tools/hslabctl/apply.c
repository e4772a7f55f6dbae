// SPDX-License-Identifier: GPL-2.0
/* apply: what hslab.conf says, to the defaults, caches and what is attached. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

/* Write what a folder of policies is to have; a profile is the first of them. */
static int conf_write(const char *folder, const char *const values[NR_POLICIES])
{
	int i, err = 0;

	for (i = 0; i < NR_POLICIES; i++)
		if (values[i])
			err |= tree_write(values[i], "%s/%s", folder,
					  policies[i].name);
	return err;
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
		err = rules_apply(conf);
		conf_find(conf, OF_DEFAULTS, NULL, values, NR_POLICIES);
		err |= conf_write("defaults", values);
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
