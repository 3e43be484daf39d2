# SPDX-License-Identifier: GPL-2.0-or-later
"""A package whose native part (tests/targets/quickparse.c) keeps what it allocates."""
import ctypes
import os

library = ctypes.CDLL(os.path.join(os.path.dirname(__file__), "quickparse.so"))
for function in library.quickparse_keep, library.quickparse_keep_more:
    function.argtypes, function.restype = [ctypes.c_size_t], None


def keep(size):
    library.quickparse_keep(size)


def keep_more(size):
    [library.quickparse_keep_more(size) for _ in (1,)]
