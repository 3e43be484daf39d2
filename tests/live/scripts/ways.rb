# SPDX-License-Identifier: GPL-2.0-or-later
# Allocate in every way that Ruby code can be reached, each time with a size of its own, and write down what Ruby itself
# says about the stack: {"SIZE": [["FILE", LINE, "LABEL"], ...], ...}, innermost frame first. Methods that are written in C
# are left out: their locations repeat the file and line of their callers, or have none.
require 'fiddle'
require 'json'

KEPT = []
STACKS = {}
SIZES = {}
FIRST = 700_001

# Those used here; which of them are written in C depends on the version.
IN_C = %w[call each eval instance_eval class_eval instance_exec class_exec module_eval map times new initialize send
          __send__ public_send sort_by each_with_index resume next each_entry block_call loop tap then catch synchronize
          require load fetch inject upto step yield [] default_proc define_method method_missing raise at_exit compact
          start stat_gc select each_slice trigger with_object instance_variable_set inspect value alloc allocate
          at each_pair each_object fork puts lazy force first to_a enum_for take transfer scheduler join
          class_variable_set freeze include extend inherited included const_missing respond_to? count resume_block
          method_added singleton_method_added const_set coerce + <=> == === hash to_s to_str to_proc each_char sum < kill].freeze

def in_c?(here, outer)
  here.path.nil? || outer && here.lineno == outer.lineno && here.path == outer.path &&
    IN_C.include?(here.base_label) && !here.label.start_with?('block')
end

def note
  size = FIRST + STACKS.size
  all = caller_locations(1)
  all = all.each_with_index.reject { |location, index| in_c?(location, all[index + 1]) }.map(&:first)
  STACKS[size] = all.map { |location| [location.path, location.lineno, location.label] }
  size
end

class Model
  module_eval("def generated\n\n  KEPT << Fiddle.malloc(note)\nend", 'generated/model.rb', 40)
  class_eval <<-CODE, 'app/views/été.erb', 7
    def überprüfen(); KEPT << Fiddle.malloc(note); end
  CODE
  define_method(:defined) { KEPT << Fiddle.malloc(note) }
  define_method(:defined_by_method, instance_method(:generated))
  alias_method :aliased, :generated
  %w[one two].each do |name|
    define_method("made_#{name}") { |&block| block ? block.call : KEPT << Fiddle.malloc(note) }
  end

  def method_missing(name, *)
    KEPT << Fiddle.malloc(note)
  end

  def respond_to_missing?(*)
    true
  end

  def rescued
    raise 'on purpose'
  rescue RuntimeError
    KEPT << Fiddle.malloc(note)
  end

  def rescued_deeply
    begin
      raise ArgumentError
    rescue ArgumentError
      begin
        Integer('x')
      rescue StandardError
        [1].each { KEPT << Fiddle.malloc(note) }
      end
    end
  end

  def ensured
    [1].map { |x| x }
  ensure
    KEPT << Fiddle.malloc(note)
  end

  def ensured_by_exception
    begin
      raise 'on purpose'
    ensure
      KEPT << Fiddle.malloc(note)
    end
  rescue RuntimeError
    nil
  end

  def retried
    tries ||= 0
    tries += 1
    raise 'once more' if tries < 3
    KEPT << Fiddle.malloc(note)
  rescue RuntimeError
    retry
  end

  def self.on_class
    KEPT << Fiddle.malloc(note)
  end

  class << self
    def on_singleton
      yield
    end
  end

  def initialize(leak = false)
    KEPT << Fiddle.malloc(note) if leak
  end

  def <=>(_other)
    KEPT << Fiddle.malloc(note) if KEPT.size < 1000
    0
  end
  include Comparable

  def to_s
    KEPT << Fiddle.malloc(note)
    'text'
  end
end

module Prepended
  def aliased
    super
  end
end

class Child < Model
  prepend Prepended

  def generated
    super()
  end
end

class Lazy
  def self.const_missing(name)
    KEPT << Fiddle.malloc(note)
    name
  end

  def self.inherited(child)
    super
    KEPT << Fiddle.malloc(note)
  end
end

def deep(count, &block)
  count.zero? ? block.call : deep(count - 1, &block)
end

def optional(first = (KEPT << Fiddle.malloc(note)), second: (KEPT << Fiddle.malloc(note)))
  [first, second]
end

def yielder
  yield
end

# Longer than what an index of lines holds in one piece.
LONG = (1..400).map { |i| "  x = #{i} + x * 2" }.join("\n")
eval("def long(x)\n#{LONG}\n  KEPT << Fiddle.malloc(note)\n#{LONG}\n  KEPT << Fiddle.malloc(note)\nend", nil, 'long.rb', 5)

model = Model.new
child = Child.new
scope = binding
counting = Hash.new { |hash, key| hash[key] = Fiddle.malloc(note) }
body = proc { KEPT << Fiddle.malloc(note) }

WAYS = [
  -> { KEPT << Fiddle.malloc(note) },
  -> { model.generated },
  -> { model.send("überprüfen") },
  -> { model.defined },
  -> { model.defined_by_method },
  -> { model.aliased },
  -> { child.aliased },
  -> { child.generated },
  -> { model.made_one },
  -> { model.made_two { KEPT << Fiddle.malloc(note) } },
  -> { model.anything },
  -> { model.rescued },
  -> { model.rescued_deeply },
  -> { model.ensured },
  -> { model.ensured_by_exception },
  -> { model.retried },
  -> { Model.on_class },
  -> { Model.on_singleton { KEPT << Fiddle.malloc(note) } },
  -> { Model.new(true) },
  -> { model < Model.new },
  -> { "#{model}" },
  -> { Lazy::Missing },
  -> { Class.new(Lazy) },
  -> { deep(0, &body) },
  -> { deep(40, &body) },
  -> { deep(7) { deep(3) { yielder { KEPT << Fiddle.malloc(note) } } } },
  -> { optional },
  -> { optional(second: 1) },
  -> { long(1) },
  -> { counting[:key] },
  -> { eval("KEPT << Fiddle.malloc(note)", scope, 'template.erb', 77) },
  -> { eval("\n[1].each { |x|\n\n KEPT << Fiddle.malloc(note) }", scope, 'template2.erb', 3) },
  -> { eval("eval(%q(KEPT << Fiddle.malloc(note)), binding, 'inner.erb', 5)", scope, 'outer.erb', 9) },
  -> { model.instance_eval { KEPT << Fiddle.malloc(note) } },
  -> { model.instance_eval("KEPT << Fiddle.malloc(note)", 'instance.erb', 12) },
  -> { Model.class_exec { KEPT << Fiddle.malloc(note) } },
  -> { [3, 1, 2].sort_by { |x| KEPT << Fiddle.malloc(note); x } },
  -> { 3.times { |x| KEPT << Fiddle.malloc(note) if x == 1 } },
  -> { [1].each { [2].map { {}.tap { 1.then { KEPT << Fiddle.malloc(note) } } } } },
  -> { loop { KEPT << Fiddle.malloc(note); break } },
  -> { catch(:done) { KEPT << Fiddle.malloc(note); throw :done } },
  -> { [model].each(&:generated) },
  -> { [1].each(&body) },
  -> { Fiber.new { KEPT << Fiddle.malloc(note) }.resume },
  -> { Fiber.new { Fiber.new { deep(3, &body) }.resume; Fiber.yield }.resume },
  -> { Fiber.new { |x| Fiber.yield; KEPT << Fiddle.malloc(note) }.tap(&:resume).resume },
  -> { Enumerator.new { |y| KEPT << Fiddle.malloc(note); y << 1 }.next },
  -> { (1..3).lazy.map { |x| KEPT << Fiddle.malloc(note) if x == 1; x }.first(1) },
  -> { Thread.new { KEPT << Fiddle.malloc(note) }.join },
  -> { Thread.new { Thread.new { Fiber.new { model.generated }.resume }.join }.join },
  -> { 5.times.map { |i| Thread.new { deep(i) { Thread.pass; KEPT << Fiddle.malloc(note) } }.join } },
  -> { Mutex.new.synchronize { KEPT << Fiddle.malloc(note) } },
  -> { GC.start; model.generated },
  -> { GC.compact if GC.respond_to?(:compact); child.aliased },
  -> { GC.compact if GC.respond_to?(:compact); eval("KEPT << Fiddle.malloc(note)", scope, 'compact.erb', 8) },
  -> { begin; Integer('x'); rescue ArgumentError; KEPT << Fiddle.malloc(note); end },
  -> { trap('USR1') { KEPT << Fiddle.malloc(note) }; Process.kill('USR1', $$); sleep 0.01 until KEPT.size > $before },
  -> { TracePoint.new(:raise) { KEPT << Fiddle.malloc(note) }.enable { begin; raise 'x'; rescue StandardError; 0; end } },
].freeze

puts 'ready'
$stdout.flush
$stdin.gets
WAYS.each do |way|
  $before = KEPT.size
  # Some code is only compiled after a few calls, and all of it must stay right.
  (ARGV[0] || 1).to_i.times { way.call }
end
puts STACKS.to_json
$stdout.flush
$stdin.gets
