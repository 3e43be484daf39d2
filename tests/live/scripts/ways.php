<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Allocate in every way that PHP code can be reached, each time with a size of its own, and write down what PHP itself
// says about the stack: {"SIZE": [["FILE", LINE, "FUNCTION"], ...], ...}, innermost frame first. Functions that are written
// in C have neither file nor line. One of them is malloc().

namespace App\Ways;

require __DIR__ . '/stack.php';

const FIRST = 700001;

$stacks = [];
$libc = \FFI::cdef('void *malloc(size_t size);', 'libc.so.6');

function note(): int
{
    global $stacks;
    $frames = \App\Stack\frames_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $size = FIRST + count($stacks);
    $stacks[$size] = $frames;
    return $size;
}

function leak()
{
    global $libc;
    $libc->malloc(note());
}

trait Shared
{
    public function shared()
    {
        leak();
    }

    public static function sharedFixed()
    {
        leak();
    }
}

abstract class Base
{
    public function inherited()
    {
        static::late();
    }

    abstract public static function late();
}

class Model extends Base implements \ArrayAccess, \Countable, \IteratorAggregate, \JsonSerializable
{
    use Shared;

    public static function late()
    {
        leak();
    }

    public function method()
    {
        global $libc;
        $libc->malloc(note());
    }

    public function __call($name, $arguments)
    {
        leak();
    }

    public static function __callStatic($name, $arguments)
    {
        leak();
    }

    public function __get($name)
    {
        leak();
    }

    public function __set($name, $value)
    {
        leak();
    }

    public function __invoke()
    {
        leak();
    }

    public function __toString()
    {
        leak();
        return 'text';
    }

    public function offsetExists($offset): bool
    {
        leak();
        return true;
    }

    public function offsetGet($offset): mixed
    {
        leak();
        return 1;
    }

    public function offsetSet($offset, $value): void
    {
        leak();
    }

    public function offsetUnset($offset): void
    {
        leak();
    }

    public function count(): int
    {
        leak();
        return 1;
    }

    public function getIterator(): \Iterator
    {
        leak();
        yield 1;
        leak();
    }

    public function jsonSerialize(): mixed
    {
        leak();
        return 1;
    }
}

class Ended
{
    public function __destruct()
    {
        leak();
    }
}

class Made
{
    public function __construct()
    {
        leak();
    }

    public function __clone()
    {
        leak();
    }

    public function __serialize(): array
    {
        leak();
        return [];
    }
}

function deep(int $n, callable $last)
{
    return $n ? deep($n - 1, $last) : $last();
}

function generator()
{
    leak();
    $sent = yield 1;
    leak();
}

function finished()
{
    try {
        throw new \RuntimeException('on purpose');
    } catch (\RuntimeException $error) {
        leak();
    } finally {
        leak();
    }
}

function by_default($value = new Made())
{
    return $value;
}

// Removed before the last line is read: the test ends this program by SIGKILL.
$folder = sys_get_temp_dir() . '/tracer-ways-' . getmypid();
mkdir($folder);
file_put_contents("$folder/part.php", "<?php\nApp\\Ways\\leak();\nif (!function_exists('from_part')) {\n    function from_part()\n    {\n" .
    "        App\\Ways\\leak();\n    }\n}\n");
file_put_contents("$folder/ünïcode.php", "<?php\n\n\nApp\\Ways\\leak();\n");
$model = new Model();
$ways = [
    fn () => leak(),
    fn () => $libc->malloc(note()),
    function () {
        leak();
    },
    static fn () => leak(),
    'App\Ways\leak',
    fn () => $model->method(),
    fn () => Model::late(),
    fn () => $model->inherited(),
    fn () => $model->shared(),
    fn () => Model::sharedFixed(),
    fn () => $model->anything(),
    fn () => Model::anything(),
    fn () => $model->field,
    fn () => $model->field = 1,
    fn () => $model(),
    fn () => "$model",
    fn () => isset($model['x']),
    fn () => $model['x'],
    fn () => $model['x'] = 1,
    function () use ($model) {
        unset($model['x']);
    },
    fn () => count($model),
    function () use ($model) {
        foreach ($model as $value) {
            $last = $value;
        }
    },
    fn () => json_encode([[$model]]),
    function () {
        $ended = new Ended();
        $ended = null;
    },
    function () {
        $ended = new Ended();
    },
    fn () => new Made(),
    fn () => clone new Made(),
    fn () => serialize(new Made()),
    fn () => by_default(),
    fn () => deep(0, leak(...)),
    fn () => deep(60, fn () => leak()),
    fn () => iterator_to_array(generator()),
    function () {
        foreach (generator() as $value) {
            leak();
        }
    },
    fn () => array_map(fn ($x) => leak(), [1, 2]),
    fn () => array_filter([1], function ($x) {
        leak();
    }),
    function () {
        $list = [2, 1, 3];
        usort($list, fn ($a, $b) => [leak(), $a <=> $b][1]);
    },
    fn () => array_walk_recursive($GLOBALS['nested'], fn ($x) => leak()),
    fn () => call_user_func('App\Ways\leak'),
    fn () => call_user_func_array([$model, 'method'], []),
    fn () => preg_replace_callback('/a/', fn ($match) => [leak(), 'b'][1], 'aa'),
    fn () => (new \ReflectionMethod($model, 'method'))->invoke($model),
    fn () => (new \ReflectionFunction('App\Ways\leak'))->invoke(),
    fn () => \Closure::bind(fn () => leak(), $model, Model::class)(),
    fn () => (new class {
        public function run()
        {
            leak();
        }
    })->run(),
    fn () => finished(),
    fn () => include "$folder/part.php",
    fn () => from_part(),
    fn () => require "$folder/ünïcode.php",
    fn () => eval("\n\nApp\\Ways\\leak();"),
    fn () => eval("eval('\n\n\$GLOBALS[\"libc\"]->malloc(App\\Ways\\note());');"),
    fn () => function_exists('made_by_eval') || eval('function made_by_eval() { App\Ways\leak(); }'),
    fn () => made_by_eval(),
    fn () => (new \Fiber(fn () => leak()))->start(),
    function () {
        $fiber = new \Fiber(function () {
            \Fiber::suspend();
            deep(3, fn () => leak());
        });
        $fiber->start();
        $fiber->resume();
    },
    fn () => (new \Fiber(fn () => (new \Fiber('App\Ways\leak'))->start()))->start(),
    function () {
        spl_autoload_register($load = fn ($class) => leak());
        // By name: since 8.4 such a call has no frame otherwise, though debug_backtrace() makes one up.
        $exists = 'class_exists';
        $exists('App\Ways\Missing');
        spl_autoload_unregister($load);
    },
    function () {
        set_error_handler(fn () => [leak(), true][1]);
        echo $undefined;
        restore_error_handler();
    },
    function () {
        ob_start(fn ($text) => [leak(), ''][1]);
        ob_end_flush();
    },
    fn () => match (true) {
        default => leak(),
    },
    fn () => max(
        1,
        leak(),
    ),
    fn () => [
        'key' => [
            'key' => leak(),
        ],
    ],
];
$nested = [[1], [[2]]];

echo "ready\n";
fgets(STDIN);
for ($turn = $argv[1] ?? 1; $turn > 0; $turn--) {
    foreach ($ways as $way) {
        $way();
    }
}
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo json_encode($stacks), "\n";
fgets(STDIN);
