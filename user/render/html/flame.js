// SPDX-License-Identifier: GPL-2.0-or-later
// The flame graph: drawn on a canvas that is no larger than what is seen of it. Narrow frames are drawn as one, so that the time this takes
// follows from the width of the window. The frame that has the focus is an element of its own, for the keyboard and for readers of screens.

const ROW = 19;
const NARROW = 1; // pixels
const COLOURS = 7;
const MONOSPACE = '12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace';

/** Colours of groups: the largest have their own. */
class Palette {
	constructor(tree) {
		const { labels, paths, starts } = tree.model;
		const sums = new Float64Array(labels.groupNames.length);
		const seen = new Int32Array(labels.groupNames.length).fill(-1); // the last site that it was counted for
		for (const site of tree.root.sites) {
			for (let at = starts[site]; at < starts[site + 1]; at++) {
				const group = labels.groupIds[paths[at]];
				sums[group] += seen[group] === site ? 0 : tree.values[site];
				seen[group] = site;
			}
		}
		this.groups = this.largest(labels.groupNames, sums);
		this.read();
	}

	largest(names, sums) {
		const found = names.map((name, index) => [name, sums[index]]).filter(([name, sum]) => sum > 0 && name !== 'process' && name !== 'allocator');
		return found.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, COLOURS).map(([name]) => name);
	}

	/** The colours of the theme. */
	read() {
		const style = getComputedStyle(document.documentElement);
		const value = (name) => style.getPropertyValue(name).trim();
		this.colours = this.groups.map((_, index) => value('--c' + index));
		this.fixed = { process: value('--c-root'), allocator: value('--c-allocator') };
		[this.other, this.small, this.ink] = [value('--c-other'), value('--c-small'), value('--frame-ink')];
		[this.found, this.card] = [value('--found'), value('--card')];
	}

	of(group) {
		const index = this.groups.indexOf(group);
		return index >= 0 ? this.colours[index] : this.fixed[group] || this.other;
	}

	legend() {
		const names = [...this.groups.map((group, index) => [group, this.colours[index]]), ['other files', this.other],
			['allocator', this.fixed.allocator]];
		return names.map(([name, colour]) => {
			const swatch = make('i', 'swatch');
			swatch.style.background = colour;
			return make('span', '', swatch, name);
		});
	}
}

class Flame {
	/** `onZoom(node)`, `onChange()` are called when the root that is shown, or what is found, has changed. */
	constructor(onZoom) {
		this.onZoom = onZoom;
		this.upwards = true;
		this.found = null;
		this.format = formatBytes;
		this.canvas = make('canvas', '');
		this.canvas.setAttribute('aria-hidden', 'true');
		this.item = make('div', 'item');
		this.item.tabIndex = 0;
		this.item.setAttribute('role', 'treeitem');
		this.spacer = make('div', 'spacer', this.canvas, this.item);
		this.spacer.setAttribute('role', 'tree');
		this.spacer.setAttribute('aria-label', 'Flame graph');
		this.scroller = make('div', 'scroller', this.spacer);
		this.status = make('div', 'status');
		this.status.setAttribute('role', 'status');
		this.legend = make('div', 'legend');
		this.element = make('div', '', this.legend, this.scroller, this.status);
		this.listen();
	}

	listen() {
		this.scroller.addEventListener('scroll', () => this.paint());
		this.canvas.addEventListener('click', (event) => this.click(event));
		this.canvas.addEventListener('pointermove', (event) => this.hover(event));
		this.canvas.addEventListener('pointerleave', () => showTip(null));
		this.item.addEventListener('keydown', (event) => this.key(event));
		new ResizeObserver(() => this.lay()).observe(this.scroller);
	}

	/** Show a tree from its root. */
	show(tree, format) {
		this.tree = tree;
		this.format = format;
		this.palette = new Palette(tree);
		this.legend.replaceChildren(...this.palette.legend());
		this.zoomed = this.focused = tree.root;
		this.lay(true);
		this.announce();
	}

	restyle() {
		this.palette.read();
		this.legend.replaceChildren(...this.palette.legend());
		this.paint();
	}

	turn(upwards) {
		this.upwards = upwards;
		this.lay(true);
	}

	setFound(found) {
		this.found = found;
		this.paint();
		this.announce();
	}

	/* Layout: rows of frames, each with its place from the left */

	lay(scrolls) {
		const width = this.scroller.clientWidth;
		if (!this.tree || !width) {
			return;
		}
		this.width = width;
		this.places = [];
		for (const node of this.tree.line(this.zoomed).slice(0, -1)) {
			this.put({ node, x: 0, width, below: true });
		}
		this.layNodes(width);
		const height = this.places.length * ROW;
		this.spacer.style.height = height + 'px';
		this.height = Math.min(height, Math.max(8 * ROW, Math.round(window.innerHeight * 0.62)));
		if (scrolls) {
			this.scroller.scrollTop = this.upwards ? height : 0;
		}
		this.paint();
	}

	layNodes(width) {
		const scale = this.zoomed.value > 0 ? width / this.zoomed.value : 0;
		const left = [[this.zoomed, 0]];
		while (left.length) {
			const [node, from] = left.pop();
			this.put({ node, x: from * scale, width: node.value * scale });
			let at = from;
			for (const child of this.tree.children(node)) {
				if (child.value * scale < NARROW) {
					break;
				}
				left.push([child, at]);
				at += child.value;
			}
			this.putRest(node, at - from, at * scale, scale);
		}
		this.places.forEach((row) => row.sort((a, b) => a.x - b.x));
	}

	/** Frames that are too narrow, as one: the children of a frame are ordered, so they are its last ones. */
	putRest(node, drawn, x, scale) {
		const rest = this.tree.children(node).reduce((sum, child) => sum + child.value, 0) - drawn;
		if (rest * scale >= NARROW) {
			this.put({ node, x, width: rest * scale, rest }, node.depth + 1);
		}
	}

	put(place, depth) {
		const row = depth === undefined ? place.node.depth : depth;
		while (this.places.length <= row) {
			this.places.push([]);
		}
		this.places[row].push(place);
	}

	top(row) {
		return (this.upwards ? this.places.length - 1 - row : row) * ROW;
	}

	/* Drawing */

	paint() {
		if (!this.tree || !this.places) {
			return;
		}
		const ratio = window.devicePixelRatio || 1;
		const context = this.canvas.getContext('2d');
		const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
		if (this.canvas.width !== width || this.canvas.height !== height) {
			[this.canvas.width, this.canvas.height] = [width, height];
			this.canvas.style.width = this.width + 'px';
			this.canvas.style.height = this.height + 'px';
		}
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = this.palette.card;
		context.fillRect(0, 0, this.width, this.height);
		context.font = MONOSPACE;
		context.textBaseline = 'middle';
		this.column = this.column || context.measureText('0').width;
		this.places.forEach((places, row) => {
			const y = this.top(row) - this.scroller.scrollTop;
			if (y > -ROW && y < this.height) {
				places.forEach((place) => this.paintPlace(context, place, y));
			}
		});
		this.moveItem();
	}

	colour(place) {
		const { labels } = this.tree.model;
		if (place.rest) {
			return this.palette.small;
		}
		if (place.node.label < 0) {
			return this.palette.fixed.process;
		}
		if (this.found && this.found.labels[place.node.label]) {
			return this.palette.found;
		}
		return this.palette.of(labels.groups[place.node.label]);
	}

	paintPlace(context, place, y) {
		const gap = place.width > 3 ? 1 : place.width > 1.6 ? 0.5 : 0;
		context.globalAlpha = place.below ? 0.55 : 1;
		context.fillStyle = this.colour(place);
		context.fillRect(place.x, y, place.width - gap, ROW - 1);
		const columns = Math.floor((place.width - 8) / this.column);
		if (columns >= 3 && !place.rest) {
			const name = this.tree.name(place.node);
			context.fillStyle = this.found && this.found.labels[place.node.label] ? '#fff' : this.palette.ink;
			context.fillText(name.length > columns ? name.slice(0, columns - 1) + '\u2026' : name, place.x + 4, y + ROW / 2);
		}
		context.globalAlpha = 1;
	}

	/* What is where */

	placeOf(node) {
		const row = this.places[node.depth];
		return row ? row.find((place) => place.node === node && !place.rest) : undefined;
	}

	at(event) {
		const box = this.canvas.getBoundingClientRect();
		const position = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW);
		const row = this.places[this.upwards ? this.places.length - 1 - position : position] || [];
		const x = event.clientX - box.left;
		let low = 0, high = row.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (row[middle].x <= x) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
		const place = row[low - 1];
		return place && x < place.x + place.width ? place : null;
	}

	describe(node) {
		const share = this.tree.root.value ? node.value / this.tree.root.value : 0;
		const sites = formatCounted(node.sites.length, 'site');
		return this.format(node.value) + ', ' + formatPercent(share) + ', ' + sites;
	}

	hover(event) {
		const place = this.at(event);
		if (!place) {
			showTip(null);
			return;
		}
		const { groups } = this.tree.model.labels;
		const text = place.rest ? 'frames too narrow to draw: ' + this.format(place.rest) + '; zoom in'
			: this.tree.name(place.node) + (place.node.label < 0 ? '' : '\n' + groups[place.node.label]) + '\n' + this.describe(place.node);
		showTip(text.length > 900 ? text.slice(0, 900) + '\u2026' : text, event.clientX, event.clientY);
		this.canvas.style.cursor = 'pointer';
	}

	/* Zoom and focus */

	click(event) {
		const place = this.at(event);
		if (place) {
			this.zoom(place.node);
		}
	}

	zoom(node) {
		this.zoomed = this.focused = node;
		this.lay(true);
		this.item.focus({ preventScroll: true });
		this.announce();
		this.onZoom(node);
	}

	/** Give a frame the focus; one that is too narrow only after a zoom to what has called it. */
	focus(node) {
		if (!this.placeOf(node)) {
			this.zoomed = node.parent;
			this.lay(true);
			this.onZoom(this.zoomed);
		}
		if (!this.placeOf(node)) {
			this.zoomed = node;
			this.lay(true);
			this.onZoom(this.zoomed);
		}
		this.focused = node;
		const y = this.top(node.depth);
		if (y < this.scroller.scrollTop || y + ROW > this.scroller.scrollTop + this.height) {
			this.scroller.scrollTop = y - this.height / 2;
		}
		this.paint();
		this.item.focus({ preventScroll: true });
		this.announce();
	}

	moveItem() {
		const place = this.placeOf(this.focused) || this.placeOf(this.zoomed);
		const style = this.item.style;
		style.left = place.x + 'px';
		style.width = Math.max(place.width, 5) + 'px';
		style.top = this.top(place.node.depth) + 'px';
		style.height = ROW - 1 + 'px';
		this.item.setAttribute('aria-level', String(place.node.depth + 1));
		this.item.setAttribute('aria-label', this.tree.name(place.node).slice(0, 300) + ': ' + this.describe(place.node));
		this.item.setAttribute('aria-expanded', String(this.tree.children(place.node).length > 0));
	}

	announce() {
		const parts = [this.tree.name(this.focused).slice(0, 300) + ': ' + this.describe(this.focused)];
		if (this.zoomed !== this.tree.root) {
			parts.push('zoomed to ' + this.tree.name(this.zoomed).slice(0, 120) + ' (Esc leaves)');
		}
		if (this.found) {
			const sum = this.tree.root.sites.reduce((all, site) => all + (this.found.sites[site] ? this.tree.values[site] : 0), 0);
			parts.push('found: ' + this.format(sum) + ', ' + formatPercent(this.tree.root.value ? sum / this.tree.root.value : 0));
		}
		this.status.textContent = parts.join('  \u00b7  ');
	}

	/** A frame beside the one with the focus, in the row that is drawn. */
	beside(step) {
		const row = (this.places[this.focused.depth] || []).filter((place) => !place.rest);
		const index = row.findIndex((place) => place.node === this.focused);
		return row[index + step] ? row[index + step].node : null;
	}

	key(event) {
		const above = this.tree.children(this.focused)[0] || null;
		const moves = {
			ArrowUp: this.upwards ? above : this.focused.parent,
			ArrowDown: this.upwards ? this.focused.parent : above,
			ArrowLeft: this.beside(-1), ArrowRight: this.beside(1), Home: this.zoomed,
		};
		if (event.ctrlKey || event.altKey || event.metaKey) {
			return;
		}
		if (event.key in moves) {
			if (moves[event.key]) {
				this.focus(moves[event.key]);
			}
		} else if (event.key === 'Enter' || event.key === ' ') {
			this.zoom(this.focused);
		} else if (event.key === 'Escape') {
			this.zoom(this.tree.root);
		} else {
			return;
		}
		event.preventDefault();
	}
}
