// SPDX-License-Identifier: GPL-2.0
/* Commands that write: set, profile, scrub, purge, seal. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

static const char *glob_of(const char *which)
{
	return strcmp(which, "all") ? which : "*";
}

/* The caches that match, with a complaint when none does. */
static char **matching(const char *which, size_t *nr)
{
	char **names = tree_caches(glob_of(which), nr);

	if (!*nr) {
		size_t all;
		char **every = tree_caches("*", &all);

		complain_unknown("no cache matches", which,
				 (const char *const *)every, all, "");
		tree_free_names(every, all);
	}
	return names;
}

static int write_settings(const char *folder, const struct setting *settings,
			  int nr)
{
	int i, err = 0;

	for (i = 0; i < nr; i++)
		err |= tree_write(settings[i].value, "%s/%s", folder,
				  policies[settings[i].policy].name);
	return err;
}

static int set_matching(const char *which, const struct setting *settings,
			int nr_settings)
{
	char **names;
	size_t nr, i;
	int err = 0;

	if (!strcmp(which, "defaults"))
		return write_settings("defaults", settings, nr_settings) ?
			EXIT_REFUSED : EXIT_OK;
	names = matching(which, &nr);
	for (i = 0; i < nr; i++) {
		char *folder = tree_path("caches", "%s", names[i]);

		err |= write_settings(folder, settings, nr_settings);
		free(folder);
	}
	tree_free_names(names, nr);
	return !nr ? EXIT_USAGE : err ? EXIT_REFUSED : EXIT_OK;
}

/**
 * settings_parse() - take KEY=VALUE... apart
 * @table: policies[] or attach_policies[]
 * @nr_policies: how many there are in @table
 * @words: them
 * @nr: how many
 *
 * Return: @nr settings for settings_free(), or NULL after saying what is wrong.
 */
struct setting *settings_parse(const struct policy *table, int nr_policies,
			       char **words, int nr)
{
	struct setting *settings = calloc(nr + 1, sizeof(*settings));
	bool good = true;
	int i;

	if (!settings)
		abort();
	for (i = 0; i < nr; i++) {
		char *wrong = policy_parse(table, nr_policies, words[i],
					   &settings[i]);

		if (!wrong)
			continue;
		complain("%s", wrong);
		free(wrong);
		good = false;
	}
	if (good)
		return settings;
	settings_free(settings, nr);
	return NULL;
}

void settings_free(struct setting *settings, int nr)
{
	while (nr)
		free(settings[--nr].value);
	free(settings);
}

int cmd_set(int argc, char **argv)
{
	struct setting *settings;
	int i, nr = argc - 2, status = EXIT_OK;

	if (argc < 3) {
		complain("set takes CACHE, all, defaults or a glob, and KEY=VALUE...");
		return EXIT_USAGE;
	}
	settings = settings_parse(policies, NR_POLICIES, argv + 2, nr);
	if (!settings)
		return EXIT_USAGE;
	for (i = 0; i < nr && !status; i++) {
		if (settings[i].policy == POLICY_PROFILE &&
		    !strcmp(argv[1], "defaults")) {
			complain("defaults have no profile; see profile all %s",
				 settings[i].value);
			status = EXIT_USAGE;
		}
	}
	if (!status)
		status = tree_present() ?
			set_matching(argv[1], settings, nr) : EXIT_NONE;
	settings_free(settings, nr);
	return status;
}

/* The profile of a cache, or of all, with the defaults. */
int cmd_profile(int argc, char **argv)
{
	const char *which = argc == 3 ? argv[1] : "all";
	struct setting setting;
	char *text, *wrong;
	int status;

	if (argc != 2 && argc != 3) {
		complain("profile takes [CACHE|all] NAME, NAME one of %s",
			 policies[POLICY_PROFILE].expected);
		return EXIT_USAGE;
	}
	if (asprintf(&text, "profile=%s", argv[argc - 1]) < 0)
		abort();
	wrong = policy_parse(policies, NR_POLICIES, text, &setting);
	free(text);
	if (wrong) {
		complain("%s", wrong);
		free(wrong);
		return EXIT_USAGE;
	}
	if (!tree_present()) {
		status = EXIT_NONE;
	} else if (strcmp(which, "all")) {
		status = set_matching(which, &setting, 1);
	} else {
		status = tree_write(setting.value, "profile") ? EXIT_REFUSED :
			 EXIT_OK;
	}
	free(setting.value);
	return status;
}

int cmd_scrub(int argc, char **argv)
{
	size_t nr, i;
	char **names;
	int err = 0;

	if (argc > 2) {
		complain("scrub takes CACHE, all or a glob, or nothing for all");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	names = matching(argc == 2 ? argv[1] : "all", &nr);
	for (i = 0; i < nr; i++)
		err |= tree_write("1", "caches/%s/scrub", names[i]);
	tree_free_names(names, nr);
	return !nr ? EXIT_USAGE : err ? EXIT_REFUSED : EXIT_OK;
}

static int write_top(const char *file)
{
	return tree_write("1", "%s", file) ? EXIT_REFUSED : EXIT_OK;
}

int cmd_purge(int argc, char **argv)
{
	if (argc > 1) {
		complain("purge takes no '%s': it is for all caches", argv[1]);
		return EXIT_USAGE;
	}
	return tree_present() ? write_top("purge") : EXIT_NONE;
}

int cmd_seal(int argc, char **argv)
{
	static const char question[] =
		"Until reboot policies can only be tightened. Seal (yes/no)? ";
	char answer[16] = "";

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "--yes"))) {
		complain("seal takes nothing but --yes");
		return EXIT_USAGE;
	}
	if (!tree_present())
		return EXIT_NONE;
	if (argc == 1) {
		fputs(question, stderr);
		if (!fgets(answer, sizeof(answer), stdin) ||
		    strcmp(answer, "yes\n")) {
			complain("not sealed");
			return EXIT_REFUSED;
		}
	}
	return write_top("seal");
}
