/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends chunks to a file or over UDP. One thread at a time calls these functions, under the
 * sender's lock. */
#ifndef OVT_SENDER_H
#define OVT_SENDER_H

#include "user/libovnitrace/content.h"

typedef int ovt_send(const struct ovt_content *content);

/* Makes `send` the one that FTrace_send_chunk uses, if `prepare` succeeds with its argument. */
int ovt_sender_set(ovt_send *send, int (*prepare)(void *argument), void *argument);

/* Hands what the chunk holds to `send` (null: the one that is set), then gives the chunk
 * *new_flags, or what it had if null. */
int ovt_sender_hand_over(int number, ovt_send *send, const FTrace_flags *new_flags);

#endif
