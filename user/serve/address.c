/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See address.h. */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

#define UNIX "unix:"
#define BACKLOG 64
#define HOST_MAX 64

static int address_refuse(const char *text, struct error *error)
{
	return error_set(
		error, ERROR_USAGE, -EINVAL,
		"'%s' is no address to listen at: there are PORT, 127.0.0.1:PORT, [::1]:PORT "
		"and unix:/PATH",
		text);
}

static int address_parse_unix(const char *text, const char *path, struct address *address,
			      struct error *error)
{
	struct sockaddr_un *name = (struct sockaddr_un *)&address->socket;

	if (*path != '/')
		return error_set(
			error, ERROR_USAGE, -EINVAL,
			"'%s' is no address to listen at: the path of a socket begins with "
			"'/', as in unix:/run/tracer.sock",
			text);
	if (strlen(path) >= sizeof(name->sun_path))
		return error_set(
			error, ERROR_USAGE, -EINVAL,
			"'%s' is no address to listen at: the path of a socket has at most "
			"%zu bytes",
			text, sizeof(name->sun_path) - 1);
	name->sun_family = AF_UNIX;
	strcpy(name->sun_path, path);
	address->length = sizeof(*name);
	address->is_unix = true;
	return 0;
}

static void address_set_inet(struct address *address, struct in_addr host, uint16_t port)
{
	struct sockaddr_in *name = (struct sockaddr_in *)&address->socket;

	*name = (struct sockaddr_in){ .sin_family = AF_INET,
				      .sin_addr = host,
				      .sin_port = htons(port) };
	address->length = sizeof(*name);
	address->is_loopback = ntohl(host.s_addr) >> 24 == 127;
}

static void address_set_inet6(struct address *address, const struct in6_addr *host, uint16_t port)
{
	struct sockaddr_in6 *name = (struct sockaddr_in6 *)&address->socket;

	*name = (struct sockaddr_in6){ .sin6_family = AF_INET6,
				       .sin6_addr = *host,
				       .sin6_port = htons(port) };
	address->length = sizeof(*name);
	address->is_loopback = IN6_IS_ADDR_LOOPBACK(host);
}

/* What stands before the last colon; "" where there is none. False if it is too long for any address. */
static bool address_split(const char *text, char host[HOST_MAX], const char **ret_port)
{
	const char *colon = strrchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;

	*ret_port = colon ? colon + 1 : text;
	if (length >= HOST_MAX)
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	return true;
}

int address_parse(const char *text, struct address *ret_address, struct error *error)
{
	struct in_addr host = { htonl(INADDR_LOOPBACK) };
	struct in6_addr host6;
	struct address address = { .length = 0 };
	char name[HOST_MAX];
	const char *port_text;
	uint64_t port;
	size_t length;
	int code = 0;

	if (!strncmp(text, UNIX, strlen(UNIX))) {
		code = address_parse_unix(text, text + strlen(UNIX), &address, error);
		if (!code)
			*ret_address = address;
		return code;
	}
	if (!address_split(text, name, &port_text) ||
	    !units_parse_number(port_text, UINT16_MAX, &port))
		return address_refuse(text, error);
	length = strlen(name);
	if (*name == '[' && name[length - 1] == ']') {
		name[length - 1] = '\0';
		if (inet_pton(AF_INET6, name + 1, &host6) != 1)
			return address_refuse(text, error);
		address_set_inet6(&address, &host6, (uint16_t)port);
	} else {
		if (*name && strcmp(name, "localhost") != 0 && inet_pton(AF_INET, name, &host) != 1)
			return address_refuse(text, error);
		address_set_inet(&address, host, (uint16_t)port);
	}
	*ret_address = address;
	return 0;
}

/* Is there a socket of ours, at which nobody listens any more? */
static bool address_is_left(const struct address *address, int fd)
{
	const struct sockaddr_un *name = (const struct sockaddr_un *)&address->socket;
	struct stat status;

	return !lstat(name->sun_path, &status) && S_ISSOCK(status.st_mode) &&
	       status.st_uid == geteuid() &&
	       connect(fd, (const struct sockaddr *)&address->socket, address->length) &&
	       errno == ECONNREFUSED;
}

/* The mode is there from the beginning. No other thread makes files meanwhile. */
static int address_bind(const struct address *address, int fd)
{
	const struct sockaddr *name = (const struct sockaddr *)&address->socket;
	const mode_t mask = umask(0177);
	int code = bind(fd, name, address->length) ? -errno : 0;

	if (code == -EADDRINUSE && address->is_unix && address_is_left(address, fd) &&
	    !unlink(((const struct sockaddr_un *)name)->sun_path))
		code = bind(fd, name, address->length) ? -errno : 0;
	umask(mask);
	return code;
}

int address_listen(const struct address *address, struct error *error)
{
	int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int yes = 1;
	struct buffer text = { 0 };
	int code = fd < 0 ? -errno : 0;

	if (!code && !address->is_unix)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (!code)
		code = address_bind(address, fd);
	if (!code && listen(fd, BACKLOG))
		code = -errno;
	if (!code)
		return fd;
	address_describe(address, -1, &text);
	error_set(error, ERROR_USAGE, code, "cannot listen at %s: %s", text.data, strerror(-code));
	buffer_free(&text);
	if (fd >= 0)
		close(fd);
	return code;
}

void address_describe(const struct address *address, int fd, struct buffer *out)
{
	struct sockaddr_storage name = address->socket;
	const struct sockaddr_in *inet = (const struct sockaddr_in *)&name;
	const struct sockaddr_in6 *inet6 = (const struct sockaddr_in6 *)&name;
	socklen_t length = sizeof(name);
	char host[INET6_ADDRSTRLEN] = "";

	if (address->is_unix) {
		buffer_printf(out, UNIX "%s", ((const struct sockaddr_un *)&name)->sun_path);
		return;
	}
	/* The port that the kernel has chosen. */
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&name, &length))
		name = address->socket;
	if (name.ss_family == AF_INET6)
		buffer_printf(out, "http://[%s]:%d/",
			      inet_ntop(AF_INET6, &inet6->sin6_addr, host, sizeof(host)),
			      ntohs(inet6->sin6_port));
	else
		buffer_printf(out, "http://%s:%d/",
			      inet_ntop(AF_INET, &inet->sin_addr, host, sizeof(host)),
			      ntohs(inet->sin_port));
}
