# SPDX-License-Identifier: GPL-2.0-or-later
# A package whose native part (tests/targets/quickparse.c) keeps what it allocates.
require 'fiddle'
module Quickparse
  library = Fiddle.dlopen(File.join(__dir__, 'quickparse.so'))
  KEEP = Fiddle::Function.new(library['quickparse_keep'], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOID)
  KEEP_MORE = Fiddle::Function.new(library['quickparse_keep_more'], [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_VOID)

  def self.keep(size)
    KEEP.call(size)
  end

  def self.keep_more(size)
    1.times { KEEP_MORE.call(size) }
  end
end
