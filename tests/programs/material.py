# SPDX-License-Identifier: GPL-2.0-or-later
"""What the programs work on: made once, the same on every machine, with the same times."""
import atexit
import json
import os
import shutil
import struct
import tempfile

WORDS = ("alder beech birch cedar elm fir hazel larch linden maple oak pine plum poplar rowan spruce walnut willow yew "
         "apple cherry pear quince").split()
LONG_AGO = 1000000000
_made = []


class Numbers:
    """A generator that no version of Python changes."""

    def __init__(self, seed=1):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
        return (self.state >> 33) % limit


def words(count, seed=1):
    numbers = Numbers(seed)
    return [WORDS[numbers.below(len(WORDS))] + str(numbers.below(1000)) for _ in range(count)]


def text(lines, seed=1):
    each = words(lines * 8, seed)
    return "".join(" ".join(each[i * 8:i * 8 + 8]) + "\n" for i in range(lines))


def records(count):
    numbers = Numbers(2)
    return [{"id": i, "name": word, "value": numbers.below(100000), "tags": words(3, i)}
            for i, word in enumerate(words(count, 3))]


def xml(rows):
    return "<?xml version=\"1.0\"?>\n<list>\n" + "".join(
        "<item id=\"%d\"><name>%s</name><value>%d</value></item>\n" % (row["id"], row["name"], row["value"])
        for row in rows) + "</list>\n"


def csv(rows):
    return "id,name,value\n" + "".join("%d,%s,%d\n" % (row["id"], row["name"], row["value"]) for row in rows)


def picture(width, height):
    numbers = Numbers(4)
    return b"P6\n%d %d\n255\n" % (width, height) + bytes(
        (x * 3 + y * 5 + numbers.below(32)) % 256 for y in range(height) for x in range(width) for _ in range(3))


def sound(samples):
    numbers = Numbers(5)
    data = b"".join(struct.pack("<h", (i * 331) % 20000 - 10000 + numbers.below(500)) for i in range(samples))
    return struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16,
                       b"data", len(data)) + data


C_FUNCTION = """
static int compare_%(name)s(const void *one, const void *other)
{
	const struct %(name)s *a = one, *b = other;

	return a->key < b->key ? -1 : a->key > b->key;
}

/* Sums what is in %(name)s. */
long sum_%(name)s(struct %(name)s *all, int count)
{
	long sum = 0;
	int i;

	qsort(all, count, sizeof(*all), compare_%(name)s);
	for (i = 0; i < count; i++)
		sum += all[i].value[i %% 4] * %(number)d;
	return sum;
}
"""


def c_source():
    names = sorted(set(words(40, 6)))
    return "#include <stdio.h>\n#include <stdlib.h>\n" + "".join(
        "struct %s {\n\tlong key;\n\tint value[4];\n};\n" % name + C_FUNCTION % {"name": name, "number": i}
        for i, name in enumerate(names)) + "int main(void)\n{\n\tstruct %s one = { 1, { 2, 3, 4, 5 } };\n\n" \
        "\treturn printf(\"%%ld\\n\", sum_%s(&one, 1)) < 0;\n}\n" % (names[1], names[1])


def make(folder):
    rows = records(1500)
    files = {"text": text(4000), "other": text(4000).replace("oak", "ash"), "list.json": json.dumps(rows),
             "list.xml": xml(rows), "list.csv": csv(rows), "picture.ppm": picture(120, 90), "tone.wav": sound(40000),
             "source.c": c_source()}
    for i in range(60):
        files["tree/%d/%s" % (i % 6, "-".join(words(2, i)))] = text(20, i)
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    for parent, folders, names in os.walk(folder, topdown=False):
        for name in folders + names:
            os.utime(os.path.join(parent, name), (LONG_AGO, LONG_AGO))


def folder():
    """A folder that all programs copy theirs from."""
    if not _made:
        _made.append(tempfile.mkdtemp(prefix="tracer-material-"))
        atexit.register(shutil.rmtree, _made[0], ignore_errors=True)
        make(_made[0])
    return _made[0]
