// SPDX-License-Identifier: GPL-2.0-or-later
// Charts of one curve, with axes, a cursor that follows the pointer or the arrow keys, and what it points at as text.

const CHART = { left: 74, right: 14, top: 12, bottom: 26 };

/** Round numbers from 0 to at least `max`, in powers of two: sizes are. */
function sizeTicks(max) {
	let step = 1;
	while (max / step > 4.5) {
		step *= 2;
	}
	const ticks = [];
	for (let at = 0; at <= max + step * 0.999 && ticks.length < 7; at += step) {
		ticks.push(at);
	}
	return ticks;
}

const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
	14400, 28800, 43200, 86400, 172800, 604800, 1209600, 2419200];

function timeTicks(from, to, count) {
	const step = TIME_STEPS.find((one) => (to - from) / one <= count) || (to - from) / count || 1;
	const ticks = [];
	for (let at = Math.ceil(from / step) * step; at <= to + step / 1e6; at += step) {
		ticks.push(at);
	}
	return ticks;
}

/** Powers of ten of seconds, for ages. */
function ageTicks(from, to) {
	const ticks = [];
	for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power++) {
		ticks.push(Math.pow(10, power));
	}
	return ticks;
}

/**
 * options: points [[x, y, low, high]...]; steps: the curve keeps a value until the next point; log: the x axis; ticks {x, y};
 * formatX, formatY; label; marks [[x, name]...]; height.
 */
class Chart {
	constructor(options) {
		this.options = options;
		this.element = make('div', 'chart');
		this.element.tabIndex = 0;
		this.element.setAttribute('role', 'img');
		this.element.setAttribute('aria-label', options.label);
		this.cursor = null;
		this.element.addEventListener('pointermove', (event) => this.hover(event));
		this.element.addEventListener('pointerleave', () => this.point(null));
		this.element.addEventListener('blur', () => this.point(null));
		this.element.addEventListener('keydown', (event) => this.key(event));
		new ResizeObserver(() => this.lay()).observe(this.element);
	}

	lay() {
		const width = this.element.clientWidth;
		if (!width || width === this.width) {
			return;
		}
		this.width = width;
		const { points, ticks, log } = this.options;
		const xs = points.map((point) => point[0]);
		const [first, last] = [Math.min(xs[0], ticks.x[0] === undefined ? xs[0] : ticks.x[0]), xs[xs.length - 1]];
		const from = log ? Math.log10(first) : first, to = log ? Math.log10(last) : last;
		const top = ticks.y[ticks.y.length - 1] || 1;
		const inner = { width: width - CHART.left - CHART.right, height: this.options.height - CHART.top - CHART.bottom };
		this.x = (value) => CHART.left + (to > from ? ((log ? Math.log10(value) : value) - from) / (to - from) : 0) * inner.width;
		this.y = (value) => CHART.top + (1 - value / top) * inner.height;
		this.drawAll();
	}

	drawAll() {
		const { options } = this;
		const svg = draw('svg', { height: options.height, 'aria-hidden': 'true' });
		svg.append(...this.axes(), ...this.band(), draw('path', { class: 'curve', d: this.path((point) => point[1]) }), ...this.marks());
		this.line = draw('line', { class: 'cursor', y1: CHART.top, y2: options.height - CHART.bottom, visibility: 'hidden' });
		svg.append(this.line);
		this.element.replaceChildren(svg);
	}

	axes() {
		const { ticks, formatX, formatY, height } = this.options;
		const parts = [];
		for (const tick of ticks.y) {
			parts.push(draw('line', { class: 'axis', x1: CHART.left, x2: this.width - CHART.right, y1: this.y(tick), y2: this.y(tick) }));
			parts.push(draw('text', { x: CHART.left - 8, y: this.y(tick) + 4, 'text-anchor': 'end' }, formatY(tick)));
		}
		for (const tick of ticks.x) {
			const x = this.x(tick);
			if (x >= CHART.left - 1 && x <= this.width - CHART.right + 1) {
				parts.push(draw('text', { x, y: height - 8, 'text-anchor': 'middle' }, formatX(tick)));
			}
		}
		return parts;
	}

	path(value) {
		const parts = [];
		this.options.points.forEach((point, index) => {
			const x = this.x(point[0]).toFixed(1), y = this.y(value(point)).toFixed(1);
			if (index && this.options.steps) {
				parts.push('H' + x);
			}
			parts.push((index ? 'L' : 'M') + x + ' ' + y);
		});
		return parts.join('');
	}

	/** Between the limits, if there are any; or else below the curve. */
	band() {
		const { points, steps } = this.options;
		const limits = points.every((point) => point.length > 3);
		const up = this.path((point) => (limits ? point[3] : point[1]));
		if (!limits) {
			const start = this.x(points[0][0]).toFixed(1);
			return [draw('path', { class: 'area', d: up + 'V' + this.y(0) + 'H' + start + 'Z' })];
		}
		const back = [];
		for (let i = points.length - 1; i >= 0; i--) {
			const x = this.x(points[i][0]).toFixed(1);
			back.push('L' + x + ' ' + this.y(points[i][2]).toFixed(1));
			if (steps && i) {
				back.push('V' + this.y(points[i - 1][2]).toFixed(1));
			}
		}
		return [draw('path', { class: 'area', d: up + back.join('') + 'Z' })];
	}

	marks() {
		const parts = [];
		for (const [at, name] of this.options.marks || []) {
			const x = this.x(at);
			parts.push(draw('line', { class: 'moment', x1: x, x2: x, y1: CHART.top, y2: this.options.height - CHART.bottom }));
			parts.push(draw('text', { x: x + 4, y: CHART.top + 9 }, clean(name).slice(0, 40)));
		}
		return parts;
	}

	point(index, event) {
		this.cursor = index;
		if (!this.line) {
			return;
		}
		this.line.setAttribute('visibility', index === null ? 'hidden' : 'visible');
		if (index === null) {
			showTip(null);
			return;
		}
		const point = this.options.points[index];
		const x = this.x(point[0]), box = this.element.getBoundingClientRect();
		this.line.setAttribute('x1', String(x));
		this.line.setAttribute('x2', String(x));
		showTip(this.options.text(point), event ? event.clientX : box.left + x, event ? event.clientY : box.top + this.y(point[1]));
	}

	hover(event) {
		const x = event.clientX - this.element.getBoundingClientRect().left;
		const { points } = this.options;
		let nearest = 0;
		for (let i = 1; i < points.length; i++) {
			if (Math.abs(this.x(points[i][0]) - x) < Math.abs(this.x(points[nearest][0]) - x)) {
				nearest = i;
			}
		}
		this.point(nearest, event);
	}

	key(event) {
		const last = this.options.points.length - 1;
		const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (step) {
			this.point(this.cursor === null ? last : Math.min(last, Math.max(0, this.cursor + step)));
			event.preventDefault();
		} else if (event.key === 'Escape') {
			this.point(null);
		}
	}
}

/** What was in use over time. */
function growthChart(points, marks, label, height) {
	const max = points.reduce((most, point) => Math.max(most, point[1]), 1);
	return new Chart({
		points, marks, height, label, steps: false,
		ticks: { x: timeTicks(points[0][0], points[points.length - 1][0], 8), y: sizeTicks(max) },
		formatX: formatTime, formatY: formatBytes,
		text: (point) => formatTime(point[0]) + ' after the start\n' + formatBytes(point[1]) + ' in use',
	}).element;
}

/** What share of the blocks of a site lives longer than an age. */
function survivalChart(curve, label, height) {
	const points = curve.filter((point) => point.age_s > 0).map((point) => [point.age_s, point.value, point.low, point.high]);
	if (points.length < 2) {
		return null;
	}
	return new Chart({
		points, height, label, steps: true, log: true,
		ticks: { x: ageTicks(points[0][0], points[points.length - 1][0]), y: [0, 0.25, 0.5, 0.75, 1] },
		formatX: formatTime, formatY: (share) => Math.round(share * 100) + ' %',
		text: (point) => formatPercent(point[1]) + ' live longer than ' + formatTime(point[0]) +
			'\n95 %: ' + formatPercent(point[2]) + ' to ' + formatPercent(point[3]),
	}).element;
}
