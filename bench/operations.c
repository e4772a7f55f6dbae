// SPDX-License-Identifier: GPL-2.0
/*
 * For scripts/bench-attach: do what a system does all day, and count it in ticks of the
 * TSC, which are instructions there, those of the kernel with those of this program.
 *
 * usage: operations OPERATION NR [RUNS]
 *
 *	open	open a file, and close it
 *	fork	fork a child that exits, and wait for it
 *	udp	send a packet of UDP over loopback, and receive it
 *
 * Does it NR times, RUNS times over, and prints the ticks of one: the median of the
 * runs. Without RUNS it prints nothing.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define RUNS_MAX	15

/* What every program opens first. */
#define BENCH_FILE	"/usr/lib/x86_64-linux-gnu/libc.so.6"

static int udp_socket;

static void open_close(void)
{
	int fd = open(BENCH_FILE, O_RDONLY);

	if (fd < 0)
		err(1, "open");
	close(fd);
}

static void fork_exit(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		err(1, "fork");
}

/* A socket that sends to itself. */
static void udp_connect(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t len = sizeof(to);

	udp_socket = socket(AF_INET, SOCK_DGRAM, 0);
	if (udp_socket < 0 ||
	    bind(udp_socket, (struct sockaddr *)&to, len) ||
	    getsockname(udp_socket, (struct sockaddr *)&to, &len) ||
	    connect(udp_socket, (struct sockaddr *)&to, len))
		err(1, "udp");
}

static void udp_send(void)
{
	char packet[64] = "";

	if (send(udp_socket, packet, sizeof(packet), 0) != sizeof(packet) ||
	    recv(udp_socket, packet, sizeof(packet), 0) != sizeof(packet))
		err(1, "udp");
}

static const struct {
	const char *name;
	void (*prepare)(void);
	void (*run)(void);
} operations[] = {
	{ "open", NULL, open_close },
	{ "fork", NULL, fork_exit },
	{ "udp", udp_connect, udp_send },
	{ }
};

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	unsigned long ticks[RUNS_MAX], nr = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned int runs = argc > 3 ? atoi(argv[3]) : 0, i, r;
	unsigned long n;

	for (i = 0; operations[i].name; i++)
		if (argc > 1 && !strcmp(argv[1], operations[i].name))
			break;
	if (!operations[i].name || !nr || runs > RUNS_MAX)
		errx(2, "usage: operations open|fork|udp NR [RUNS]");
	if (operations[i].prepare)
		operations[i].prepare();
	for (r = 0; r <= runs; r++) {		/* the first is not counted */
		unsigned long start = __rdtsc();

		for (n = 0; n < nr; n++)
			operations[i].run();
		if (r)
			ticks[r - 1] = __rdtsc() - start;
	}
	if (!runs)
		return 0;
	qsort(ticks, runs, sizeof(ticks[0]), compare);
	printf("%lu\n", (ticks[runs / 2] + nr / 2) / nr);
	return 0;
}
