# SPDX-License-Identifier: GPL-2.0-or-later
# Objects, 300 of each class, of which each class is held in another way. Prints "ready", and ends with its input.
class Store
  attr_reader :table

  def initialize
    @table = {}
  end
end

class App
  @store = Store.new
  class << self
    attr_reader :store
  end
end

module Bus
  HANDLERS = []
end

Pair = Struct.new(:one, :two)
%w[InHash InGlobal InClassVariable InThread InThreadVariable InStruct InBlock InNested InMethod InLocal InGeneric InWeak].each do |name|
  Object.const_set(name, Class.new)
end

def make(type)
  (0...300).map { type.new }
end

300.times { |i| App.store.table["user#{i}"] = InHash.new }
300.times { |i| Bus::HANDLERS << ->(x) { x + i } }
$jobs = make(InGlobal)
class App
  @@cache = Object.new.send(:make, InClassVariable)
end
Thread.current[:x] = make(InThread)
Thread.current.thread_variable_set(:tv, make(InThreadVariable))
PAIR = Pair.new(1, make(InStruct))
def block
  captured = make(InBlock)
  -> { captured }
end
BLOCK = block
NESTED = { deep: [1, { inner: make(InNested) }] }
class App
  defined = Object.new.send(:make, InMethod)
  define_method(:found) { defined }
end
local = make(InLocal)
GENERIC = "text".dup
GENERIC.instance_variable_set(:@more, make(InGeneric))
WEAK = ObjectSpace::WeakMap.new
weak = make(InWeak)
weak.each { |object| WEAK[object] = object }
# Keys of a weak map have finalizers, which refer to it.
Watch = Class.new(ObjectSpace::WeakMap)
$watch = Watch.new
KEYS = Array.new(3000) { Object.new }
KEYS.each { |key| $watch[key] = key }
3.times { GC.start }
weak.clear
$stdout.sync = true
puts "ready"
$stdin.gets
puts local.size
