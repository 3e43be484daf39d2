# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal that a test looks at: a pseudo-terminal, and what stands on its screen, as far as ncurses uses one of TERM=xterm."""
import codecs
import fcntl
import os
import re
import struct
import termios

SEQUENCE = re.compile(r"\033(?:\[([?>=]?)([0-9;]*)([@-~])|[()][0-9A-Za-z]|[=>78MDEc]|\][^\007\033]*(?:\007|\033\\))")


class Screen:
    def __init__(self, columns, rows):
        self.columns, self.rows, self.row, self.column = columns, rows, 0, 0
        self.cells = [[" "] * columns for _ in range(rows)]
        self.last = " "
        self.colors = set()

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def put(self, character):
        if self.column < self.columns and self.row < self.rows:
            self.cells[self.row][self.column] = character
        self.last = character
        self.column += 1

    def scroll(self):
        if self.row == self.rows - 1:
            self.cells = self.cells[1:] + [[" "] * self.columns]
        else:
            self.row += 1

    def control(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character == "\n":
            self.scroll()
        elif character == "\t":
            self.column = min(self.column // 8 * 8 + 8, self.columns - 1)

    def erase(self, first, last):
        for at in range(first, last):
            self.cells[at // self.columns][at % self.columns] = " "

    def sequence(self, mode, numbers, final):
        if mode:
            return
        values = [int(number or 0) for number in numbers.split(";")]
        count = values[0] or 1
        at = self.row * self.columns + min(self.column, self.columns - 1)
        if final == "H":
            self.row, self.column = count - 1, (values[1] if len(values) > 1 and values[1] else 1) - 1
        elif final == "d":
            self.row = count - 1
        elif final == "G":
            self.column = count - 1
        elif final in "ABCD":
            self.row += {"A": -count, "B": count}.get(final, 0)
            self.column += {"C": count, "D": -count}.get(final, 0)
        elif final == "J":
            self.erase(*{0: (at, self.rows * self.columns), 1: (0, at + 1)}.get(values[0], (0, self.rows * self.columns)))
        elif final == "K":
            begin = self.row * self.columns
            self.erase(*{0: (at, begin + self.columns), 1: (begin, at + 1)}.get(values[0], (begin, begin + self.columns)))
        elif final == "X":
            self.erase(at, min(at + count, (self.row + 1) * self.columns))
        elif final == "b":
            for _ in range(count):
                self.put(self.last)
        elif final == "@":
            self.cells[self.row][self.column:self.column] = [" "] * count
            del self.cells[self.row][self.columns:]
        elif final == "P":
            del self.cells[self.row][self.column:self.column + count]
            self.cells[self.row] += [" "] * (self.columns - len(self.cells[self.row]))
        elif final in "LM":
            for _ in range(count):
                if final == "L":
                    self.cells.insert(self.row, [" "] * self.columns)
                    del self.cells[-1]
                else:
                    del self.cells[self.row]
                    self.cells.append([" "] * self.columns)
        elif final == "m":
            self.colors.update(value for value in values if 30 <= value <= 37 or 40 <= value <= 47)
        if final in "HdGABCD":
            # What was written for a larger screen may come after it was made smaller.
            self.row, self.column = (max(0, min(at, size - 1)) for at, size in ((self.row, self.rows), (self.column, self.columns)))

    def write(self, text):
        """Returns what is not a whole sequence yet."""
        at = 0
        while at < len(text):
            if text[at] != "\033":
                self.put(text[at]) if text[at] >= " " else self.control(text[at])
                at += 1
                continue
            match = SEQUENCE.match(text, at)
            if not match:
                assert len(text) - at < 64, "no sequence of a terminal: %r" % text[at:at + 80]
                return text[at:]
            if match.group(3):
                self.sequence(match.group(1), match.group(2), match.group(3))
            at = match.end()
        return ""


class Terminal:
    """Its user's side; `slave` is the program's."""

    def __init__(self, columns=80, rows=24):
        self.master, self.slave = os.openpty()
        self.raw, self.rest = b"", ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")  # a read may end within a character
        self.screen = None
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        os.set_blocking(self.master, False)

    def resize(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = Screen(columns, rows)

    def read(self):
        """All that was written. What a program wrote last may come in two parts, of which a read has the first."""
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            self.raw += data
            self.rest = self.screen.write(self.rest + self.decoder.decode(data))

    def lines(self):
        self.read()
        return self.screen.lines()

    def type(self, text):
        os.write(self.master, text.encode())

    def is_restored(self):
        """Are its modes what they were, the other screen left, and the cursor there?"""
        self.read()
        ends = [self.raw.rfind(end) for end in (b"\033[?1049l", b"\033[?1049h")]
        cursors = [self.raw.rfind(cursor) for cursor in (b"\033[?25h", b"\033[?12l\033[?25h", b"\033[?25l")]
        return termios.tcgetattr(self.slave) == self.before and ends[0] > ends[1] and max(cursors[:2]) > cursors[2]

    def close(self):
        os.close(self.master)
        os.close(self.slave)
