# SPDX-License-Identifier: GPL-2.0-or-later
# 500 native objects, each with a block that leads to three others, and one of them to a fourth. Prints the bytes of all of these blocks as malloc
# counts them, then "ready", and ends with its input.
require "fiddle"

SIZE = Fiddle::Function.new(Fiddle::Handle::DEFAULT["malloc_usable_size"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_SIZE_T)
$bytes = 0

# What malloc has left in a block may be addresses.
def clear(address)
  size = SIZE.call(address)
  Fiddle::Pointer.new(address)[0, size] = "\0" * size
  $bytes += size
  address
end

def refer(from, at, to)
  Fiddle::Pointer.new(from)[at, 8] = [to].pack("Q")
end

KEPT = (0...500).map do
  head = Fiddle::Pointer.malloc(64)
  clear(head.to_i)
  3.times { |i| refer(head.to_i, i * 8, clear(Fiddle.malloc(1000 + i))) }
  # Two lead to the last one, which counts once.
  last = clear(Fiddle.malloc(100))
  2.times { |i| refer(head[i * 8, 8].unpack1("Q"), 504, last) }
  head
end
LARGE = Fiddle::Pointer.malloc(3 << 20)
clear(LARGE.to_i)
3.times { GC.start }
$stdout.sync = true
puts "ready"
puts $bytes
$stdin.gets
