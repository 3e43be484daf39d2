<?php
// SPDX-License-Identifier: GPL-2.0-or-later
$unused = 1;
return (static function () use ($next) {
    return $next();
})();
