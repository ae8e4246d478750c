/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * tap.h: takes frames off the device's interface.
 *
 * Frames come in soft interrupts, and QPs are locked by those that soft interrupts interrupt. So
 * who gets a frame is decided at once, since the host's network waits for that, and a worker
 * delivers it.
 */
#ifndef BELLHOP_TAP_H
#define BELLHOP_TAP_H

#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

struct bellhop_device;
struct bellhop_rule;

/**
 * struct bellhop_tap - what a device takes off its interface; but for @queue, under its rules' lock
 * @sniffed: rules that want all that comes in and goes out
 * @is_hooked: @incoming is in use
 * @incoming: how the others get what comes in; stays from the first one on, since to begin and to
 * end changes the network's code
 * @passing: how @sniffed get theirs; in use while there are any
 * @queue: frames, each with the QP that it is for, which the worker has not delivered yet
 * @work: the worker
 */
struct bellhop_tap {
	u32 sniffed;
	bool is_hooked;
	struct nf_hook_ops incoming;
	struct packet_type passing;
	struct sk_buff_head queue;
	struct work_struct work;
};

/**
 * bellhop_tap_init() - takes nothing yet
 * @device: a new one
 *
 * Context: any.
 */
void bellhop_tap_init(struct bellhop_device *device);

/**
 * bellhop_tap_exit() - takes nothing any more
 * @device: goes; it has no rules
 *
 * Context: may sleep; RTNL is not held.
 */
void bellhop_tap_exit(struct bellhop_device *device);

/**
 * bellhop_tap_open() - a rule wants frames
 * @device: the device
 * @rule: the rule
 *
 * Context: may sleep; the device's rules are locked, RTNL is not.
 * Return: 0, -EOPNOTSUPP when the kernel has no way to take frames, -ENODEV when the interface
 * goes, or another negative errno.
 */
int bellhop_tap_open(struct bellhop_device *device, const struct bellhop_rule *rule);

/**
 * bellhop_tap_close() - a rule wants no more of them
 * @device: the device
 * @rule: the rule; no frame finds it any more
 *
 * Where @rule was the last, nothing comes any more once this returns.
 * Context: may sleep; the device's rules are locked, RTNL is not.
 */
void bellhop_tap_close(struct bellhop_device *device, const struct bellhop_rule *rule);

#endif
