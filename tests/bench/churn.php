<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// A PHP program that churns arrays and strings, as churn.rb does. Reads lines "MILLISECONDS"; answers what its rounds cost.

function turn(int $number): int
{
    $table = [];
    for ($i = 0; $i < 16; $i++) {
        $table["key $number $i"] = str_repeat('value ', 8) . $i;
    }
    return strlen(implode(',', array_map(fn ($key, $value) => $key . $value, array_keys($table), $table)));
}

function cpu_ns(): int
{
    $usage = getrusage();
    return 1000 * (1_000_000 * ($usage['ru_utime.tv_sec'] + $usage['ru_stime.tv_sec'])
        + $usage['ru_utime.tv_usec'] + $usage['ru_stime.tv_usec']);
}

while (($line = fgets(STDIN)) !== false) {
    $wall = hrtime(true);
    $finish = $wall + 1_000_000 * (int) $line;
    $cpu = cpu_ns();
    $rounds = 0;
    while (hrtime(true) < $finish) {
        for ($i = 0; $i < 10; $i++) {
            turn(++$rounds);
        }
    }
    echo json_encode(['rounds' => $rounds, 'cpu_ns' => cpu_ns() - $cpu, 'wall_ns' => hrtime(true) - $wall]), "\n";
}
