/* SPDX-License-Identifier: GPL-2.0 */
/* hslab.conf, as conf.c has read it. */
#ifndef CONF_H
#define CONF_H

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

int conf_read_all(struct conf *conf, int nr, char **files);
void conf_line(struct conf *conf, char *text, const char *file,
	       unsigned int line);
void conf_free(struct conf *conf);
char *conf_span(char *text, const char *letters);
void pattern_print(FILE *out, const char *pattern, size_t len,
		   const char *letters);
bool rule_matches(const struct rule *rule, enum kind kind, const char *name);
void conf_find(const struct conf *conf, enum kind kind, const char *name,
	       const char **values, size_t nr);

/* rules.c */
char *rules_read(void);
int rules_apply(const struct conf *conf);

#endif /* CONF_H */
