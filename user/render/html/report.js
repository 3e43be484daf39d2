// SPDX-License-Identifier: GPL-2.0-or-later
// The page of a report of `trace` or `report`, and of a difference.

/** What widths of frames may show: of a site a number, which if it is not above 0 leaves it out. */
const VALUES = {
	inuse: ['bytes in use', (site) => site.inuse_bytes, formatBytes],
	objects: ['blocks in use', (site) => site.inuse_objects, formatCount],
	alloc: ['bytes allocated', (site) => site.alloc_bytes, formatBytes],
	churn: ['bytes allocated and freed', (site) => site.free_bytes, formatBytes],
	growth: ['growth since the last report', (site) => site.growth_bytes || 0, formatBytes],
};

/** The same of `leaks`, whose report has in use what is lost. */
const LOST_VALUES = {
	inuse: ['bytes lost', VALUES.inuse[1], formatBytes],
	objects: ['blocks lost', VALUES.objects[1], formatCount],
};

const last = (list) => list[list.length - 1];

const DIFF_VALUES = {
	growth: ['bytes that it has grown by', (site) => site.growth_bytes || 0, formatBytes],
	shrunk: ['bytes that it has shrunk by', (site) => -(site.growth_bytes || 0), formatBytes],
	inuse: ['bytes in use, last', (site) => (last(site.held) ? last(site.held).inuse_bytes : 0), formatBytes],
	before: ['bytes in use, first', (site) => (site.held[0] ? site.held[0].inuse_bytes : 0), formatBytes],
};

function wordCell(words, word) {
	return word ? make('span', 'word ' + word, words[word] || word) : make('span', 'dim', '\u2013');
}

function columnsOf(model, columns) {
	return columns.map(([title, width, className, key, cell]) => ({
		title, width, className,
		key: (row) => key(model.sites[row], row),
		cell: (row) => cell(model.sites[row], row),
	}));
}

function freedShare(site) {
	return site.alloc_objects ? site.free_objects / site.alloc_objects : 0;
}

/** Of --budget: how fast a site grows of late. */
function perSecond(site) {
	const rate = site.estimate && site.estimate.growth_bytes_per_s;
	return rate ? (rate.high === null ? rate.low || 0 : rate.value) : 0;
}

function perSecondText(estimate) {
	const rate = estimate.growth_bytes_per_s;
	return rate.high === null ? '>' + formatBytes(rate.low || 0) : '~' + formatBytes(rate.value);
}

/** Nothing is known of lost blocks but how many there are, and where they are from. */
function lostColumns(model) {
	return columnsOf(model, [
		['Lost', '92px', 'num', (site) => site.inuse_bytes, (site) => formatBytes(site.inuse_bytes)],
		['Blocks', '84px', 'num', (site) => site.inuse_objects, (site) => formatCount(site.inuse_objects)],
		['Where', 'minmax(160px, 1fr)', 'code', (site, row) => model.whereName(row), (site, row) => model.whereName(row)],
		['Via', 'minmax(70px, 130px)', 'code', (site) => model.viaName(site), (site) => clean(model.viaName(site))],
	]);
}

function columnsFor(model) {
	if (model.report.command === 'diff') {
		return diffColumns(model);
	}
	return model.more.lost ? lostColumns(model) : traceColumns(model);
}

function traceColumns(model) {
	const words = [...Object.keys(model.more.words), ''];
	const columns = [
		['In use', '92px', 'num', (site) => site.inuse_bytes, (site) => approximate(formatBytes(site.inuse_bytes), site.sampled)],
		['Blocks', '84px', 'num', (site) => site.inuse_objects, (site) => approximate(formatCount(site.inuse_objects), site.sampled)],
		['Freed', '62px', 'num', freedShare, (site) => approximate(Math.floor(100 * freedShare(site)) + ' %', site.sampled)],
		['Oldest', '72px', 'num', (site) => site.oldest_s || 0, (site) => known(site.oldest_s, (age) => approximate(formatTime(age), site.estimate))],
		['Verdict', '86px', '', (site, row) => words.indexOf(model.word(row)),
			(site, row) => wordCell(model.more.words, model.word(row))],
		['Where', 'minmax(160px, 1fr)', 'code', (site, row) => model.whereName(row), (site, row) => model.whereName(row)],
		['Via', 'minmax(70px, 130px)', 'code', (site) => model.viaName(site), (site) => clean(model.viaName(site))],
	];
	if (model.sites.some((site) => site.growth_bytes !== null)) {
		columns.splice(1, 0, ['Growth', '92px', 'num', (site) => site.growth_bytes || 0, (site) => known(site.growth_bytes, formatChange)]);
	}
	if (model.report.budget) {
		columns.splice(1, 0, ['Per second', '92px', 'num', perSecond, (site) => (site.estimate ? perSecondText(site.estimate) : '\u2013')]);
	}
	return columnsOf(model, columns);
}

function diffColumns(model) {
	const held = (site, index) => (site.held[index] ? site.held[index].inuse_bytes : 0);
	return columnsOf(model, [
		['Change', '96px', 'num', (site) => site.growth_bytes || 0, (site) => known(site.growth_bytes, formatChange)],
		['Before', '92px', 'num', (site) => held(site, 0), (site) => (site.held[0] ? formatBytes(held(site, 0)) : '\u2013')],
		['After', '92px', 'num', (site) => held(site, site.held.length - 1), (site) => (last(site.held)
			? formatBytes(held(site, site.held.length - 1)) : '\u2013')],
		['What', '86px', '', (site) => site.change, (site) => site.change],
		['Where', 'minmax(160px, 1fr)', 'code', (site, row) => model.whereName(row), (site, row) => model.whereName(row)],
		['Via', 'minmax(70px, 130px)', 'code', (site) => model.viaName(site), (site) => clean(model.viaName(site))],
	]);
}

/** The graph, the search, the table and the view of one site, which belong together. */
class Sites {
	constructor(model, history) {
		this.model = model;
		this.history = history;
		this.diff = model.report.command === 'diff';
		this.values = this.diff ? DIFF_VALUES : model.more.lost ? LOST_VALUES : VALUES;
		this.flame = new Flame((node) => this.filter(node));
		this.view = new SiteView(model, history);
		this.table = new Table('Sites', columnsFor(model), 520, (row) => this.view.show(row));
		this.count = make('p', 'dim');
		this.step = 0;
		this.elements = [card('Flame graph', this.tools(), this.flame.element),
			make('div', 'pair', card('Sites', this.count, this.table.element), this.view.element)];
	}

	tools() {
		this.input = make('input', '');
		Object.assign(this.input, { type: 'search', placeholder: 'Search functions, files, modules', id: 'search', spellcheck: false });
		this.input.setAttribute('aria-label', 'Search functions');
		this.input.addEventListener('input', () => this.search());
		this.input.addEventListener('keydown', (event) => this.searchKey(event));
		this.shape = this.select('shape', 'Shape', [['flame', 'Flame'], ['icicle', 'Icicle']], () => this.flame.turn(this.shape.value === 'flame'));
		this.what = this.select('value', 'Width', Object.entries(this.values).filter(([, value]) => this.model.sites.some((site) => value[1](site) > 0))
			.map(([name, value]) => [name, value[0]]), () => this.grow());
		this.inverted = make('input', '');
		Object.assign(this.inverted, { type: 'checkbox', id: 'inverted' });
		this.inverted.addEventListener('change', () => this.grow());
		const whole = make('button', '', 'Whole graph');
		whole.type = 'button';
		whole.id = 'whole';
		whole.addEventListener('click', () => this.flame.zoom(this.flame.tree.root));
		return make('div', 'tools', this.input, this.shape.parentNode, this.what.parentNode,
			make('label', '', this.inverted, 'Inverted: from allocators to callers'), whole);
	}

	select(id, title, entries, onChange) {
		const select = make('select', '');
		select.id = id;
		entries.forEach(([value, name]) => option(select, value, name));
		select.addEventListener('change', onChange);
		make('label', '', title, select);
		return select;
	}

	/** Make the tree anew: for another value, or from the other end. */
	grow() {
		const value = this.values[this.what.value] || Object.values(this.values)[0];
		const numbers = Float64Array.from(this.model.sites, value[1]);
		this.flame.show(new Tree(this.model, numbers, this.inverted.checked), value[2]);
		this.filter(this.flame.tree.root);
	}

	/** In the table are the sites of the frame that the graph is zoomed to, that the search has found. */
	filter(node) {
		const { tree, found } = this.flame;
		const all = node === tree.root ? this.model.sites.map((_, index) => index) : [...node.sites];
		const rows = found ? all.filter((row) => found.sites[row]) : all;
		const words = [formatCounted(rows.length, 'site')];
		if (node !== tree.root) {
			words.push('of the frame ' + tree.name(node).slice(0, 120));
		}
		if (found) {
			words.push('with ' + JSON.stringify(this.input.value.slice(0, 80)) + ' in the stack');
		}
		this.count.textContent = words.join(' ');
		this.table.setRows(rows);
	}

	search() {
		this.step = 0;
		this.flame.setFound(this.model.search(this.input.value));
		this.filter(this.flame.zoomed);
	}

	/** Enter goes to what was found, one after the other; Escape leaves the search. */
	searchKey(event) {
		if (event.key === 'Enter' && this.flame.found) {
			const node = this.flame.tree.find(this.flame.found, this.step++);
			if (node) {
				this.flame.focus(node);
			} else {
				this.step = 0;
			}
		} else if (event.key === 'Escape') {
			this.input.value = '';
			this.search();
			this.flame.item.focus();
			event.preventDefault();
		}
	}

	invert() {
		this.inverted.checked = !this.inverted.checked;
		this.grow();
	}

	begin() {
		this.grow();
		if (this.table.rows.length) {
			this.table.select(0);
		}
	}
}

function processTitle(report) {
	const targets = report.targets || [];
	return targets.length === 1 ? (clean(targets[0].comm) || '[unknown]') + ' (' + targets[0].pid + ')' : targets.length + ' processes';
}

function sumOf(list, value) {
	return list.reduce((sum, one) => sum + (value(one) || 0), 0);
}

function traceFacts(report) {
	const { totals, targets, price } = report;
	const rss = sumOf(targets, (target) => target.process.rss_bytes);
	const facts = [
		fact('in use', approximate(formatBytes(totals.inuse_bytes), totals.sampled), formatCounted(totals.inuse_objects, 'block')),
		fact('allocated', approximate(formatBytes(totals.alloc_bytes), totals.sampled), formatCounted(totals.alloc_objects, 'block')),
		fact('freed', totals.alloc_objects ? formatPercent(totals.free_objects / totals.alloc_objects) : '\u2013', 'of the blocks'),
		rss ? fact('RSS', formatBytes(rss), targets.length === 1 ? 'of the process' : 'of all processes') : null,
		fact('traced for', formatTime(report.duration_s), report.budget ? 'in short windows' : 'each call'),
		price.percent === null ? null : fact('price', price.percent.toFixed(1) + ' %', 'of one core, ' + (price.trap_ns / 1000).toFixed(1) + ' \u00b5s a call'),
	];
	return make('div', 'facts', ...facts.filter((one) => one));
}

/** Only of --budget: what no site is charged with, and what tracing took. */
function budgetCard(report) {
	const { budget } = report;
	if (!budget) {
		return null;
	}
	const rest = (name, estimate) => (estimate.value >= 1 || estimate.high === null ? [name, formatEstimate(estimate, ' per second')] : [name, 'nothing']);
	const rows = [
		['all heaps grow by', budget.counted ? formatEstimate(budget.growth_bytes_per_s, ' per second') : 'not known: no heap can be counted'],
		rest('of this, alive but written to', budget.written_bytes_per_s),
		rest('of this, cannot be attributed to a site', budget.unattributed_bytes_per_s),
		['cost of tracing', (budget.cost_assumed ? 'at most ' : '') + budget.spent_percent.toFixed(2) + ' % of CPU time, of ' + budget.percent + ' %'],
		['windows', formatCount(budget.windows) + ', ' + formatTime(budget.windows_s) + ' in all; ' + formatCounted(budget.recorded, 'block') + ' recorded'],
	];
	return card('Estimates', make('p', 'dim', 'All figures of sites are estimates (~) from short windows of tracing: what is in use is what has been gained since then.'),
		figureTable(rows));
}

/** Totals over time, with the verdict on all. */
function historyCard(report, history) {
	if (!history || history.times.length < 2) {
		return card('Growth over time', make('p', 'dim', 'This report has no history: it is of too short a run, or of one that keeps none.'));
	}
	const marks = history.marks.map((mark) => [mark.time_s, mark.name]);
	const words = formatCounted(history.times.length, 'moment') + ' in ' + formatTime(last(history.times) - history.times[0]);
	return card('Growth over time', make('p', 'dim', 'Bytes in use at ' + words + '.'),
		growthChart(history.total(), marks, 'Bytes in use over time', 190));
}

function lossCard(report, more) {
	const losses = (more.losses || []).map((loss) => [loss.name, loss.sentence, loss.defect, report.loss[loss.name]]);
	if (!losses.length) {
		return card('Losses', make('p', '', 'Nothing was lost.'));
	}
	const rows = losses.map(([name, sentence, defect, count]) => [formatCount(count),
		make('span', defect ? 'growing' : 'dim', defect ? 'figures are short' : 'of the target'), name, sentence]);
	return card('Losses', make('p', 'dim', 'What could not be recorded, and what of it makes figures short.'),
		plainTable([['Count', 'num'], ['', ''], ['Name', 'code'], ['What it counts', '']], rows));
}

function processCard(report, held) {
	const columns = [['PID', 'num'], ['Process', 'code'], [held, 'num'], ['Blocks', 'num'], ['RSS', 'num'], ['PSS', 'num'], ['Threads', 'num'],
		['Open files', 'num'], ['Program', 'code']];
	const rows = report.targets.slice(0, 1000).map((target) => [String(target.pid), clean(target.comm) + (target.exited ? ' (ended)' : ''),
		approximate(formatBytes(target.inuse_bytes), target.sampled), approximate(formatCount(target.inuse_objects), target.sampled), known(target.process.rss_bytes, formatBytes),
		known(target.process.pss_bytes, formatBytes), known(target.process.threads, formatCount), known(target.open_files, formatCount),
		clean(target.exe || '')]);
	const more = report.targets.length > rows.length ? make('p', 'dim', 'and ' + formatCount(report.targets.length - rows.length) + ' more') : null;
	return card('Processes', plainTable(columns, rows), more);
}

function lostFacts(report) {
	const { totals } = report;
	return make('div', 'facts', fact('lost', formatBytes(totals.inuse_bytes), formatCounted(totals.inuse_objects, 'block')));
}

/** The same of the blocks that `leaks` has found. */
function showLost(report, more, main) {
	const sites = new Sites(new Model(report, more), null);
	setTitle('Lost blocks of ' + processTitle(report), 'looked at ' + (report.time || 'an unknown time') + ', by tracer ' + report.version);
	main.append(lostFacts(report), ...sites.elements, processCard(report, 'Lost'));
	return sites;
}

/** Returns the graph and table, which begin to draw when they are on the page. */
function showTrace(report, more, main) {
	const model = new Model(report, more);
	const history = more.history ? new History(more.history) : null;
	const sites = new Sites(model, history);
	setTitle(processTitle(report), 'traced for ' + formatTime(report.duration_s) + ' until ' + (report.time || 'an unknown time') +
		', by tracer ' + report.version);
	main.append(...[traceFacts(report), verdictBox(more.words, report.verdict), budgetCard(report), historyCard(report, history), ...sites.elements,
		processCard(report, 'In use'), lossCard(report, more)].filter((one) => one));
	return sites;
}

function showDiff(report, more, main) {
	const sites = new Sites(new Model(report, more), null);
	const facts = report.moments.map((moment, index) => fact(clean(moment.name || 'moment ' + (index + 1)), formatBytes(moment.inuse_bytes),
		(moment.time || 'unknown time') + ', after ' + formatTime(moment.duration_s)));
	const changes = Object.entries(report.changes).filter(([, count]) => count).map(([word, count]) => formatCount(count) + ' ' + word);
	facts.push(fact('change', formatChange(report.growth_bytes), formatCounted(report.growth_objects, 'block')));
	setTitle('What has changed', changes.join(', ') + '; by tracer ' + report.version);
	main.append(make('div', 'facts', ...facts), ...sites.elements);
	return sites;
}
