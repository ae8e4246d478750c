/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* service.h: the transport services that QPs are of (IBA 3.2.2). */
#ifndef BELLHOP_PROTO_SERVICE_H
#define BELLHOP_PROTO_SERVICE_H

/*
 * A QP has one; what is for several has the bits of all. Of XRC, initiators send and targets
 * respond (IBA A14), so that each has it on one side only.
 */
enum bellhop_service {
	BELLHOP_SERVICE_RC = 1 << 0,
	BELLHOP_SERVICE_UC = 1 << 1,
	BELLHOP_SERVICE_UD = 1 << 2,
	BELLHOP_SERVICE_XRC = 1 << 3,
	BELLHOP_SERVICE_RAW = 1 << 4, /* packets of the link's, and no service of the IBA */
	BELLHOP_SERVICES_RELIABLE = BELLHOP_SERVICE_RC | BELLHOP_SERVICE_XRC,
	/* Each request says whom it is for: a QP, or an SRQ. */
	BELLHOP_SERVICES_ADDRESSED = BELLHOP_SERVICE_UD | BELLHOP_SERVICE_XRC,
};

#endif /* BELLHOP_PROTO_SERVICE_H */
