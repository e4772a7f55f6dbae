// SPDX-License-Identifier: GPL-2.0
/*
 * Sweeping: objects that were free already when hslab was attached keep what their
 * last owner left in them. So what is free is allocated, filled, and freed again, on each
 * CPU, since each has free objects of its own. Best effort: somebody else may be given one
 * in between, and wipe it or not.
 */
#define pr_fmt(fmt) "hslab: " fmt

#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hslab_attach.h"

struct hslab_sweep {
	struct hslab_attachment *a;
	void **objects;			/* room for @most */
	unsigned long most;
	unsigned long swept;
	u8 byte;
};

/*
 * Sweep what this CPU is given. All are taken before the first is freed, or it would
 * be the next again.
 */
static long hslab_sweep_cpu(void *data)
{
	struct hslab_sweep *s = data;
	struct hslab_attachment *a = s->a;
	unsigned long i, nr;

	for (nr = 0; nr < s->most; nr++) {
		s->objects[nr] = kmem_cache_alloc(a->target.kmem,
						  GFP_NOWAIT | __GFP_NOWARN |
						  __GFP_NOMEMALLOC);
		if (!s->objects[nr])
			break;
		cond_resched();
	}
	for (i = 0; i < nr; i++) {
		if (!hslab_compat_is_kfence(s->objects[i])) {
			hslab_attach_fill(a, s->objects[i], s->byte);
			s->swept++;
		}
		hslab_attach_give_back(a, s->objects[i]);
		cond_resched();
	}
	return 0;
}

/**
 * hslab_attach_sweep() - fill the objects of a cache that are free
 * @a: the attachment, in a mode that fills
 *
 * SLUB counts what is free but not on its lists for a CPU as in use, so of that as much is
 * taken as a CPU may have. Where there is less, the cache grows by it for a moment.
 *
 * Context: process context, may sleep, with hslab_attach_mutex.
 * Return: how many were filled, one that two CPUs came by twice; -ENOMEM, -EINTR if a signal
 * came in between, or an error of reading SLUB's files.
 */
long hslab_attach_sweep(struct hslab_attachment *a)
{
	struct hslab_sweep s = {
		.a = a,
		.byte = a->mode == HSLAB_ATTACH_WIPE ? 0 : READ_ONCE(a->byte),
	};
	int cpu, err;

	lockdep_assert_held(&hslab_attach_mutex);

	err = hslab_attach_spare(&a->target, &s.most);
	if (err)
		return err;
	s.objects = kvmalloc_array(s.most, sizeof(*s.objects),
				   GFP_KERNEL | __GFP_NOWARN |
				   __GFP_RETRY_MAYFAIL);
	if (!s.objects)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		work_on_cpu(cpu, hslab_sweep_cpu, &s);
	}
	cpus_read_unlock();
	kvfree(s.objects);
	a->swept += s.swept;
	return err ? err : s.swept;
}
