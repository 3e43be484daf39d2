/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names of C++, as text from outside. */
#ifndef ANALYZE_CXX_NAME_H
#define ANALYZE_CXX_NAME_H

/*
 * Where in a demangled name the name itself begins, behind the type that a template returns:
 * "std::vector<int>::push_back(int)" of "void std::vector<int>::push_back(int)". Other names are as they are.
 */
const char *cxx_name_begin(const char *function);

#endif
