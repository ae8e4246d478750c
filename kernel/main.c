// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* main.c: the parts of the module in the order in which they start, and end in reverse. */
#include <linux/module.h>
#include <rdma/bellhop-abi.h>
#include <rdma/ib_verbs.h>
#include "compat/crc32.h"
#include "counters.h"
#include "device.h"
#include "fault.h"
#include "link.h"
#include "mcast.h"
#include "run.h"
#include "slot.h"
#include "socket.h"

static bool create = true;
module_param(create, bool, 0444);
MODULE_PARM_DESC(create, "make bell0, a device on an interface of its own, at load (default: yes)");

static int __init bellhop_init(void)
{
	int err;

	err = bellhop_slot_init();
	if (err)
		return err;
	bellhop_crc32_init();
	bellhop_mcast_init();
	bellhop_counters_init();
	err = bellhop_run_init();
	if (err)
		goto err_slot;
	err = bellhop_fault_init();
	if (err)
		goto err_run;
	err = bellhop_socket_init();
	if (err)
		goto err_fault;
	err = bellhop_link_init();
	if (err)
		goto err_socket;
	if (create) {
		err = bellhop_device_create_alone("bell0");
		if (err) {
			pr_err("bellhop: no bell0: error %d%s\n", err,
			       err == -EEXIST ? ", an interface has that name" : "");
			goto err_link;
		}
	}
	return 0;

err_link:
	bellhop_link_exit();
	ib_unregister_driver(BELLHOP_DRIVER_ID);
err_socket:
	bellhop_socket_exit();
err_fault:
	bellhop_fault_exit();
err_run:
	bellhop_run_exit();
err_slot:
	bellhop_crc32_exit();
	bellhop_slot_exit();
	/* To modprobe EEXIST means that the module is loaded already, which is fine with it. */
	return err == -EEXIST ? -EBUSY : err;
}

static void __exit bellhop_exit(void)
{
	bellhop_link_exit();
	ib_unregister_driver(BELLHOP_DRIVER_ID);
	bellhop_socket_exit();
	bellhop_fault_exit();
	bellhop_run_exit();
	bellhop_crc32_exit();
	bellhop_slot_exit();
}

module_init(bellhop_init);
module_exit(bellhop_exit);

MODULE_DESCRIPTION("RDMA device made of software");
MODULE_AUTHOR("the bellhop developers");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_SOFTDEP("pre: ib_uverbs");
