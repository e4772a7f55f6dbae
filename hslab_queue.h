/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A queue of pointers, first in, first out: blocks in a list, so that it can grow
 * wherever memory for 62 more is to be had. A block that was emptied is kept for
 * the next time. Who uses a queue keeps others out.
 *
 * Places have numbers, which rise by one from 1 on and stay the same while what is
 * behind moves on. A place may be set to NULL.
 */
#ifndef HSLAB_QUEUE_H
#define HSLAB_QUEUE_H

#include <linux/compiler.h>
#include <linux/slab.h>
#include <linux/types.h>

#define HSLAB_BLOCK		62	/* pointers: a block has 512 bytes */

struct hslab_block {
	struct hslab_block *next;
	unsigned long first;		/* number of its first place */
	void *places[HSLAB_BLOCK];
};

/* All zero, but for low, which is true, before it has got its first block. */
struct hslab_queue {
	struct hslab_block *head, *tail, *spare;
	void **first;			/* in head: what leaves next */
	void **first_stop;		/* behind head */
	void **end;			/* in tail: behind what came last */
	void **end_stop;		/* behind tail */
	bool low;			/* there is no spare block; READ_ONCE too */
};

/* Make a spare block the tail; false if there is none. */
static noinline bool hslab_queue_extend(struct hslab_queue *q)
{
	struct hslab_block *block = q->spare;

	if (!block)
		return false;
	q->spare = block->next;
	WRITE_ONCE(q->low, !q->spare);
	block->next = NULL;
	if (q->tail) {
		block->first = q->tail->first + HSLAB_BLOCK;
		q->tail->next = block;
	} else {
		block->first = 1;
		q->head = block;
		q->first = block->places;
		q->first_stop = q->first + HSLAB_BLOCK;
	}
	q->tail = block;
	q->end = block->places;
	q->end_stop = q->end + HSLAB_BLOCK;
	return true;
}

/* Is there room without another block? */
static __always_inline bool hslab_queue_has_room(const struct hslab_queue *q)
{
	return q->end != q->end_stop;
}

/* False if there is no room. */
static __always_inline bool hslab_queue_push(struct hslab_queue *q, void *what)
{
	if (unlikely(!hslab_queue_has_room(q)) && !hslab_queue_extend(q))
		return false;
	*q->end++ = what;
	return true;
}

/* Give it a block, for when it has to grow. */
static inline void hslab_queue_feed(struct hslab_queue *q,
				    struct hslab_block *block)
{
	block->next = q->spare;
	q->spare = block;
	WRITE_ONCE(q->low, false);
}

/* The head has been emptied, and is not the tail. */
static noinline void hslab_queue_advance(struct hslab_queue *q)
{
	struct hslab_block *block = q->head;

	q->head = block->next;
	q->first = q->head->places;
	q->first_stop = q->first + HSLAB_BLOCK;
	hslab_queue_feed(q, block);
}

static __always_inline bool hslab_queue_empty(const struct hslab_queue *q)
{
	return q->first == q->end;
}

/* What is in the first place, maybe NULL. The queue is not empty. */
static __always_inline void *hslab_queue_pop(struct hslab_queue *q)
{
	if (unlikely(q->first == q->first_stop))
		hslab_queue_advance(q);
	return *q->first++;
}

/* What leaves next, where it can be told with a look; else NULL. */
static __always_inline void *hslab_queue_peek(const struct hslab_queue *q)
{
	if (unlikely(q->first == q->first_stop) || unlikely(q->first == q->end))
		return NULL;
	return *q->first;
}

/* Push one, and pop what hslab_queue_peek() told; there is room. */
static __always_inline void hslab_queue_turn(struct hslab_queue *q, void *what)
{
	*q->end++ = what;
	q->first++;
}

/* The number of the first place; 0 if there has never been one. */
static inline unsigned long hslab_queue_first(const struct hslab_queue *q)
{
	return q->head ? q->head->first + (q->first - q->head->places) : 0;
}

/**
 * hslab_queue_place() - look at the places one after the other
 * @q: the queue
 * @block: where the caller is, NULL at first
 * @number: the number of the place that is wanted; it rises by one from call to
 *	call, and is set to that of the first place if that is higher
 *
 * Others may use the queue between two calls.
 *
 * Return: the place, or NULL behind the end.
 */
static inline void **hslab_queue_place(struct hslab_queue *q,
				       struct hslab_block **block,
				       unsigned long *number)
{
	/* A block that was left behind is used again. */
	if (!*block || *number <= hslab_queue_first(q)) {
		*number = hslab_queue_first(q);
		*block = q->head;
	}
	if (!*block)
		return NULL;
	if (*number - (*block)->first == HSLAB_BLOCK)
		*block = (*block)->next;
	if (!*block || (*block == q->tail &&
			&(*block)->places[*number - (*block)->first] == q->end))
		return NULL;
	return &(*block)->places[*number - (*block)->first];
}

/* Take all spare blocks out but one: a list, for the caller to free. */
static inline struct hslab_block *hslab_queue_trim(struct hslab_queue *q)
{
	struct hslab_block *blocks = NULL;

	if (q->spare) {
		blocks = q->spare->next;
		q->spare->next = NULL;
	}
	return blocks;
}

/* Free all blocks. Nobody uses the queue any more. */
static inline void hslab_queue_free(struct hslab_queue *q)
{
	struct hslab_block *block;

	if (q->tail) {
		q->tail->next = q->spare;
		q->spare = q->head;
	}
	while ((block = q->spare)) {
		q->spare = block->next;
		kfree(block);
	}
}

#endif /* HSLAB_QUEUE_H */
