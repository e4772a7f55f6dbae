// SPDX-License-Identifier: GPL-2.0
/*
 * What is told of a violation beside its report: the trace event, and the reports
 * that uevents are made of. selftests/events.sh reads both from outside.
 */
#include <linux/irqflags.h>
#include <linux/sched.h>

#include "hslab_kunit.h"
#include "../hslab_trace.h"

#define SIZE	40		/* bytes of the objects here */

/* What the event told the probe, for violations of the task that runs the test. */
static struct {
	struct task_struct *task;
	unsigned int nr;
	bool irqs_off;
	struct hslab_fault last;
} traced;

static void probe(void *unused, const struct hslab_fault *fault)
{
	if (traced.task != current)
		return;
	traced.nr++;
	traced.irqs_off = irqs_disabled();
	traced.last = *fault;
}

static void unprobe(void *unused)
{
	unregister_trace_violation(probe, NULL);
	tracepoint_synchronize_unregister();
	traced.task = NULL;
}

static void trace(struct kunit *test)
{
	traced.nr = 0;
	traced.task = current;
	KUNIT_ASSERT_EQ(test, 0, register_trace_violation(probe, NULL));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unprobe, NULL));
}

static noinline void free_twice(struct hslab_cache *cache, void *object)
{
	hslab_free(cache, object);
	hslab_free(cache, object);
	barrier();		/* no tail call: it is the caller that is told */
}

/* The event has the fault as the ring has it, once, in the context it was found in. */
static void event_is_traced(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-traced", SIZE,
						     NULL);
	struct hslab_fault *known = kunit_kzalloc(test, sizeof(*known),
						  GFP_KERNEL);
	unsigned int round;
	void *object;

	KUNIT_ASSERT_NOT_NULL(test, known);
	trace(test);
	for (round = 1; round <= 4; round++) {
		bool irqs_off = round & 1;
		unsigned long flags;

		object = hslab_test_alloc(test, cache, GFP_KERNEL);
		if (irqs_off)
			local_irq_save(flags);
		free_twice(cache, object);
		if (irqs_off)
			local_irq_restore(flags);
		KUNIT_EXPECT_EQ(test, round, traced.nr);
		KUNIT_EXPECT_EQ(test, irqs_off, traced.irqs_off);
		KUNIT_EXPECT_EQ(test, HSLAB_DOUBLE_FREE, traced.last.kind);
		KUNIT_EXPECT_STREQ(test, "kunit-traced", traced.last.cache);
		KUNIT_EXPECT_PTR_EQ(test, object, (void *)traced.last.object);
		KUNIT_EXPECT_EQ(test, SIZE, traced.last.size);
		KUNIT_EXPECT_EQ(test, -1, traced.last.offset);
		KUNIT_EXPECT_EQ(test, round, traced.last.nr);
		KUNIT_EXPECT_FALSE(test, traced.last.aside);
		KUNIT_EXPECT_LT(test, traced.last.caller -
				(unsigned long)free_twice, 256UL);
		KUNIT_ASSERT_TRUE(test, hslab_recall(hslab_nr_reports() - 1,
						     known));
		KUNIT_EXPECT_MEMEQ(test, known, &traced.last, sizeof(*known));
	}
}

/* Nothing but violations is traced, and nothing without a probe. */
static void event_is_off(struct kunit *test)
{
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-quiet", SIZE,
						     NULL);
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);

	trace(test);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 0, traced.nr);
	kunit_release_action(test, unprobe, NULL);
	hslab_free(cache, object);
	KUNIT_EXPECT_EQ(test, 0, traced.nr);
	KUNIT_EXPECT_EQ(test, 1, hslab_test_all_faults(cache));
}

/* The last 64 reports are known by their number, and no others. */
static void last_are_recalled(struct kunit *test)
{
	enum { NR = HSLAB_LAST + 6 };
	struct hslab_cache *cache = hslab_test_cache(test, "kunit-recall", SIZE,
						     NULL);
	struct hslab_fault *fault = kunit_kzalloc(test, sizeof(*fault),
						  GFP_KERNEL);
	void *object = hslab_test_alloc(test, cache, GFP_KERNEL);
	unsigned long first = hslab_nr_reports();
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fault);
	hslab_free(cache, object);
	for (i = 0; i < NR; i++)
		hslab_free(cache, object);
	KUNIT_ASSERT_EQ(test, first + NR, hslab_nr_reports());
	for (i = 0; i < NR; i++) {
		bool known = hslab_recall(first + i, fault);

		KUNIT_EXPECT_EQ(test, i >= NR - HSLAB_LAST, known);
		if (known)
			KUNIT_EXPECT_EQ(test, i + 1, fault->nr);
	}
	KUNIT_EXPECT_FALSE(test, hslab_recall(first + NR, fault));
	KUNIT_EXPECT_FALSE(test, hslab_recall(first + NR + HSLAB_LAST, fault));
	KUNIT_EXPECT_FALSE(test, hslab_recall(first - 1, fault));
}

static struct kunit_case event_tests[] = {
	KUNIT_CASE(event_is_traced),
	KUNIT_CASE(event_is_off),
	KUNIT_CASE(last_are_recalled),
	{}
};

static struct kunit_suite event_suite = {
	.name = "hslab_event",
	.suite_init = hslab_suite_provokes,
	.suite_exit = hslab_suite_provoked,
	.test_cases = event_tests,
};

kunit_test_suite(event_suite);
