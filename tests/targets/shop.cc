// SPDX-License-Identifier: GPL-2.0-or-later
// A service of C++ with a leak, or what looks like one, at each route. Reads lines "ROUTE COUNT", lets a thread handle each
// request, and answers with what the route keeps: bytes, as its containers show; "burst" with what malloc has that is free. The comment at a line's end names it for test_services.py.
#include <cstdio>
#include <cstring>
#include <future>
#include <malloc.h>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Order {
	char text[1000];
};

static std::vector<long> numbers;
static std::vector<std::string> notes;
static std::map<int, Order> by_number;
static std::unordered_map<std::string, Order> by_name;
static std::vector<std::shared_ptr<Order>> orders;
static std::vector<void *> raw;
static std::map<int, std::string> recent;
static std::vector<std::string> pinned[8];

static unsigned long add_numbers()
{
	for (int i = 0; i < 1000; i++)
		numbers.push_back(i); // vector
	return numbers.capacity() * sizeof(long);
}

static unsigned long add_note()
{
	unsigned long bytes = 0;

	notes.emplace_back(500, 'x'); // string
	for (const std::string &note : notes)
		bytes += note.capacity() + 1;
	return bytes;
}

static unsigned long add_numbered()
{
	by_number[(int)by_number.size()]; // map
	return by_number.size() * sizeof(Order);
}

static unsigned long add_named()
{
	by_name["order number " + std::to_string(by_name.size())]; // hash
	return by_name.size() * sizeof(Order);
}

static unsigned long add_shared()
{
	orders.push_back(std::make_shared<Order>()); // shared
	return orders.size() * sizeof(Order);
}

static unsigned long add_raw()
{
	raw.push_back(malloc(2000)); // malloc
	return raw.size() * 2000;
}

/* A cache that is full after 10,000 requests. */
static unsigned long use_cache()
{
	static int next;

	recent[next++] = std::string(900, 'c');
	if (recent.size() > 10000)
		recent.erase(recent.begin());
	return recent.size() * 901;
}

/* Threads that run at the same time have 10,000 texts each, and keep one of 200: their arenas stay. */
static unsigned long burst()
{
	std::future<void> done[8];

	for (int thread = 0; thread < 8; thread++)
		done[thread] = std::async(std::launch::async, [thread] {
			std::vector<std::string> texts;

			for (int i = 0; i < 10000; i++)
				texts.emplace_back(1000, 'b');
			for (int i = 0; i < 10000; i += 200)
				pinned[thread].push_back(std::move(texts[i]));
		});
	for (std::future<void> &one : done)
		one.get();
	return mallinfo2().fordblks;
}

/* Keeps nothing. */
static unsigned long churn()
{
	std::map<int, std::string> made;

	for (int i = 0; i < 100; i++)
		made[i] = std::string(100, 'y');
	return 0;
}

static const struct {
	const char *name;
	unsigned long (*serve)();
} routes[] = { { "vector", add_numbers }, { "string", add_note },   { "map", add_numbered },
	       { "hash", add_named },	  { "shared", add_shared }, { "malloc", add_raw },
	       { "cache", use_cache },	  { "burst", burst },	    { "churn", churn } };

static unsigned long serve(const std::string &route, int count)
{
	unsigned long bytes = 0;

	for (auto &known : routes)
		for (int i = 0; route == known.name && i < count; i++)
			bytes = std::async(std::launch::async, known.serve).get();
	return bytes;
}

int main()
{
	char route[32];
	int count;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	serve("churn", 1); /* the stack of a thread stays for the next one */
	std::printf("ready\n");
	while (std::scanf("%31s %d", route, &count) == 2)
		std::printf("%lu\n", serve(route, count));
	return 0;
}
