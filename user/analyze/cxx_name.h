/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses demangled C++ names, which are untrusted text. */
#ifndef ANALYZE_CXX_NAME_H
#define ANALYZE_CXX_NAME_H

/*
 * The start of the name itself, behind the return type that templates have:
 * "std::vector<int>::push_back(int)" in "void std::vector<int>::push_back(int)". Returns other
 * names unchanged.
 */
const char *cxx_name_begin(const char *function);

#endif
