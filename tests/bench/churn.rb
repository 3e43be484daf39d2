# SPDX-License-Identifier: GPL-2.0-or-later
# A Ruby program that churns hashes and strings. Reads lines "MILLISECONDS"; answers what its rounds cost.
$stdout.sync = true

def turn(number)
  table = {}
  16.times { |i| table["key #{number} #{i}"] = "value " * 8 + i.to_s }
  table.map { |key, value| key + value }.join(",").size
end

while (line = $stdin.gets)
  finish = Process.clock_gettime(Process::CLOCK_MONOTONIC) + line.to_i / 1000.0
  cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  wall = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  rounds = 0
  while Process.clock_gettime(Process::CLOCK_MONOTONIC) < finish
    10.times { turn(rounds += 1) }
  end
  cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - cpu
  wall = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - wall
  puts %({"rounds": #{rounds}, "cpu_ns": #{cpu}, "wall_ns": #{wall}})
end
