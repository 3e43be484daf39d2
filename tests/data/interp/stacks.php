<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// Stands still in many kinds of PHP calls, one in the other, after it has printed them: "stack", then "file:line:function"
// of each, the innermost first. Internal functions have neither file nor line. What a backtrace lists without a call of its
// own is marked "c-": a generator that waits for another one in "yield from".

function name_of(array $entry): string
{
    $name = preg_match('/^(include|require)(_once)?$/', $entry['function']) ? 'include' : $entry['function'];
    $name = $name === 'delegating' ? "c-$name" : $name;
    return (isset($entry['class']) ? strstr($entry['class'] . "\0", "\0", true) . '::' : '') . $name;
}

// An entry has the place of its call, which is in the function of the next one.
function describe(array $entries, int $line): string
{
    $lines = "stack\n:0:fgets\n" . __FILE__ . ":$line:tell\n";
    foreach ($entries as $i => $entry) {
        $caller = isset($entries[$i + 1]) ? name_of($entries[$i + 1]) : '{main}';
        $lines .= ($entry['file'] ?? '') . ':' . ($entry['line'] ?? 0) . ":$caller\n";
    }
    return $lines;
}

// Prints and waits on one line, so that the line is still right afterwards.
function tell()
{
    echo describe(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), __LINE__), "ready\n"; flush(); fgets(STDIN);
}

trait Shared
{
    public function shared($next)
    {
        return $next();
    }
}

class Service
{
    use Shared;

    public $left;

    public function method($next)
    {
        return self::fixed(fn () => $next());
    }

    public static function fixed($next)
    {
        return call_user_func($next);
    }

    public function __call($name, $arguments)
    {
        return $arguments[0]();
    }

    public function __get($name)
    {
        return ($this->left)();
    }

    public function __destruct()
    {
        if ($this->left) {
            ($this->left)();
        }
    }
}

function generator($next)
{
    yield 1;
    yield $next();
}

function delegating($next)
{
    yield 0;
    yield from generator($next);
}

function run_generator($next)
{
    foreach (delegating($next) as $value) {
        $last = $value;
    }
    return $last;
}

function deep($n, $next)
{
    return $n
        ? deep($n - 1, $next)
        : $next();
}

function evaluated($next)
{
    return eval("\n\nreturn \$next();\n");
}

function included($next)
{
    return include __DIR__ . '/stacks-part.php';
}

function handled($next)
{
    try {
        throw new RuntimeException('on purpose');
    } catch (RuntimeException $error) {
        $anonymous = new class {
            public function method($next)
            {
                return $next();
            }
        };
        return $anonymous->method($next);
    } finally {
        $done = true;
    }
}

function ended($next)
{
    $service = new Service();
    $service->left = $next;
    $service = null;
}

function got($next)
{
    $service = new Service();
    $service->left = $next;
    $value = $service->no_such_property;
    $service->left = null;
    return $value;
}

$steps = [
    fn ($next) => (new Service())->method($next),
    fn ($next) => (new Service())->shared($next),
    fn ($next) => @(new Service())->no_such_method($next),
    'run_generator',
    fn ($next) => deep(5, $next),
    'evaluated',
    'included',
    'handled',
    'ended',
    'got',
    fn ($next) => array_map(fn ($x) => $next(), [1]),
    function ($next) {
        $list = [2, 1];
        usort($list, function ($a, $b) use ($next) {
            $next();
            return $a <=> $b;
        });
    },
];
$next = 'tell';
foreach ($steps as $step) {
    $next = fn () => $step($next);
}
$next();
