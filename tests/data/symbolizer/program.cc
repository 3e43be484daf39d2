/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Templates, members, a lambda and an anonymous namespace. */
extern "C" {
extern void *volatile sink;
}
void *volatile sink;
__attribute__((noinline)) void *keep(void *block, long number)
{
	sink = static_cast<char *>(block) + number;
	return sink;
}
namespace shop
{
template <typename T, int N> struct Shelf {
	Shelf()
	{
		for (int i = 0; i < N; i++)
			put(T(i));
	}
	__attribute__((noinline)) ~Shelf()
	{
		keep(this, N);
	}
	inline void put(T item)
	{
		sink = keep(&items[0], long(item));
	}
	T items[N];
};
template <typename T> __attribute__((noinline)) T *grow(T *from, unsigned long n)
{
	auto add = [&](int k) { return keep(from, long(n) + k); };
	return static_cast<T *>(add(1) ? add(2) : add(3));
}
} // namespace shop
namespace
{
__attribute__((noinline)) int local(int n)
{
	shop::Shelf<short, 3> shelf;
	return (shop::grow<int>(nullptr, n) != 0) + (shop::grow<char>(nullptr, n) != 0);
}
} // namespace
int main(int argc, char **)
{
	shop::Shelf<int, 2> shelf;
	return local(argc) + shelf.items[1];
}
