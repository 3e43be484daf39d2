// SPDX-License-Identifier: GPL-2.0-or-later
// Containers of the C++ library that grow. Prints how many bytes each line of this file keeps, as the containers' own
// capacities show.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using Names = std::map<int, std::string>;

static struct {
	int line;
	unsigned long bytes;
} account[8];
static int accounts;

static void note(int line, unsigned long bytes)
{
	account[accounts++] = { line, bytes };
}

static void add_numbers(std::vector<long> &numbers)
{
	for (long i = 0; i < 5000; i++)
		numbers.push_back(i);
	note(__LINE__ - 1, numbers.capacity() * sizeof(long));
}

static void add_names(Names &names)
{
	for (int i = 0; i < 200; i++)
		names.emplace(i, "");
	note(__LINE__ - 1, names.size() * sizeof(std::_Rb_tree_node<Names::value_type>));
	for (auto &name : names)
		name.second.assign(300, 'x');
	note(__LINE__ - 1, names.size() * (names[0].capacity() + 1));
}

static void add_rows(std::vector<std::vector<char>> &rows)
{
	rows.reserve(64);
	note(__LINE__ - 1, rows.capacity() * sizeof(rows[0]));
	while (rows.size() < 64)
		rows.emplace_back(1000);
	note(__LINE__ - 1, rows.size() * 1000);
}

int main()
{
	add_numbers(*new std::vector<long>);
	add_names(*new Names);
	add_rows(*new std::vector<std::vector<char>>);
	std::printf("{");
	for (int i = 0; i < accounts; i++)
		std::printf("%s\"%d\": %lu", i ? ", " : "", account[i].line, account[i].bytes);
	std::printf("}\n");
	return 0;
}
