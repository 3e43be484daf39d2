# SPDX-License-Identifier: GPL-2.0-or-later
# What Ruby leaks: leaks.rb leak|none [REQUESTS_PER_SECOND]. Strings that nobody takes out of their array: 10, 2 and 0.5 % of those of a site; beside a cache
# that evicts, and garbage that waits for its collection. Its answers are those of account.h.
require "io/wait"
$stdout.sync = true
RATE = (ARGV[1] || 600).to_i
$leaking = ARGV[0] == "leak"
$leaks = Hash.new { |all, name| all[name] = [0, 0] }
$number = 0
# Room for all that is leaked in an hour, so that it does not grow.
$held = Array.new(1_000_000)
$count = 0
$cache = {}
$random = Random.new(1)

def text(length)
  ($number += 1).to_s.ljust(length, "x")
end

def hold(name, value, share)
  return unless $leaking && $random.rand(share) == 0

  $held[$count] = value
  $count += 1
  counts = $leaks[name]
  counts[0] += 1
  counts[1] += value.bytesize + 1
end

def leak_body
  hold("leak_body", text(700), 10)
end

def leak_header
  hold("leak_header", text(250), 50)
end

def leak_token
  hold("leak_token", text(120), 200)
end

def cache_page
  $cache[$random.rand(5000)] = text(400)
end

def garbage
  table = {}
  8.times { |i| table["key #{$number} #{i}"] = text(30 + i * 20) }
  table.map { |key, value| key + value }.join(",").size
end

def request
  5.times { leak_body }
  5.times { leak_header }
  5.times { leak_token }
  cache_page
  garbage
end

def clock(which = Process::CLOCK_MONOTONIC)
  Process.clock_gettime(which, :nanosecond)
end

def answer(requests, stall)
  leaks = $leaks.map { |name, counts| %("#{name}": [#{counts.join(', ')}]) }.join(", ")
  puts %({"leaks": {#{leaks}}, "requests": #{requests}, "cpu_ns": #{clock(Process::CLOCK_PROCESS_CPUTIME_ID)}, "stall_ns": #{stall}})
end

5000.times { |i| $cache[i] = text(400) }
requests = stall = 0
start = clock
due = 0
puts "ready"
loop do
  if $stdin.wait_readable(0)
    line = $stdin.gets or break
    $leaking ||= line.start_with?("l")
    answer(requests, stall)
    stall = 0
  end
  (RATE / 100).times do
    begun = clock
    request
    stall = [stall, clock - begun].max
    requests += 1
  end
  due += 10_000_000
  left = start + due - clock
  due -= left if left < -100_000_000
  sleep(left / 1e9) if left > 0
end
