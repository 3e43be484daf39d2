// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and names as people read them, and elements. Names are of the target: they are only ever set as text.

/** Characters that are not seen, or that change the order of others: names that differ must look different. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]/g;
const NAME_MAX = 2000;

/** A name that is safe to show, and of a length that can be shown. */
function clean(name) {
	const text = name.length > NAME_MAX ? name.slice(0, NAME_MAX) + '\u2026' : name;
	return text.replace(UNSEEN, (one) => '\\u' + one.charCodeAt(0).toString(16).padStart(4, '0'));
}

/** 51200000 -> "48.8 MiB"; signed. */
function formatBytes(bytes) {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
	let size = Math.abs(bytes), unit = 0;
	while (size >= 1023.95 && unit + 1 < units.length) {
		size /= 1024;
		unit++;
	}
	const sign = bytes < 0 ? '\u2212' : '';
	return sign + (unit ? size.toFixed(1) : String(Math.round(size))) + ' ' + units[unit];
}

/** A figure that is an estimate: "~12.3 MiB". */
function approximate(text, sampled) {
	return sampled ? '~' + text : text;
}

/** "~5.8 MiB (95 %: 5.5 MiB to 6.1 MiB)"; of a limit that is not known nothing is claimed. */
function formatEstimate(estimate, unit) {
	if (estimate.high === null) {
		return 'at least ' + formatBytes(estimate.low || 0) + unit;
	}
	return '~' + formatBytes(estimate.value) + unit + ' (95 %: ' + formatBytes(Math.max(0, estimate.low || 0)) + ' to ' + formatBytes(estimate.high) + ')';
}

/** With a sign in any case, for what has changed. */
function formatChange(bytes) {
	return bytes > 0 ? '+' + formatBytes(bytes) : formatBytes(bytes);
}

/** 51200 -> "51,200" */
function formatCount(count) {
	const sign = count < 0 ? '\u2212' : '';
	return sign + String(Math.abs(Math.round(count))).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** "1 block", "51,200 blocks" */
function formatCounted(count, noun) {
	return formatCount(count) + ' ' + noun + (Math.abs(Math.round(count)) === 1 ? '' : 's');
}

function formatPercent(share) {
	return (100 * share).toFixed(share < 0.0995 && share > 0 ? 2 : 1) + ' %';
}

/** Seconds -> "0.4 ms", "29.8 s", "1m 30s", "2h 05m", "3d 4h" */
function formatTime(seconds) {
	if (seconds < 0.0995) {
		return (seconds * 1000).toFixed(seconds < 0.00995 ? 2 : 1) + ' ms';
	}
	if (seconds < 59.95) {
		return seconds.toFixed(seconds < 9.95 ? 1 : 0) + ' s';
	}
	const whole = Math.round(seconds);
	const two = (number) => String(number).padStart(2, '0');
	if (whole < 3600) {
		return Math.floor(whole / 60) + 'm ' + two(whole % 60) + 's';
	}
	if (whole < 86400) {
		return Math.floor(whole / 3600) + 'h ' + two(Math.floor(whole / 60) % 60) + 'm';
	}
	return Math.floor(whole / 86400) + 'd ' + (Math.floor(whole / 3600) % 24) + 'h';
}

/** What is not known has a dash. */
function known(value, format) {
	return value === null || value === undefined ? '\u2013' : format(value);
}

/** An element with a class and children, which are elements or texts. */
function make(tag, className, ...children) {
	const element = document.createElement(tag);
	if (className) {
		element.className = className;
	}
	element.append(...children.filter((child) => child !== null && child !== undefined));
	return element;
}

/** The same of SVG, with attributes. */
function draw(tag, attributes, ...children) {
	const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
	for (const [name, value] of Object.entries(attributes)) {
		element.setAttribute(name, String(value));
	}
	element.append(...children);
	return element;
}

function card(title, ...children) {
	const section = make('section', 'card', make('h2', '', title), ...children);
	section.setAttribute('aria-label', title);
	return section;
}

function option(select, value, title) {
	const element = make('option', '', title);
	element.value = value;
	select.append(element);
}

/** A small table without sorting: columns are [title, class], rows are arrays of texts or elements. */
function plainTable(columns, rows) {
	const head = make('tr', '', ...columns.map(([title, className]) => make('th', className, title)));
	const body = rows.map((row) => make('tr', '', ...row.map((cell, index) => make('td', columns[index][1], cell))));
	return make('div', 'wide', make('table', 'plain', make('thead', '', head), make('tbody', '', ...body)));
}

function fact(name, value, note) {
	return make('div', 'fact', make('div', 'name', name), make('div', 'value', value), note ? make('div', 'note', note) : null);
}

/** Text that follows the pointer; null hides it. */
function showTip(text, x, y) {
	const tip = document.getElementById('tip');
	tip.hidden = text === null;
	if (text === null) {
		return;
	}
	tip.textContent = text;
	const left = Math.min(x + 14, window.innerWidth - tip.offsetWidth - 8);
	const top = y + 18 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 18;
	tip.style.left = Math.max(4, left) + 'px';
	tip.style.top = Math.max(4, top) + 'px';
}
