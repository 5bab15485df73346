/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Declares the primitives of the S.Ha.R.K. tracer ("S.Ha.R.K. User Manual, Volume V: The New
 * Tracer") for Linux, with the names and signatures of its manual: the tracing calls of a S.Ha.R.K.
 * program compile and work. Link with libovnitrace (pkg-config ovnitrace). docs/ftrace-library.md
 * lists where this goes beyond the manual.
 *
 * In any program they log into its own chunks. In a program that runs under ovnitrace the events
 * land in the trace too, among the scheduler's, through a USDT probe (<ovnitrace/usdt.h>).
 *
 * A function that returns int returns 0 or a chunk number, or a negative FTRACE_E_*, for which
 * FTrace_strerror has words. TRACER_LOGEVENT, FTrace_enable and FTrace_disable are lock-free and
 * async-signal-safe; the others are thread-safe, and no signal handler may call them. A forked
 * child has a copy of the chunks; fork waits for threads that are in one of the others.
 */
#ifndef OVNITRACE_FTRACE_H
#define OVNITRACE_FTRACE_H

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/ftrace_record.h>

#include <stdint.h>

/* <ovnitrace/user_event.h> defines these for programs without the library. */
#undef TRACER_LOGEVENT
#undef FTrace_enable
#undef FTrace_disable
#undef FTrace_set_filter
#undef FTrace_fire

#ifdef __cplusplus
extern "C" {
#endif

#define FTRACE_API __attribute__((visibility("default")))

typedef uint8_t FTrace_BYTE;
typedef uint16_t FTrace_WORD;
typedef uint32_t FTrace_DWORD;

/* S.Ha.R.K.'s names for them; define FTRACE_NO_SHORT_TYPES where they clash with others. */
#ifndef FTRACE_NO_SHORT_TYPES
typedef FTrace_BYTE BYTE;
typedef FTrace_WORD WORD;
typedef FTrace_DWORD DWORD;
#endif

/* The spelling of the manual, beside that of the original's source. The manual prints the code of
 * mutex_unlock as 0x43, whose family is that of interrupts: it is a misprint for 0x36. */
#define FTrace_EVT_set_mutex_create  FTrace_EVT_mutex_create
#define FTrace_EVT_set_mutex_lock    FTrace_EVT_mutex_lock
#define FTrace_EVT_set_mutex_inherit FTrace_EVT_mutex_inherit
#define FTrace_EVT_set_mutex_unlock  FTrace_EVT_mutex_unlock
#define FTrace_EVT_set_mutex_wait    FTrace_EVT_mutex_wait
#define FTrace_EVT_set_mutex_post    FTrace_EVT_mutex_post

/* ---- chunks -----------------------------------------------------------------------------------
 */

#define FTRACE_MAX_CHUNK 256 /* chunks are numbered from 0 */

typedef FTrace_BYTE FTrace_flags;

#define FTRACE_CHUNK_FLAG_FREE	0x01 /* empty, and may be selected, linked or jumped to */
#define FTRACE_CHUNK_FLAG_FULL	0x02 /* takes no more events */
#define FTRACE_CHUNK_FLAG_CYC	0x00 /* when full, overwrites its oldest events */
#define FTRACE_CHUNK_FLAG_JTN	0x04 /* when full, goes on in the linked chunk */
#define FTRACE_CHUNK_FLAG_STOP	0x08 /* when full, tracing stops until FTrace_enable */
#define FTRACE_CHUNK_FLAG_BUSY	0x10 /* is being sent or compressed: the library's own */
#define FTRACE_CHUNK_FLAG_NODEL 0x20 /* may not be deleted */
#define FTRACE_CHUNK_FLAG_COMPR 0x40 /* is compressed: the library's own */
#define FTRACE_CHUNK_MODE_MASK	0x0C

/* What a chunk's status is; see FTrace_get_chunk_table. */
struct FTrace_Chunk {
	FTrace_DWORD id;     /* FTRACE_CHUNK_ID */
	FTrace_DWORD number; /* its number */
	FTrace_flags flags;
	FTrace_DWORD size;	     /* bytes of the normal area, or of its compressed form */
	FTrace_DWORD emergency_size; /* bytes */
	FTrace_DWORD events;	     /* events in the normal area */
	FTrace_DWORD emergency_events;
	FTrace_DWORD lost; /* events that came when it was full and had nowhere to jump, or, to a
			    * CYC chunk, while threads that were interrupted held all its slots */
	int next;	   /* the chunk that it is linked to, or -1 */
};
typedef struct FTrace_Chunk *FTrace_Chunk_Ptr;

#define FTRACE_CHUNK_ID 0xFFAAFFBBu

/* Creates a chunk of normal_size bytes, at least one event of 16 bytes, and an emergency area of
 * emergency_size bytes, at least three. All of its memory is allocated at once, so that logging
 * never waits for a page: FTRACE_E_NOMEM if the system refuses it. Returns its number.
 *
 * The emergency area takes the library's own records about a full chunk: trace_stop as soon as a
 * STOP chunk is full; for a JTN chunk without a FREE chunk to jump to blackout_start, and
 * blackout_end with the number of events lost. It also takes trace_stop, next_chunk and blackouts
 * that the program logs itself into a full JTN chunk. */
FTRACE_API int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);

/* FTRACE_E_NODEL, FTRACE_E_BUSY: also for the selected chunk as long as tracing is enabled. A chunk
 * that is linked to is unlinked. */
FTRACE_API int FTrace_chunk_delete(int number);

/* Sets the mode, NODEL, FULL (takes the chunk out of use) and FREE (empties it). Use changes the
 * flags: selecting the chunk or jumping to it removes FREE, and taking its last slot sets FULL
 * (CYC: never). */
FTRACE_API int FTrace_set_chunk_flags(int number, FTrace_flags flags);
FTRACE_API int FTrace_get_chunk_flags(int number, FTrace_flags *flags);

/* Events go to this chunk from now on, at once if tracing is enabled. It must be FREE. */
FTRACE_API int FTrace_actual_chunk_select(int number);

/* When chunk_A is full (JTN), or next_chunk is logged in it, events go on in chunk_B. chunk_B must
 * be FREE now, and at each jump. The link stays: a ring of chunks that are sent and FREE again in
 * time never ends. Several chunks may be linked to one. */
FTRACE_API int FTrace_chunk_link(int chunk_A, int chunk_B);

/* Returns the lowest number of a chunk that has exactly this mode and all the other flags. CYC
 * is 0, so flags without JTN and STOP ask for a cyclic chunk. FTRACE_E_NOT_FOUND. */
FTRACE_API int FTrace_get_first_chunk(FTrace_flags flags);

/* FTRACE_MAX_CHUNK pointers, by number, null where there is no chunk, to the status at the time of
 * this call. The table is the calling thread's own and stays the library's: the thread's next call
 * writes it anew, and it is gone when the thread ends. Null if there is no memory for it
 * (FTrace_last_error). */
FTRACE_API FTrace_Chunk_Ptr *FTrace_get_chunk_table(void);

/* Compresses the chunk's events with zstd and gives the memory of its areas back. It can be sent as
 * ever. new_flags as in FTrace_set_chunk_flags, without FREE. */
FTRACE_API int FTrace_compress_chunk(int number, FTrace_flags new_flags);

/* ---- logging ----------------------------------------------------------------------------------
 */

/* FTRACE_E_NO_CHUNK, FTRACE_E_FULL. Even then a tracer outside takes the events. */
FTRACE_API int FTrace_enable(void);
FTRACE_API int FTrace_disable(void);

/* family: one of FTrace_filter_*. With status 1 its events are not logged, with 0 they are. Logs
 * itself as the event (family, status, 0). It holds also when it is called while tracing is
 * disabled: then a tracer outside obeys it, and only the chunk has no event of it. For its errors
 * see FTrace_last_error. */
FTRACE_API void FTrace_set_filter(FTrace_BYTE family, int status);

/* Starts or stops the region of `ovnitrace --control`, or marks it, as if an alarm of thread `tid`
 * had fired. event: one of FTrace_FIRE_*. tid: as gettid() returns it, of a thread of the calling
 * process; 0: the calling thread. bcast not 0: for all threads of the process. Only a tracer
 * outside takes it, also while tracing is disabled; chunks have nothing of it. If no thread of the
 * process has the tid, the tracer does nothing, counts the call, and reports it at the end.
 * FTRACE_E_ARGUMENT: another event, or a negative tid; no tracer sees the call. */
FTRACE_API int FTrace_fire(int event, int tid, int bcast);

/* Logs an event, at the time CLOCK_MONOTONIC in ns, the clock of ovnitrace's own traces, where
 * tracing is enabled and its family not filtered. Type 0 (empty) is no event. */
FTRACE_API void TRACER_LOGEVENT(FTrace_WORD type, FTrace_WORD par1, FTrace_DWORD par2);

/* As it, marked as a fast ipoint (bit 15 of the code). */
#define FAST_TRACER_LOGEVENT(type, par1, par2)                                                     \
	TRACER_LOGEVENT((FTrace_WORD)((type) | 0x8000), par1, par2)

/* Ticks of the time per millisecond: for cycles_per_msec and trace_start. */
FTRACE_API unsigned int FTrace_clk_per_msec(void);

/* ---- saving -----------------------------------------------------------------------------------
 */

/* Hands the chunk's events to the sender that FTrace_init_disk_writer or FTrace_OSD_init_udp made,
 * in memory order, the emergency area last, and then gives it new_flags; with FREE it is emptied.
 * Where it fails, the chunk keeps its events and its flags. osd_flags is not used. */
FTRACE_API int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags);

/* Chunks are written to the file fname: consecutive records of 16 bytes, chunk after chunk in the
 * order in which they are sent, on disk when FTrace_send_chunk returns. The first one creates the
 * file, or empties it; a symbolic link is not followed. A chunk without a clock rate is
 * preceded by a cycles_per_msec record unless the file has one. flag, l_ip and t_ip are not used.
 */
FTRACE_API int FTrace_init_disk_writer(char *fname, int flag, char *l_ip, char *t_ip);

/* Writes the chunk's events to that file, whatever the sender is. For its errors see
 * FTrace_last_error. */
FTRACE_API void FTrace_disk_writer(FTrace_Chunk_Ptr c);

/* Chunks are sent as datagrams (docs/ftrace-library.md) to t_ip, "ADDRESS", "ADDRESS:PORT" or
 * "[ADDRESS]:PORT", numbers only; the port is 20000 if none is given. With flag 1 they leave from
 * the address l_ip; otherwise from any, and l_ip may be null. */
FTRACE_API int FTrace_OSD_init_udp(int flag, char *l_ip, char *t_ip);

/* ---- errors -----------------------------------------------------------------------------------
 */

enum FTrace_error {
	FTRACE_OK = 0,
	FTRACE_E_SIZE = -1,	     /* a size is too small */
	FTRACE_E_NOMEM = -2,	     /* the system gives no memory */
	FTRACE_E_TOO_MANY = -3,	     /* FTRACE_MAX_CHUNK chunks exist */
	FTRACE_E_FLAGS = -4,	     /* flags that contradict each other or are the library's own */
	FTRACE_E_UNKNOWN_CHUNK = -5, /* no chunk of this number */
	FTRACE_E_NODEL = -6,	     /* protected from deletion */
	FTRACE_E_BUSY = -7,	     /* being sent, compressed or logged to */
	FTRACE_E_NOT_FREE = -8,	     /* in use */
	FTRACE_E_SELF = -9,	     /* a link to itself */
	FTRACE_E_NO_CHUNK = -10,     /* none is selected */
	FTRACE_E_FULL = -11,	     /* full, with nowhere to go on */
	FTRACE_E_NOT_FOUND = -12,    /* no chunk has these flags */
	FTRACE_E_ARGUMENT = -13,     /* a null pointer, an empty or too long name; no such event */
	FTRACE_E_FILTER = -14,	     /* not a filter code, or a status other than 0 and 1 */
	FTRACE_E_NO_SENDER = -15,    /* neither disk writer nor network was initialized */
	FTRACE_E_ADDRESS = -16,	     /* not an address, or none of this machine */
	FTRACE_E_OPEN = -17,	     /* the file cannot be created */
	FTRACE_E_DISK_FULL = -18,    /* no space, or a quota or limit reached */
	FTRACE_E_IO = -19,	     /* writing failed otherwise */
	FTRACE_E_NETWORK = -20,	     /* sending failed, or nobody listens */
	FTRACE_E_NOT_COMPRESSED = -21, /* built without zstd, or it failed */
};

/* Returns what an error is and what to do; never null. The text is static. */
FTRACE_API const char *FTrace_strerror(int error);

/* Returns the result of this thread's last call, other than the async-signal-safe ones: for the
 * functions that return nothing. */
FTRACE_API int FTrace_last_error(void);

/* ---- Fortran ----------------------------------------------------------------------------------
 */

/* call tracer_logevent(type, par1, par2), with default integers; par2's bits are taken as they are.
 */
FTRACE_API void tracer_logevent_(const int *type, const int *par1, const int *par2);
FTRACE_API int ftrace_enable_(void);
FTRACE_API int ftrace_disable_(void);
FTRACE_API int ftrace_fire_(const int *event, const int *tid, const int *bcast);

#ifdef __cplusplus
}
#endif

#endif
