// SPDX-License-Identifier: GPL-2.0
/* hslabctl: the table of commands, and what is common to all. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hslabctl.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *help;	/* a line */
	const char *more;	/* for hslabctl NAME --help */
};

static const struct command commands[] = {
	{ "list", cmd_list,
	  "[--json] [--filter GLOB] [--sort COLUMN] [--columns LIST]",
	  "show the caches as a table",
	  "COLUMN is cache, size, slot, store, owner, profile, merge, poison, zero,\n"
	  "verify, check, quarantine_kb, pin, track, on_violation, live, peak, allocs,\n"
	  "frees, fails, bytes, quarantined, aside or faults. Numbers are sorted from\n"
	  "high to low. --json prints all there is." },
	{ "show", cmd_show, "CACHE", "show all about a cache",
	  "Policies and geometry, then the counts, which only root may read." },
	{ "top", cmd_top,
	  "[-b] [-n TIMES] [-d SECONDS] [--sort COLUMN] [--filter GLOB]",
	  "watch what the caches are doing",
	  "COLUMN is cache, allocs/s, frees/s, live, peak, memory (bytes of live objects\n"
	  "with their tags), held (bytes in quarantine) or faults; the keys c, a, f, l, p,\n"
	  "m, h and v sort by these. Arrows scroll, the space bar reads the counts now, q\n"
	  "ends. -b prints what the screen would show, for files; -n: TIMES often; -d: every\n"
	  "SECONDS, 2 if not said, such as 0.5." },
	{ "set", cmd_set, "CACHE|GLOB|all|defaults KEY=VALUE...",
	  "set policies",
	  "Nothing is written when a KEY or VALUE is wrong. all means all caches;\n"
	  "defaults is what caches start with." },
	{ "profile", cmd_profile, "[CACHE|GLOB|all] NAME", "set a profile",
	  "NAME is off, fast, balanced, debug or paranoid. For all, the defaults are\n"
	  "set too." },
	{ "stores", cmd_stores, "[CACHE]", "show which caches share slots",
	  "With a CACHE: whether it shares with each other one, or why not." },
	{ "faults", cmd_faults, "[-f]", "show the last reports",
	  "-f: stay, and show those that come." },
	{ "traces", cmd_traces, "CACHE|NAME", "show who allocated and freed",
	  "For caches with track=1, and who freed for an attached NAME with track=1." },
	{ "attach", cmd_attach, "NAME [KEY=VALUE...]", "see the frees of a kmem_cache",
	  "NAME is one in /sys/kernel/slab; KEY is mode (count, wipe, poison or\n"
	  "quarantine), poison, quarantine_kb, track or on_violation. Nothing is done when\n"
	  "one is wrong." },
	{ "detach", cmd_detach, "NAME", "end that", "" },
	{ "attached", cmd_attached, "[NAME | set NAME KEY=VALUE...]",
	  "show what hslab is attached to, or set its policies",
	  "With a NAME: all about it. KEY as for attach." },
	{ "sweep", cmd_sweep, "NAME", "fill what is free already of what is attached",
	  "As its mode fills what is freed." },
	{ "rules", cmd_rules, "[set RULE...|clear]",
	  "show or replace what caches to come start with",
	  "RULE is 'PATTERN KEY=VALUE...', a line of hslab.conf for caches. set takes the\n"
	  "place of all rules there are. apply sets the lines of its files." },
	{ "scrub", cmd_scrub, "[CACHE|GLOB|all]",
	  "verify what is quarantined or pinned", "" },
	{ "purge", cmd_purge, "", "empty all quarantines", "" },
	{ "seal", cmd_seal, "[--yes]", "let policies only be tightened, until reboot",
	  "Asks, unless there is --yes." },
	{ "diff", cmd_diff, "A.json B.json", "show what grew",
	  "A.json and B.json are what list --json has printed." },
	{ "prometheus", cmd_prometheus, "[-o FILE]",
	  "print the counts in Prometheus' text format",
	  "-o: replace FILE, for node_exporter's textfile collector. Where there is no\n"
	  "hslab it says hslab_up 0, which is no error." },
	{ "report", cmd_report, "[-o FILE]", "write a page with pictures, for a browser",
	  "HTML with memory by cache, who shares slots with whom, violations by time,\n"
	  "lifetimes, and what hslab is attached to. It needs no other file and no script.\n"
	  "Who is not root gets less; the page says what is missing. Without -o: to the\n"
	  "standard output, if that is no terminal." },
	{ "save", cmd_save, "FILE", "write all policies to an hslab.conf",
	  "And what hslab is attached to. FILE may be - for the standard output." },
	{ "apply", cmd_apply, "[--cache NAME] [FILE...]",
	  "set policies as hslab.conf files say",
	  "Without a FILE: those in /etc/hslab whose names end in .conf, sorted by name.\n"
	  "Later lines and files count more. Nothing is written when a line is wrong.\n"
	  "What the lines attach NAME name is attached to. --cache: only set that cache,\n"
	  "for one that has just appeared." },
	{ "check-config", cmd_check_config, "[FILE...]", "look for errors in hslab.conf files",
	  "Without a FILE: in those of apply. Needs no hslab." },
};

void complain(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("hslabctl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	putc('\n', stderr);
}

static void print_help(void)
{
	size_t i;

	printf("usage: hslabctl [--root DIR] [--sysfs DIR] [--debugfs DIR] COMMAND ...\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-13s %s\n", commands[i].name, commands[i].help);
	printf("\nhslabctl COMMAND --help says more of each, hslabctl(8) all.\n"
	       "Exit status: 0 done, 1 wrong arguments or configuration, 2 refused, at\n"
	       "least in part, 3 no hslab.\n");
}

static void print_command_help(const struct command *command)
{
	printf("usage: hslabctl %s%s%s\n\n%s.\n", command->name,
	       *command->arguments ? " " : "", command->arguments,
	       command->help);
	if (*command->more)
		printf("%s\n", command->more);
}

static const struct command *find_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		names[i] = commands[i].name;
		if (!strcmp(name, names[i]))
			return &commands[i];
	}
	complain_unknown("unknown command", name, names, ARRAY_SIZE(commands),
			 ", see hslabctl --help");
	return NULL;
}

static void set_root(const char *root)
{
	/* kept until the end */
	static char *sysfs, *debugfs, *proc, *conf;

	free(sysfs);
	free(debugfs);
	free(proc);
	free(conf);
	sysfs = tree_path(root, "sys/kernel/hslab");
	debugfs = tree_path(root, "sys/kernel/debug/hslab");
	proc = tree_path(root, "proc");
	conf = tree_path(root, "etc/hslab");
	tree_conf = conf;
	tree_proc = proc;
	tree_sysfs = sysfs;
	tree_debugfs = debugfs;
}

/* 0 to go on, else the exit status + 1 */
static int parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "root", required_argument, NULL, 'r' },
		{ "sysfs", required_argument, NULL, 's' },
		{ "debugfs", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "+hV", longs, NULL)) >= 0) {
		switch (c) {
		case 'r':
			set_root(optarg);
			break;
		case 's':
			tree_sysfs = optarg;
			break;
		case 'd':
			tree_debugfs = optarg;
			break;
		case 'h':
			print_help();
			return 1 + EXIT_OK;
		case 'V':
			puts("hslabctl " VERSION);
			return 1 + EXIT_OK;
		default:
			return 1 + EXIT_USAGE;
		}
	}
	return 0;
}

static int run_command(int argc, char **argv)
{
	const struct command *command;
	int i, status = parse_options(argc, argv);

	if (status)
		return status - 1;
	argc -= optind;
	argv += optind;
	if (!argc) {
		complain("no command, see hslabctl --help");
		return EXIT_USAGE;
	}
	command = find_command(argv[0]);
	if (!command)
		return EXIT_USAGE;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help")) {
			print_command_help(command);
			return EXIT_OK;
		}
	}
	optind = 0;
	return command->run(argc, argv);
}

int main(int argc, char **argv)
{
	int status = run_command(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write the output");
		return EXIT_REFUSED;
	}
	return status;
}
