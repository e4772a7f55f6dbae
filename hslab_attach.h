/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching: what hslab does to the frees of a kmem_cache that it has not made. A part
 * that stands apart: nothing else in hslab knows of it but the module's start and end,
 * and it does nothing until something is attached.
 *
 *	hslab_attach_find.c	from a name to a kmem_cache, and what speaks against it
 *	hslab_attach_hook.c	seeing the frees
 *	hslab_attach_quarantine.c	keeping what was freed
 *	hslab_attach_traces.c	counting by who frees
 *	hslab_attach_sweep.c	filling what was free before
 *	hslab_attach.c		what is attached, and /sys/kernel/hslab/attached
 */
#ifndef HSLAB_ATTACH_H
#define HSLAB_ATTACH_H

#include <linux/bitmap.h>

#include "hslab_internal.h"

enum hslab_attach_mode {
	HSLAB_ATTACH_COUNT,		/* frees are counted */
	HSLAB_ATTACH_WIPE,		/* and objects zeroed */
	HSLAB_ATTACH_POISON,		/* or filled */
	HSLAB_ATTACH_QUARANTINE,	/* and kept from reuse for a while, and verified */
	HSLAB_NR_ATTACH_MODES,
	HSLAB_ATTACH_DRAINS = HSLAB_ATTACH_COUNT	/* while a quarantine is emptied */
};

/* Per CPU. */
struct hslab_attach_counts {
	u64 frees;		/* seen */
	u64 bulk;		/* of these by kmem_cache_free_bulk() */
	u64 filled;		/* of these were wiped or poisoned */
	u64 kfence;		/* of these were KFENCE's, and left to it */
	u64 astray;		/* pointed to no start of an object, and were left alone */
	u64 aside;		/* damaged in quarantine, reported */
};

#define HSLAB_ALIASES_LEN	1024

/* What is known of a kmem_cache, from SLUB's files in sysfs. */
struct hslab_target {
	struct kmem_cache *kmem;
	struct kobject *kobj;		/* SLUB's; held, so that kmem is not freed */
	struct kernfs_node *kn;		/* its folder; held */
	unsigned int size;		/* bytes of an object */
	unsigned int slot;		/* bytes between two of them */
	char name[HSLAB_NAME_LEN];	/* as asked for */
	char real[HSLAB_NAME_LEN];	/* of the folder in /sys/kernel/slab */
	char aliases[HSLAB_ALIASES_LEN];	/* other names of it, separated by blanks */
};

struct hslab_attachment {
	/* What the hooks read. */
	unsigned int size;
	unsigned int slot;
	u32 mode;			/* READ/WRITE_ONCE */
	u32 byte;			/* of poison; READ/WRITE_ONCE */
	DECLARE_BITMAP(bytes, 256);	/* that are in the quarantine, or were */
	bool track;			/* record who frees; READ/WRITE_ONCE */
	enum hslab_action action;	/* on a violation; READ/WRITE_ONCE */
	struct hslab_attach_counts __percpu *counts;
	struct hslab_ring __percpu *rings;
	struct hslab_ring *aside;	/* damaged, kept until the quarantine ends */
	atomic64_t faults[HSLAB_NR_KINDS];

	unsigned int quarantine_kb;	/* hslab_attach_mutex */
	unsigned long swept;		/* hslab_attach_mutex */
	struct hslab_freers *freers;	/* who frees, if that was ever tracked */
	struct dentry *debugfs;
	bool leaving;			/* claimed by who detaches it; xchg */
	struct hslab_target target;
	struct list_head node;		/* hslab_attach_mutex */
	struct kobject kobj;
	struct completion kobj_gone;
};

/* hslab_attach_find.c */
int hslab_attach_find(const char *name, struct hslab_target *target);
void hslab_attach_forget(struct hslab_target *target);
bool hslab_attach_shared(const struct hslab_target *target);
int hslab_attach_spare(const struct hslab_target *target, unsigned long *most);

/* hslab_attach_quarantine.c */
struct hslab_ring;
struct hslab_arrays;
bool hslab_attach_drains(void);
void *hslab_attach_swap(struct hslab_attachment *a, void *object,
			unsigned long caller);
unsigned long hslab_attach_drain(struct hslab_attachment *a, unsigned long most);
unsigned long hslab_attach_held(const struct hslab_attachment *a);
int hslab_attach_rings_make(struct hslab_attachment *a);
void hslab_attach_rings_free(struct hslab_attachment *a);
void hslab_attach_give_back(struct hslab_attachment *a, void *object);
void hslab_attach_fill(struct hslab_attachment *a, void *object, u8 byte);
void hslab_attach_aside_end(struct hslab_attachment *a);
struct hslab_arrays *hslab_attach_arrays(struct hslab_attachment *a,
					 unsigned int kb);
void hslab_attach_arrays_free(struct hslab_arrays *arrays);
void hslab_attach_bound(struct hslab_attachment *a, struct hslab_arrays *arrays);

/* hslab_attach_hook.c; without hooks nothing can be attached to */
#if HSLAB_COMPAT_HOOKS
int hslab_attach_swaps(bool on);
int hslab_attach_hook(struct hslab_attachment *a);
void hslab_attach_unhook(struct hslab_attachment *a);
#else
static inline int hslab_attach_swaps(bool on)
{
	return -EOPNOTSUPP;
}

static inline int hslab_attach_hook(struct hslab_attachment *a)
{
	return -EOPNOTSUPP;
}

static inline void hslab_attach_unhook(struct hslab_attachment *a)
{
}
#endif

/* hslab_attach_traces.c */
struct hslab_freers;
void hslab_attach_traced(struct hslab_attachment *a, u32 handle, u64 when);
int hslab_attach_trace(struct hslab_attachment *a, bool on);
void hslab_attach_tracks(const struct hslab_attachment *a,
			 void (*fn)(const struct hslab_track *track, void *arg),
			 void *arg);
void hslab_attach_traces_add(struct hslab_attachment *a);
void hslab_attach_traces_end(struct hslab_attachment *a);

/* hslab_attach_sweep.c */
long hslab_attach_sweep(struct hslab_attachment *a);

/* hslab_attach.c */
extern struct mutex hslab_attach_mutex;
struct kobject *hslab_attach_kobj(const char *name);
void hslab_attach_kill(void);
void hslab_attach_each_track(void (*fn)(const struct hslab_track *track, void *arg),
			     void *arg);
void hslab_attach_destroyed(struct kmem_cache *kmem);
int hslab_attach_init(struct kobject *top);
void hslab_attach_exit(struct kobject *top);

#endif /* HSLAB_ATTACH_H */
