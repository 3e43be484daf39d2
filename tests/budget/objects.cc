// SPDX-License-Identifier: GPL-2.0-or-later
// What C++ leaks: objects leak|none [REQUESTS_PER_SECOND]. Objects by new, strings and vectors that nobody takes out of their list, beside a map that
// evicts, a list of sessions that end, and much that is freed at once.
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "account.h"
}

namespace {

constexpr unsigned long RATE = 2000;
constexpr int WORK = 50000; // some 120 us

struct Session {
	std::string user;
	double totals[12];
	unsigned long id;
};

struct Order {
	unsigned long id;
	double lines[30];
};

unsigned long number;
std::map<unsigned long, std::string> pages;
std::deque<std::unique_ptr<Session>> sessions;
// They have room for all that is leaked in an hour, so that they do not grow.
std::vector<Order *> orders;
std::vector<std::string> names;
std::vector<std::vector<double>> series;

std::string text(size_t length)
{
	std::string made(length, 'x');

	made.replace(0, 8, std::to_string(10000000 + ++number).substr(0, 8));
	return made;
}

SITE void leak_order()
{
	auto *order = new Order{};

	order->id = ++number;
	if (account.leaking && account_draw(&account.random) % 10 == 0) {
		orders.push_back(order);
		account_leak(0, "leak_order", sizeof(Order));
	} else {
		delete order;
	}
}

SITE void leak_name()
{
	std::string name = text(140);

	if (account.leaking && account_draw(&account.random) % 40 == 0) {
		names.push_back(std::move(name));
		account_leak(1, "leak_name", 141);
	}
}

SITE void leak_series()
{
	std::vector<double> one(40);

	one[0] = static_cast<double>(++number);
	if (account.leaking && account_draw(&account.random) % 125 == 0) {
		series.push_back(std::move(one));
		account_leak(2, "leak_series", 40 * sizeof(double));
	}
}

SITE void cache_page()
{
	pages[account_draw(&account.random) % 20000] = text(300);
}

SITE void open_session()
{
	auto session = std::make_unique<Session>();

	session->user = text(60);
	session->id = ++number;
	sessions.push_back(std::move(session));
	if (sessions.size() > 10000)
		sessions.pop_front();
}

SITE void garbage()
{
	std::vector<std::string> parts;
	std::map<int, std::string> fields;

	for (int i = 0; i < 6; i++)
		parts.push_back(text(20 + account_draw(&account.random) % 300));
	for (int i = 0; i < 4; i++)
		fields[i] = parts[static_cast<size_t>(i)] + parts[5];
	account.sum += fields.size();
}

void request()
{
	account.sum += account_compute(&account.random, WORK);
	leak_order();
	leak_name();
	leak_series();
	cache_page();
	open_session();
	garbage();
}

} // namespace

int main(int argc, char **argv)
{
	orders.reserve(1000000);
	names.reserve(500000);
	series.reserve(200000);
	for (int i = 0; i < 10000; i++)
		open_session();
	for (unsigned long i = 0; i < 20000; i++)
		pages[i] = text(300);
	account_begin(argc, argv);
	account_serve(request, account_rate(argc, argv, RATE));
	return 0;
}
