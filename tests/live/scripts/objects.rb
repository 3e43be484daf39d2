# SPDX-License-Identifier: GPL-2.0-or-later
# Objects that are counted from outside. Each line of input is answered by a line: "count": what the interpreter counts itself;
# "kept": how many objects of Kept there are now; "run": make garbage, and keep some, from now on; "freeze NUMBER": work, stop in the middle of
# it, and count when it goes on; "turn NUMBER": a third of the numbered objects goes, and so many come: the numbers; "compacting": compact from now on;
# "compactions": how often; "burst": make many strings and keep few; "pages FILE": objects by page, as the interpreter dumps them to the file;
# "bye": end.
require "json"
require "objspace"

class Session
  def initialize(number)
    @number = number
    @name = "user#{number}"
  end
end

module App
  class Job; end
  Point = Struct.new(:a, :b, :c, :d, :e)
end

class Kept
  attr_accessor :more
end

class Brief; end

class Numbered
  attr_reader :number

  def initialize(number)
    @number = number
  end
end

SESSIONS = (0...20_000).map { |i| Session.new(i) }
JOBS = (0...3000).map { App::Job.new }
POINTS = (0...700).map { |i| App::Point.new(i, 2, 3, 4, 5) }
HASHES = (0...500).map { |i| (0...20).to_h { |k| [k, i] } }
NUMBERS = (0...100).map { |i| 3**(1000 + i) }
TEXTS = (0...100).map { |i| "x" * (1000 + i) }
STOP = Signal.list["STOP"]
PAGE_BITS = RUBY_VERSION.to_f < 3.2 ? 14 : 16
$kept = []
$numbered = []
$turns = $last_number = $compactions = 0
$types = {}
3.times { GC.start }

def run
  Thread.new do
    loop do
      100.times { Brief.new.to_s }
      $kept << Kept.new
    end
  end
end

def count
  GC.disable
  types = ObjectSpace.count_objects({})
  stat = GC.stat
  bytes = [Session, App::Point, Hash, Integer, String].to_h { |c| [c.name, ObjectSpace.memsize_of_all(c)] }
  GC.enable
  JSON.generate(types: types, stat: stat, bytes: bytes)
end

# When it goes on it makes no object before it has counted: in the first round, which does not stop, it has made all that counting needs.
def freeze_amid(work)
  [0, STOP].each do |signal|
    work.times do
      20.times { Brief.new.to_s }
      $kept << Kept.new
    end
    Process.kill(signal, $$)
    ObjectSpace.count_objects($types)
  end
  JSON.generate(types: $types, kept: $kept.size)
end

def turn(count)
  $numbered.reject! { |object| object.number % 3 == $turns % 3 }
  count.times { $numbered << Numbered.new($last_number += 1) }
  $turns += 1
  3.times { GC.start }
  JSON.generate(ObjectSpace.each_object(Numbered).map(&:number))
end

def compact_from_now_on
  Thread.new do
    loop do
      GC.compact
      $compactions += 1
    end
  end
end

# In a thread, of whose stack nothing stays.
def burst
  Thread.new { $few = (0...100_000).map { "burst" }.each_slice(900).map(&:first) }.join
  3.times { GC.start }
  $few.size
end

def pages(path)
  pages = GC.stat[:heap_allocated_pages]
  File.open(path, "w") { |file| ObjectSpace.dump_all(output: file) }
  used = Hash.new(0)
  sizes = {}
  File.foreach(path) do |line|
    next unless line =~ /\A\{"address":"0x(\h+)"/

    page = $1.to_i(16) >> PAGE_BITS
    used[page] += 1
    sizes[page] ||= line =~ /"slot_size":(\d+)/ ? $1.to_i : 40
  end
  JSON.generate(pages: pages, held: used.map { |page, count| [count, (1 << PAGE_BITS) / sizes[page]] })
end

# Ruby's collector protects pages while it compacts, and undoes it where Ruby's own code reads them. A system call only fails with
# EFAULT: so the text is read, and written again.
def answer(what)
  text = "#{what}\n"
  $stdout.write(text)
rescue Errno::EFAULT
  text.getbyte(0)
  retry
end

$stdout.sync = true
answer "ready"
while (line = $stdin.gets)
  case line.strip
  when "count" then answer count
  when "kept" then answer $kept.size
  when "run"
    run
    answer "running"
  when "collect"
    GC.start
    answer GC.stat[:major_gc_count]
  when "compact"
    GC.start
    GC.compact
    answer "compacted"
  when "compacting"
    compact_from_now_on
    answer "compacting"
  when "compactions" then answer $compactions
  when "burst" then answer burst
  when /freeze (\d+)/ then answer freeze_amid($1.to_i)
  when /turn (\d+)/ then answer turn($1.to_i)
  when /pages (.+)/ then answer pages($1)
  when "bye" then exit
  end
end
