// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of known classes, and blocks of known kinds, that stay: classes. Prints how many there are of each as JSON, by the name
// that a census should find; then it waits for its input to end. It is also built without symbols, statically, without RTTI.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <unistd.h>
#include <unordered_map>
#include <vector>

namespace app {
struct Base {
	long number = 1;
	virtual ~Base() {}
	virtual long work() { return number; }
};
template <int N> struct Numbered : Base {
	char more[N * 8];
	long work() override { return N; }
};
struct Request : Base {
	char *text = nullptr;
	long work() override { return 2; }
};
namespace deep {
struct Session : Request {
	long work() override { return 3; }
};
}
struct Left : virtual Base {
	long work() override { return 4; }
};
struct Both : Left, Request {
	long work() override { return 5; }
};
struct Other {
	long more = 2;
	virtual ~Other() {}
};
struct Twice : Base, Other {
	long work() override { return 9; }
};
template <class T> struct Box : Base {
	T thing{};
	long work() override { return 10; }
};
template <class T, class U> struct Pair : Base {
	T first{};
	U second{};
	long work() override { return 11; }
};
struct Held : Base {
	long work() override { return 12; }
};
struct Plain {
	long data[5] = { 1, 2, 3, 4, 5 };
};
}
struct Owner : app::Base {
	char *text = nullptr;
	std::map<int, long> numbers;
	long work() override { return 8; }
};
struct Item : app::Base {
	long work() override { return 6; }
};
namespace {
struct Local : app::Base {
	long work() override { return 7; }
};
}

static long sum;

template <class T> static void make(int count)
{
	while (count--) {
		T *object = new T();

		__asm__ volatile("" : "+r"(object)::"memory");
		sum += object->T::work();
	}
}

static void on_event()
{
	sum++;
}

struct handler {
	void (*function)();
	long data[4];
};

static std::map<int, long> counted;
static std::list<long> listed;
static std::vector<Owner *> owners;
static std::set<long> sorted;
static std::unordered_map<int, long> hashed;
static std::deque<long> queued;
static std::vector<std::string> texts;
static std::vector<std::shared_ptr<app::Plain>> plain;
static std::vector<std::shared_ptr<app::Held>> shared;

// Blocks that have known holders.
static void make_held()
{
	for (int i = 0; i < 200; i++) {
		Owner *owner = new Owner();

		owner->text = static_cast<char *>(malloc(300));
		snprintf(owner->text, 300, "owner number %d", i);
		for (int n = 0; n < 5; n++)
			owner->numbers[n] = 0x123456789;
		owners.push_back(owner);
	}
	for (int i = 0; i < 1500; i++)
		counted[i] = 0x123456789;
	for (int i = 0; i < 900; i++)
		listed.push_back(0x123456789);
	for (int i = 0; i < 800; i++)
		sorted.insert(0x123456789 + i);
	for (int i = 0; i < 1200; i++)
		hashed[i] = 0x123456789;
	for (int i = 0; i < 20000; i++)
		queued.push_back(0x123456789abcdef);
	texts.reserve(700);
	for (int i = 0; i < 700; i++)
		texts.push_back("a string that is longer than those without a block: " + std::to_string(i));
	for (int i = 0; i < 600; i++)
		plain.push_back(std::make_shared<app::Plain>());
	for (int i = 0; i < 250; i++)
		shared.push_back(std::shared_ptr<app::Held>(new app::Held()));
}

#ifdef _LIBCPP_VERSION
#define STRING "std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char> >"
#else
#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#endif

int main()
{
	make_held();
	make<app::Base>(500);
	make<app::Request>(700);
	make<app::deep::Session>(300);
	make<app::Left>(110);
	make<app::Both>(90);
	make<Item>(1200);
	make<Local>(60);
	make<app::Numbered<3>>(40);
	make<app::Numbered<9>>(45);
	make<app::Twice>(130);
	make<app::Box<int>>(140);
	make<app::Box<double>>(150);
	make<app::Box<std::string>>(160);
	make<app::Pair<int, app::Box<long>>>(170);
	for (int i = 0; i < 330; i++) {
		handler *block = static_cast<handler *>(malloc(sizeof(handler)));

		__asm__ volatile("" : "+r"(block)::"memory");
		block->function = on_event;
		memset(block->data, 7, sizeof(block->data));
		sum += block->data[0];
	}
	for (int i = 0; i < 440; i++) {
		char *text = static_cast<char *>(malloc(100));

		__asm__ volatile("" : "+r"(text)::"memory");
		snprintf(text, 100, "a text that is in block number %d", i);
		sum += text[0];
	}
	for (int i = 0; i < 400; i++) {
		char *text = static_cast<char *>(malloc(60));

		__asm__ volatile("" : "+r"(text)::"memory");
		strcpy(text, "a text that is in each of them");
		sum += text[0];
	}
	printf("{\"app::Base\": 500, \"app::Request\": 700, \"app::deep::Session\": 300, \"app::Left\": 110, "
	       "\"app::Both\": 90, \"Item\": 1200, \"(anonymous namespace)::Local\": 60, "
	       "\"app::Numbered<3>\": 40, \"app::Numbered<9>\": 45, \"app::Twice\": 130, \"app::Held\": 250, "
	       "\"app::Box<int>\": 140, \"app::Box<double>\": 150, \"app::Box<" STRING " >\": 160, "
	       "\"app::Pair<int, app::Box<long> >\": 170, \"Owner\": 200}\n");
	fflush(stdout);
	char byte;
	while (read(0, &byte, 1) == 1)
		;
	return sum == 0;
}
