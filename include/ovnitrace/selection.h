/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines the filters of `record` as the loader passes them to the BPF programs. A thread is
 * recorded while it passes all of them. Both sides are the same machine.
 */
#ifndef OVNITRACE_SELECTION_H
#define OVNITRACE_SELECTION_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define SELECT_GLOBS	     32	  /* patterns of names, of --comm and --no-comm together */
#define SELECT_NUMBERS	     64	  /* users, or threads of -t, at most */
#define SELECT_CPUS	     4096 /* CPUs that a list can name: 0 to 4095 */
#define SELECT_CGROUPS	     64	  /* cgroups at a time, without the ones inside them */
#define SELECT_CGROUP_NAMES  32	  /* names of cgroups that may be made later */
#define SELECT_CGROUP_LENGTH 256  /* bytes of such a name; the kernel's paths are cut there */

/* What a thread passes; the filters in use are the loader's `needed`. */
enum select_fit {
	FITS_BORN = 1 << 0,  /* it is alive, and was looked at; always needed */
	FITS_SCOPE = 1 << 1, /* of the program or of -p */
	FITS_TID = 1 << 2,
	FITS_COMM = 1 << 3,
	FITS_UID = 1 << 4,
	FITS_CGROUP = 1 << 5,
	FITS_CPU = 1 << 6,
	FITS_KIND = 1 << 7, /* it is no kernel thread */
	/* No filters: */
	FITS_SHOWN = 1 << 8,   /* the trace has it */
	FITS_ENTERED = 1 << 9, /* it was running when it passed, and has not left its CPU since */
};

/* A living thread that is recorded, for --dry-run. */
struct listed_thread {
	__u32 tid;
	__u32 pid; /* process (tgid) */
	char comm[16];
};

/* A pattern with * and ?, as an automaton whose states are bits. State n means that n characters
 * of the pattern, without stars, were found. A character c leads from `states` to
 * ((states & advance[c]) << 1) | (states & loops). */
struct name_glob {
	__u64 advance[256];
	__u64 loops;   /* states that a star follows */
	__u64 accept;  /* the last state */
	__u64 refuses; /* 1: of --no-comm */
};

/* Returns not 0 if a name fits. It ends after `size` bytes or at a 0. */
static inline __attribute__((always_inline)) int glob_fits(const volatile struct name_glob *glob,
							   const char *name, __u32 size)
{
	__u64 states = 1;

	for (__u32 at = 0; at < size && name[at]; at++)
		states = (states & glob->advance[(__u8)name[at]]) << 1 | (states & glob->loops);
	return (states & glob->accept) != 0;
}

struct chosen_cgroup {
	__u64 id;	 /* of its directory; 0: this place is free */
	__u32 hierarchy; /* as in /proc/self/cgroup; 0: version 2 */
	__u32 level;	 /* how many cgroups it is in */
};

#define SELECT_ANY_HIERARCHY 0xffffffffu

/* A cgroup that is chosen when it is made. */
struct cgroup_name {
	__u32 hierarchy; /* or SELECT_ANY_HIERARCHY */
	__u32 anywhere;	 /* 1: `text` is the last part of its path; 0: all of it */
	__u32 open;	 /* 1: `text` is only the start of that */
	__u32 length;	 /* of `text` */
	char text[SELECT_CGROUP_LENGTH];
};

#endif
