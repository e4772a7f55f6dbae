// SPDX-License-Identifier: GPL-2.0
/*
 * What the suites share, see hslab_kunit.h.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "hslab_kunit.h"

/* More free objects than any test leaves in its cache. */
#define ENOUGH	1024

KUNIT_DEFINE_ACTION_WRAPPER(destroy, hslab_cache_destroy, struct hslab_cache *);

struct hslab_cache *hslab_test_cache(struct kunit *test, const char *name,
				     unsigned int size,
				     const struct hslab_args *args)
{
	struct hslab_cache *cache = hslab_cache_create(name, size, args);

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(cache), "cache %s: %pe", name,
			       cache);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, destroy, cache));
	return cache;
}

void hslab_test_destroy(struct kunit *test, struct hslab_cache *cache)
{
	kunit_release_action(test, destroy, cache);
}

void hslab_test_policy(struct kunit *test, struct hslab_cache *cache,
		       const char *policy, const char *value)
{
	KUNIT_ASSERT_EQ_MSG(test, 0, hslab_set_policy(cache, policy, value),
			    "%s=%s", policy, value);
}

void *hslab_test_alloc(struct kunit *test, struct hslab_cache *cache, gfp_t gfp)
{
	void *object = hslab_alloc(cache, gfp);

	KUNIT_ASSERT_NOT_NULL(test, object);
	return object;
}

u64 hslab_test_faults(const struct hslab_cache *cache, enum hslab_kind kind)
{
	return atomic64_read(&cache->faults[kind]);
}

u64 hslab_test_all_faults(const struct hslab_cache *cache)
{
	enum hslab_kind kind;
	u64 sum = 0;

	for (kind = 0; kind < HSLAB_NR_KINDS; kind++)
		sum += hslab_test_faults(cache, kind);
	return sum;
}

void hslab_test_counts(const struct hslab_cache *cache,
		       struct hslab_counts *sum)
{
	mutex_lock(&hslab_mutex);
	hslab_cache_counts(cache, sum);
	mutex_unlock(&hslab_mutex);
}

u64 hslab_test_plain(const struct hslab_cache *cache, const void *object)
{
	const struct hslab_store *store = hslab_test_store(cache);
	u64 word;

	hslab_peek(&word, hslab_tag(object, store->tag_off), sizeof(word));
	return hslab_decode(store, object, word);
}

static bool same_page(const void *a, const void *b)
{
	return virt_to_head_page(a) == virt_to_head_page(b);
}

void hslab_test_victim(struct kunit *test, struct hslab_cache *cache,
		       void **anchor, void **victim)
{
	void *object[2 * HSLAB_LINES];
	unsigned int nr;

	object[0] = hslab_test_alloc(test, cache, GFP_KERNEL);
	for (nr = 1; nr < ARRAY_SIZE(object); nr++) {
		object[nr] = hslab_test_alloc(test, cache, GFP_KERNEL);
		if (same_page(object[nr - 1], object[nr]))
			break;
	}
	KUNIT_ASSERT_LT_MSG(test, nr, ARRAY_SIZE(object),
			    "no two objects are in one slab page");
	*anchor = object[nr - 1];
	*victim = object[nr];
	hslab_free_bulk(cache, nr - 1, object);
}

void hslab_test_take_back(struct kunit *test, struct hslab_cache *cache,
			  gfp_t gfp, void *victim)
{
	void **object = kunit_kcalloc(test, ENOUGH, sizeof(*object),
				      GFP_KERNEL);
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, object);
	hslab_cache_shrink(cache);	/* empties KASAN's quarantine */
	for (nr = 0; nr < ENOUGH; nr++) {
		object[nr] = hslab_alloc(cache, gfp);
		if (!object[nr] || object[nr] == victim)
			break;
	}
	KUNIT_EXPECT_TRUE_MSG(test, nr < ENOUGH && object[nr] == victim,
			      "the object did not come back");
	hslab_free_bulk(cache, nr, object);
	kunit_kfree(test, object);
}

void hslab_test_find(struct kunit *test, struct hslab_cache *cache,
		     enum hslab_kind kind)
{
	void **object = kunit_kcalloc(test, ENOUGH, sizeof(*object),
				      GFP_KERNEL);
	u64 before = hslab_test_faults(cache, kind);
	unsigned int nr;

	KUNIT_ASSERT_NOT_NULL(test, object);
	hslab_cache_shrink(cache);	/* empties KASAN's quarantine */
	for (nr = 0; nr < ENOUGH; nr++) {
		if (hslab_test_faults(cache, kind) != before)
			break;
		object[nr] = hslab_alloc(cache, GFP_KERNEL);
		if (!object[nr])
			break;
	}
	KUNIT_EXPECT_EQ_MSG(test, before + 1, hslab_test_faults(cache, kind),
			    "after %u allocations", nr);
	hslab_free_bulk(cache, nr, object);
	kunit_kfree(test, object);
}

/*
 * REPORTS
 */

/* As much as 64 reports can come to. */
#define ALL_REPORTS	(64 * 1024)

void hslab_test_last_report(struct kunit *test, struct hslab_lines *lines)
{
	struct seq_file seq = { .size = ALL_REPORTS };
	char *next, *last = NULL, *line;

	lines->nr = 0;
	seq.buf = kunit_kzalloc(test, ALL_REPORTS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	hslab_faults_show(&seq);
	KUNIT_ASSERT_FALSE(test, seq_has_overflowed(&seq));
	seq.buf[seq.count] = '\0';

	for (next = seq.buf; (next = strstr(next, "BUG: hslab: ")); next++)
		last = next;
	while (last && (line = strsep(&last, "\n")) && *line &&
	       lines->nr < HSLAB_LINES)
		strscpy(lines->line[lines->nr++], line, HSLAB_LINE_LEN);
	kunit_kfree(test, seq.buf);
}

static __printf(2, 3) void add_line(struct hslab_lines *lines,
				    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(lines->line[lines->nr++], HSLAB_LINE_LEN, fmt, args);
	va_end(args);
}

/* What the report should be, up to the CPU and the offset in the caller. */
static void expected_lines(const struct hslab_expect *e,
			   struct hslab_lines *lines)
{
	lines->nr = 0;
	if (e->offset >= 0)
		add_line(lines, "BUG: hslab: %s in cache %s, object %p of %u bytes, offset %d",
			 e->kind, e->cache->name, e->object, e->cache->size,
			 e->offset);
	else
		add_line(lines, "BUG: hslab: %s in cache %s, object %p of %u bytes",
			 e->kind, e->cache->name, e->object, e->cache->size);
	if (e->more)
		add_line(lines, "hslab:   %s", e->more);
	if (e->marks)
		add_line(lines, "hslab:   offset %d: %s (%u byte%s)", e->offset,
			 e->marks, e->nr_bad,
			 e->nr_bad == 1 ? " differs" : "s differ");
	if (e->expected)
		add_line(lines, "hslab:   expected %s", e->expected);
	if (e->found)
		add_line(lines, "hslab:   found    %s", e->found);
	add_line(lines, "hslab:   found by %s[%d] on CPU ", current->comm,
		 task_pid_nr(current));
	add_line(lines, "hslab:   object %s; %llu of this kind in the cache",
		 e->aside ? "set aside" : "left as it is", e->nr);
}

/* Is @line "START, a number of a CPU, and a place in the caller"? */
static bool found_by(const char *line, const char *start,
		     const struct hslab_expect *e)
{
	char at[HSLAB_LINE_LEN];
	unsigned int cpu;
	int end = 0;

	if (strncmp(line, start, strlen(start)) ||
	    sscanf(line + strlen(start), "%u at %n", &cpu, &end) < 1 || !end ||
	    cpu >= nr_cpu_ids)
		return false;
	if (!e->caller)
		return true;
	snprintf(at, sizeof(at), "%ps", e->caller);
	strreplace(at, ' ', '\0');	/* "function [module]" */
	line += strlen(start) + end;
	return !strncmp(line, at, strlen(at)) &&
	       !strncmp(line + strlen(at), "+0x", 3);
}

void hslab_test_report(struct kunit *test, const struct hslab_lines *lines,
		       const struct hslab_expect *e)
{
	struct hslab_lines *should = kunit_kzalloc(test, sizeof(*should),
						   GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, should);
	expected_lines(e, should);
	for (i = 0; i < max(lines->nr, should->nr); i++) {
		bool by = i == should->nr - 2;

		if (by && found_by(lines->line[i], should->line[i], e))
			continue;
		if (!by && !strcmp(lines->line[i], should->line[i]))
			continue;
		KUNIT_FAIL(test, "line %u of the report\n  is     \"%s\"\n  not    \"%s\"%s",
			   i, lines->line[i], should->line[i],
			   by ? " and so on" : "");
	}
	kunit_kfree(test, should);
}

void hslab_test_expect(struct kunit *test, const struct hslab_expect *expect)
{
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, lines);
	hslab_test_last_report(test, lines);
	hslab_test_report(test, lines, expect);
	kunit_kfree(test, lines);
}

/* scripts/kunit takes "reports" to mean: of hslab, and no others. */
int hslab_suite_provokes(struct kunit_suite *suite)
{
	pr_info("hslab-test: expect-begin reports\n");
	return 0;
}

void hslab_suite_provoked(struct kunit_suite *suite)
{
	pr_info("hslab-test: expect-end\n");
}

MODULE_DESCRIPTION("KUnit suites of hslab");
MODULE_LICENSE("GPL");

struct hslab_reader {
	bool reads, leave;
};

static int reader_thread(void *data)
{
	unsigned long end = jiffies + 10 * HZ;
	struct hslab_reader *reader = data;

	rcu_read_lock();
	WRITE_ONCE(reader->reads, true);
	while (!READ_ONCE(reader->leave) && time_before(jiffies, end))
		cpu_relax();
	rcu_read_unlock();
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

KUNIT_DEFINE_ACTION_WRAPPER(stop_thread, kthread_stop, struct task_struct *);

struct task_struct *hslab_test_on_other_cpu(struct kunit *test,
					    int (*run)(void *data), void *data)
{
	unsigned int first = cpumask_first(cpu_online_mask);
	unsigned int second = cpumask_next(first, cpu_online_mask);
	struct task_struct *thread;

	if (second >= nr_cpu_ids)
		kunit_skip(test, "needs two CPUs");
	set_cpus_allowed_ptr(current, cpumask_of(first));
	thread = kthread_create(run, data, "hslab-other");
	KUNIT_ASSERT_FALSE(test, IS_ERR(thread));
	kthread_bind(thread, second);
	wake_up_process(thread);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, stop_thread, thread));
	return thread;
}

void hslab_test_stop_other(struct kunit *test, struct task_struct *thread)
{
	kunit_release_action(test, stop_thread, thread);
}

struct hslab_reader *hslab_test_reader(struct kunit *test)
{
	struct hslab_reader *reader = kunit_kzalloc(test, sizeof(*reader),
					      GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, reader);
	hslab_test_on_other_cpu(test, reader_thread, reader);
	while (!READ_ONCE(reader->reads))
		msleep(20);
	return reader;
}

void hslab_test_reader_leaves(struct hslab_reader *reader)
{
	WRITE_ONCE(reader->leave, true);
}
