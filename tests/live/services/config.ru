# SPDX-License-Identifier: GPL-2.0-or-later
require_relative 'shop'
run Shop
