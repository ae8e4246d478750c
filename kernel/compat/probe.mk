# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# probe.mk: asks the kernel's headers what they offer, never their version, since
# distribution kernels backport.
#
# $(call has,NAME,HEADER,TEXT): defines BELLHOP_HAVE_NAME where HEADER contains TEXT, however it is broken into lines.
has = $(if $(shell cat "$(srctree)/include/$(2)" 2>/dev/null | tr -s '[:space:]' ' ' | grep -F -e "$(3)"),-DBELLHOP_HAVE_$(1))
comma := ,

ccflags-y += $(call has,VM_FLAGS_SET,linux/mm.h,void vm_flags_set)
ccflags-y += $(call has,GUP_VMAS,linux/mm.h,struct vm_area_struct **vmas)
ccflags-y += $(call has,HRTIMER_SETUP,linux/hrtimer.h,void hrtimer_setup)
ccflags-y += $(call has,CREATE_USER_CQ,rdma/ib_verbs.h,create_user_cq)
ccflags-y += $(call has,RESIZE_USER_CQ,rdma/ib_verbs.h,resize_user_cq)
ccflags-y += $(call has,FILL_RES_SRQ,rdma/ib_verbs.h,fill_res_srq_entry)
ccflags-y += $(call has,DMAH,rdma/ib_verbs.h,struct ib_dmah)
ccflags-y += $(call has,VMAP_UNLOCKED,linux/dma-buf.h,dma_buf_vmap_unlocked)
ccflags-y += $(call has,DEVICE_ATOMIC_WRITE,rdma/ib_verbs.h,IB_DEVICE_ATOMIC_WRITE)
ccflags-y += $(call has,UMEM_GET_VA,rdma/ib_umem.h,ib_umem_get_va)
ccflags-y += $(call has,NET_GSO,net/gso.h,__skb_gso_segment)
ccflags-y += $(call has,TUNNEL_SOCKET,net/udp_tunnel.h,udp_tunnel_sock_release(struct socket *sock))
ccflags-y += $(call has,FLOWI4_DSCP,net/flow.h,flowi4_dscp)
ccflags-y += $(call has,CRC32_OPTIMIZATIONS,linux/crc32.h,crc32_optimizations)
ccflags-y += $(call has,LINUX_UNALIGNED,linux/unaligned.h,put_unaligned)
ccflags-y += $(call has,CQ_ATTRS,rdma/ib_verbs.h,struct ib_cq_init_attr *attr$(comma) struct uverbs_attr_bundle *attrs)
ccflags-y += $(call has,DMABUF_ATTRS,rdma/ib_verbs.h,int fd$(comma) int mr_access_flags$(comma) struct uverbs_attr_bundle *attrs)
