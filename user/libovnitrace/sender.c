/* SPDX-License-Identifier: BSD-2-Clause */
/* FTrace_send_chunk and FTrace_compress_chunk: what is done to a whole chunk, while it is BUSY. */
#include "user/libovnitrace/sender.h"
#include "user/libovnitrace/tracer.h"

static ovt_send *sender;

int ovt_sender_set(ovt_send *send, int (*prepare)(void *argument), void *argument)
{
	pthread_mutex_lock(&ovt_sender_lock);
	pthread_mutex_lock(&ovt_lock);
	ovt_watch_exit();
	pthread_mutex_unlock(&ovt_lock);
	int error = prepare(argument);
	if (!error)
		sender = send;
	pthread_mutex_unlock(&ovt_sender_lock);
	return error;
}

/* Marks a chunk busy and takes it from all logging. */
static int take(struct ovt_chunk *chunk, const FTrace_flags *new_flags)
{
	if (!chunk)
		return FTRACE_E_UNKNOWN_CHUNK;
	if (atomic_load(&chunk->settings) & FTRACE_CHUNK_FLAG_BUSY)
		return FTRACE_E_BUSY;
	int error = new_flags ? ovt_flags_check(*new_flags, chunk->compressed != NULL) : FTRACE_OK;
	if (error)
		return error;
	if (ovt_tracer_uses(chunk) || !ovt_chunk_claim(chunk, &chunk->claim))
		return FTRACE_E_BUSY;
	atomic_fetch_or(&chunk->settings, FTRACE_CHUNK_FLAG_BUSY);
	return FTRACE_OK;
}

/* Ends what take() began, under ovt_lock. */
static int give_back(struct ovt_chunk *chunk, const FTrace_flags *new_flags, int error)
{
	atomic_fetch_and(&chunk->settings, (FTrace_flags)~FTRACE_CHUNK_FLAG_BUSY);
	if (!error && new_flags)
		error = ovt_chunk_set_flags(chunk, *new_flags, &chunk->claim,
					    ovt_tracer_selects(chunk));
	if (error || !new_flags)
		ovt_chunk_unclaim(chunk, &chunk->claim);
	return error;
}

static int send_content(const struct ovt_chunk *chunk, ovt_send *send)
{
	struct ovt_content content;
	pthread_mutex_lock(&ovt_sender_lock);
	if (!send)
		send = sender;
	int error = send ? ovt_content_open(&content, chunk) : FTRACE_E_NO_SENDER;
	if (!error) {
		error = send(&content);
		ovt_content_close(&content);
	}
	pthread_mutex_unlock(&ovt_sender_lock);
	return error;
}

int ovt_sender_hand_over(int number, ovt_send *send, const FTrace_flags *new_flags)
{
	pthread_mutex_lock(&ovt_lock);
	struct ovt_chunk *chunk = ovt_chunk_find(number);
	int error = take(chunk, new_flags);
	if (!error) {
		pthread_mutex_unlock(&ovt_lock);
		error = send_content(chunk, send);
		pthread_mutex_lock(&ovt_lock);
		error = give_back(chunk, new_flags, error);
	}
	pthread_mutex_unlock(&ovt_lock);
	return error;
}

int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags)
{
	(void)osd_flags;
	return ovt_result(ovt_sender_hand_over(number, NULL, &new_flags));
}

int FTrace_compress_chunk(int number, FTrace_flags new_flags)
{
	FTrace_flags flags = new_flags & ~FTRACE_CHUNK_FLAG_COMPR;
	if (flags & FTRACE_CHUNK_FLAG_FREE) /* would empty the chunk */
		return ovt_result(FTRACE_E_FLAGS);
	pthread_mutex_lock(&ovt_lock);
	struct ovt_chunk *chunk = ovt_chunk_find(number);
	int error = take(chunk, &flags);
	if (!error) {
		void *compressed;
		size_t size;
		pthread_mutex_unlock(&ovt_lock);
		error = ovt_content_compress(chunk, &compressed, &size);
		pthread_mutex_lock(&ovt_lock);
		if (!error && compressed)
			ovt_chunk_set_compressed(chunk, compressed, size);
		error = give_back(chunk, &flags, error);
	}
	pthread_mutex_unlock(&ovt_lock);
	return ovt_result(error);
}
