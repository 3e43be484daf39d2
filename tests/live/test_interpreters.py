#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Ruby, Python and PHP lines: the scripts' own account of what each of their lines keeps, against the report."""
import collections
import json
import os
import tempfile

import interpreters
import lab

RUBY = """\
require 'fiddle'
require 'json'
KEPT = []
ACCOUNT = Hash.new { |hash, key| hash[key] = [0, 0] }

def account(size, where = caller_locations(1, 1)[0])
  entry = ACCOUNT["#{where.path}:#{where.lineno}"]
  entry[0] += size
  entry[1] += 1
end

class Model
  module_eval("def generated(size)\\n\\n  account(size); KEPT << Fiddle.malloc(size)\\nend", 'generated/model.rb', 40)
  define_method(:defined) { |size| account(size); KEPT << Fiddle.malloc(size) }

  def method_missing(name, size)
    account(size); KEPT << Fiddle.malloc(size)
  end

  def respond_to_missing?(*)
    true
  end

  def rescued(size)
    raise 'on purpose'
  rescue RuntimeError
    account(size); KEPT << Fiddle.malloc(size)
  end
end

def leak(size)
  account(size); KEPT << Fiddle.malloc(size)
end

def fiber(size)
  Fiber.new { account(size); KEPT << Fiddle.malloc(size) }.resume
end

def evaluated(size)
  eval("account(size); KEPT << Fiddle.malloc(size)", binding, 'template.erb', 77)
end

model = Model.new
ways = [method(:leak), method(:fiber), method(:evaluated), model.method(:generated), model.method(:defined),
        model.method(:rescued), ->(size) { model.anything(size) }, ->(size) { account(size); KEPT << Fiddle.malloc(size) }]
$stdin.gets
threads = ways.each_with_index.map do |way, index|
  Thread.new { 300.times { |i| way.call(10_007 + index) } }
end
threads.each(&:join)
GC.start
puts ACCOUNT.to_json
$stdout.flush
$stdin.gets
"""

PYTHON = """\
import collections, ctypes, functools, json, sys, threading
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
account = collections.defaultdict(lambda: [0, 0])
lock = threading.Lock()


def count(size):
    frame = sys._getframe(1)
    with lock:
        entry = account["%s:%d" % (frame.f_code.co_filename, frame.f_lineno)]
        entry[0] += size
        entry[1] += 1


def leak(size):
    count(size); libc.malloc(size)


def generator(size):
    yield count(size); libc.malloc(size)


def generated(size):
    list(generator(size))


class Model:
    def __getattr__(self, name):
        count(20_011); libc.malloc(20_011)


def attribute(size):
    Model().missing


def evaluated(size):
    names = {"count": count, "libc": libc, "size": size}
    eval(compile("\\n\\n(count(size), libc.malloc(size))", "template.html", "eval"), names)


@functools.lru_cache(maxsize=0)
def cached(size):
    return [(count(size), libc.malloc(size)) for _ in (1,)]


ways = [leak, generated, attribute, evaluated, cached, lambda size: (count(size), libc.malloc(size))]
sys.stdin.readline()
threads = [threading.Thread(target=lambda way=way, i=i: [way(20_009 + i) for _ in range(300)])
           for i, way in enumerate(ways)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(account), flush=True)
sys.stdin.readline()
"""


PHP = """\
<?php
$libc = FFI::cdef('void *malloc(size_t size);', 'libc.so.6');
$account = [];

function account(int $size): int
{
    global $account;
    $where = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS)[0];
    $entry = &$account[$where['file'] . ':' . $where['line']];
    $entry = [($entry[0] ?? 0) + $size, ($entry[1] ?? 0) + 1];
    return $size;
}

function leak($libc, $size)
{
    $libc->malloc(account($size));
}

function generator($libc, $size)
{
    yield $libc->malloc(account($size));
}

class Model
{
    public function __get($name)
    {
        global $libc;
        $libc->malloc(account(40_011));
    }
}

$ways = [
    'leak',
    fn ($libc, $size) => $libc->malloc(account($size)),
    fn ($libc, $size) => iterator_to_array(generator($libc, $size)),
    fn ($libc, $size) => (new Model())->missing,
    fn ($libc, $size) => eval('\n$libc->malloc(account($size));'),
    fn ($libc, $size) => array_map(function ($size) use ($libc) {
        $libc->malloc(account($size));
    }, [$size, $size]),
];
fgets(STDIN);
foreach ($ways as $i => $way) {
    for ($turn = 0; $turn < 300; $turn++) {
        $way($libc, 40_009 + $i);
    }
}
echo json_encode($account), "\n";
fgets(STDIN);
"""

# PHP's own memory, each block by malloc: strings and the elements of arrays, on lines of their own. PHP adds the length of
# a string to the size of its head, NUL and alignment included (32), or rounds the whole up (str_pad: and one for "x").
PHP_MALLOC = """\
<?php
function text($i)
{
    return str_repeat('x', 200_000 - 32 - $i % 2 * 8);
}

class Cache
{
    public array $kept = [];

    public function put($i)
    {
        $this->kept[] = text($i);
        $this->kept[] = str_pad('x', 300_000 - 24, "y$i");
    }

    public function elements()
    {
        return new SplFixedArray(20_000);
    }
}

fgets(STDIN);
$cache = new Cache();
for ($i = 0; $i < 50; $i++) {
    $cache->put($i);
}
$fixed = [];
for ($i = 0; $i < 7; $i++) {
    $fixed[] = $cache->elements();
}
echo "{}\n";
fgets(STDIN);
"""


# Templates that are compiled anew each time, so that one comes to stand where another one stood.
RUBY_TEMPLATES = """\
require 'fiddle'
require 'json'
KEPT = []
ACCOUNT = Hash.new { |hash, key| hash[key] = [0, 0] }
$stdin.gets
3000.times do |i|
  kind, size = i % 7, 10_000 + i % 7
  eval("KEPT << Fiddle.malloc(size)", binding, "template#{kind}.erb", kind + 1)
  entry = ACCOUNT["template#{kind}.erb:#{kind + 1}"]
  entry[0] += size
  entry[1] += 1
  GC.start if i % 100 == 99
end
puts ACCOUNT.to_json
$stdout.flush
$stdin.gets
"""

PYTHON_TEMPLATES = """\
import collections, ctypes, json, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
account = collections.defaultdict(lambda: [0, 0])
sys.stdin.readline()
for i in range(3000):
    kind, size = i % 7, 20000 + i % 7
    exec(compile("\\n" * kind + "libc.malloc(size)", "template%d.html" % kind, "exec"))
    entry = account["template%d.html:%d" % (kind, kind + 1)]
    entry[0] += size
    entry[1] += 1
print(json.dumps(account), flush=True)
sys.stdin.readline()
"""


# Files that are compiled anew each time, as templates are: one's functions come to stand where another one's stood.
PHP_TEMPLATES = """\
<?php
$libc = FFI::cdef('void *malloc(size_t size);', 'libc.so.6');
$folder = $argv[1];
$account = [];
for ($kind = 0; $kind < 7; $kind++) {
    file_put_contents("$folder/template$kind.php", '<?php ' . str_repeat("\n", $kind) .
        '(function () use ($libc, $size) { $libc->malloc($size); })();');
}
fgets(STDIN);
for ($i = 0; $i < 3000; $i++) {
    $kind = $i % 7;
    $size = 40_000 + $kind;
    include "$folder/template$kind.php";
    $entry = &$account["$folder/template$kind.php:" . ($kind + 1)];
    $entry = [($entry[0] ?? 0) + $size, ($entry[1] ?? 0) + 1];
}
echo json_encode($account), "\n";
fgets(STDIN);
"""


SECONDS = os.environ.get("STORM_SECONDS", "3")

# Each line allocates blocks of a size of its own, so that the size identifies the line.
RUBY_STORM = """\
require 'fiddle'
SECONDS = ARGV[0].to_f
60.times do |i|
  body = i % 3 == 0 ? "yield(n); Fiddle.free(Fiddle.malloc(%d))" : "Fiddle.free(Fiddle.malloc(%d))"
  body = "[1].each { |x| %s }" % body if i % 5 == 0
  Object.class_eval("def line%d(n = 0)\\n  %s\\nend" % [i, body % (10_000 + i)], "storm.rb", 100 * i + 99)
end

def deep(n, &block)
  n.zero? ? block.call : deep(n - 1, &block)
end

def step(random)
  i = random.rand(60)
  case random.rand(6)
  when 0 then deep(random.rand(20)) { send("line#{i}") { } }
  when 1 then Fiber.new { send("line#{i}") { line1 } }.resume
  when 2 then eval("line#{i} { line2 }", binding, "template#{i}.erb", i + 1)
  when 3 then 3.times.map { |x| x.to_s * 50 }.each { send("line#{i}") { line4 } }
  when 4
    begin
      raise ArgumentError, "x" * 100
    rescue ArgumentError
      send("line#{i}") { deep(3) { line7 } }
    end
  else
    enumerator = Enumerator.new { |y| send("line#{i}") { }; y << 1 }
    enumerator.next
  end
end

$stdin.gets
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + SECONDS
threads = 6.times.map do |t|
  Thread.new do
    random = Random.new(t)
    turns = 0
    while turns < 3 || Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
      turns += 1
      200.times { step(random) }
      GC.compact if t == 0 && GC.respond_to?(:compact) && random.rand(20) == 0
    end
  end
end
threads.each(&:join)
puts "{}"
$stdout.flush
$stdin.gets
"""

PYTHON_STORM = """\
import ctypes, random, sys, threading, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
for i in range(60):
    body = "libc.free(libc.malloc(%d))" % (10000 + i)
    if i % 3 == 0:
        body = "[(f() if f else 0, %s) for _ in (1,)]" % body
    exec(compile("def line%d(f=None):\\n    %s\\n" % (i, body), "storm.py", "exec"))
    names = globals()
lines = [names["line%d" % i] for i in range(60)]


def deep(n, f):
    return deep(n - 1, f) if n else f()


def generator(f):
    yield f()


def step(chance):
    f = lines[chance.randrange(60)]
    way = chance.randrange(5)
    if way == 0:
        deep(chance.randrange(20), f)
    elif way == 1:
        list(generator(f))
    elif way == 2:
        f(lines[chance.randrange(60)])
    elif way == 3:
        try:
            raise ValueError
        except ValueError:
            sorted([1, 2, 3], key=lambda x: f() or x)
    else:
        list(map(lambda x: f(), [1, 2]))


def work(seed, stop):
    chance, turns = random.Random(seed), 0
    while turns < 3 or time.monotonic() < stop:
        turns += 1
        for _ in range(200):
            step(chance)


sys.stdin.readline()
threads = [threading.Thread(target=work, args=(i, time.monotonic() + float(sys.argv[1]))) for i in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("{}", flush=True)
sys.stdin.readline()
"""

# The functions of the storm are on lines of their own, the first on this one.
PHP_STORM_LINE = 4
PHP_STORM = """\
<?php
$libc = FFI::cdef('void *malloc(size_t size); void free(void *block);', 'libc.so.6');

%s

function deep($n, $last)
{
    return $n ? deep($n - 1, $last) : $last();
}

function generator($name)
{
    yield $name();
}

function step()
{
    $name = 'line' . mt_rand(0, 59);
    switch (mt_rand(0, 6)) {
        case 0:
            return deep(mt_rand(0, 30), $name);
        case 1:
            return iterator_to_array(generator($name));
        case 2:
            return $name(fn () => line1());
        case 3:
            try {
                throw new RuntimeException(str_repeat('x', 100));
            } catch (RuntimeException $error) {
                return $name(fn () => deep(3, 'line7'));
            }
        case 4:
            $fiber = new Fiber(function () use ($name) {
                Fiber::suspend();
                $name(fn () => line2());
            });
            $fiber->start();
            return $fiber->resume();
        case 5:
            return eval("return \\$name(fn () => line4());");
        default:
            return array_map($name, [null, 'line9']);
    }
}

fgets(STDIN);
$stop = microtime(true) + (float) $argv[1];
for ($turns = 0; $turns < 18 || microtime(true) < $stop; $turns++) {
    for ($turn = 0; $turn < 200; $turn++) {
        step();
    }
    mt_rand(0, 20) || gc_collect_cycles();
}
echo "{}\n";
fgets(STDIN);
""" % "\n".join("function line%d($f = null) { global $libc; %s$libc->free($libc->malloc(%d)); }" % (
    i, "$f && $f(); " if i % 3 == 0 else "", 10000 + i) for i in range(60))


def traced(command, *options, **arguments):
    """Attach to a script that runs already; its account and the report."""
    process = lab.start(command, cwd="/", **arguments)
    lab.wait_for(lambda: lab.is_reading(process), "the script has begun")
    tracer = lab.Tracer("-j", "-n", "0", *options, "-p", process.pid, "3600")
    account = lab.work(process)
    report = json.loads(tracer.stop().splitlines()[-1])
    assert "cannot be shown" not in tracer.stderr(), tracer.stderr()
    lab.check_sums(report)
    return account, report


def lines_of(report, kind, least):
    """Per line of the innermost frame of a kind, bytes and blocks in use, of sites with blocks of at least that size."""
    lines = collections.defaultdict(lambda: [0, 0])
    for site in report["sites"]:
        frames = [frame for frame in site["frames"] if frame["kind"] == kind]
        if not site["inuse_objects"] or site["inuse_bytes"] < least * site["inuse_objects"]:
            continue
        place = "%s:%s" % (frames[0]["file"], frames[0]["line"]) if frames else "?"
        lines[place][0] += site["inuse_bytes"]
        lines[place][1] += site["inuse_objects"]
    return lines


def script(text, suffix):
    file = tempfile.NamedTemporaryFile("w", suffix=suffix, prefix="tracer-script-")
    file.write(text)
    file.flush()
    return file


def check(command, kind, limits):
    for extra in ([], ["--by", kind + "-line"]):
        account, report = traced(command, *limits, *extra)
        found = dict(lines_of(report, kind, 10000))
        assert found == account, (found, account)


def test_ruby():
    with script(RUBY, ".rb") as file:
        check([lab.need("ruby"), file.name], "ruby", ["-z", "10000", "-Z", "10020"])


def test_python():
    with script(PYTHON, ".py") as file:
        check([lab.need("/usr/bin/python3"), file.name], "python", ["-z", "20000", "-Z", "20030"])


def innermost_place(frames):
    """Of PHP's frames: functions of C have no place."""
    return next(("%s:%s" % (frame["file"], frame["line"]) for frame in frames if frame["file"]), "?")


def test_php():
    php = interpreters.need_php()
    with script(PHP, ".php") as file:
        account, report = traced([*php, file.name], "-z", "40000", "-Z", "40030")
        found = collections.defaultdict(lambda: [0, 0])
        for site in report["sites"]:
            frames = [frame for frame in site["frames"] if frame["kind"] == "php"]
            assert frames[0]["function"] == "malloc" and frames[0]["file"] is None, frames
            assert frames[-1]["function"] == "{main}", frames
            place = found[innermost_place(frames)]
            place[0] += site["inuse_bytes"]
            place[1] += site["inuse_objects"]
        assert len(account) == 6 and dict(found) == account, (dict(found), account)


def test_php_deep():
    """Stacks that are deeper than is recorded: the innermost frames, and why there are no more."""
    php = interpreters.need_php()
    text = ("<?php\n$libc = FFI::cdef('void *malloc(size_t size);', 'libc.so.6');\nfunction deep($libc, $n)\n{\n"
            "    return $n\n        ? deep($libc, $n - 1)\n        : $libc->malloc(50_001);\n}\nfgets(STDIN);\n"
            "for ($i = 0; $i < 10; $i++) {\n    deep($libc, 300);\n}\necho \"{}\\n\";\nfgets(STDIN);\n")
    with script(text, ".php") as file:
        for depth, options in (127, []), (20, ["--stack-depth", "20"]):
            _, report = traced([*php, file.name], "-z", "50001", "-Z", "50001", *options)
            site, = report["sites"]
            frames = [(frame["function"], frame["line"]) for frame in site["frames"] if frame["kind"] == "php"]
            assert frames == [("malloc", None), ("deep", 7)] + [("deep", 6)] * (depth - 2), (len(frames), site)
            assert site["inuse_objects"] == 10, site
            assert site["frames"][-1]["kind"] == "error" and "deeper" in site["frames"][-1]["function"], site["frames"][-1]


def test_php_malloc():
    """Strings and arrays of PHP's own, where each is allocated by malloc: by line, and by the function of C that asked."""
    php = interpreters.need_php()
    with script(PHP_MALLOC, ".php") as file:
        environment = dict(os.environ, USE_ZEND_ALLOC="0")
        _, report = traced([*php, file.name], "-z", "190000", "-Z", "330000", env=environment)
        found = {}
        for site in report["sites"]:
            frames = [frame for frame in site["frames"] if frame["kind"] == "php"]
            stack = tuple("%s:%s" % (frame["function"], frame["line"]) for frame in frames)
            found[stack] = [site["inuse_bytes"], site["inuse_objects"]]
        assert found == {
            ("str_repeat:None", "text:4", "Cache::put:13", "{main}:26"): [25 * 200000 + 25 * 199992, 50],
            ("str_pad:None", "Cache::put:14", "{main}:26"): [50 * 300001, 50],
            ("SplFixedArray::__construct:None", "Cache::elements:19", "{main}:30"): [7 * 20000 * 16, 7],
        }, found


def test_php_by_line():
    """Rows by line: functions of C count for the line that has called them."""
    php = interpreters.need_php()
    with script(PHP, ".php") as file:
        account, report = traced([*php, file.name], "-z", "40000", "-Z", "40030", "--by", "php-line")
        found = {innermost_place(site["frames"]): [site["inuse_bytes"], site["inuse_objects"]] for site in report["sites"]}
        assert found == account, (found, account)


def test_ruby_templates():
    with script(RUBY_TEMPLATES, ".rb") as file:
        check([lab.need("ruby"), file.name], "ruby", ["-z", "10000", "-Z", "10006"])


def test_python_templates():
    with script(PYTHON_TEMPLATES, ".py") as file:
        check([lab.need("/usr/bin/python3"), file.name], "python", ["-z", "20000", "-Z", "20006"])


def test_php_templates():
    php = interpreters.need_php()
    with tempfile.TemporaryDirectory(prefix="tracer-templates-") as folder, script(PHP_TEMPLATES, ".php") as file:
        for extra in [], ["--by", "php-line"]:
            account, report = traced([*php, file.name, folder], "-z", "40000", "-Z", "40006", *extra)
            found = collections.defaultdict(lambda: [0, 0])
            for site in report["sites"]:
                place = found[innermost_place([frame for frame in site["frames"] if frame["kind"] == "php"])]
                place[0] += site["inuse_bytes"]
                place[1] += site["inuse_objects"]
            assert len(account) == 7 and dict(found) == account, (dict(found), account)


def check_storm(command, kind, line_of):
    _, report = traced(command, "-z", "10000", "-Z", "10059")
    calls = 0
    for site in report["sites"]:
        size = site["alloc_bytes"] / site["alloc_objects"]
        frames = [frame for frame in site["frames"] if frame["kind"] == kind]
        assert frames and all(frame["function"] for frame in frames), site
        # Functions of C, which only PHP lists, have no place.
        frames = [frame for frame in frames if frame["file"] or kind != "php"]
        place = frames[0]["file"], frames[0]["line"]
        assert place == line_of(int(size)) and size == int(size), (size, site)
        assert all(frame["file"] and frame["line"] for frame in frames), frames
        assert frames[-1]["file"].startswith("/tmp/tracer-script-") or kind == "python", frames
        calls += site["alloc_objects"]
    assert len(report["sites"]) > 50 and calls > 500, (len(report["sites"]), calls)
    print("# %d calls at %d sites, each at its line" % (calls, len(report["sites"])))


def test_ruby_storm():
    with script(RUBY_STORM, ".rb") as file:
        check_storm([lab.need("ruby"), file.name, SECONDS], "ruby",
                    lambda size: ("storm.rb", 100 * (size - 10000) + 100))


def test_python_storm():
    with script(PYTHON_STORM, ".py") as file:
        check_storm([lab.need("/usr/bin/python3"), file.name, SECONDS], "python", lambda size: ("storm.py", 2))


def test_php_storm():
    """Fibers, generators, exceptions, and code that is compiled again and again, in one thread as PHP has it."""
    php = interpreters.need_php()
    with script(PHP_STORM, ".php") as file:
        check_storm([*php, file.name, SECONDS], "php", lambda size: (file.name, PHP_STORM_LINE + size - 10000))


def check_started(command, kind, expected):
    """A script that the tracer starts, and that allocates a block for each line that it reads: its interpreter is found while it
    runs, and from then on its frames are these."""
    tracer = lab.Tracer("-j", "-n", "0", "-z", "30011", "-Z", "30011", "--", *command)
    lines, interpreted = [], []

    def is_found():
        lab.release(tracer.process)
        lines.append("go")
        interpreted[:] = [frames for site in tracer.report_now()["sites"] if (frames := frames_of(site, kind))]
        return interpreted
    lab.wait_for(is_found, "the interpreter is found")
    tracer.process.stdin.close()
    tracer.process.stdin = None
    report = json.loads(tracer.finish().splitlines()[-1])
    assert tracer.process.returncode == 0, tracer.stderr()
    assert [frames for site in report["sites"] if (frames := frames_of(site, kind))] == [expected], report["sites"]
    assert sum(site["inuse_objects"] for site in report["sites"]) == len(lines), (len(lines), report["sites"])


def frames_of(site, kind):
    return [(frame["function"], frame["file"], frame["line"]) for frame in site["frames"] if frame["kind"] == kind]


def test_php_started():
    php = interpreters.need_php()
    with script("<?php\n$libc = FFI::cdef('void *malloc(size_t size);', 'libc.so.6');\nwhile (fgets(STDIN)) {\n"
                "    $libc->malloc(30011);\n}\n", ".php") as file:
        check_started([*php, file.name], "php", [("malloc", None, None), ("{main}", file.name, 4)])


def test_started():
    with script("import ctypes, sys\ndef leak():\n    ctypes.CDLL(None).malloc(30011)\nfor line in sys.stdin:\n    leak()\n",
                ".py") as file:
        check_started([lab.need("/usr/bin/python3"), file.name], "python", [("leak", file.name, 3), ("<module>", file.name, 5)])


def test_folded_runtime():
    """The interpreter's own frames are left out, and shown by -v; extension code comes before the Ruby frames."""
    lab.need("ruby")
    with script(RUBY, ".rb") as file:
        _, brief = traced(["ruby", file.name], "-z", "10007", "-Z", "10007")
        _, whole = traced(["ruby", file.name], "-z", "10007", "-Z", "10007", "-v")
    site = max(brief["sites"], key=lambda site: site["inuse_bytes"])
    kinds = [frame["kind"] for frame in site["frames"]]
    assert "ruby" in kinds and "native" not in kinds[kinds.index("ruby"):], site["frames"]
    assert not [frame for frame in site["frames"] if "libruby" in (frame["module"] or "")], site["frames"]
    site = max(whole["sites"], key=lambda site: site["inuse_bytes"])
    assert [frame for frame in site["frames"] if "libruby" in (frame["module"] or "")], site["frames"]


def test_php_folded_runtime():
    """The interpreter's own frames are left out, and shown by -v; an extension's come before the PHP frames."""
    php = interpreters.need_php()
    with script(PHP, ".php") as file:
        _, brief = traced([*php, file.name], "-z", "40009", "-Z", "40009")
        _, whole = traced([*php, file.name], "-z", "40009", "-Z", "40009", "-v")
    site = max(brief["sites"], key=lambda site: site["inuse_bytes"])
    kinds = [frame["kind"] for frame in site["frames"]]
    modules = [os.path.basename(frame["module"] or "") for frame in site["frames"]]
    assert "php" in kinds and "native" not in kinds[kinds.index("php"):], site["frames"]
    assert "ffi.so" in modules[:kinds.index("php")], site["frames"]
    assert "execute_ex" not in {frame["function"] for frame in site["frames"]}, site["frames"]
    site = max(whole["sites"], key=lambda site: site["inuse_bytes"])
    assert "execute_ex" in {frame["function"] for frame in site["frames"]}, site["frames"]


ROUTES = """\
require 'fiddle'
KEPT = []
class Shop
  ROUTES = []
  def self.get(&block) = ROUTES << block
  get { KEPT << Fiddle.malloc(10007) }
  get { KEPT << Fiddle.malloc(10007) }
end
$stdin.gets
100.times { |i| Shop::ROUTES[i % 4 / 3].call }
puts 'done'
$stdout.flush
$stdin.gets
"""


def test_folded_lines():
    """Blocks of one name are frames of their own in a flame graph, by file and line."""
    lab.need("ruby")
    with script(ROUTES, ".rb") as file:
        process = lab.start(["ruby", file.name])
        lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
        tracer = lab.Tracer("-f", "-z", "10007", "-Z", "10007", "-p", process.pid, "1h")
        lab.release(process)
        process.stdout.readline()
        lines = tracer.stop().splitlines()
    held = {}
    for line in lines:
        for number in (6, 7):
            if "block in <class:Shop> (%s:%d)" % (file.name, number) in line:
                held[number] = held.get(number, 0) + int(line.rpartition(" ")[2])
    assert held == {6: 75 * 10007, 7: 25 * 10007}, lines
    assert not [line for line in lines if "<class:Shop>;" in line], lines


def test_unknown_version():
    """A program that calls itself Ruby, of a version that does not exist: one clear line, and native frames."""
    lab.need("gcc")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "ruby.c")
        with open(source, "w") as file:
            file.write('#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n'
                       'const char ruby_version[] = "9.9.9";\nvoid *kept[9];\n'
                       'int main(void)\n{\n\tgetchar();\n\tfor (int i = 0; i < 9; i++)\n\t\tkept[i] = malloc(40961);\n'
                       '\tputs("{}");\n\tfflush(stdout);\n\tgetchar();\n\tgetchar();\n\tgetchar();\n}\n')
        program = os.path.join(folder, "ruby")
        lab.start(["gcc", "-rdynamic", "-g", "-o", program, source]).wait(timeout=lab.PATIENCE)
        process = lab.start([program])
        lab.wait_for(lambda: lab.is_reading(process), "it waits for a line")
        tracer = lab.Tracer("-j", "-n", "0", "-p", process.pid, "3600")
        lab.release(process)
        process.stdout.readline()
        report = json.loads(tracer.stop().splitlines()[-1])
        lines = [line for line in tracer.stderr().splitlines() if "9.9.9" in line]
        assert len(lines) == 1 and "cannot be shown" in lines[0], tracer.stderr()
        assert [site for site in report["sites"] if site["inuse_bytes"] == 9 * 40961], report["sites"]
        assert {frame["kind"] for site in report["sites"] for frame in site["frames"]} <= {"native", "error"}


lab.run_tests()
