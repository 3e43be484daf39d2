// SPDX-License-Identifier: GPL-2.0-or-later
// All that a report has of one site.

function survivalOf(site) {
	const lives = site.lifespan || site.estimate;
	return lives && lives.survival ? lives.survival : [];
}

function verdictBox(words, verdict) {
	if (!verdict || !verdict.word) {
		return null;
	}
	const word = make('div', 'word', words[verdict.word] || verdict.word);
	return make('div', 'verdict ' + verdict.word, word, make('p', '', clean(verdict.text || '')));
}

/** Names and values, as a table of two columns. */
function figureTable(rows) {
	return plainTable([['', 'dim'], ['', 'num']], rows.filter((row) => row[1] !== null));
}

function siteFigures(site, lost) {
	const blocks = (bytes, objects) => approximate(formatBytes(bytes) + ' in ' + formatCounted(objects, 'block'), site.sampled);
	if (lost) {
		return [['lost', blocks(site.inuse_bytes, site.inuse_objects)]];
	}
	const rows = [
		['in use', blocks(site.inuse_bytes, site.inuse_objects)],
		['allocated', blocks(site.alloc_bytes, site.alloc_objects)],
		['freed', blocks(site.free_bytes, site.free_objects)],
		['change since the last report', site.growth_bytes === null ? null : formatChange(site.growth_bytes)],
		['oldest block in use', site.oldest_s === null ? null : formatTime(site.oldest_s)],
		['mean age of blocks in use', site.mean_age_s === null ? null : formatTime(site.mean_age_s)],
	];
	if (site.lifespan && site.lifespan.mean_s !== null) {
		rows.push(['mean life of freed blocks', formatTime(site.lifespan.mean_s)]);
	}
	if (site.processes) {
		rows.push(['processes', formatCount(site.processes)]);
	}
	return site.estimate ? rows.concat(estimateFigures(site.estimate)) : rows;
}

/** Only of --budget: what the figures are estimated from. */
function estimateFigures(estimate) {
	return [
		['grows of late by', formatEstimate(estimate.growth_bytes_per_s, ' per second')],
		['has gained', formatEstimate(estimate.grown_bytes, '')],
		['beside this, blocks that are written to', formatEstimate(estimate.written_bytes_per_s, ' per second')],
		['blocks seen', formatCount(estimate.seen_blocks)],
		['of these in use, unchanged', formatCount(estimate.unchanged)],
		['of these in use, but written to', formatCount(estimate.written)],
		['of these freed', formatCount(estimate.freed)],
		['of these in use, by age', estimate.ages.map((age) => formatTime(age.from_s) + ' on: ' + formatCount(age.unchanged + age.written)).join('; ') || 'none'],
	];
}

/** Of a difference: what the site held at each moment. */
function heldFigures(report, site) {
	const rows = report.moments.map((moment, index) => {
		const held = site.held[index];
		return [clean(moment.name || 'moment ' + (index + 1)), held
			? formatBytes(held.inuse_bytes) + ' in ' + formatCounted(held.inuse_objects, 'block') : 'not known'];
	});
	rows.push(['change', site.growth_bytes === null ? 'not known' : formatChange(site.growth_bytes)]);
	return rows;
}

function stackList(model, index) {
	const list = make('ol', 'stack code');
	const line = model.where(index);
	model.stack(index).forEach((frame, at) => {
		const item = make('li', at === line ? 'line' : '', clean(frameName(frame)));
		const place = placeOf(frame) || (frame.function && frame.module ? frame.module : '');
		if (frame.inlined) {
			item.append(make('span', 'place', ' [inlined]'));
		}
		if (place && !INTERPRETED.includes(frame.kind)) {
			item.append(make('span', 'place', '  ' + clean(place)));
		}
		list.append(item);
	});
	list.tabIndex = 0;
	list.setAttribute('aria-label', 'Stack, the innermost function first');
	return list;
}

class SiteView {
	constructor(model, history) {
		this.model = model;
		this.history = history;
		this.element = card('Site', make('p', 'dim', 'Choose a row of the table.'));
		this.element.id = 'site';
		this.element.setAttribute('aria-live', 'polite');
	}

	show(index) {
		const { model } = this;
		const site = model.sites[index];
		const call = model.rows.call(site);
		const title = make('h2', '', '#' + site.rank + '  ' + model.whereName(index));
		const via = [call.function, call.allocator, call.source].filter((word) => word).map(clean).join(', ');
		const figures = model.report.command === 'diff' ? heldFigures(model.report, site) : siteFigures(site, model.more.lost);
		this.element.replaceChildren(title, make('p', 'dim', clean(model.processName(site)) + ': ' + via), ...this.notes(site),
			figureTable(figures), ...this.growth(index), ...this.survival(site), make('h3', '', 'Stack'), stackList(model, index));
	}

	notes(site) {
		const notes = [verdictBox(this.model.more.words, site.verdict)];
		if (site.container) {
			notes.push(make('p', '', 'Part of ' + clean(site.container) + '.'));
		}
		if (site.hint) {
			notes.push(make('p', 'dim', clean(site.hint)));
		}
		return notes.filter((note) => note);
	}

	growth(index) {
		const points = this.history ? this.history.site(index) : null;
		if (!points || points.length < 2) {
			return [];
		}
		return [make('h3', '', 'In use over time'), growthChart(points, [], 'What this site held over time', 130)];
	}

	survival(site) {
		const chart = survivalChart(survivalOf(site), 'Share of blocks that live longer than an age', 150);
		if (!chart) {
			return [];
		}
		const { tail } = site.lifespan || site.estimate;
		const note = tail && tail.shape === 'flat' ? 'The curve ends flat at ' + formatPercent(tail.value) + ' (95 %: ' +
			formatPercent(tail.low) + ' to ' + formatPercent(tail.high) + '): hardly a block is freed any more.'
			: 'The band is where the curve is with 95 % confidence.';
		return [make('h3', '', 'Survival: share of blocks that live longer than an age'), chart, make('p', 'dim', note)];
	}
}
