// SPDX-License-Identifier: GPL-2.0
/*
 * Reports: every kind of report as the console has it, line by line.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <trace/events/printk.h>

#include "hslab_kunit.h"

#define SIZE	40		/* bytes of the objects here */

/*
 * THE CONSOLE
 */

/* What the task that runs the test prints, from the last report on. */
static struct {
	raw_spinlock_t lock;		/* all but task; printk() may be anywhere */
	struct task_struct *task;
	unsigned int nr_reports, nr_warnings;
	struct hslab_lines lines;
} console = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(console.lock),
};

static void probe_console(void *unused, const char *text, size_t len)
{
	unsigned long flags;

	if (READ_ONCE(console.task) != current)
		return;
	raw_spin_lock_irqsave(&console.lock, flags);
	console.nr_warnings += !!strnstr(text, "WARNING: ", len);
	if (strnstr(text, "BUG: hslab: ", len) == text) {
		console.nr_reports++;
		console.lines.nr = 0;
	} else if (!console.lines.nr) {
		goto unlock;
	}
	if (console.lines.nr < HSLAB_LINES)
		strscpy(console.lines.line[console.lines.nr++], text,
			min_t(size_t, len + 1, HSLAB_LINE_LEN));
unlock:
	raw_spin_unlock_irqrestore(&console.lock, flags);
}

static void listen(void)
{
	console.nr_reports = 0;
	console.nr_warnings = 0;
	console.lines.nr = 0;
	WRITE_ONCE(console.task, current);
}

/* The report, on the console, ends where the trace of the stack begins. */
static void cut_trace(struct hslab_lines *lines)
{
	unsigned int i;

	for (i = 0; i < lines->nr; i++) {
		if (!strcmp(lines->line[i], "hslab:   Call Trace:")) {
			memset(lines->line[i], 0,
			       (HSLAB_LINES - i) * HSLAB_LINE_LEN);
			lines->nr = i;
		}
	}
}

/* One report was printed, and it and the one in debugfs are as @expect says. */
static void expect_one(struct kunit *test, const struct hslab_expect *expect)
{
	unsigned int before;

	WRITE_ONCE(console.task, NULL);
	KUNIT_EXPECT_EQ(test, 1, console.nr_reports);
	before = console.lines.nr;
	cut_trace(&console.lines);
	KUNIT_EXPECT_GT(test, before, console.lines.nr + 1);
	hslab_test_report(test, &console.lines, expect);
	hslab_test_expect(test, expect);
}

/*
 * EVERY KIND
 */

/* Two caches, an object of the first, and another that keeps its page. */
struct report_test {
	struct hslab_cache *cache, *other;
	u8 *anchor, *object;
};

/* A violation, and the report of it. What tells of caches and objects comes in prepare(). */
struct report_case {
	const char *name;
	void (*provoke)(struct kunit *test, struct report_test *t);
	struct hslab_expect expect;
	enum {
		FREED, STILL_LIVE,	/* the object, when all is over */
	} left;
	bool by_other;			/* the report is of the other cache */
	bool inside;			/* provoke() gave a pointer into the object */
};

static noinline void free_twice(struct kunit *test, struct report_test *t)
{
	hslab_free(t->cache, t->object);
	hslab_free(t->cache, t->object);
}

static noinline void free_to_other(struct kunit *test, struct report_test *t)
{
	hslab_free(t->other, t->object);
	barrier();		/* no tail call: it is the caller that is told */
}

static noinline void free_inside(struct kunit *test, struct report_test *t)
{
	hslab_free(t->cache, t->object + 8);
	barrier();
}

static noinline void free_askew(struct kunit *test, struct report_test *t)
{
	hslab_free(t->cache, t->object + 3);
	barrier();
}

static noinline void overflow_tag(struct kunit *test, struct report_test *t)
{
	hslab_plant_byte(t->object + SIZE, 0);
	hslab_free(t->cache, t->object);
	barrier();
}

static noinline void write_after_free(struct kunit *test,
				      struct report_test *t)
{
	hslab_free(t->cache, t->object);
	hslab_plant(t->object + 5, "ABkC", 4);	/* the third is as it was */
	hslab_test_find(test, t->cache, HSLAB_WRITE_AFTER_FREE);
}

static noinline void write_to_the_end(struct kunit *test,
				      struct report_test *t)
{
	hslab_free(t->cache, t->object);
	hslab_plant_byte(t->object + SIZE - 1, 'A');
	hslab_test_find(test, t->cache, HSLAB_WRITE_AFTER_FREE);
}

static noinline void break_tag(struct kunit *test, struct report_test *t)
{
	u8 byte;

	hslab_free(t->cache, t->object);
	hslab_peek(&byte, t->object + SIZE + 6, 1);
	hslab_plant_byte(t->object + SIZE + 6, ~byte);
	hslab_test_find(test, t->cache, HSLAB_BAD_TAG);
}

static noinline void free_around(struct kunit *test, struct report_test *t)
{
	kmem_cache_free(hslab_test_route(t->cache)->kmem, t->object);
	hslab_test_find(test, t->cache, HSLAB_NOT_FREED);
}

static noinline void free_no_object(struct kunit *test, struct report_test *t)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	t->object = page;
	hslab_free(t->cache, page);
	free_page((unsigned long)page);
}

/* A write to a free object, found by the allocation of it. */
#define WRITTEN_AFTER_FREE(_offset, _marks, _nr_bad)			\
	.kind = "write-after-free", .offset = (_offset),		\
	.more = "written after cache kunit-report freed it",		\
	.marks = (_marks), .nr_bad = (_nr_bad), .aside = true,		\
	.caller = hslab_test_find

static const struct report_case report_cases[] = {
	{ "double-free", free_twice, {
		.kind = "double-free", .offset = -1, .caller = free_twice,
	} },
	{ "cross-cache-free", free_to_other, {
		.kind = "cross-cache-free", .offset = -1,
		.more = "it belongs to cache kunit-report",
		.caller = free_to_other,
	}, .left = STILL_LIVE, .by_other = true },
	{ "invalid-free, inside", free_inside, {
		.kind = "invalid-free", .offset = 8,
		.more = "pointer is 8 bytes into it",
		.caller = free_inside,
	}, .left = STILL_LIVE },
	{ "invalid-free, askew", free_askew, {
		.kind = "invalid-free", .offset = 3,
		.more = "pointer is 3 bytes into it",
		.caller = free_askew,
	}, .left = STILL_LIVE },
	{ "invalid-free, a page", free_no_object, {
		.kind = "invalid-free", .offset = -1,
		.more = "not an object of the cache",
		.caller = free_no_object,
	}, .left = STILL_LIVE },
	{ "overflow", overflow_tag, {
		.kind = "overflow", .offset = SIZE,
		.more = "written past its end",
		.marks = "!.......", .nr_bad = 1, .aside = true,
		.caller = overflow_tag,
	} },
	{ "write-after-free", write_after_free, {
		WRITTEN_AFTER_FREE(5, "!!.!............", 3),
	} },
	{ "write-after-free, last byte", write_to_the_end, {
		WRITTEN_AFTER_FREE(SIZE - 1, "!", 1),
	} },
	{ "bad-tag", break_tag, {
		.kind = "bad-tag", .offset = SIZE + 6,
		.more = "tag overwritten while it was free",
		.marks = "!.", .nr_bad = 1, .aside = true,
		.caller = hslab_test_find,
	} },
	{ "not-freed", free_around, {
		.kind = "not-freed", .offset = -1,
		.more = "cache kunit-report has it: freed around hslab, or given out twice",
		.aside = true, .caller = hslab_test_find,
	} },
};

KUNIT_ARRAY_PARAM_DESC(report, report_cases, name);

/*
 * The console gets 10 reports in 5 seconds; wait till the next one opens such a
 * time.
 */
#define AT_ONCE		10
#define PER_SECONDS	5

static unsigned int nr_printed;

static void let_print(unsigned int nr)
{
	if (nr_printed + nr > AT_ONCE) {
		msleep(PER_SECONDS * MSEC_PER_SEC + 100);
		nr_printed = 0;
	}
	nr_printed += nr;
}

static void prepare(struct kunit *test, struct report_test *t)
{
	struct hslab_args args = { .profile = "debug" };

	t->cache = hslab_test_cache(test, "kunit-report", SIZE, &args);
	t->other = hslab_test_cache(test, "kunit-other", SIZE, &args);
	hslab_test_victim(test, t->cache, (void **)&t->anchor,
			  (void **)&t->object);
	hslab_free(t->other, hslab_test_alloc(test, t->other, GFP_KERNEL));
}

static void every_kind(struct kunit *test)
{
	const struct report_case *c = test->param_value;
	struct hslab_expect expect = c->expect;
	struct report_test t;
	u8 *object;

	let_print(1);
	prepare(test, &t);
	object = t.object;
	listen();
	c->provoke(test, &t);
	expect.cache = c->by_other ? t.other : t.cache;
	expect.object = t.object;
	expect.nr = 1;
	expect_one(test, &expect);

	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(t.cache) +
				 hslab_test_all_faults(t.other));
	KUNIT_EXPECT_EQ(test, c->expect.aside, atomic64_read(&t.cache->aside));
	if (c->left == STILL_LIVE)
		hslab_free(t.cache, object);
	hslab_free(t.cache, t.anchor);
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(t.cache));
	KUNIT_EXPECT_EQ(test, 0, hslab_cache_live(t.other));
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(t.cache) +
				 hslab_test_all_faults(t.other));
}

/*
 * What follows is seen in debugfs, so that it need not wait for the console.
 */

/* The former owner, and the fill, are those that the object had. */
static void other_owner_is_told(struct kunit *test)
{
	struct report_test t;

	prepare(test, &t);
	hslab_free(t.cache, t.object);
	hslab_free(t.cache, t.anchor);
	hslab_test_policy(test, t.cache, "merge", "group=kunit");
	hslab_test_policy(test, t.other, "merge", "group=kunit");
	hslab_test_policy(test, t.cache, "poison", "0x11");
	hslab_test_victim(test, t.cache, (void **)&t.anchor,
			  (void **)&t.object);
	hslab_free(t.cache, t.object);
	hslab_plant_byte(t.object + 16, 0x10);
	hslab_cache_shrink(t.cache);
	hslab_test_find(test, t.other, HSLAB_WRITE_AFTER_FREE);
	hslab_test_expect(test, &(struct hslab_expect) {
		WRITTEN_AFTER_FREE(16, "!...............", 1),
		.cache = t.other,
		.object = t.object,
		.nr = 1,
	});
	hslab_free(t.cache, t.anchor);
}

/* The count in a report goes up by one each time, for each kind by itself. */
static void counts_go_up(struct kunit *test)
{
	struct report_test t;
	unsigned int i;

	prepare(test, &t);
	for (i = 1; i <= 3; i++) {
		free_inside(test, &t);
		hslab_test_expect(test, &(struct hslab_expect) {
			.kind = "invalid-free", .cache = t.cache,
			.object = t.object, .offset = 8,
			.more = "pointer is 8 bytes into it",
			.nr = i, .caller = free_inside,
		});
		free_to_other(test, &t);
		hslab_test_expect(test, &(struct hslab_expect) {
			.kind = "cross-cache-free", .cache = t.other,
			.object = t.object, .offset = -1,
			.more = "it belongs to cache kunit-report",
			.nr = i, .caller = free_to_other,
		});
	}
	hslab_free(t.cache, t.object);
	hslab_free(t.cache, t.anchor);
	KUNIT_EXPECT_EQ(test, 3, hslab_test_faults(t.cache,
						   HSLAB_INVALID_FREE));
	KUNIT_EXPECT_EQ(test, 3, hslab_test_faults(t.other, HSLAB_CROSS_FREE));
}

/*
 * VALUES
 */
static void set_show_values(struct kunit *test, const char *value)
{
	struct file *file = filp_open("/sys/module/hslab/parameters/show_values",
				      O_WRONLY, 0);
	loff_t pos = 0;

	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(file), "%pe", file);
	KUNIT_EXPECT_EQ(test, 1, kernel_write(file, value, 1, &pos));
	filp_close(file, NULL);
}

static void hide_values(void *test)
{
	set_show_values(test, "N");
}

/* every_kind() has seen that they are hidden: it would have met these lines. */
static void values_are_shown(struct kunit *test)
{
	struct report_test t;

	prepare(test, &t);
	set_show_values(test, "Y");
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, hide_values, test));
	write_after_free(test, &t);
	hslab_test_expect(test, &(struct hslab_expect) {
		WRITTEN_AFTER_FREE(5, "!!.!............", 3),
		.cache = t.cache,
		.object = t.object,
		.expected = "6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b",
		.found = "41 42 6b 43 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b",
		.nr = 1,
	});
	hslab_free(t.cache, t.anchor);
}

/* Who has not asked for values does not get those of former reports either. */
static void values_are_hidden(struct kunit *test)
{
	struct hslab_lines *lines = kunit_kzalloc(test, sizeof(*lines),
						  GFP_KERNEL);
	struct report_test t;
	unsigned int i, shown = 0;

	KUNIT_ASSERT_NOT_NULL(test, lines);
	prepare(test, &t);
	set_show_values(test, "Y");
	write_after_free(test, &t);
	set_show_values(test, "N");
	hslab_test_last_report(test, lines);
	KUNIT_EXPECT_GT(test, lines->nr, 0);
	for (i = 0; i < lines->nr; i++)
		shown += !!strstr(lines->line[i], "6b 6b");
	KUNIT_EXPECT_EQ(test, 0, shown);
	hslab_free(t.cache, t.anchor);
}

/*
 * LIMITS
 */

/* Of many reports at once the console gets 10, debugfs and the counters all. */
static void console_is_spared(struct kunit *test)
{
	enum { NR = 25 };
	struct report_test t;
	unsigned int i;

	let_print(AT_ONCE);
	prepare(test, &t);
	listen();
	for (i = 0; i < NR; i++)
		free_inside(test, &t);
	WRITE_ONCE(console.task, NULL);
	KUNIT_EXPECT_EQ(test, AT_ONCE, console.nr_reports);
	KUNIT_EXPECT_EQ(test, NR, hslab_test_all_faults(t.cache));
	hslab_test_expect(test, &(struct hslab_expect) {
		.kind = "invalid-free", .cache = t.cache, .object = t.object,
		.offset = 8, .more = "pointer is 8 bytes into it",
		.nr = NR, .caller = free_inside,
	});
	hslab_free(t.cache, t.object);
	hslab_free(t.cache, t.anchor);
}

/* debugfs has the last 64, in order. */
static void debugfs_has_64(struct kunit *test)
{
	enum { NR = 70 };
	struct seq_file seq = { .size = 64 * 1024 };
	struct report_test t;
	unsigned int i, nr;
	char *next;

	prepare(test, &t);
	for (i = 0; i < NR; i++)
		free_inside(test, &t);
	seq.buf = kunit_kzalloc(test, seq.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seq.buf);
	hslab_faults_show(&seq);
	seq.buf[min(seq.count, seq.size - 1)] = '\0';
	next = seq.buf;
	for (nr = 0; (next = strstr(next, "as it is; ")); nr++) {
		char should[32];

		snprintf(should, sizeof(should), "as it is; %u of",
			 NR - 64 + 1 + nr);
		KUNIT_EXPECT_TRUE_MSG(test, strstarts(next, should), "%.20s",
				      next);
		next++;
	}
	KUNIT_EXPECT_EQ(test, 64, nr);
	hslab_free(t.cache, t.object);
	hslab_free(t.cache, t.anchor);
}

/*
 * ACTIONS
 */

/* Action warn warns, each time, and action report does not. */
static void action_warns(struct kunit *test)
{
	struct report_test t;

	prepare(test, &t);
	listen();
	free_inside(test, &t);
	KUNIT_EXPECT_EQ(test, 0, console.nr_warnings);

	hslab_test_policy(test, t.cache, "on_violation", "warn");
	hslab_suite_provoked(NULL);
	pr_info("hslab-test: expect-begin warnings\n");
	free_inside(test, &t);
	free_inside(test, &t);
	hslab_suite_provoked(NULL);
	hslab_suite_provokes(NULL);
	KUNIT_EXPECT_EQ(test, 2, console.nr_warnings);

	hslab_test_policy(test, t.cache, "on_violation", "report");
	free_inside(test, &t);
	KUNIT_EXPECT_EQ(test, 2, console.nr_warnings);
	WRITE_ONCE(console.task, NULL);
	KUNIT_EXPECT_EQ(test, 4, hslab_test_all_faults(t.cache));
	hslab_free(t.cache, t.object);
	hslab_free(t.cache, t.anchor);
}

static int report_suite_init(struct kunit_suite *suite)
{
	nr_printed = AT_ONCE;	/* other suites may just have reported much */
	hslab_suite_provokes(suite);
	return register_trace_console(probe_console, NULL);
}

static void report_suite_exit(struct kunit_suite *suite)
{
	unregister_trace_console(probe_console, NULL);
	tracepoint_synchronize_unregister();
	hslab_suite_provoked(suite);
}

static struct kunit_case report_tests[] = {
	KUNIT_CASE_PARAM(every_kind, report_gen_params),
	KUNIT_CASE(other_owner_is_told),
	KUNIT_CASE(counts_go_up),
	KUNIT_CASE(values_are_shown),
	KUNIT_CASE(values_are_hidden),
	KUNIT_CASE(console_is_spared),
	KUNIT_CASE(debugfs_has_64),
	KUNIT_CASE(action_warns),
	{}
};

static struct kunit_suite report_suite = {
	.name = "hslab_report",
	.suite_init = report_suite_init,
	.suite_exit = report_suite_exit,
	.test_cases = report_tests,
};

kunit_test_suite(report_suite);
