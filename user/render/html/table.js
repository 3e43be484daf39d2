// SPDX-License-Identifier: GPL-2.0-or-later
// A table of any number of rows, of which those in sight are elements. Columns sort it, arrow keys move in it.

const LINE = 29;
const AROUND = 8; // rows beyond those in sight

/**
 * columns: { title, width, className, key(row): what it sorts by, cell(row): text or element }; rows are numbers.
 * `onSelect(row)` is called when a row is chosen.
 */
class Table {
	constructor(label, columns, height, onSelect) {
		Object.assign(this, { columns, height, onSelect, sorted: 0, ascending: false, selected: -1, rows: [] });
		this.grid = make('div', 'grid');
		this.grid.setAttribute('role', 'grid');
		this.grid.setAttribute('aria-label', label);
		this.body = make('div', 'body');
		this.body.tabIndex = 0;
		this.body.setAttribute('role', 'rowgroup');
		this.body.style.height = height + 'px';
		this.space = make('div', '');
		this.body.append(this.space);
		this.widths = columns.map((column) => column.width).join(' ');
		this.grid.append(this.head(), this.body);
		this.body.addEventListener('scroll', () => this.paint());
		this.body.addEventListener('keydown', (event) => this.key(event));
		this.element = this.grid;
	}

	line(className) {
		const row = make('div', className);
		row.setAttribute('role', 'row');
		row.style.gridTemplateColumns = this.widths;
		return row;
	}

	head() {
		const row = this.line('row head');
		row.setAttribute('aria-rowindex', '1');
		this.heads = this.columns.map((column, index) => {
			const button = make('button', '', column.title);
			button.type = 'button';
			button.addEventListener('click', () => this.sort(index));
			const cell = make('div', column.className === 'num' ? 'cell num' : 'cell', button);
			cell.setAttribute('role', 'columnheader');
			return cell;
		});
		row.append(...this.heads);
		return row;
	}

	/** By a column; a second time the other way round. Texts begin with the first, numbers with the largest. */
	sort(index) {
		this.ascending = index === this.sorted ? !this.ascending : this.columns[index].className !== 'num';
		this.sorted = index;
		this.order();
	}

	setRows(rows) {
		this.rows = rows;
		this.order();
	}

	order() {
		const { key } = this.columns[this.sorted];
		const keys = new Map(this.rows.map((row) => [row, key(row)]));
		const sign = this.ascending ? 1 : -1;
		this.rows.sort((a, b) => {
			const [left, right] = [keys.get(a), keys.get(b)];
			return left < right ? -sign : left > right ? sign : a - b;
		});
		this.heads.forEach((head, index) => head.setAttribute('aria-sort', index !== this.sorted ? 'none'
			: this.ascending ? 'ascending' : 'descending'));
		this.grid.setAttribute('aria-rowcount', String(this.rows.length + 1));
		this.space.style.height = this.rows.length * LINE + 'px';
		this.body.style.height = Math.min(this.height, Math.max(3 * LINE, this.rows.length * LINE)) + 'px';
		this.body.scrollTop = 0;
		this.paint();
	}

	paint() {
		const first = Math.max(0, Math.floor(this.body.scrollTop / LINE) - AROUND);
		const last = Math.min(this.rows.length, Math.ceil((this.body.scrollTop + this.height) / LINE) + AROUND);
		const lines = [];
		for (let at = first; at < last; at++) {
			lines.push(this.row(at));
		}
		this.space.replaceChildren(...lines);
	}

	row(at) {
		const row = this.rows[at];
		const line = this.line('row');
		line.style.top = at * LINE + 'px';
		line.id = 'row-' + row;
		line.setAttribute('aria-rowindex', String(at + 2));
		line.setAttribute('aria-selected', String(row === this.selected));
		line.append(...this.columns.map((column) => {
			const cell = make('div', 'cell ' + column.className, column.cell(row));
			cell.setAttribute('role', 'gridcell');
			return cell;
		}));
		line.addEventListener('click', () => this.select(at));
		return line;
	}

	select(at) {
		if (at < 0 || at >= this.rows.length) {
			return;
		}
		this.selected = this.rows[at];
		if (at * LINE < this.body.scrollTop) {
			this.body.scrollTop = at * LINE;
		} else if ((at + 1) * LINE > this.body.scrollTop + this.body.clientHeight) {
			this.body.scrollTop = (at + 1) * LINE - this.body.clientHeight;
		}
		this.paint();
		this.body.setAttribute('aria-activedescendant', 'row-' + this.selected);
		this.onSelect(this.selected);
	}

	key(event) {
		const at = this.rows.indexOf(this.selected);
		const page = Math.max(1, Math.floor(this.body.clientHeight / LINE) - 1);
		const last = this.rows.length - 1;
		const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last };
		if (event.key in moves) {
			this.select(Math.min(last, Math.max(0, moves[event.key])));
			event.preventDefault();
		}
	}
}
