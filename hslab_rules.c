// SPDX-License-Identifier: GPL-2.0
/*
 * Rules: the policies that caches start with, by their names. A new cache has
 * them before anybody can allocate from it.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/ctype.h>
#include <linux/glob.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "hslab_internal.h"

/* What sysfs can show, less the newline at the end. */
#define HSLAB_RULES_MAX		(PAGE_SIZE - 2)

struct hslab_rule {
	const char *glob;	/* one pointer for all rules of a line */
	const struct hslab_policy_field *field;
	const char *value;
};

struct hslab_rules {
	char *text;		/* that the rules point to */
	unsigned int nr;
	struct hslab_rule rules[];
};

static struct hslab_rules *hslab_rules;	/* hslab_mutex; NULL: none */

static void hslab_rules_free(struct hslab_rules *rules)
{
	if (rules)
		kfree(rules->text);
	kfree(rules);
}

/* As strsep(), but that a backslash takes the meaning from what comes after it. */
static char *hslab_next_part(char **rest, const char *ends)
{
	char *part = *rest, *end = part;

	if (!part)
		return NULL;
	while (*end && !strchr(ends, *end))
		end += *end == '\\' && end[1] && end[1] != '\n' ? 2 : 1;
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return part;
}

/* The next word of a line, NULL at its end. */
static char *hslab_next_word(char **line)
{
	char *word;

	do {
		word = hslab_next_part(line, " \t");
	} while (word && !*word);
	return word;
}

static int hslab_rules_add(struct hslab_rules *rules, const char *glob,
			   char *word)
{
	struct hslab_policy scratch = { };
	const struct hslab_policy_field *field;
	char *value = word;

	strsep(&value, "=");
	if (!value) {
		pr_warn_ratelimited("rules: \"%s\" is no POLICY=VALUE\n", word);
		return -EINVAL;
	}
	field = hslab_field_find(word);
	if (!field) {
		pr_warn_ratelimited("rules: there is no policy \"%s\"\n", word);
		return -EINVAL;
	}
	if (hslab_policy_set(&scratch, field, value)) {
		hslab_policy_complain("rules", field);
		return -EINVAL;
	}
	rules->rules[rules->nr++] = (struct hslab_rule){ glob, field, value };
	return 0;
}

static int hslab_rules_add_line(struct hslab_rules *rules, char *line)
{
	const char *glob = hslab_next_word(&line);
	unsigned int before = rules->nr;
	char *word;

	if (!glob)
		return 0;
	while ((word = hslab_next_word(&line))) {
		int err = hslab_rules_add(rules, glob, word);

		if (err)
			return err;
	}
	if (rules->nr == before) {
		pr_warn_ratelimited("rules: \"%s\" is not NAME POLICY=VALUE...\n",
				    glob);
		return -EINVAL;
	}
	return 0;
}

static struct hslab_rules *hslab_rules_parse(const char *buf, size_t count)
{
	struct hslab_rules *rules;
	char *line, *text;
	size_t i, most = 0;
	int err = 0;

	text = kmemdup_nul(buf, count, GFP_KERNEL);
	if (!text)
		return ERR_PTR(-ENOMEM);
	for (i = 0; i < count; i++)
		most += text[i] == '=';
	rules = kzalloc(struct_size(rules, rules, most), GFP_KERNEL);
	if (!rules) {
		kfree(text);
		return ERR_PTR(-ENOMEM);
	}
	rules->text = text;
	while (!err && (line = hslab_next_part(&text, "\n;")))
		err = hslab_rules_add_line(rules, line);
	if (err) {
		hslab_rules_free(rules);
		return ERR_PTR(err);
	}
	return rules;
}

static bool hslab_rules_same(const struct hslab_rules *a,
			     const struct hslab_rules *b)
{
	unsigned int i, nr = a ? a->nr : 0;

	if (nr != b->nr)
		return false;
	for (i = 0; i < nr; i++)
		if (strcmp(a->rules[i].glob, b->rules[i].glob) ||
		    a->rules[i].field != b->rules[i].field ||
		    strcmp(a->rules[i].value, b->rules[i].value))
			return false;
	return true;
}

/* No name of a cache has a control character, and lines and words have none but these. */
static bool hslab_rules_text(const char *buf, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (iscntrl(buf[i]) && buf[i] != '\n' && buf[i] != '\t')
			return false;
	return true;
}

/**
 * hslab_rules_set() - replace the rules
 * @buf: lines "NAME POLICY=VALUE...", which newlines or semicolons end
 * @count: bytes in @buf
 *
 * Caches that are there stay as they are. Whether one rule is looser than another
 * depends on the caches to come, so once sealed there is no change.
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL, -EPERM when sealed, or -ENOMEM, with nothing changed.
 */
int hslab_rules_set(const char *buf, size_t count)
{
	struct hslab_rules *rules;
	int err = 0;

	if (count && buf[count - 1] == '\n')
		count--;
	if (count > HSLAB_RULES_MAX || !hslab_rules_text(buf, count)) {
		pr_warn_ratelimited("rules: expected text of at most %lu bytes\n",
				    HSLAB_RULES_MAX);
		return -EINVAL;
	}
	rules = hslab_rules_parse(buf, count);
	if (IS_ERR(rules))
		return PTR_ERR(rules);

	mutex_lock(&hslab_mutex);
	if (!hslab_rules_same(hslab_rules, rules)) {
		err = hslab_seal_action("rules", "change");
		if (!err)
			swap(hslab_rules, rules);
	}
	mutex_unlock(&hslab_mutex);
	hslab_rules_free(rules);
	return err;
}

/**
 * hslab_rules_show() - write the rules as sysfs shows them
 * @buf: a page
 *
 * Context: process context, may sleep.
 * Return: bytes written.
 */
int hslab_rules_show(char *buf)
{
	const char *glob = NULL;
	unsigned int i;
	int len = 0;

	mutex_lock(&hslab_mutex);
	for (i = 0; hslab_rules && i < hslab_rules->nr; i++) {
		const struct hslab_rule *rule = &hslab_rules->rules[i];

		if (rule->glob != glob)
			len += sysfs_emit_at(buf, len, "%s%s", len ? "\n" : "",
					     rule->glob);
		glob = rule->glob;
		len += sysfs_emit_at(buf, len, " %s=%s", rule->field->name,
				     rule->value);
	}
	mutex_unlock(&hslab_mutex);
	return len + sysfs_emit_at(buf, len, "\n");
}

/**
 * hslab_rules_apply() - give a new cache what rules say of it
 * @policy: its policies so far
 * @name: its name
 *
 * In the order they were written, so the last one counts.
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_rules_apply(struct hslab_policy *policy, const char *name)
{
	unsigned int i;

	lockdep_assert_held(&hslab_mutex);

	for (i = 0; hslab_rules && i < hslab_rules->nr; i++) {
		const struct hslab_rule *rule = &hslab_rules->rules[i];

		if (glob_match(rule->glob, name))
			hslab_policy_set(policy, rule->field, rule->value);
	}
}

static int hslab_rules_param_set(const char *value,
				 const struct kernel_param *param)
{
	return hslab_rules_set(value, strlen(value));
}

/* When the module goes, or does not load for another parameter. */
static void hslab_rules_param_free(void *arg)
{
	hslab_rules_free(hslab_rules);
}

static const struct kernel_param_ops hslab_rules_param_ops = {
	.set = hslab_rules_param_set,
	.free = hslab_rules_param_free,
};

module_param_cb(rules, &hslab_rules_param_ops, NULL, 0);
MODULE_PARM_DESC(rules, "policies that caches start with by name: \"GLOB POLICY=VALUE...; ...\"");
