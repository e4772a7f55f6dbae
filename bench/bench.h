/* SPDX-License-Identifier: GPL-2.0 */
/* What the benchmarks share. */
#ifndef BENCH_H
#define BENCH_H

#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/types.h>

/* Turn interrupts off, for a round. Returns flags for local_irq_restore(). */
static __always_inline unsigned long bench_irqs_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	/* While the scheduler is wanted every preempt_enable() costs more. */
	while (need_resched()) {
		local_irq_restore(flags);
		schedule();
		local_irq_save(flags);
	}
	return flags;
}

/* For sort(). */
static inline int bench_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

#endif /* BENCH_H */
