// SPDX-License-Identifier: GPL-2.0
/* The errors of compare_cases.h, on hslab. */
#include <linux/hslab_compat_kmem.h>

#include <linux/delay.h>

#include "command.h"

#include <linux/hslab_compat_kmalloc.h>

#include "compare_cases.h"
