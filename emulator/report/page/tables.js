// SPDX-License-Identifier: BSD-2-Clause
// Makes tables that are sorted by a click on a column.
import {element, button} from './dom.js';

const ROWS_MOST = 300; // of a table: more are slow, and nobody reads them

/// `columns`: [{title, value(row), text(row), words, wraps, click(row)}], with `words` for columns of
/// texts, and `wraps` where these may take several lines. Returns the table, and a line that says what is left out.
export class SortedTable {
  constructor(columns, {sort = 0, down = true, isSelected = () => false} = {}) {
    this.columns = columns;
    this.sort = sort;
    this.down = down;
    this.isSelected = isSelected;
    this.box = element('div');
  }

  show(rows) {
    this.rows = rows;
    const {value} = this.columns[this.sort], sign = this.down ? -1 : 1;
    const order = (a, b) => typeof a === 'string' ? a.localeCompare(b) : (a ?? -1) - (b ?? -1);
    const sorted = [...rows].sort((a, b) => sign * order(value(a), value(b)));
    const body = element('tbody');
    for (const row of sorted.slice(0, ROWS_MOST))
      body.append(this.line(row));
    const left = sorted.length - ROWS_MOST;
    this.box.replaceChildren(
        element('table', {}, element('thead', {}, this.heads()), body),
        element('p', {className: 'note'},
                left > 0 ? left.toLocaleString('en') + ' more: search to see others.' : rows.length ? '' : 'None.'));
    return this.box;
  }

  heads() {
    const line = element('tr');
    this.columns.forEach((column, n) => {
      const head = element('th', {className: column.words ? 'text' : '', scope: 'col', title: column.hint ?? ''},
                           button(column.title + (n === this.sort ? this.down ? ' ▾' : ' ▴' : ''), () => {
                             this.down = n === this.sort ? !this.down : !column.words;
                             this.sort = n;
                             this.show(this.rows);
                           }));
      if (n === this.sort)
        head.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      line.append(head);
    });
    return line;
  }

  line(row) {
    return element('tr', {className: this.isSelected(row) ? 'selected' : ''}, ...this.columns.map(column => {
      const text = column.text ? column.text(row) : String(column.value(row));
      const cell = element('td', {className: (column.words ? 'text' : '') + (column.wraps ? ' wraps' : ''), title: column.words ? text : ''});
      cell.append(column.click && column.can?.(row) !== false ?
          button(text, () => column.click(row), {className: 'link'}) : text);
      return cell;
    }));
  }
}
