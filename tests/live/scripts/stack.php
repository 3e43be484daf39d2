<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// What debug_backtrace() has of a call of malloc(), as frames: [FILE, LINE, FUNCTION], the innermost first.

namespace App\Stack;

function name_of(array $entry): string
{
    $name = preg_match('/^(include|require)(_once)?$/', $entry['function']) ? 'include' : $entry['function'];
    return (isset($entry['class']) ? strstr($entry['class'] . "\0", "\0", true) . '::' : '') . $name;
}

function frames_of(array $entries): array
{
    $frames = [[null, null, 'malloc']];
    foreach ($entries as $i => $entry) {
        $caller = isset($entries[$i + 1]) ? name_of($entries[$i + 1]) : '{main}';
        $frames[] = [$entry['file'] ?? null, $entry['line'] ?? null, $caller];
    }
    return $frames;
}
