/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* hrtimer.h: hrtimer_setup(), which 6.13 brought. */
#include_next <linux/hrtimer.h>

#ifndef BELLHOP_COMPAT_HRTIMER_H
#define BELLHOP_COMPAT_HRTIMER_H
#ifndef BELLHOP_HAVE_HRTIMER_SETUP

static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}

#endif /* !BELLHOP_HAVE_HRTIMER_SETUP */
#endif
