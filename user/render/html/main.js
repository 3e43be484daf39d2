// SPDX-License-Identifier: GPL-2.0-or-later
// The start of the page: which report it is, the theme, and keys that are the page's.

function setTitle(title, subtitle) {
	document.title = title + ' \u2013 tracer';
	document.getElementById('title').textContent = title;
	document.getElementById('subtitle').textContent = subtitle;
}

function isDark() {
	const { theme } = document.documentElement.dataset;
	return theme ? theme === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

/** The button has the theme that it leads to. */
function watchTheme(onChange) {
	const button = document.getElementById('theme');
	const update = () => {
		button.textContent = isDark() ? 'Light' : 'Dark';
		button.setAttribute('aria-pressed', String(isDark()));
		onChange();
	};
	button.addEventListener('click', () => {
		document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
		update();
	});
	window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', update);
	update();
}

function watchKeys(sites) {
	document.addEventListener('keydown', (event) => {
		const types = event.target.closest('input[type="search"], select');
		if (types || event.ctrlKey || event.altKey || event.metaKey) {
			return;
		}
		if (event.key === '/') {
			sites.input.focus();
			sites.input.select();
			event.preventDefault();
		} else if (event.key === 'i') {
			sites.invert();
			event.preventDefault();
		}
	});
}

function start() {
	const begin = performance.now();
	const report = readJson('report'), more = readJson('more');
	const main = document.getElementById('main');
	if (report.command === 'memory') {
		showMemory(report, more, main);
		watchTheme(() => undefined);
	} else {
		const sites = (report.command === 'diff' ? showDiff : more.lost ? showLost : showTrace)(report, more, main);
		sites.begin();
		watchTheme(() => sites.flame.restyle());
		watchKeys(sites);
	}
	requestAnimationFrame(() => requestAnimationFrame(() => {
		document.documentElement.dataset.drawn = String(Math.round(performance.now() - begin));
	}));
}

start();
