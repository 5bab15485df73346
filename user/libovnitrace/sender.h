/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends chunks to a file or over UDP. One thread at a time calls these functions, under the
 * sender's lock. */
#ifndef OVT_SENDER_H
#define OVT_SENDER_H

#include "user/libovnitrace/content.h"

typedef int ovt_send(const struct ovt_content *content);

/* Makes `send` the one that FTrace_send_chunk uses, if `prepare` succeeds with its argument. */
int ovt_sender_set(ovt_send *send, int (*prepare)(void *argument), void *argument);

/* Hands the chunk's contents to `send`, or, if null, to the sender that is set. Then sets the
 * chunk's flags to *new_flags, or, if null, restores those that it had. */
int ovt_sender_hand_over(int number, ovt_send *send, const FTrace_flags *new_flags);

#endif
