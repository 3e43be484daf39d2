# SPDX-License-Identifier: GPL-2.0-or-later
# Stands still in many kinds of Ruby frames, after it has said which: for each thread "stack", then "path:line:label" of
# its frames, the innermost first. Frames of C functions, which have no place of their own, are marked "c-".
$lock = Mutex.new
$pending = Queue.new
$go = Queue.new

# Prints and waits on one line, so that the line is still right afterwards.
def tell(fiber = nil)
  $lock.synchronize { puts ["stack", *describe(caller_locations(1))] }; $pending << 1; $go.pop
end

# Methods of C, by name: the interpreter tells their frames with the place of their caller.
NATIVE = %w[each times map call eval instance_eval module_eval class_eval send public_send __send__ loop new
            initialize synchronize instance_exec sort_by each_with_index inject resume yield pop tap then
            catch require_relative load Integer#times Kernel#tap Kernel#then Kernel#loop].freeze

def describe(locations)
  list = locations.map { |l| [l.path, l.lineno, l.label, l.base_label] }
  list.map do |path, line, label, base|
    short = label.sub(/\A.*[#.]/, "")
    native = NATIVE.include?(short) && short == base
    "#{path}:#{line}:#{native ? 'c-' : ''}#{short_label(label)}"
  end
end

# From 3.4 on labels say "Class#method"; what is kept in the code is the method's name.
def short_label(label)
  RUBY_VERSION >= "3.4" ? label.sub(/(\A| in )[A-Z][\w:]*[#.](?=[^ ]*\z)/, '\1') : label
end

class Service
  define_method(:defined) { |x| missing_one(x) }

  def method_missing(name, *arguments)
    return super unless name == :missing_one
    rescued(*arguments)
  end

  def respond_to_missing?(*)
    true
  end

  def rescued(x)
    raise "on purpose"
  rescue RuntimeError
    begin
      blocks(x)
    ensure
      @done = true
    end
  end

  def blocks(x)
    [x].each do |y|
      1.times { evaluated(y) }
    end
  end

  def evaluated(x)
    eval("x.call", binding, "made/up/template.erb", 4711)
  end

  def handlers(x)
    raise "on purpose"
  rescue RuntimeError
    begin
      [1].each { raise "again" }
    rescue StandardError
      begin
        [2].each { eval("[3].each { |y| x.call }", binding, "evaluated/block", 7) }
      ensure
        @done = true
      end
    end
  end

  module_eval("def generated(x)\n\n  defined(x)\nend", "generated/model.rb", 10)
end

# Long enough that its lines are found by the second part of the index.
LONG = +"def long_method(x)\n"
400.times { |i| LONG << "  a#{i} = x; b#{i} = [a#{i}, a#{i}].first\n" }
LONG << "  x.call\nend\n"
eval(LONG, TOPLEVEL_BINDING, "long.rb", 1)

def deep(n, x)
  n.zero? ? x.call : deep(n - 1, x)
end

# A line of the middle of a method, with more of it behind.
def middle(x)
  before = 1
  x.call
  after = 2
  before + after
end

threads = [
  Thread.new { Service.new.generated(-> { tell }) },
  Thread.new { long_method(-> { tell }) },
  Thread.new { deep(50, -> { tell }) },
  Thread.new { middle(proc { tell }) },
  Thread.new { Fiber.new { middle(-> { tell }) }.resume },
  Thread.new { [3, 1, 2].sort_by { |x| x == 3 ? tell : x } },
  Thread.new { Service.new.handlers(-> { tell }) },
]

threads.size.times { $pending.pop }

def main_part
  $stdout.puts(["stack", *describe(caller_locations(0))], "ready"); $stdout.flush; $stdin.read
end

[1].each { main_part }
