// SPDX-License-Identifier: BSD-2-Clause
// Keeps which part of the time is visible.

const SMALLEST = 10; // ns

export class View {
  /// `changed` is called after each change.
  constructor(from, to, changed) {
    this.least = from;
    this.most = Math.max(to, from + SMALLEST);
    this.from = this.least;
    this.to = this.most;
    this.changed = changed;
  }
  get span() {
    return this.to - this.from;
  }

  set(from, to) {
    const whole = this.most - this.least;
    const span = Math.min(whole, Math.max(SMALLEST, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, this.least), this.most - span);
    this.to = this.from + span;
    this.changed();
  }
  showWhole() {
    this.set(this.least, this.most);
  }
  /// Zooms. `at`: the part of the view, 0 to 1, that stays in place.
  zoom(factor, at = 0.5) {
    const fixed = this.from + this.span * at, span = this.span * factor;
    if (span > this.most - this.least)
      return this.showWhole();
    this.set(fixed - span * at, fixed + span * (1 - at));
  }
  move(part) {
    const ns = this.span * part;
    this.set(this.from + ns, this.to + ns);
  }
  /// Moves, and zooms out if needed, so that a span is visible with some room.
  reveal(from, to) {
    if (from >= this.from && to <= this.to && to - from > this.span / 400)
      return;
    const span = to - from > this.span ? (to - from) * 1.3 :
        to - from > this.span / 400 ? this.span : (to - from) * 20;
    this.set((from + to) / 2 - span / 2, (from + to) / 2 + span / 2);
  }
}
