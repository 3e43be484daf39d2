// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What C++ programs have on their stacks: containers, lambdas behind std::function, virtual calls, exceptions, sorting,
 * threads. To be built with -O2 -fomit-frame-pointer. Reads commands and answers each with a line:
 * "work N", "open LIBRARY", "call SIZE" (of the library's plugin_leak).
 */
#include <algorithm>
#include <dlfcn.h>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Shape {
	virtual ~Shape() = default;
	virtual std::string describe(int depth) const = 0;
};

struct Leaf : Shape {
	std::string describe(int depth) const override
	{
		std::ostringstream text;

		text << "a leaf at the depth of " << depth << " that needs a longer string";
		if (depth % 3 == 0)
			throw std::runtime_error(text.str());
		return text.str();
	}
};

struct Node : Shape {
	std::vector<std::unique_ptr<Shape>> parts;

	std::string describe(int depth) const override
	{
		std::string all;

		for (const auto &part : parts) {
			try {
				all += part->describe(depth + 1);
			} catch (const std::exception &error) {
				all += error.what();
			}
		}
		return all;
	}
};

std::unique_ptr<Shape> grow(int depth)
{
	auto node = std::make_unique<Node>();

	if (depth == 0)
		return std::make_unique<Leaf>();
	for (int i = 0; i < 2; i++)
		node->parts.push_back(grow(depth - 1));
	return node;
}

size_t work(int rounds)
{
	std::map<std::string, std::vector<int>> table;
	std::function<size_t(int)> step = [&](int number) {
		auto tree = grow(4 + number % 3);
		auto &row = table[tree->describe(number).substr(0, 40)];

		for (int i = 0; i < 50; i++)
			row.push_back((i * 7919) % 101);
		std::sort(row.begin(), row.end(), [](int a, int b) {
			return std::to_string(a + 1000000000) + "................" <
			       std::to_string(b + 1000000000) + "................";
		});
		return row.size();
	};
	size_t sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += step(i);
	return sum;
}

} // namespace

int main()
{
	std::string word, argument;
	void *library = nullptr;

	while (std::cin >> word >> argument) {
		if (word == "work") {
			std::thread other([&] { work(std::stoi(argument) / 2); });

			std::cout << work(std::stoi(argument)) << std::endl;
			other.join();
		} else if (word == "open") {
			library = dlopen(argument.c_str(), RTLD_NOW);
			std::cout << (library ? "opened" : dlerror()) << std::endl;
		} else {
			auto leak = reinterpret_cast<void (*)(size_t)>(
				dlsym(library, "plugin_leak"));

			leak(std::stoul(argument));
			std::cout << "called" << std::endl;
		}
	}
	return 0;
}
