// SPDX-License-Identifier: GPL-2.0
/* The screen of top: ncurses, and what the keys do. */
#define _GNU_SOURCE
#include <curses.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#include "top.h"

#define LINES_ABOVE	2	/* the summary and the headings */

static atomic_bool ended;	/* lock-free, so signals may set it */

static void end_it(int signal)
{
	(void)signal;
	ended = true;
}

/* As many caches as there are lines, from @first on. */
static void draw(const struct top *top, size_t first)
{
	int width = COLS < 500 ? COLS : 500, y;
	char line[512];
	size_t i;

	erase();
	top_summary(top, line, sizeof(line));
	mvaddnstr(0, 0, line, width);
	top_headings(line, sizeof(line), width);
	attron(A_REVERSE);
	mvaddnstr(1, 0, line, width);
	attroff(A_REVERSE);
	for (i = first, y = LINES_ABOVE; i < top->nr && y < LINES - 1; i++, y++) {
		bool faults = top->rows[i].values[TOP_FAULTS] > 0;

		top_line(&top->rows[i], line, sizeof(line), width);
		if (faults)
			attron(A_BOLD);
		mvaddnstr(y, 0, line, width);
		attroff(A_BOLD);
	}
	/* not the last corner, which would scroll */
	mvaddnstr(LINES - 1, 0,
		  "sort: c a f l p m h, v faults  arrows: scroll  space: read now  q: end",
		  width - 1);
	refresh();
}

/* The first cache shown after a key that scrolls. */
static size_t scroll_to(const struct top *top, size_t first, int key)
{
	size_t page = LINES > LINES_ABOVE + 1 ? LINES - LINES_ABOVE - 1 : 1;
	size_t last = top->nr > page ? top->nr - page : 0;

	switch (key) {
	case KEY_UP:
		first -= first > 0;
		break;
	case KEY_DOWN:
		first++;
		break;
	case KEY_PPAGE:
		first -= first < page ? first : page;
		break;
	case KEY_NPAGE:
		first += page;
		break;
	case KEY_HOME:
		first = 0;
		break;
	case KEY_END:
		first = last;
		break;
	}
	return first < last ? first : last;
}

static void sort_by_key(struct top *top, int key)
{
	int i;

	for (i = 0; i < NR_TOP; i++)
		if (key == top_columns[i].key)
			top_sort(top, i);
}

/* Until q, a signal, or as often as was asked for. */
static int follow(struct top *top)
{
	size_t first = 0;
	long times = 1;

	if (!top_read(top))
		return EXIT_REFUSED;
	while (!ended) {
		int key;

		first = scroll_to(top, first, ERR);
		draw(top, first);
		timeout(top_wait_ms(top));
		key = getch();
		if (key == 'q')
			break;
		first = scroll_to(top, first, key);
		sort_by_key(top, key);
		if (key != ' ' && top_wait_ms(top))
			continue;
		if (top->times && times++ == top->times)
			break;
		if (!top_read(top))
			return EXIT_REFUSED;
	}
	return EXIT_OK;
}

/**
 * screen_run() - show the caches on the terminal, until the user ends it
 * @top: what is to be shown
 *
 * Return: the exit status.
 */
int screen_run(struct top *top)
{
	struct sigaction act = { .sa_handler = end_it };
	SCREEN *screen;
	int status;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		complain("top: no terminal; did you mean top -b?");
		return EXIT_USAGE;
	}
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		complain("top: unknown terminal '%s'; did you mean top -b?",
			 getenv("TERM") ? getenv("TERM") : "");
		return EXIT_USAGE;
	}
	if (!tigetstr("cup")) {
		endwin();
		delscreen(screen);
		complain("top: terminal '%s' cannot place text; did you mean top -b?",
			 getenv("TERM"));
		return EXIT_USAGE;
	}
	sigaction(SIGHUP, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	status = follow(top);
	endwin();
	delscreen(screen);
	return status;
}
