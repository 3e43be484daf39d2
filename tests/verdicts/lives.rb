# SPDX-License-Identifier: GPL-2.0-or-later
# A program of known truth: lives.c in Ruby. Strings are too long to be within an object, so that each has a block of malloc, which is freed by
# the next collection. The lifespan that is printed is until then.
require "json"

SIZE = 2000
COLLECT_S = 0.3

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def note(event)
  puts JSON.generate(event: event, time: now)
  $stdout.flush
end

def site_work
  "x" * SIZE
end

class Work
  def initialize(rate, life_s, share, entries)
    @rate, @life_s, @share, @entries = rate, life_s, share, entries
    @slots, @kept, @cache, @gone = Hash.new { |slots, slot| slots[slot] = [] }, [], [], []
    @born = @freed = 0
    @lives = 0.0
    @slot = nil
  end

  def birth(time)
    @born += 1
    if @entries > 0
      @cache << [time, site_work]
      @gone << @cache.shift[0] if @cache.size > @entries
      note("full") if @born == @entries
    elsif rand < @share
      note("leak") if @kept.empty?
      @kept << site_work
    else
      @slots[((time + rand * 2 * @life_s) * 100).to_i] << [time, site_work]
    end
  end

  def end_due(time)
    last = (time * 100).to_i
    @slot ||= last
    while @slot < last
      (@slots.delete(@slot) || []).each { |birth, _| @gone << birth }
      @slot += 1
    end
  end

  def collect(time)
    GC.start
    @freed += @gone.size
    @lives += @gone.sum { |birth| time - birth }
    @gone.clear
  end

  def run
    due = collected = now
    note("begin")
    until IO.select([$stdin], nil, nil, 0.005)
      time = now
      while due <= time
        birth(due)
        due -= Math.log(1 - rand) / @rate
      end
      end_due(time)
      next if time < collected + COLLECT_S

      collect(time)
      collected = time
    end
  end

  def account
    { born: @born, freed: @freed, kept: @kept.size, life_s: @lives / [@freed, 1].max }
  end
end

PROGRAMS = { "leak" => [300, 0.4, 0.1, 0], "cache" => [300, 0, 0, 800], "sessions" => [300, 1, 0, 0] }.freeze

srand(1)
GC.disable
work = Work.new(*PROGRAMS.fetch(ARGV[0]))
$stdin.gets
work.run
$stdin.gets
puts JSON.generate(work.account)
$stdout.flush
$stdin.gets
