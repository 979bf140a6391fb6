/* SPDX-License-Identifier: GPL-2.0 */
/*
 * error.h - error records: every failure of a connection leaves one
 */
#ifndef _RCH_ERROR_H
#define _RCH_ERROR_H

#include <linux/socket.h>
#include <rdmachan.h>

struct net;

void rch_error_set(struct rdmachan_error *e, u32 op, u32 cause, u64 detail);
int rch_error_errno(u32 cause);
void rch_addr_from_sockaddr(struct rdmachan_addr *a, const struct sockaddr_storage *ss);
int rch_addr_to_sockaddr(struct sockaddr_storage *ss, const struct rdmachan_addr *a);
int rch_addr_to_own(struct net *net, struct sockaddr_storage *ss, const struct rdmachan_addr *a);
bool rch_addr_is_no_host(struct net *net, const struct sockaddr_storage *ss);
bool rch_addr_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);

#endif /* _RCH_ERROR_H */
