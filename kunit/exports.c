// SPDX-License-Identifier: GPL-2.0
/*
 * What of hslab's inside the suites reach. This is a part of hslab.ko in a build
 * with HSLAB_KUNIT=m, and of no other.
 */
#include <linux/export.h>

#include "../hslab_internal.h"
#include "../hslab_trace.h"

#define EXPORT	EXPORT_SYMBOL_GPL

/* hslab_poison.c */
EXPORT(hslab_fill);
EXPORT(hslab_intact);
EXPORT(hslab_first_bad);
EXPORT(hslab_first_bad_fill);

/* hslab_cache.c */
EXPORT(hslab_cache_make);

/* hslab_ctor.c */
EXPORT(hslab_store_of_ctor);

/* hslab_check.c */
EXPORT(hslab_identify);

/* hslab_merge.c */
EXPORT(hslab_merge_decide);
EXPORT(hslab_slot_size);
EXPORT(hslab_refusal_names);

/* hslab_policy.c */
EXPORT(hslab_fields);
EXPORT(hslab_field_find);
EXPORT(hslab_policy_set);
EXPORT(hslab_policy_word);

/* hslab_quarantine.c */
EXPORT(hslab_quarantine_objects);
EXPORT(hslab_quarantine_skipped);
EXPORT(hslab_quarantine_purge);

/* hslab_rcu.c */
EXPORT(hslab_rcu_objects);
EXPORT(hslab_rcu_busy);

/* hslab_report.c */
EXPORT(hslab_nr_faults);
EXPORT(hslab_faults_show);
EXPORT(hslab_nr_reports);
EXPORT(hslab_recall);

/* hslab_event.c */
EXPORT_TRACEPOINT_SYMBOL_GPL(violation);

/* hslab_rules.c */
EXPORT(hslab_rules_set);
EXPORT(hslab_rules_show);

/* hslab_seal.c */
EXPORT(hslab_loosened);
EXPORT(hslab_sealed);

/* hslab_stats.c */
EXPORT(hslab_cache_live);
EXPORT(hslab_route_live);
EXPORT(hslab_cache_peak);
EXPORT(hslab_cache_counts);

/* hslab_slab.c */
EXPORT(hslab_slab_cache_off);
EXPORT(hslab_slab_walk);

/* hslab_pin.c */
EXPORT(hslab_pin_page);
EXPORT(hslab_pin_pages);
EXPORT(hslab_pin_bytes);
EXPORT(hslab_pin_skipped);

/* hslab_scrub.c */
EXPORT(hslab_scrub);

/* hslab_cache.c */
EXPORT(hslab_mutex);
EXPORT(hslab_caches);
EXPORT(hslab_cache_flush);

/* hslab_track.c */
EXPORT(hslab_track_read);
EXPORT(hslab_track_lifetimes);

/* hslab_symbol.c */
EXPORT(hslab_symbol_caller);

/* hslab_traces.c */
EXPORT(hslab_traces_collect);
EXPORT(hslab_traces_free);
