/* SPDX-License-Identifier: BSD-2-Clause */
#include "user/libovnitrace/chunk.h"

static _Thread_local int last_error;

int ovt_result(int result)
{
	last_error = result < 0 ? result : FTRACE_OK;
	return result;
}

int FTrace_last_error(void)
{
	return last_error;
}

static const char *const texts[] = {
	[-FTRACE_OK] = "no error",
	[-FTRACE_E_SIZE] =
		"a chunk needs room for an event, 16 bytes, and for three in its emergency "
		"area, 48 bytes: ask for more",
	[-FTRACE_E_NOMEM] =
		"the system gives no more memory: make the chunk smaller, or delete others",
	[-FTRACE_E_TOO_MANY] =
		"there are 256 chunks, which is the most: delete some, or make them larger",
	[-FTRACE_E_FLAGS] =
		"these flags contradict each other or are not a program's to set: one mode "
		"at most, not FREE with FULL, not FREE for what is to be compressed, never "
		"BUSY, COMPR only where it is",
	[-FTRACE_E_UNKNOWN_CHUNK] = "there is no chunk of this number",
	[-FTRACE_E_NODEL] = "the chunk is protected from deletion: take its NODEL flag away first",
	[-FTRACE_E_BUSY] =
		"the chunk is being logged to, sent or compressed: call FTrace_disable or "
		"select another one, or wait",
	[-FTRACE_E_NOT_FREE] = "the chunk is in use: send it or set it FREE first",
	[-FTRACE_E_SELF] = "a chunk cannot be linked to itself: make it cyclic (CYC) instead",
	[-FTRACE_E_NO_CHUNK] =
		"no chunk is selected: call FTrace_actual_chunk_select; only a tracer "
		"outside takes events until then",
	[-FTRACE_E_FULL] =
		"the selected chunk is full and there is nowhere to go on: send it and set "
		"it FREE, link a FREE one to it, or select another",
	[-FTRACE_E_NOT_FOUND] = "no chunk has these flags",
	[-FTRACE_E_ARGUMENT] = "a pointer is null, or a name empty or too long",
	[-FTRACE_E_FILTER] =
		"a filter is one of FTrace_filter_*, 0xF0 to 0xFB, and its status 0 or 1",
	[-FTRACE_E_NO_SENDER] = "nowhere to send to: call FTrace_init_disk_writer or "
				"FTrace_OSD_init_udp first",
	[-FTRACE_E_ADDRESS] =
		"not a numeric address, not one of this machine, or not to be reached",
	[-FTRACE_E_OPEN] =
		"the trace file cannot be created; errno has the reason (ELOOP: it is a symbolic "
		"link, which is not followed)",
	[-FTRACE_E_DISK_FULL] =
		"no space is left for the chunk, or a limit reached: the chunk keeps its "
		"events, so make room or name another file and send it again",
	[-FTRACE_E_IO] =
		"writing the trace file failed; errno has the reason; the chunk keeps its events",
	[-FTRACE_E_NETWORK] =
		"sending a datagram failed, or nobody listens; the chunk keeps its events",
	[-FTRACE_E_NOT_COMPRESSED] =
		"the library was built without zstd, or zstd failed; the chunk keeps "
		"its events",
};

const char *FTrace_strerror(int error)
{
	if (error > 0 || error <= -(int)(sizeof texts / sizeof *texts))
		return "an unknown error of the tracer";
	return texts[-error];
}
