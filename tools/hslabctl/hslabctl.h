/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hslabctl: what its files have of each other.
 *
 * tree.c, policy.c, glob.c and output.c are leaves; snapshot.c reads through tree.c; each
 * command is in the file of its noun; main.c has the table of commands.
 */
#ifndef HSLABCTL_H
#define HSLABCTL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Exit statuses; in hslabctl(8). */
enum {
	EXIT_OK,
	EXIT_USAGE,	/* wrong arguments, or a wrong configuration */
	EXIT_REFUSED,	/* a file could not be read or written */
	EXIT_NONE,	/* no hslab here */
};

/* main.c */
void complain(const char *fmt, ...)
	__printf(1, 2);

/* tree.c: the files of /sys/kernel/hslab, /sys/kernel/debug/hslab and /proc */
extern const char *tree_sysfs;
extern const char *tree_debugfs;
extern const char *tree_proc;
extern const char *tree_conf;	/* where hslab.conf files are */

bool tree_exists(void);
bool tree_present(void);
bool tree_is_name(const char *name);
char *tree_path(const char *base, const char *fmt, ...)
	__printf(2, 3);
char *tree_read(const char *path);
char *tree_read_at(const char *base, const char *fmt, ...)
	__printf(2, 3);
int tree_write(const char *value, const char *fmt, ...)
	__printf(2, 3);
char **tree_folders(const char *where, const char *pattern, size_t *nr);
char **tree_caches(const char *pattern, size_t *nr);
void tree_free_names(char **names, size_t nr);

/* policy.c: names and values, as the kernel takes them */
struct policy {
	const char *name;
	bool (*valid)(const struct policy *policy, const char *value);
	const char *expected;
	const char *const *words;
	unsigned int min, max;	/* numbers: 0, or from min to max */
};

#define POLICY_PROFILE	0	/* index in policies[] */
#define NR_POLICIES	12

extern const struct policy policies[NR_POLICIES];

/* Of what hslab is attached to, in the order in which they are to be written. */
#define NR_ATTACH_POLICIES	5

extern const struct policy attach_policies[NR_ATTACH_POLICIES];

struct setting {
	int policy;		/* index in policies[], or in attach_policies[] */
	char *value;
};

char *policy_parse(const struct policy *table, int nr, const char *text,
		   struct setting *setting);
bool policy_kept_by_profile(int policy);
const char *near_name(const char *word, const char *const *names, size_t nr);
void complain_unknown(const char *what, const char *name,
		      const char *const *names, size_t nr, const char *instead);

/* glob.c */
bool glob_matches(const char *pattern, const char *name);

/* output.c */
struct output {
	FILE *file;		/* to write to */
	char *path;		/* NULL: the standard output */
	char *temporary;	/* to be renamed to path; NULL: path is written to */
};

int output_open(struct output *output, const char *name);
int output_close(struct output *output, bool good);

/* snapshot.c */
json_t *snapshot_cache(const char *name);
json_t *snapshot_attached(const char *name);
json_t *snapshot(const char *pattern);
json_t *snapshot_stats(const char *pattern);
json_t *json_sorted(const json_t *object);
long long snapshot_faults(const json_t *cache);
bool snapshot_hidden(void);
void snapshot_hint(void);

/* set.c */
struct setting *settings_parse(const struct policy *table, int nr_policies,
			       char **words, int nr);
void settings_free(struct setting *settings, int nr);

/* attach.c; values are by policy, NULL for those that are to stay. */
bool can_attach(void);
int attach_apply(const char *name, const char *const values[NR_ATTACH_POLICIES]);

/* list.c */
void show_folder(const char *name, const json_t *folder);

/* The commands. argv[0] is the command's name. */
int cmd_list(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_scrub(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_purge(int argc, char **argv);
int cmd_seal(int argc, char **argv);
int cmd_stores(int argc, char **argv);
int cmd_faults(int argc, char **argv);
int cmd_traces(int argc, char **argv);
int cmd_check_config(int argc, char **argv);
int cmd_apply(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_attached(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_prometheus(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_top(int argc, char **argv);

#endif
