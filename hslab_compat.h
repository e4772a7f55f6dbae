/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels. No other file looks at LINUX_VERSION_CODE or
 * at a kernel's configuration.
 */
#ifndef HSLAB_COMPAT_H
#define HSLAB_COMPAT_H

#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/stackdepot.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/workqueue.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "hslab needs Linux 6.1 or later"
#endif

#ifndef CONFIG_64BIT
#error "hslab keeps an object's state in one 64-bit word: a 64-bit kernel is needed"
#endif

#if !IS_ENABLED(CONFIG_SLUB) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#error "hslab relies on SLUB: CONFIG_SLUB is needed"
#endif

/* SLAB_NO_MERGE came with 6.5. */
#ifdef SLAB_NO_MERGE
#define HSLAB_COMPAT_NO_MERGE	SLAB_NO_MERGE
#else
#define HSLAB_COMPAT_NO_MERGE	((slab_flags_t)0)
#endif

/* SLAB_MEM_SPREAD means nothing since 6.8 and went away later. */
#ifdef SLAB_MEM_SPREAD
#define HSLAB_COMPAT_MEM_SPREAD	SLAB_MEM_SPREAD
#else
#define HSLAB_COMPAT_MEM_SPREAD	((slab_flags_t)0)
#endif

/*
 * Read the tag of what may be no object at all. There are holes in the direct
 * map: a fault ends with false, which costs nothing when there is none. And the
 * tag may be looked at while another CPU frees the object for good, which KASAN
 * would rightly call a use after free; it is hslab that reports it, so the tag is
 * read and exchanged without KASAN's instrumentation.
 */
static __always_inline bool hslab_compat_tag_read(const u64 *tag, u64 *word)
{
	__get_kernel_nofault(word, tag, u64, fault);
	return true;
fault:
	return false;
}

static inline bool hslab_compat_tag_cmpxchg(u64 *tag, u64 *old, u64 new)
{
	return arch_try_cmpxchg64(tag, old, new);
}

/* Can @p be part of an object at all: does it lie in the kernel's direct map? */
static __always_inline bool hslab_compat_in_lowmem(const void *p)
{
	return (unsigned long)p >= PAGE_OFFSET &&
	       (unsigned long)p < (unsigned long)high_memory;
}

/* Is @object in a slab page? 7.3 has struct slab apart, but keeps the test. */
static inline bool hslab_compat_in_slab(const void *object)
{
	return virt_addr_valid(object) && PageSlab(virt_to_head_page(object));
}

/* Bytes from @object to the end of the slab page that holds it. */
static inline size_t hslab_compat_to_slab_end(const void *object)
{
	struct page *head = virt_to_head_page(object);

	return page_address(head) + page_size(head) - object;
}

/* Shrinkers are allocated by the kernel since 6.7. NULL without memory. */
typedef unsigned long hslab_compat_shrink_t(struct shrinker *shrinker,
					    struct shrink_control *sc);

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct shrinker *
hslab_compat_shrinker_add(const char *name, hslab_compat_shrink_t *count,
			  hslab_compat_shrink_t *scan)
{
	struct shrinker *shrinker = kzalloc(sizeof(*shrinker), GFP_KERNEL);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker->seeks = DEFAULT_SEEKS;
	if (register_shrinker(shrinker, "%s", name)) {
		kfree(shrinker);
		return NULL;
	}
	return shrinker;
}

static inline void hslab_compat_shrinker_remove(struct shrinker *shrinker)
{
	unregister_shrinker(shrinker);
	kfree(shrinker);
}
#else
static inline struct shrinker *
hslab_compat_shrinker_add(const char *name, hslab_compat_shrink_t *count,
			  hslab_compat_shrink_t *scan)
{
	struct shrinker *shrinker = shrinker_alloc(0, "%s", name);

	if (!shrinker)
		return NULL;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker);
	return shrinker;
}

static inline void hslab_compat_shrinker_remove(struct shrinker *shrinker)
{
	shrinker_free(shrinker);
}
#endif

/* What SLUB does at each allocation; magazines do it where it can find something. */
static __always_inline void hslab_compat_might_alloc(gfp_t gfp)
{
	if (IS_ENABLED(CONFIG_LOCKDEP) || IS_ENABLED(CONFIG_DEBUG_ATOMIC_SLEEP))
		might_alloc(gfp);
}

/*
 * KASAN, and KFENCE for its own objects, must see each free to tell what is used
 * after it: such objects are not kept in magazines.
 */
#define HSLAB_COMPAT_MAGAZINES	(!IS_ENABLED(CONFIG_KASAN))

static __always_inline bool hslab_compat_is_kfence(const void *object)
{
	return is_kfence_address(object);
}

/* What the callbacks of a kset are given is const since 6.2. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define HSLAB_COMPAT_KSET_CONST
#else
#define HSLAB_COMPAT_KSET_CONST	const
#endif

/* A trace event's string is known from its declaration since 6.10. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define HSLAB_COMPAT_ASSIGN_STR(field, from)	__assign_str(field, from)
#else
#define HSLAB_COMPAT_ASSIGN_STR(field, ...)	__assign_str(field)
#endif

/*
 * Are there return addresses on this task's stack which a tracer has replaced?
 * An unwinder finds the true ones in the tracer's own list. True also for a task
 * that the function graph tracer was made ready for.
 */
static __always_inline bool hslab_compat_returns_replaced(void)
{
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	if (READ_ONCE(current->ret_stack))
		return true;
#endif
#ifdef CONFIG_RETHOOK
	if (READ_ONCE(current->rethooks.first))
		return true;
#endif
#ifdef CONFIG_KRETPROBES
	if (READ_ONCE(current->kretprobe_instances.first))
		return true;
#endif
	return false;
}

/*
 * Wait until every task has left the function it was in, if that is one that does
 * not sleep. With PREEMPT_RT a task may be waiting for a lock in there.
 */
#define HSLAB_COMPAT_CAN_WAIT_FOR_TASKS					\
	(!IS_ENABLED(CONFIG_PREEMPT_RT) &&				\
	 (IS_ENABLED(CONFIG_TASKS_RCU) || !IS_ENABLED(CONFIG_PREEMPTION)))

static inline void hslab_compat_wait_for_tasks(void)
{
	synchronize_rcu_tasks();
}

/*
 * Save a stack, as stack_depot_save(). With PREEMPT_RT the page allocator may sleep on its
 * locks whatever it is asked for: where it may not be called, only stacks for which the
 * depot has room already are saved.
 */
static inline u32 hslab_compat_depot_save(unsigned long *entries, unsigned int nr,
					  gfp_t gfp)
{
	bool may = !IS_ENABLED(CONFIG_PREEMPT_RT) || preemptible();

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	return __stack_depot_save(entries, nr, 0, gfp, may);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
	return __stack_depot_save(entries, nr, gfp, may);
#else
	return stack_depot_save_flags(entries, nr, gfp, may ?
				      STACK_DEPOT_FLAG_CAN_ALLOC : 0);
#endif
}

/* Can functions be hooked, and their arguments be seen? Kbuild looks at the same. */
#define HSLAB_COMPAT_HOOKS	IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)

/* Argument @n of the function that an ftrace callback is called for. */
#ifdef ftrace_regs_get_argument
#define hslab_compat_argument(regs, n)	ftrace_regs_get_argument(regs, n)
#else
#define hslab_compat_argument(regs, n)	regs_get_kernel_argument(&(regs)->regs, n)
#endif

/*
 * The registers that a function begins with, for an ftrace callback that changes an
 * argument, or has it skipped; null where it is not known how.
 */
#ifdef CONFIG_X86_64
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#define hslab_compat_regs(fregs)	(&(fregs)->regs)
#else
#define hslab_compat_regs(fregs)	(&arch_ftrace_regs(fregs)->regs)
#endif
#define HSLAB_COMPAT_CAN_SWAP		1
#define hslab_compat_set_first(fregs, v)	(hslab_compat_regs(fregs)->di = (v))
#define hslab_compat_set_second(fregs, v)	(hslab_compat_regs(fregs)->si = (v))
#define hslab_compat_go_to(fregs, function) \
	(hslab_compat_regs(fregs)->ip = (unsigned long)(function))
#else
#define HSLAB_COMPAT_CAN_SWAP		0
#define hslab_compat_set_first(fregs, v)	((void)(fregs), (void)(v))
#define hslab_compat_set_second(fregs, v)	((void)(fregs), (void)(v))
#define hslab_compat_go_to(fregs, function)	((void)(fregs), (void)(function))
#endif

/*
 * bool FUNCTION(kmem_cache, object): takes an object of kfree_rcu()'s for SLUB's sheaves;
 * where it returns false the object is freed in bulk.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0) && !defined(CONFIG_PREEMPT_RT)
#define HSLAB_COMPAT_RCU_SHEAF		"__kfree_rcu_sheaf"
#endif

/* Can @word be the address of code: of the kernel, a module, or BPF? */
static __always_inline bool hslab_compat_maybe_code(unsigned long word)
{
#ifdef CONFIG_X86_64
	return word >= __START_KERNEL_map;
#else
	return (long)word < 0;
#endif
}

/* Of a workqueue with workers on each CPU: what is not said before 6.18, and since is. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 18, 0)
#define HSLAB_COMPAT_WQ_PERCPU	0
#else
#define HSLAB_COMPAT_WQ_PERCPU	WQ_PERCPU
#endif

/* Nanoseconds that the current task has waited for a CPU so far. */
static inline u64 hslab_compat_waited(void)
{
#ifdef CONFIG_SCHED_INFO
	return current->sched_info.run_delay;
#else
	return 0;
#endif
}

#endif /* HSLAB_COMPAT_H */
