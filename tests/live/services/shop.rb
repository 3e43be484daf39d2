# SPDX-License-Identifier: GPL-2.0-or-later
# A service with a leak, or what looks like one, at each route. The comment at a line's end names it for test_services.py.
require 'erb'
require 'fiddle'
require 'sinatra/base'
require 'socket'
$LOAD_PATH.unshift File.join(__dir__, 'vendor/bundle/ruby/3.1.0/gems/quickparse-1.0/lib')
require 'quickparse'

PAGE = '<ul><% items.each do |item| %><li class="item"><%= item %></li><% end %></ul>' * 20
SOURCE = (1..200).map { |number| "x#{number} = [#{number}, 'text', x, :name]" }.join("\n")
Node = Struct.new(:next)

class Shop < Sinatra::Base
  ORDERS, SEEN, CALLBACKS, NAMES, CODE, PAGES, CONNECTIONS, RECENT = [], {}, [], {}, [], [], [], {}

  get('/ping') { Process.pid.to_s }

  get '/native' do
    Quickparse.keep(20_000) # native
    'done'
  end

  get '/fiddle' do
    Fiddle.malloc(20_000) # fiddle
    'done'
  end

  get '/array' do
    ORDERS << 'x' * 20_000 # array
    'done'
  end

  get '/hash' do
    SEEN["user #{SEEN.size}" * 2_000] = true # hash
    'done'
  end

  get '/closure' do
    text = 'x' * 20_000; CALLBACKS << -> { text } # closure
    'done'
  end

  get '/symbols' do
    100.times { NAMES["#{'name' * 50}#{NAMES.size}".to_sym] = true } # symbols
    'done'
  end

  get '/code' do
    CODE << RubyVM::InstructionSequence.compile("x = 1\n" + SOURCE) # code
    'done'
  end

  get '/template' do
    PAGES << ERB.new(PAGE) # template
    'done'
  end

  get '/slots' do
    1_000.times { @@last = Node.new(defined?(@@last) ? @@last : nil) } # slots
    'done'
  end

  get '/threads' do
    Thread.new { sleep } # threads
    'done'
  end

  get '/connections' do
    CONNECTIONS << UNIXSocket.new(ENV['SHOP_PEER']).tap(&:gets) # connections
    'done'
  end

  get '/recent' do
    RECENT[rand] = 'x' * 20_000; RECENT.shift if RECENT.size > 100 # recent
    'done'
  end

  get '/bloat' do
    100.times.map { 'x' * 100_000 }.size # bloat
    'done'
  end

  get '/churn' do
    20.times { 'x' * 20_000 } # churn
    'done'
  end

  get '/collect' do
    GC.start
    'done'
  end
end
