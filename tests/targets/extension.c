/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An extension of Ruby: Extension.lose drops a block of 5000 bytes, Extension::Buffer.new has one of 6008 and frees it with the object, and
 * Extension::Careless.new has one of 7016 of which nobody thinks when its object goes.
 */
#include <ruby.h>
#include <stdlib.h>
#include <string.h>

#define QUIET __attribute__((noinline))

void Init_extension(void);

static QUIET void *take(size_t size)
{
	void *block = malloc(size);

	memset(block, 0, size);
	return block;
}

static VALUE extension_lose(VALUE self)
{
	take(5000);
	return self;
}

static const rb_data_type_t buffer_type = { "buffer", { NULL, free, NULL } };
static const rb_data_type_t careless_type = { "careless", { NULL, NULL, NULL } };

static VALUE buffer_new(VALUE class)
{
	return TypedData_Wrap_Struct(class, &buffer_type, take(6008));
}

static VALUE careless_new(VALUE class)
{
	void *block = xmalloc(7016);

	memset(block, 0, 7016);
	return TypedData_Wrap_Struct(class, &careless_type, block);
}

void Init_extension(void)
{
	VALUE module = rb_define_module("Extension");
	VALUE buffer = rb_define_class_under(module, "Buffer", rb_cObject);
	VALUE careless = rb_define_class_under(module, "Careless", rb_cObject);

	rb_define_singleton_method(module, "lose", extension_lose, 0);
	rb_undef_alloc_func(buffer);
	rb_undef_alloc_func(careless);
	rb_define_singleton_method(buffer, "new", buffer_new, 0);
	rb_define_singleton_method(careless, "new", careless_new, 0);
}
