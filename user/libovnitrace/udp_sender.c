/* SPDX-License-Identifier: BSD-2-Clause */
/* The network sender: datagrams of the original's format, a header of 24 bytes and at most 60
 * records. All numbers are little-endian. */
#include "user/libovnitrace/sender.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 24, RECORDS = 60, RECORD = sizeof(struct ftrace_record) };

static const char default_port[] = "20000";

static struct {
	int fd;		 /* -1: not initialized */
	uint32_t number; /* of the last datagram */
} network = {.fd = -1};

struct addresses {
	int bind_local; /* flag */
	const char *local, *target;
};

/* Returns whether the text is a port: getaddrinfo takes 99999 for 34463, and nothing for 0. */
static bool is_port(const char *text)
{
	unsigned long port = 0;
	size_t digits = strspn(text, "0123456789");
	if (digits && digits <= 5 && !text[digits])
		port = strtoul(text, NULL, 10);
	return port > 0 && port <= 65535;
}

/* Splits "ADDRESS", "ADDRESS:PORT" or "[ADDRESS]:PORT" and resolves it, without any look-up.
 * Returns null for any other text; otherwise free it with freeaddrinfo. */
static struct addrinfo *resolve(const char *text, const char *port)
{
	char copy[128];
	if (!text || strlen(text) >= sizeof copy)
		return NULL;
	strcpy(copy, text);
	char *address = copy, *colon = strrchr(copy, ':');
	if (*copy == '[') {
		char *bracket = strchr(copy, ']');
		if (!bracket || (bracket[1] && bracket[1] != ':'))
			return NULL;
		address++;
		*bracket = '\0';
		colon = bracket[1] ? bracket + 1 : NULL;
	} else if (colon != strchr(copy, ':')) {
		colon = NULL; /* a bare IPv6 address */
	}
	if (colon) {
		*colon = '\0';
		port = colon + 1;
		if (!is_port(port))
			return NULL;
	}
	struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
				 .ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;
	return getaddrinfo(address, port, &hints, &found) == 0 ? found : NULL;
}

/* Returns a socket from the local address, which may be null, to the target; negative if it
 * cannot be. */
static int connected_socket(const struct addrinfo *local, const struct addrinfo *target)
{
	int fd = socket(target->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if ((local && bind(fd, local->ai_addr, local->ai_addrlen) != 0) ||
	    connect(fd, target->ai_addr, target->ai_addrlen) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static ovt_send send_datagrams;

static int prepare(void *argument)
{
	const struct addresses *addresses = argument;
	struct addrinfo *target = resolve(addresses->target, default_port);
	struct addrinfo *local = addresses->bind_local ? resolve(addresses->local, "0") : NULL;
	int fd = -1;
	if (target && (local || !addresses->bind_local))
		fd = connected_socket(local, target);
	if (target)
		freeaddrinfo(target);
	if (local)
		freeaddrinfo(local);
	if (fd < 0)
		return FTRACE_E_ADDRESS;
	if (network.fd >= 0)
		close(network.fd);
	network.fd = fd;
	network.number = 0;
	return FTRACE_OK;
}

int FTrace_OSD_init_udp(int flag, char *l_ip, char *t_ip)
{
	if (!t_ip || (flag && !l_ip))
		return ovt_result(FTRACE_E_ARGUMENT);
	struct addresses addresses = {flag, l_ip, t_ip};
	return ovt_result(ovt_sender_set(send_datagrams, prepare, &addresses));
}

/* A datagram that is being filled. */
struct datagram {
	uint32_t events;
	unsigned char bytes[HEADER + RECORDS * RECORD];
};

static int flush(struct datagram *datagram)
{
	enum { BURST = 32, PAUSE_NS = 1000000 }; /* a receiver needs time */
	if (!datagram->events)
		return FTRACE_OK;
	uint32_t size = HEADER + datagram->events * RECORD;
	const uint32_t numbers[3] = {++network.number, datagram->events, size};
	memcpy(datagram->bytes, "TRACER-V1.0", 12);
	memcpy(datagram->bytes + 12, numbers, sizeof numbers);
	datagram->events = 0;
	ssize_t sent;
	do
		sent = send(network.fd, datagram->bytes, size, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR); /* after an error, the whole chunk is sent again */
	if (sent != (ssize_t)size)
		return FTRACE_E_NETWORK;
	if (network.number % BURST == 0)
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	return FTRACE_OK;
}

static int add(struct datagram *datagram, const struct ftrace_record *record)
{
	memcpy(datagram->bytes + HEADER + datagram->events * RECORD, record, RECORD);
	return ++datagram->events == RECORDS ? flush(datagram) : FTRACE_OK;
}

static int send_datagrams(const struct ovt_content *content)
{
	struct datagram datagram = {0};
	int error = FTRACE_OK;
	/* Any datagram may be lost, so each chunk has the rate of its clock. */
	if (!content->has_clock && !ovt_content_empty(content)) {
		struct ftrace_record clock = ovt_content_clock(content);
		error = add(&datagram, &clock);
	}
	for (int part = 0; part < 2; part++)
		for (uint32_t i = 0; i < content->count[part] && !error; i++)
			error = add(&datagram, &content->part[part][i]);
	return error ? error : flush(&datagram);
}

__attribute__((destructor)) static void unload(void)
{
	if (network.fd >= 0 && ovt_unloading())
		close(network.fd);
}
