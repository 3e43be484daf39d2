// SPDX-License-Identifier: GPL-2.0-or-later
// The page of a report of `memory`: causes first, then where the memory is.

const PART_COLOURS = 7;

function partColour(index) {
	return index < PART_COLOURS ? 'var(--c' + index + ')' : 'var(--c-other)';
}

/** Parts of a whole as a bar; each is [name, bytes]. */
function shareBar(label, parts) {
	const bar = make('div', 'bar'), legend = make('div', 'legend');
	const sum = sumOf(parts, (part) => part[1]);
	bar.setAttribute('role', 'img');
	bar.setAttribute('aria-label', label);
	parts.filter((part) => part[1] > 0).forEach(([name, bytes], index) => {
		const piece = make('div', ''), swatch = make('i', 'swatch');
		const text = name + ': ' + formatBytes(bytes) + ', ' + formatPercent(bytes / sum);
		piece.style.flexGrow = String(bytes / sum);
		piece.style.background = swatch.style.background = partColour(index);
		piece.addEventListener('pointermove', (event) => showTip(text, event.clientX, event.clientY));
		piece.addEventListener('pointerleave', () => showTip(null));
		bar.append(piece);
		if (index < PART_COLOURS + 3) {
			legend.append(make('span', '', swatch, text));
		}
	});
	return make('div', '', bar, legend);
}

function causesCard(report) {
	const boxes = report.verdict.map((verdict) => make('div', 'verdict ' + (verdict.cause === 'none' ? 'none' : 'growing'), make('div', 'word', clean(verdict.cause).replace(/_/g, ' ')),
		make('p', '', clean(verdict.text)), verdict.remedy ? make('p', '', clean(verdict.remedy)) : null));
	return card('What holds the memory', ...(boxes.length ? boxes : [make('p', 'dim', 'No cause stands out.')]));
}

function partsCard(report, more) {
	const title = (purpose) => (more.titles && more.titles[purpose]) || purpose;
	const parts = [...report.parts].sort((a, b) => b.rss_bytes - a.rss_bytes);
	const rss = report.process.rss_bytes || 1;
	const rows = parts.map((part) => [formatBytes(part.rss_bytes), formatPercent(part.rss_bytes / rss), known(part.pss_bytes, formatBytes),
		known(part.swap_bytes, formatBytes), formatBytes(part.mapped_bytes), formatCount(part.count), known(part.growth_bytes, formatChange),
		title(part.purpose)]);
	return card('Anatomy', shareBar('Parts of the resident memory', parts.map((part) => [title(part.purpose), part.rss_bytes])),
		plainTable([['RSS', 'num'], ['Share', 'num'], ['PSS', 'num'], ['Swap', 'num'], ['Mapped', 'num'], ['Number', 'num'], ['Growth', 'num'],
			['What it is for', '']], rows));
}

function heapCard(heap) {
	const free = heap.free_bytes, live = heap.live_bytes;
	const rows = Object.entries(heap).filter(([name, value]) => name.endsWith('_bytes') && value)
		.map(([name, value]) => [name.slice(0, -6).replace(/_/g, ' '), formatBytes(value)]);
	return card('malloc: ' + clean(heap.allocator + (heap.version ? ' ' + heap.version : '')),
		make('p', 'dim', formatCounted(heap.live_blocks, 'block') + ' in use, ' + formatCounted(heap.arenas, 'arena')),
		shareBar('Blocks in use, free memory and overhead', [['in use', live], ['free', free], ['overhead', heap.overhead_bytes]]),
		figureTable(rows), ...heap.remarks.map((remark) => make('p', 'dim', clean(remark))));
}

function kindsCard(kinds) {
	const rows = kinds.slice(0, 500).map((kind) => [formatBytes(kind.bytes), formatCount(kind.blocks), known(kind.growth_bytes, formatChange),
		clean([kind.kind, kind.name].filter((word) => word).join(' ')) + (kind.size ? ', ' + formatBytes(kind.size) + ' each' : ''),
		clean(kind.holder || '')]);
	return card('What blocks are', plainTable([['Bytes', 'num'], ['Blocks', 'num'], ['Growth', 'num'], ['Kind', 'code'], ['Held by', 'code']], rows));
}

function objectsCard(objects) {
	const rows = objects.classes.slice(0, 500).map((one) => [formatCount(one.live), formatBytes(one.slot_bytes + one.other_bytes),
		known(one.growth_objects, formatCount), formatCount(one.old), formatCount(one.garbage), clean(one.name),
		one.holders.slice(0, 3).map((holder) => clean(typeof holder === 'string' ? holder : holder.text || holder.path || '')).join('; ')]);
	return card('Objects of ' + clean(objects.runtime + ' ' + (objects.version || '')),
		make('p', 'dim', formatCounted(objects.pages, 'page') + ', ' + formatCount(objects.minor_gcs) + ' minor and ' +
			formatCounted(objects.major_gcs, 'major garbage collection')),
		plainTable([['Live', 'num'], ['Bytes', 'num'], ['Growth', 'num'], ['Old', 'num'], ['Garbage', 'num'], ['Class', 'code'], ['Held by', 'code']], rows));
}

function bytesCard(title, figures) {
	const rows = Object.entries(figures).filter(([, value]) => typeof value === 'number')
		.map(([name, value]) => [name.replace(/_bytes$/, '').replace(/_/g, ' '), name.endsWith('_bytes') ? formatBytes(value) : formatCount(value)]);
	return card(title, figureTable(rows));
}

function membersCard(report) {
	const rows = report.targets.map((target) => [String(target.pid), clean(target.comm), known(target.rss_bytes, formatBytes),
		known(target.pss_bytes, formatBytes), known(target.swap_bytes, formatBytes), known(target.threads, formatCount)]);
	return card('Processes', plainTable([['PID', 'num'], ['Process', 'code'], ['RSS', 'num'], ['PSS', 'num'], ['Swap', 'num'], ['Threads', 'num']], rows));
}

function showMemory(report, more, main) {
	const { process } = report;
	setTitle(processTitle(report), 'looked at ' + (report.time || '') + ' for ' + formatTime(report.duration_s) + ', by tracer ' + report.version);
	const facts = [fact('RSS', known(process.rss_bytes, formatBytes)), fact('PSS', known(process.pss_bytes, formatBytes)),
		fact('swap', known(process.swap_bytes, formatBytes)), fact('mapped', known(process.mapped_bytes, formatBytes)),
		fact('threads', known(process.threads, formatCount))];
	main.append(make('div', 'facts', ...facts), causesCard(report), partsCard(report, more), ...report.malloc.map(heapCard));
	if (report.kinds.length) {
		main.append(kindsCard(report.kinds));
	}
	main.append(...report.objects.map(objectsCard), membersCard(report), bytesCard('In the kernel', report.kernel));
	if (report.cgroup) {
		main.append(bytesCard('Control group', report.cgroup));
	}
	if (report.remarks.length) {
		main.append(card('Remarks', ...report.remarks.map((remark) => make('p', 'dim', clean(remark)))));
	}
}
