// SPDX-License-Identifier: GPL-2.0-or-later
// The report as graphs and tables want it: frames with labels, and for each site the path of labels from its process inwards.

function readJson(id) {
	return JSON.parse(document.getElementById(id).textContent);
}

/** Names of frames, each once. Frames with one label are one frame of a graph. */
class Labels {
	constructor() {
		this.ids = new Map();
		this.names = [];
		this.groups = []; // of each: the module, or what it is
		this.groupIds = []; // of each: the position of its group in groupNames
		this.groupNames = [];
	}

	id(name, group) {
		const key = group + '\n' + name;
		let id = this.ids.get(key);
		if (id === undefined) {
			id = this.names.length;
			this.ids.set(key, id);
			this.names.push(clean(name));
			this.groups.push(clean(group));
			this.groupIds.push(this.groupId(clean(group)));
		}
		return id;
	}

	groupId(group) {
		const known = this.groupNames.indexOf(group);
		return known >= 0 ? known : this.groupNames.push(group) - 1;
	}
}

const INTERPRETED = ['ruby', 'python', 'php'];

function baseName(path) {
	return path.slice(path.lastIndexOf('/') + 1) || path;
}

function placeOf(frame) {
	if (!frame.file) {
		return '';
	}
	return frame.line === null ? frame.file : frame.file + ':' + frame.line;
}

/** What a frame is called in graphs: its function, or its place in its file. */
function frameName(frame) {
	if (frame.kind === 'error') {
		return '[' + (frame.function || 'stack cut short') + ']';
	}
	if (frame.function) {
		const place = INTERPRETED.includes(frame.kind) ? placeOf(frame) : '';
		return place ? frame.function + ' (' + place + ')' : frame.function;
	}
	if (frame.module) {
		return baseName(frame.module) + (frame.offset === null ? '' : '+0x' + frame.offset.toString(16));
	}
	return '[unknown]';
}

function frameGroup(frame) {
	if (frame.kind === 'native' && frame.module) {
		return baseName(frame.module);
	}
	return frame.kind === 'error' ? 'cut short' : frame.kind;
}

/** Frames of a report by schema 2, whose tables have numbers. */
function framesOfTables(report) {
	const text = (position) => (position === null ? null : report.strings[position]);
	return report.frames.map(([kind, name, module, offset, file, line, inlined]) => ({
		kind: text(kind), function: text(name), module: module === null ? null : text(report.modules[module][0]),
		build_id: module === null ? null : text(report.modules[module][1]), offset, file: text(file), line, inlined: inlined === 1,
	}));
}

/** A report by schema 2: what called what is in its table of stacks. */
class TableModel {
	constructor(report) {
		this.frames = framesOfTables(report);
		this.report = report;
	}

	/** Frames of a site as positions, the innermost first. */
	stack(site) {
		const found = [];
		for (let at = site.stack; at !== null && at !== undefined; at = this.report.stacks[at][0]) {
			found.push(this.report.stacks[at][1]);
		}
		return found;
	}

	call(site) {
		const [source, allocator, name] = this.report.calls[site.call].map((at) => (at === null ? null : this.report.strings[at]));
		return { source, allocator, function: name };
	}
}

/** A difference: its rows have their frames themselves. */
class RowModel {
	constructor(report) {
		this.frames = [];
		this.ids = new Map();
		report.sites.forEach((site) => site.frames.forEach((frame) => this.add(frame)));
	}

	add(frame) {
		const key = JSON.stringify(frame);
		if (!this.ids.has(key)) {
			this.ids.set(key, this.frames.length);
			this.frames.push(frame);
		}
		return this.ids.get(key);
	}

	stack(site) {
		return site.frames.map((frame) => this.add(frame));
	}

	call(site) {
		return site;
	}
}

/** All that graphs and tables show. Paths of all sites are in one array, each from where it begins to where the next one does. */
class Model {
	constructor(report, more) {
		this.report = report;
		this.more = more;
		this.rows = report.command === 'diff' ? new RowModel(report) : new TableModel(report);
		this.labels = new Labels();
		this.frameLabels = this.rows.frames.map((frame) => this.labels.id(frameName(frame), frameGroup(frame)));
		this.sites = report.sites;
		this.comms = new Map((report.targets || []).map((target) => [target.pid, target.comm]));
		this.addPaths();
	}

	processName(site) {
		return (this.report.command === 'diff' ? site.program : this.comms.get(site.pid)) || '[unknown]';
	}

	/** The words of memory that an interpreter or the like has requested; null for ordinary sites. */
	region(site) {
		return (site.region && this.more.regions[site.region]) || null;
	}

	functionName(site) {
		const call = this.rows.call(site), region = this.region(site);
		if (region && !region.line) {
			return '[' + region.title + ']';
		}
		if (!call.function) {
			return '[' + (call.source || 'memory') + ']';
		}
		return (site.sampled || site.estimate ? '~' : '') + call.function;
	}

	addPaths() {
		let paths = new Int32Array(1 << 16), at = 0;
		this.starts = new Int32Array(this.sites.length + 1);
		this.sites.forEach((site, index) => {
			const stack = this.rows.stack(site);
			if (at + stack.length + 2 > paths.length) {
				const more = new Int32Array(2 * paths.length + stack.length);
				more.set(paths);
				paths = more;
			}
			paths[at++] = this.labels.id(this.processName(site), 'process');
			for (let i = stack.length - 1; i >= 0; i--) {
				paths[at++] = this.frameLabels[stack[i]];
			}
			paths[at++] = this.labels.id(this.functionName(site), 'allocator');
			this.starts[index + 1] = at;
		});
		this.paths = paths;
	}

	/** The frames of a site, the innermost first. */
	stack(index) {
		return this.rows.stack(this.sites[index]).map((at) => this.rows.frames[at]);
	}

	/** The column beside where it is. */
	viaName(site) {
		const call = this.rows.call(site), region = this.region(site);
		return region ? (region.line ? region.title : call.source) : this.functionName(site);
	}

	/** The position in its stack of the frame that a site is named by; -1 where there is none. */
	where(index) {
		const line = this.more.lines[index];
		return typeof line === 'string' ? -1 : line || 0;
	}

	whereName(index) {
		const stack = this.rows.stack(this.sites[index]);
		const frame = this.rows.frames[stack[this.where(index)]];
		if (!frame) {
			return clean(this.more.lines[index] || '[unknown]');
		}
		const file = frame.file ? baseName(frame.file) + (frame.line === null ? '' : ':' + frame.line) : '';
		const name = frame.function || frameName(frame);
		return clean(file ? name + '  ' + file : name);
	}

	/** Which labels, and which sites, a text is part of. Null for no text. */
	search(text) {
		const wanted = text.toLowerCase();
		if (!wanted) {
			return null;
		}
		const labels = Uint8Array.from(this.labels.names, (name) => (name.toLowerCase().includes(wanted) ? 1 : 0));
		const sites = new Uint8Array(this.sites.length);
		for (let site = 0; site < sites.length; site++) {
			for (let at = this.starts[site]; at < this.starts[site + 1] && !sites[site]; at++) {
				sites[site] = labels[this.paths[at]];
			}
		}
		return { labels, sites };
	}

	word(index) {
		const verdict = this.sites[index].verdict;
		return verdict && verdict.word ? verdict.word : '';
	}
}

/** Changes of what a site held, as points in time; null if they are not in the report. */
class History {
	constructor(history) {
		this.times = history.times_s;
		this.bytes = history.bytes;
		this.marks = history.marks;
		this.sites = new Map(history.sites);
	}

	total() {
		return this.times.map((time, index) => [time, this.bytes[index]]);
	}

	site(index) {
		const changes = this.sites.get(index);
		if (!changes) {
			return null;
		}
		let at = 0, bytes = 0;
		return this.times.map((time, moment) => {
			if (at < changes.length && changes[at][0] === moment) {
				bytes = changes[at++][1];
			}
			return [time, bytes];
		});
	}
}
