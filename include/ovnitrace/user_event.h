/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Logs events of your own program into the trace of ovnitrace, among the scheduler's events, with
 * the calling thread and CPU. Header only, C and C++: without a tracer each costs one nop and the
 * setting of its arguments, and needs no library.
 *
 *   #include <ovnitrace/user_event.h>
 *   TRACER_LOGEVENT(FTrace_EVT_user_event_0, 7, iteration);
 *
 * The probes, for tools that attach to them (docs/user-events.md): provider "ovnitrace",
 *   event    (type, par1, par2): 3 unsigned numbers of 32 bits, type and par1 below 65536
 *   enable   ()
 *   disable  ()
 *   fire     (event, tid, bcast): 3 unsigned numbers of 32 bits
 *
 * A program that wants chunks of its own too includes <ovnitrace/ftrace.h> and links libovnitrace:
 * it has the same five names as functions, which fire the same probes.
 */
#ifndef OVNITRACE_USER_EVENT_H
#define OVNITRACE_USER_EVENT_H

#include <ovnitrace/ftrace_codes.h>
#include <ovnitrace/usdt.h>

#include <stdint.h>

/* Always: a compiler takes the many lines of a probe's note for as many instructions. */
#define OVNITRACE_INLINE static inline __attribute__((always_inline))

/* Fires the probe. Async-signal-safe, thread-safe. */
OVNITRACE_INLINE void ovnitrace_event(uint16_t type, uint16_t par1, uint32_t par2)
{
	OVNITRACE_USDT3("ovnitrace", "event", type, par1, par2);
}

OVNITRACE_INLINE int ovnitrace_enable(void)
{
	OVNITRACE_USDT0("ovnitrace", "enable");
	return 0;
}

OVNITRACE_INLINE int ovnitrace_disable(void)
{
	OVNITRACE_USDT0("ovnitrace", "disable");
	return 0;
}

/* family: one of FTrace_filter_*. With status 1 its events are not captured any more, with 0 they
 * are again: of all traced processes, and only of families that ovnitrace's --filter has chosen. */
OVNITRACE_INLINE void ovnitrace_set_filter(uint8_t family, int status)
{
	OVNITRACE_USDT3("ovnitrace", "event", family, status, 0);
}

/* Starts or stops the region of ovnitrace --control, or marks it, as if an alarm of thread `tid`
 * had fired; 0: the calling thread. event: one of FTrace_FIRE_*. bcast: not 0: for all threads of
 * the process. Other threads' tids are those that gettid() returns in them. If the event is another
 * one, or no thread of the process has the tid, ovnitrace does nothing, counts the call, and
 * reports it at the end. */
OVNITRACE_INLINE int ovnitrace_fire(uint32_t event, uint32_t tid, int bcast)
{
	OVNITRACE_USDT3("ovnitrace", "fire", event, tid, bcast != 0);
	return 0;
}

/* A section of the thread, of a number that is not 0: sections nest, and appear in the trace as a
 * stack (PRV type 316), pushed by user event 13 and popped by user event 14. */
OVNITRACE_INLINE void ovnitrace_section_begin(uint32_t section)
{
	ovnitrace_event(FTrace_EVT_user_event_13, 0, section);
}

OVNITRACE_INLINE void ovnitrace_section_end(uint32_t section)
{
	ovnitrace_event(FTrace_EVT_user_event_14, 0, section);
}

#ifndef OVNITRACE_FTRACE_H
#define TRACER_LOGEVENT(type, par1, par2) ovnitrace_event(type, par1, par2)
#define FTrace_enable()			  ovnitrace_enable()
#define FTrace_disable()		  ovnitrace_disable()
#define FTrace_set_filter(family, status) ovnitrace_set_filter(family, status)
#define FTrace_fire(event, tid, bcast)	  ovnitrace_fire(event, tid, bcast)
#endif

#ifdef __cplusplus
namespace ovnitrace
{

/// A section that lasts as long as this object: `ovnitrace::Section section(3);`
class Section
{
      public:
	explicit Section(uint32_t section) : section_(section)
	{
		ovnitrace_section_begin(section_);
	}
	~Section()
	{
		ovnitrace_section_end(section_);
	}
	Section(const Section &) = delete;
	Section &operator=(const Section &) = delete;

      private:
	uint32_t section_;
};

} // namespace ovnitrace
#endif

#endif
