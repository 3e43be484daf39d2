/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See terminal.h. */
#include "top/terminal.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/buffer.h"
#include "top/view.h"

#include <term.h>
/* Macros of <term.h>, for what is a name elsewhere. */
#undef columns
#undef lines

/* How long the rest of a key's sequence is waited for. */
#define ESCAPE_MS 25

static SCREEN *terminal_screen;
static bool terminal_ascii, terminal_has_color;
/* For terminal_restore. */
static struct termios terminal_modes;
static struct buffer terminal_end;
static atomic_bool terminal_is_open;

static int terminal_refuse(struct error *error, const char *why)
{
	return error_set(error, ERROR_USAGE, -ENOTTY, "'tracer top' needs a terminal: %s", why);
}

int terminal_check(struct error *error)
{
	const char *name = getenv("TERM");
	int code;

	if (!isatty(STDOUT_FILENO))
		return terminal_refuse(error, "standard output is none; 'tracer' writes reports");
	if (!isatty(STDIN_FILENO))
		return terminal_refuse(error, "standard input, from which keys come, is none");
	if (!name || !*name)
		return terminal_refuse(error, "TERM, the kind of terminal, is not set");
	if (setupterm(name, STDOUT_FILENO, &code) != OK)
		return error_set(error, ERROR_USAGE, -ENOTTY,
				 "'tracer top' needs a terminal that is known: there is no "
				 "description of TERM=%s here; TERM=xterm fits most",
				 name);
	if (!cursor_address || !clear_screen)
		return error_set(
			error, ERROR_USAGE, -ENOTTY,
			"'tracer top' needs a terminal on which a cursor can be moved, and "
			"TERM=%s has none",
			name);
	return 0;
}

/* The end, for any way out */

static void terminal_write(const char *text, size_t length)
{
	ssize_t written;

	while (length) {
		written = write(STDOUT_FILENO, text, length);
		if (written <= 0 && errno != EINTR)
			return;
		if (written > 0) {
			text += written;
			length -= (size_t)written;
		}
	}
}

void terminal_restore(void)
{
	/* A terminal that takes nothing keeps nobody. */
	struct pollfd room = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (!atomic_exchange(&terminal_is_open, false))
		return;
	if (poll(&room, 1, 0) == 1)
		terminal_write(terminal_end.data, terminal_end.length);
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal_modes);
}

static void terminal_on_crash(int number)
{
	terminal_restore();
	/* The action is the default again. */
	raise(number);
}

/* A part of the sequence that ends the use of the screen, without its delays. */
static void terminal_add_end(const char *sequence)
{
	const char *delay;

	while (sequence && sequence != (const char *)-1 && *sequence) {
		delay = strstr(sequence, "$<");
		buffer_append(&terminal_end, sequence,
			      delay ? (size_t)(delay - sequence) : strlen(sequence));
		sequence = delay ? strchr(delay, '>') : NULL;
		sequence += sequence != NULL;
	}
}

static void terminal_prepare_end(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction action = { .sa_handler = terminal_on_crash,
				    .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	size_t i;

	terminal_add_end(exit_attribute_mode);
	terminal_add_end(cursor_normal);
	terminal_add_end(keypad_local);
	terminal_add_end(exit_ca_mode ? exit_ca_mode : "\r\n");
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
	/* Where there is no memory, the program ends by exit(). */
	atexit(terminal_restore);
}

/* Life */

static void terminal_prepare_colors(bool color)
{
	static const short colors[SCREEN_STYLES][2] = {
		[SCREEN_BAD] = { COLOR_RED, -1 },
		[SCREEN_WARNING] = { COLOR_YELLOW, -1 },
		[SCREEN_GOOD] = { COLOR_GREEN, -1 },
		[SCREEN_METER] = { COLOR_GREEN, -1 },
		[SCREEN_TITLE] = { COLOR_BLACK, COLOR_GREEN },
		[SCREEN_SORTED] = { COLOR_BLACK, COLOR_CYAN },
		[SCREEN_CHOSEN] = { COLOR_BLACK, COLOR_CYAN },
		[SCREEN_KEY] = { COLOR_BLACK, COLOR_CYAN },
	};
	short i;

	terminal_has_color = color && has_colors() && start_color() == OK;
	if (!terminal_has_color)
		return;
	use_default_colors();
	for (i = 0; i < SCREEN_STYLES; i++)
		if (colors[i][0] || colors[i][1])
			init_pair((short)(i + 1), colors[i][0], colors[i][1]);
}

/* What ncurses has put in place of the default: signals are the caller's. */
static void terminal_take_back_signals(void)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	signal(SIGWINCH, SIG_DFL);
}

int terminal_open(bool color, struct error *error)
{
	int code = terminal_check(error);

	if (code)
		return code;
	setlocale(LC_CTYPE, "");
	terminal_ascii = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	tcgetattr(STDOUT_FILENO, &terminal_modes);
	terminal_screen = newterm(NULL, stdout, stdin);
	if (!terminal_screen)
		return terminal_refuse(error, "it cannot be taken over");
	atomic_store(&terminal_is_open, true);
	terminal_prepare_end();
	terminal_take_back_signals();
	terminal_prepare_colors(color);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	return 0;
}

void terminal_close(void)
{
	if (!atomic_load(&terminal_is_open))
		return;
	endwin();
	fflush(stdout);
	terminal_restore();
	delscreen(terminal_screen);
	terminal_screen = NULL;
	buffer_free(&terminal_end);
}

bool terminal_is_ascii(void)
{
	return terminal_ascii;
}

void terminal_size(size_t *ret_columns, size_t *ret_rows)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row &&
	    is_term_resized(size.ws_row, size.ws_col))
		resizeterm(size.ws_row, size.ws_col);
	*ret_columns = (size_t)COLS;
	*ret_rows = (size_t)LINES;
}

/* Drawing */

static attr_t terminal_attributes(enum screen_style style)
{
	static const attr_t with_color[SCREEN_STYLES] = {
		[SCREEN_STRONG] = A_BOLD,
		[SCREEN_QUIET] = A_DIM,
		[SCREEN_BAD] = A_BOLD,
	};
	static const attr_t without[SCREEN_STYLES] = {
		[SCREEN_STRONG] = A_BOLD,   [SCREEN_QUIET] = A_DIM,   [SCREEN_BAD] = A_BOLD,
		[SCREEN_TITLE] = A_REVERSE, [SCREEN_SORTED] = A_BOLD, [SCREEN_CHOSEN] = A_REVERSE,
		[SCREEN_KEY] = A_REVERSE,
	};

	return terminal_has_color ? with_color[style] : without[style];
}

static void terminal_set(enum screen_style style)
{
	const bool has_pair = terminal_has_color && style != SCREEN_PLAIN &&
			      style != SCREEN_STRONG && style != SCREEN_QUIET;

	attr_set(terminal_attributes(style), has_pair ? (short)(style + 1) : 0, NULL);
}

/* A terminal of ASCII has a question mark for each other character. */
static void terminal_put(const char *text, size_t length)
{
	size_t i;

	if (!terminal_ascii) {
		addnstr(text, (int)length);
		return;
	}
	for (i = 0; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			addch((unsigned char)(text[i] & 0x80 ? '?' : text[i]));
}

static void terminal_draw_line(const struct screen_line *line, int row)
{
	size_t from, to, i;

	move(row, 0);
	terminal_set(SCREEN_PLAIN);
	from = line->run_count ? line->runs[0].from : line->text.length;
	terminal_put(line->text.data, from < line->text.length ? from : line->text.length);
	for (i = 0; i < line->run_count; i++) {
		from = line->runs[i].from;
		to = i + 1 < line->run_count ? line->runs[i + 1].from : line->text.length;
		to = to < line->text.length ? to : line->text.length;
		if (from >= to)
			continue;
		terminal_set(line->runs[i].style);
		terminal_put(line->text.data + from, to - from);
	}
	terminal_set(SCREEN_PLAIN);
}

void terminal_draw(const struct screen *screen)
{
	size_t i;

	erase();
	for (i = 0; i < screen->count; i++)
		terminal_draw_line(&screen->lines[i], (int)i);
	refresh();
}

/* Keys */

static uint32_t terminal_translate(wint_t key)
{
	static const struct terminal_key {
		wint_t key;
		enum view_key view;
	} keys[] = {
		{ KEY_UP, VIEW_KEY_UP },	 { KEY_DOWN, VIEW_KEY_DOWN },
		{ KEY_PPAGE, VIEW_KEY_PAGE_UP }, { KEY_NPAGE, VIEW_KEY_PAGE_DOWN },
		{ KEY_HOME, VIEW_KEY_HOME },	 { KEY_END, VIEW_KEY_END },
		{ KEY_ENTER, VIEW_KEY_ENTER },	 { KEY_BACKSPACE, VIEW_KEY_BACKSPACE },
		{ KEY_LEFT, VIEW_KEY_ESCAPE },	 { KEY_RIGHT, VIEW_KEY_ENTER },
	};
	size_t i;

	if (key > (wint_t)KEY_F0 && key <= (wint_t)KEY_F(10))
		return VIEW_KEY_F1 + key - (wint_t)KEY_F(1);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].key == key)
			return keys[i].view;
	return VIEW_KEYS;
}

static uint32_t terminal_translate_character(wint_t key)
{
	switch (key) {
	case '\r':
	case '\n':
		return VIEW_KEY_ENTER;
	case '\033':
		return VIEW_KEY_ESCAPE;
	case '\t':
		return VIEW_KEY_TAB;
	case '\b':
	case 0x7f:
		return VIEW_KEY_BACKSPACE;
	default:
		return key < 0x110000 ? (uint32_t)key : VIEW_KEYS;
	}
}

bool terminal_take_key(uint32_t *ret_key)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	wint_t key = 0;
	int code = get_wch(&key);

	if (code == KEY_CODE_YES)
		*ret_key = terminal_translate(key);
	else if (code == OK)
		*ret_key = terminal_translate_character(key);
	else
		*ret_key = VIEW_KEY_NONE;
	if (code != ERR)
		return true;
	/* Nothing, although it is readable: it was hung up. */
	return poll(&input, 1, 0) != 1 || !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

void terminal_suspend(void)
{
	sigset_t set;

	endwin();
	fflush(stdout);
	atomic_store(&terminal_is_open, false);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	/* It stops here. */
	raise(SIGTSTP);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	atomic_store(&terminal_is_open, true);
	clearok(curscr, TRUE);
	refresh();
}
