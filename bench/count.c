// SPDX-License-Identifier: GPL-2.0
/*
 * For scripts/answers: run a command, and print on stderr what it took, in ticks of the
 * TSC, which are instructions there, and how its time was between kernel and programs,
 * by the kernel's own ticks.
 *
 * usage: count COMMAND [ARGUMENT ...]
 */
#include <err.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

int main(int argc, char **argv)
{
	unsigned long start = __rdtsc();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2)
		errx(2, "usage: count COMMAND [ARGUMENT ...]");
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		err(127, "%s", argv[1]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "fork");
	start = __rdtsc() - start;
	getrusage(RUSAGE_CHILDREN, &usage);
	fprintf(stderr, "instructions=%lu user_ms=%ld system_ms=%ld status=%d\n", start,
		usage.ru_utime.tv_sec * 1000 + usage.ru_utime.tv_usec / 1000,
		usage.ru_stime.tv_sec * 1000 + usage.ru_stime.tv_usec / 1000,
		WEXITSTATUS(status));
	return status ? 1 : 0;
}
