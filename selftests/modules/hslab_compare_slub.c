// SPDX-License-Identifier: GPL-2.0
/* The errors of compare_cases.h, on SLUB. */
#include "command.h"
#include "compare_cases.h"
