// SPDX-License-Identifier: GPL-2.0-or-later
// Functions whose names are mangled: templates, namespaces, lambdas, operators.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace outer
{
template <typename T> struct holder {
	__attribute__((noinline)) void *keep(std::size_t count)
	{
		void *volatile block = std::malloc(count * sizeof(T));
		return block;
	}
	__attribute__((noinline)) void *operator()(const std::map<std::string, T> &)
	{
		void *volatile block = std::malloc(77);
		return block;
	}
};
} // namespace outer

int main()
{
	outer::holder<long> longs;
	auto lambda = [](int size) __attribute__((noinline))
	{
		void *volatile block = std::malloc(size);
		return block;
	};

	longs.keep(10);
	longs(std::map<std::string, long>());
	lambda(55);
	std::puts("{}");
	return 0;
}
