/* SPDX-License-Identifier: BSD-2-Clause */
/* The disk writer: chunk after chunk into one file, written at once rather than at exit, so that a
 * program that dies later has lost nothing. */
#include "user/libovnitrace/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct {
	char name[PATH_MAX]; /* empty: not initialized */
	int fd;		     /* -1: not yet created */
	bool has_clock;
} file = {.fd = -1};

static ovt_send send_to_file;

static int prepare(void *name)
{
	if (file.fd >= 0)
		close(file.fd);
	file.fd = -1;
	file.has_clock = false;
	strcpy(file.name, name);
	return FTRACE_OK;
}

int FTrace_init_disk_writer(char *fname, int flag, char *l_ip, char *t_ip)
{
	(void)flag, (void)l_ip, (void)t_ip;
	if (!fname || !*fname || strlen(fname) >= sizeof file.name)
		return ovt_result(FTRACE_E_ARGUMENT);
	return ovt_result(ovt_sender_set(send_to_file, prepare, fname));
}

static int create(void)
{
	if (!*file.name)
		return FTRACE_E_NO_SENDER;
	if (file.fd < 0)
		file.fd = open(file.name,
			       O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
			       0644);
	return file.fd < 0 ? FTRACE_E_OPEN : FTRACE_OK;
}

static int error_of(int number)
{
	return number == ENOSPC || number == EDQUOT || number == EFBIG ? FTRACE_E_DISK_FULL
								       : FTRACE_E_IO;
}

static int write_all(struct iovec *part, int parts)
{
	while (parts) {
		if (!part->iov_len) {
			part++, parts--;
			continue;
		}
		ssize_t written = writev(file.fd, part, parts);
		if (written < 0 && errno != EINTR)
			return error_of(errno);
		for (size_t left = written > 0 ? (size_t)written : 0; left;) {
			size_t here = left < part->iov_len ? left : part->iov_len;
			part->iov_base = (char *)part->iov_base + here;
			part->iov_len -= here;
			left -= here;
			if (!part->iov_len)
				part++, parts--;
		}
	}
	return FTRACE_OK;
}

/* Does the same without signals. At a file size limit, or if nobody reads a pipe, the kernel sends
 * the thread a signal that would end the program. */
static int write_without_signals(struct iovec *part, int parts)
{
	sigset_t raised, before, waiting;
	sigemptyset(&raised);
	sigaddset(&raised, SIGXFSZ);
	sigaddset(&raised, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &raised, &before);
	sigpending(&waiting);
	int result = write_all(part, parts), reason = errno;
	if (sigismember(&waiting, SIGXFSZ) == 1) /* not ours */
		sigdelset(&raised, SIGXFSZ);
	if (sigismember(&waiting, SIGPIPE) == 1)
		sigdelset(&raised, SIGPIPE);
	while (sigtimedwait(&raised, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR) {
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	return result;
}

static int send_to_file(const struct ovt_content *content)
{
	int error = create();
	if (error || ovt_content_empty(content))
		return error;
	struct stat before;
	bool can_undo = fstat(file.fd, &before) == 0 && S_ISREG(before.st_mode);
	bool needs_clock = !file.has_clock && !content->has_clock;
	struct ftrace_record clock = ovt_content_clock(content);
	struct iovec parts[] = {
		{&clock, needs_clock ? sizeof clock : 0},
		{(void *)content->part[0], content->count[0] * sizeof(struct ftrace_record)},
		{(void *)content->part[1], content->count[1] * sizeof(struct ftrace_record)},
	};
	error = write_without_signals(parts, 3);
	if (!error)
		file.has_clock = true;
	else if (can_undo && ftruncate(file.fd, before.st_size) != 0)
		error = FTRACE_E_IO; /* the file ends in a part of the chunk */
	return error;
}

void FTrace_disk_writer(FTrace_Chunk_Ptr c)
{
	bool known = c && c->id == FTRACE_CHUNK_ID && c->number < FTRACE_MAX_CHUNK;
	ovt_result(known ? ovt_sender_hand_over((int)c->number, send_to_file, NULL)
			 : FTRACE_E_UNKNOWN_CHUNK);
}

__attribute__((destructor)) static void unload(void)
{
	if (file.fd >= 0 && ovt_unloading())
		close(file.fd);
}
