/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace event hslab:violation: what a report says, but for bytes of objects,
 * which are not copied anywhere but into the report.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM hslab

#if !defined(HSLAB_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HSLAB_TRACE_H

#include <linux/tracepoint.h>

#include "hslab_internal.h"

TRACE_EVENT(violation,
	    TP_PROTO(const struct hslab_fault *fault),
	    TP_ARGS(fault),
	    TP_STRUCT__entry(__string(kind, hslab_kind_names[fault->kind])
			     __string(cache, fault->cache)
			     __string(other, fault->other)
			     __field(const void *, object)
			     __field(unsigned int, size)
			     __field(int, offset)
			     __field(unsigned int, nr_bad)
			     __field(unsigned long, caller)
			     __field(bool, aside)
			     __field(u64, nr)),
	    TP_fast_assign(HSLAB_COMPAT_ASSIGN_STR(kind,
						   hslab_kind_names[fault->kind]);
			   HSLAB_COMPAT_ASSIGN_STR(cache, fault->cache);
			   HSLAB_COMPAT_ASSIGN_STR(other, fault->other);
			   __entry->object = fault->object;
			   __entry->size = fault->size;
			   __entry->offset = fault->offset;
			   __entry->nr_bad = fault->nr_bad;
			   __entry->caller = fault->caller;
			   __entry->aside = fault->aside;
			   __entry->nr = fault->nr;),
	    TP_printk("kind=%s cache=%s other=%s object=%p size=%u offset=%d nr_bad=%u caller=%pS aside=%d nr=%llu",
		      __get_str(kind), __get_str(cache), __get_str(other),
		      __entry->object, __entry->size, __entry->offset,
		      __entry->nr_bad, (void *)__entry->caller,
		      __entry->aside, __entry->nr)
);

#endif /* HSLAB_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE hslab_trace
#include <trace/define_trace.h>
