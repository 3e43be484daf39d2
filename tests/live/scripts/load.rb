# SPDX-License-Identifier: GPL-2.0-or-later
# A load such as a web application has: threads that serve requests, through layers of handlers, to actions that call
# records and render templates; some of it in fibers, some compiled anew each time. At some places, a block is allocated and
# freed. Prints what Ruby itself says about the stacks of these: {"stacks": [[[FRAME, ...], BYTES, BLOCKS], ...]}.
# Arguments: seconds, threads.
require 'erb'
require 'fiddle'
require 'json'

FIRST = 700_001
LEAST = 50 # requests of each thread, however slow the machine is
ACCOUNT = Hash.new { |hash, key| hash[key] = [0, 0] }
LOCK = Mutex.new
IN_C = %w[call each map times new send __send__ public_send sort_by each_with_index resume next loop tap then catch eval
          instance_eval instance_exec synchronize inject upto step [] result initialize inspect value each_slice
          each_pair puts to_a start fetch default_proc sum start_with? compact instance_variable_get].to_h { |name| [name, true] }

# Allocate a block: the kind sets its size.
def block(kind)
  all = caller_locations(1)
  stack = []
  all.each_with_index do |here, index|
    outer = all[index + 1]
    next if here.path.nil? || (IN_C[here.base_label] && !here.label.start_with?('block') && outer &&
                               here.lineno == outer.lineno && here.path == outer.path)

    stack << [here.path, here.lineno, here.label]
  end
  LOCK.synchronize do
    entry = ACCOUNT[stack]
    entry[0] += FIRST + kind
    entry[1] += 1
  end
  FIRST + kind
end

class Record
  %w[name price stock].each_with_index do |field, index|
    define_method(field) { Fiddle.free(Fiddle.malloc(block(index))); field * 3 }
    module_eval("def #{field}?(x = 0)\n  x += 1\n  Fiddle.free(Fiddle.malloc(block(#{10 + index})))\n  x\nend", "app/models/#{field}.rb", 7 + index)
  end

  def method_missing(name, *arguments)
    return super unless name.to_s.start_with?('find_')

    Fiddle.free(Fiddle.malloc(block(20)))
    arguments.map { |argument| argument.to_s * 2 }
  end

  def respond_to_missing?(name, *)
    name.to_s.start_with?('find_')
  end

  def save
    yield self if block_given?
    raise ArgumentError, 'not valid' if rand(3).zero?
  rescue ArgumentError
    Fiddle.free(Fiddle.malloc(block(21)))
  ensure
    Fiddle.free(Fiddle.malloc(block(22)))
  end

  def each
    return to_enum(:each) unless block_given?

    3.times { |i| yield i.zero? ? name : stock? }
  end
end

# Compiled once, as frameworks do.
module Views
  8.times do |i|
    source = ERB.new((["<p><%= record.name %></p>\n"] * i + ["<% if record.price? > 0 %>\n<%= [1, 2].map { |x| record.stock }.size %>\n<% end %>\n"]).join)
    source.filename = "app/views/page#{i}.html.erb"
    source.def_method(self, "page#{i}(record)", source.filename)
  end
  module_function(*(0..7).map { |i| "page#{i}" })
end

# Compiled each time.
def render_inline(record, random)
  kind = random.rand(6)
  template = ERB.new("\n" * kind + "<%= record.price %>\n<% Fiddle.free(Fiddle.malloc(block(#{30 + kind}))) %>")
  template.filename = "inline#{kind}.erb"
  template.result(binding)
end

HANDLERS = 12.times.inject(->(request) { request.call }) do |inner, i|
  case i % 3
  when 0 then ->(request) { inner.call(request) }
  when 1 then ->(request) { [request].each { |one| return inner.call(one) } }
  else ->(request) { begin; inner.call(request); ensure; Fiddle.free(Fiddle.malloc(block(40))) if i == 5; end }
  end
end

ACTIONS = [
  ->(record, random) { Views.public_send("page#{random.rand(8)}", record) },
  ->(record, random) { render_inline(record, random) },
  ->(record, random) { record.find_by_name(random.rand(9)) },
  ->(record, random) { record.save { |one| one.name? } },
  ->(record, _) { record.each { |x| x } },
  ->(record, _) { each = record.each; each.next; each.next },
  ->(record, _) { Fiber.new { record.price; Fiber.yield; record.stock? }.tap(&:resume).resume },
  ->(record, _) { Thread.new { record.name? }.join },
  ->(record, random) { record.instance_exec(random) { |r| price if r.rand(2) == 1; stock } },
  ->(record, _) { JSON.parse({ a: [1, record.name, { b: record.price? }] }.to_json) },
  ->(record, _) { [3, 1, 2].sort_by { |x| record.stock; x } },
  ->(record, _) { eval("record.instance_eval { name?(2); price }", binding, 'console', 3) },
].freeze

puts 'ready'
$stdout.flush
$stdin.gets
stop = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f
ARGV[1].to_i.times.map do |number|
  Thread.new do
    random = Random.new(number)
    record = Record.new
    served = 0
    while served < LEAST || Process.clock_gettime(Process::CLOCK_MONOTONIC) < stop
      served += 1
      action = ACTIONS[random.rand(ACTIONS.size)]
      HANDLERS.call(-> { action.call(record, random) })
      GC.start if random.rand(500).zero?
      GC.compact if GC.respond_to?(:compact) && random.rand(2000).zero?
    end
  end
end.each(&:join)
puts({ stacks: ACCOUNT.map { |stack, figures| [stack, *figures] } }.to_json)
$stdout.flush
$stdin.gets
