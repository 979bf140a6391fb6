// SPDX-License-Identifier: MIT
/*
 * request_client.c - a client of requests and responses, with a time limit
 *
 *	cc request_client.c -o request_client $(pkg-config --cflags --libs librdmachan)
 *	./request_client db1 5001 set colour=red
 *	./request_client db1 5001 get colour
 *
 * The other end is request_server.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <librdmachan.h>

#include "request.h"

#define TIMEOUT_MS	2000

static int tell(const struct rdmachan_error *err)
{
	char text[RDMACHAN_EXPLAIN_MAX];

	rdmachan_explain(err, text, sizeof(text));
	fputs(text, stderr);
	return -1;
}

/*
 * One request and its response. Returns the kind of the response, its text in
 * @response with a final zero; -1 when there was none.
 */
static int request(int chan, enum request_kind kind, const char *text, char *response)
{
	struct rdmachan_transfer out = RDMACHAN_TRANSFER_INIT;
	struct rdmachan_transfer in = RDMACHAN_TRANSFER_INIT;
	struct iovec iov = { (void *)text, strlen(text) };
	struct rdmachan_error err;
	int ret;

	out.msg_flags = kind;
	out.timeout_ms = TIMEOUT_MS;
	if (rdmachan_sendv(chan, &iov, 1, &out, &err) < 0)
		return tell(&err);

	iov.iov_base = response;
	iov.iov_len = REQUEST_MAX;
	in.timeout_ms = TIMEOUT_MS;
	ret = rdmachan_recvv(chan, &iov, 1, &in, &err);
	if (ret < 0)
		return tell(&err);
	if (!ret) {
		fputs("the server has ended the channel\n", stderr);
		return -1;
	}
	response[in.length] = '\0';
	return in.msg_flags;
}

static int run(int chan, enum request_kind kind, const char *text)
{
	char response[REQUEST_MAX + 1];

	switch (request(chan, kind, text, response)) {
	case RESPONSE_OK:
		puts(response);
		return 0;
	case RESPONSE_UNKNOWN:
		fprintf(stderr, "there is no \"%s\"\n", text);
		return 1;
	default:
		fputs("the request failed\n", stderr);
		return 1;
	}
}

int main(int argc, char **argv)
{
	struct rdmachan_options options = RDMACHAN_OPTIONS_INIT;
	struct rdmachan_error err;
	int ctx, chan, ret;

	if (argc != 5 || (strcmp(argv[3], "get") && strcmp(argv[3], "set"))) {
		fprintf(stderr, "Usage: %s HOST SERVICE get KEY\n"
			"       %s HOST SERVICE set KEY=VALUE\n", argv[0], argv[0]);
		return 2;
	}
	ctx = rdmachan_open(&err);
	if (ctx < 0) {
		tell(&err);
		return 1;
	}
	options.timeout_ms = TIMEOUT_MS;
	chan = rdmachan_connect_host(ctx, argv[1], strtoul(argv[2], NULL, 10), &options, &err);
	if (chan < 0) {
		tell(&err);
		return 1;
	}
	ret = run(chan, strcmp(argv[3], "get") ? REQUEST_SET : REQUEST_GET, argv[4]);
	close(chan);
	close(ctx);
	if (fflush(stdout)) {
		perror("cannot write");
		return 1;
	}
	return ret;
}
