/* SPDX-License-Identifier: BSD-2-Clause */
/* What Fortran calls, by its usual convention: lower case, an underscore, arguments by reference.
 */
#include <ovnitrace/ftrace.h>

void tracer_logevent_(const int *type, const int *par1, const int *par2)
{
	TRACER_LOGEVENT((FTrace_WORD)*type, (FTrace_WORD)*par1, (FTrace_DWORD)*par2);
}

int ftrace_enable_(void)
{
	return FTrace_enable();
}

int ftrace_disable_(void)
{
	return FTrace_disable();
}

int ftrace_fire_(const int *event, const int *tid, const int *bcast)
{
	return FTrace_fire(*event, *tid, *bcast);
}
