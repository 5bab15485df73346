// SPDX-License-Identifier: BSD-2-Clause
// Spreads amounts over equal parts of a time, and sums them up.

export class Density {
  constructor(from, to, parts) {
    Object.assign(this, {from, parts, width: Math.max(1, to - from) / parts});
    this.amount = new Float64Array(parts + 1);
    this.slope = new Float64Array(parts + 1);
  }

  /// Spreads `sum` evenly over a span within the time. Costs the same for any length.
  add(start, end, sum) {
    const a = (start - this.from) / this.width, b = (end - this.from) / this.width;
    const first = Math.min(this.parts, Math.floor(a)), last = Math.min(this.parts, Math.floor(b));
    if (first === last) {
      this.amount[first] += sum;
      return;
    }
    const each = sum / (b - a);
    this.amount[first] += each * (first + 1 - a);
    this.amount[last] += each * (b - last);
    this.slope[first + 1] += each;
    this.slope[last] -= each;
  }

  /// Ends the additions. Keeps the sums up to the start of each part.
  finish() {
    this.sums = new Float64Array(this.parts + 1);
    for (let n = 0, each = 0; n < this.parts; n++) {
      each += this.slope[n];
      this.sums[n + 1] = this.sums[n] + this.amount[n] + each;
    }
    this.sums[this.parts] += this.amount[this.parts]; // spans that start at the end
    this.amount = this.slope = null;
    return this;
  }

  /// Returns the sum up to a time: exact where a part starts, else as if a part were even.
  until(time) {
    const place = Math.max(0, Math.min(this.parts, (time - this.from) / this.width));
    const n = Math.min(this.parts - 1, Math.floor(place));
    return this.sums[n] + (this.sums[n + 1] - this.sums[n]) * (place - n);
  }

  /// Returns the mean per ns of `count` equal parts of a time.
  means(from, to, count) {
    const each = (to - from) / count, all = new Float64Array(count);
    for (let n = 0, before = this.until(from); n < count; n++) {
      const next = this.until(from + (n + 1) * each);
      all[n] = (next - before) / each;
      before = next;
    }
    return all;
  }
}

const PARTS = 131072; // of the whole run
const FINE = 8;       // of them that are one part of a picture

/// Keeps several densities of a whole run, and makes finer ones of a part that is shown larger.
export class Densities {
  /// `each(from, to, add)` calls add(series, start, end, sum) for all spans in a time, cut to it.
  constructor(from, to, series, each) {
    Object.assign(this, {from, to, series, each});
  }
  make(from, to, parts) {
    const all = Array.from({length: this.series}, () => new Density(from, to, parts));
    this.each(from, to, (series, start, end, sum) => all[series].add(start, end, sum));
    return all.map(one => one.finish());
  }
  /// Returns for each series the means of `count` parts of a time.
  means(from, to, count) {
    const fine = (to - from) / count < (this.to - this.from) / PARTS * FINE;
    this.whole ??= fine ? undefined : this.make(this.from, this.to, PARTS);
    const all = fine ? this.make(from, to, count) : this.whole;
    return all.map(one => one.means(from, to, count));
  }
}
