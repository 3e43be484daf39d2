<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// A load such as a web application has: workers, which are processes, serve requests through layers of handlers, to actions
// that call records and render templates; some of it in fibers and generators, some compiled anew each time. At some places, a
// block is allocated and freed. Prints what PHP itself says about the stacks of these: {"stacks": [[[FRAME, ...], BYTES,
// BLOCKS], ...]}. Arguments: seconds, workers.

namespace App\Load;

require __DIR__ . '/stack.php';

const FIRST = 700001;
// Requests of each worker, however slow the machine is.
const LEAST = 50;

$stacks = [];
$libc = \FFI::cdef('void *malloc(size_t size); void free(void *block);', 'libc.so.6');

// The size of a block of this kind, which is going to be allocated by the caller.
function block(int $kind): int
{
    global $stacks;
    $frames = \App\Stack\frames_of(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS));
    $entry = &$stacks[json_encode($frames)];
    $entry = [$frames, ($entry[1] ?? 0) + FIRST + $kind, ($entry[2] ?? 0) + 1];
    return FIRST + $kind;
}

class Record implements \IteratorAggregate
{
    public function __get($field)
    {
        global $libc;
        $libc->free($libc->malloc(block(strlen($field))));
        return str_repeat($field, 3);
    }

    public function __call($name, $arguments)
    {
        global $libc;
        $libc->free($libc->malloc(block(20)));
        return array_map(fn ($argument) => $argument * 2, $arguments);
    }

    public function save(callable $check)
    {
        global $libc;
        try {
            $check($this);
            if (mt_rand(0, 2) === 0) {
                throw new \InvalidArgumentException('not valid');
            }
        } catch (\InvalidArgumentException $error) {
            $libc->free($libc->malloc(block(21)));
        } finally {
            $libc->free($libc->malloc(block(22)));
        }
    }

    public function getIterator(): \Iterator
    {
        yield $this->name;
        yield from [$this->price, $this->stock];
    }
}

function deep(int $n, callable $last)
{
    return $n ? deep($n - 1, $last) : $last();
}

// Templates, as files that are compiled each time.
function render(string $folder, int $kind, Record $record)
{
    return include "$folder/page$kind.php";
}

function wrap(callable $inner, int $layer): callable
{
    global $libc;
    return match ($layer % 3) {
        0 => fn ($request) => $inner($request),
        1 => function ($request) use ($inner) {
            return array_map($inner, [$request])[0];
        },
        2 => function ($request) use ($inner, $layer, $libc) {
            try {
                return $inner($request);
            } finally {
                $layer === 5 && $libc->free($libc->malloc(block(40)));
            }
        },
    };
}

// Removed before the last line is read: the test ends this program by SIGKILL.
$folder = sys_get_temp_dir() . '/tracer-load-' . getmypid();
mkdir($folder);
for ($kind = 0; $kind < 6; $kind++) {
    file_put_contents("$folder/page$kind.php", '<?php' . str_repeat("\n", $kind + 1) .
        '$GLOBALS["libc"]->free($GLOBALS["libc"]->malloc(App\Load\block(30 + $kind))); return $record->price;');
}

$actions = [
    fn ($record) => render($folder, mt_rand(0, 5), $record),
    fn ($record) => $record->find_by_name(mt_rand(0, 9)),
    fn ($record) => $record->save(fn ($one) => $one->name),
    fn ($record) => iterator_to_array($record, false),
    function ($record) {
        $each = $record->getIterator();
        $each->current();
        $each->next();
    },
    function ($record) {
        $fiber = new \Fiber(function () use ($record) {
            $record->price;
            \Fiber::suspend();
            $record->stock;
        });
        $fiber->start();
        $fiber->resume();
    },
    fn ($record) => json_encode(['a' => [1, $record->name, ['b' => $record->price]]]),
    function ($record) {
        $list = [3, 1, 2];
        usort($list, fn ($a, $b) => [$record->stock, $a <=> $b][1]);
    },
    fn ($record) => eval('return $record->price . ' . mt_rand(0, 9) . ';'),
    fn ($record) => preg_replace_callback('/a/', fn ($match) => $record->name, 'banana'),
    fn ($record) => call_user_func_array([$record, 'find'], [1, 2]),
    fn ($record) => deep(mt_rand(0, 20), fn () => $record->stock),
    fn ($record) => (new \ReflectionMethod($record, '__get'))->invoke($record, 'field'),
];

function serve(float $seconds, int $seed, array $actions)
{
    mt_srand($seed);
    $stop = microtime(true) + $seconds;
    $record = new Record();
    $handler = fn ($action) => $action($record);
    for ($layer = 0; $layer < 12; $layer++) {
        $handler = wrap($handler, $layer);
    }
    for ($served = 0; $served < LEAST || microtime(true) < $stop; $served++) {
        $handler($actions[mt_rand(0, count($actions) - 1)]);
        mt_rand(0, 500) === 0 && gc_collect_cycles();
    }
}

echo "ready\n";
fgets(STDIN);
// Workers begin when another line has come, since the test waits until they are traced, and end with this process: what they
// have allocated counts until then.
ini_set('default_socket_timeout', -1);
$gate = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
$end = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
for ($number = 0; $number < (int) $argv[2]; $number++) {
    if (!pcntl_fork()) {
        fclose($gate[1]);
        fclose($end[1]);
        fgets($gate[0]);
        serve((float) $argv[1], $number, $actions);
        file_put_contents("$folder/account$number", json_encode(array_values($stacks)));
        fwrite($gate[0], "done\n");
        fgets($end[0]);
        exit;
    }
}
echo "forked\n";
fgets(STDIN);
stream_socket_shutdown($gate[1], STREAM_SHUT_WR);
for ($number = 0; $number < (int) $argv[2]; $number++) {
    fgets($gate[1]);
}
$sums = [];
for ($number = 0; $number < (int) $argv[2]; $number++) {
    foreach (json_decode(file_get_contents("$folder/account$number")) as [$frames, $bytes, $blocks]) {
        $entry = &$sums[json_encode($frames)];
        $entry = [$frames, ($entry[1] ?? 0) + $bytes, ($entry[2] ?? 0) + $blocks];
        unset($entry);
    }
}
array_map('unlink', glob("$folder/*"));
rmdir($folder);
echo json_encode(['stacks' => array_values($sums)]), "\n";
fgets(STDIN);
