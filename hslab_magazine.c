// SPDX-License-Identifier: GPL-2.0
/*
 * Magazines: free objects that each CPU keeps from SLUB. Taking and putting one
 * is inline in hslab.c; here is what happens at their ends.
 *
 * WHO MAY TOUCH A MAGAZINE
 *
 * The CPU it belongs to, with preemption off and busy set. Others:
 * hslab_magazine_drain(), a grace period after the route was closed, when no CPU
 * can be using it any more; and hslab_magazine_dead(), for a CPU that is dead. It
 * leaves closed routes to the former, and the grace period keeps them apart.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>

#include "hslab_internal.h"

/* What the magazine of one CPU may hold, in bytes. */
#define HSLAB_MAGAZINE_BYTES	SZ_32K

/**
 * hslab_magazine_size() - how many objects a magazine may hold
 * @geometry: what the objects are like
 *
 * Objects that are charged to a memory cgroup are not kept: the next owner may
 * be in another.
 *
 * Return: the number, 0 for none.
 */
unsigned long hslab_magazine_size(const struct hslab_geometry *geometry)
{
	if (!HSLAB_COMPAT_MAGAZINES || (geometry->flags & SLAB_ACCOUNT))
		return 0;
	return min_t(unsigned long, HSLAB_MAGAZINE_MAX,
		     HSLAB_MAGAZINE_BYTES / hslab_slot_size(geometry));
}

/*
 * Take up to @max of this CPU's objects, those that lie longest. Context: any
 * but NMI; preemption off.
 */
static unsigned long hslab_take_oldest(struct hslab_route *route,
				       void **objects, unsigned long max)
{
	struct hslab_cpu *c = this_cpu_ptr(route->cpu);
	unsigned long taken;

	if (!hslab_magazine_enter(c))
		return 0;
	taken = min(c->nr, max);
	c->nr -= taken;
	memcpy(objects, c->objects, taken * sizeof(*objects));
	memmove(c->objects, c->objects + taken, c->nr * sizeof(*objects));
	hslab_magazine_leave(c);
	return taken;
}

/**
 * hslab_to_slub() - give objects back to SLUB
 * @route: the objects' route
 * @nr: how many, 0 too
 * @objects: the objects, FREE; the array is written to
 *
 * Where there is a quarantine this is its end, and they are verified.
 *
 * Context: any but NMI.
 */
void hslab_to_slub(struct hslab_route *route, unsigned long nr, void **objects)
{
	unsigned long i, sound = nr;

	if (READ_ONCE(route->policy) & HSLAB_POL_QUARANTINE) {
		for (i = 0, sound = 0; i < nr; i++)
			if (hslab_still_sound(route, objects[i], HSLAB_FREE))
				objects[sound++] = objects[i];
	}
	if (sound == 1)
		kmem_cache_free(route->kmem, objects[0]);
	else if (sound)
		kmem_cache_free_bulk(route->kmem, sound, objects);
}

/**
 * hslab_magazine_put() - free an object that the magazine did not take
 * @route: the object's route
 * @object: the object, FREE
 *
 * Half of a full magazine goes to SLUB with it, so that the next frees find
 * room.
 *
 * Context: any but NMI.
 */
noinline void hslab_magazine_put(struct hslab_route *route, void *object)
{
	void *objects[HSLAB_MAGAZINE_MAX / 2 + 1];
	unsigned long nr = 0, size;

	preempt_disable();
	size = READ_ONCE(route->magazine);
	if (size && !hslab_compat_is_kfence(object))
		nr = hslab_take_oldest(route, objects, size / 2);
	preempt_enable();
	objects[nr++] = object;
	hslab_to_slub(route, nr, objects);
}

/* Empty the magazine of a CPU that cannot be using it. */
static void hslab_magazine_clear(struct hslab_route *route, int cpu)
{
	struct hslab_cpu *c = per_cpu_ptr(route->cpu, cpu);

	hslab_to_slub(route, c->nr, c->objects);
	c->nr = 0;
}

/**
 * hslab_magazine_drain() - empty all magazines of a closed route
 * @route: the route; a grace period has passed since it was closed
 *
 * Context: process context, with hslab_mutex.
 */
void hslab_magazine_drain(struct hslab_route *route)
{
	int cpu;

	lockdep_assert_held(&hslab_mutex);

	for_each_possible_cpu(cpu)
		hslab_magazine_clear(route, cpu);
}

static struct workqueue_struct *hslab_magazine_wq;

/* One CPU's part of hslab_magazine_empty(). */
struct hslab_emptying {
	struct work_struct work;
	struct hslab_route *route;
};

static void hslab_magazine_empty_cpu(struct work_struct *work)
{
	struct hslab_emptying *e = container_of(work, struct hslab_emptying,
						work);
	void *objects[HSLAB_MAGAZINE_MAX];
	unsigned long nr;

	preempt_disable();
	nr = hslab_take_oldest(e->route, objects, HSLAB_MAGAZINE_MAX);
	preempt_enable();
	hslab_to_slub(e->route, nr, objects);
}

/**
 * hslab_magazine_empty() - empty the magazines of a route that is in use
 * @route: the route
 *
 * Each CPU empties its own; without memory for that they stay as they are.
 *
 * Context: process context, with hslab_mutex; may sleep.
 */
void hslab_magazine_empty(struct hslab_route *route)
{
	struct hslab_emptying __percpu *works;
	int cpu;

	lockdep_assert_held(&hslab_mutex);

	works = alloc_percpu(struct hslab_emptying);
	if (!works)
		return;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct hslab_emptying *e = per_cpu_ptr(works, cpu);

		e->route = route;
		INIT_WORK(&e->work, hslab_magazine_empty_cpu);
		queue_work_on(cpu, hslab_magazine_wq, &e->work);
	}
	for_each_online_cpu(cpu)
		flush_work(&per_cpu_ptr(works, cpu)->work);
	cpus_read_unlock();
	free_percpu(works);
}

/* How many objects the magazines of a route hold. */
unsigned long hslab_magazine_objects(const struct hslab_route *route)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(route->cpu, cpu)->nr);
	return sum;
}

/* A CPU has gone: nobody but us can take the objects of its magazines. */
static int hslab_magazine_dead(unsigned int cpu)
{
	struct hslab_cache *cache;
	struct hslab_route *route;

	rcu_read_lock();
	list_for_each_entry_rcu(cache, &hslab_caches, node) {
		route = rcu_dereference(cache->route);
		hslab_quarantine_dead(route, cpu);
		if (READ_ONCE(route->magazine))
			hslab_magazine_clear(route, cpu);
	}
	rcu_read_unlock();
	return 0;
}

static enum cpuhp_state hslab_magazine_state;

int __init hslab_magazine_init(void)
{
	int state;

	/* As SLUB's own: a worker that memory reclaim waits for may shrink a cache. */
	hslab_magazine_wq = alloc_workqueue("hslab_magazine",
					    WQ_MEM_RECLAIM |
					    HSLAB_COMPAT_WQ_PERCPU, 0);
	if (!hslab_magazine_wq)
		return -ENOMEM;
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN,
					  "hslab:magazine", NULL,
					  hslab_magazine_dead);
	if (state < 0) {
		destroy_workqueue(hslab_magazine_wq);
		return state;
	}
	hslab_magazine_state = state;
	return 0;
}

void hslab_magazine_exit(void)
{
	cpuhp_remove_state_nocalls(hslab_magazine_state);
	destroy_workqueue(hslab_magazine_wq);
}
