// SPDX-License-Identifier: BSD-2-Clause
// Sums up amounts of slices over any span of threads, fast: it keeps the sums of blocks of slices.
import {lastUpTo} from './search.js';

const BLOCK = 512; // slices of a thread

export class BlockSums {
  /// `each(slice, start, end, add)` calls add(key, amount) for the part of a slice between two times.
  /// Keys are numbers. The amounts of the parts of a slice add up to those of the slice.
  constructor(trace, each) {
    this.trace = trace;
    this.each = each;
    this.blocks = trace.threads.map(() => []); // sums of whole blocks that are made, by thread
    this.index = new Map();                    // in `keys` and `sums`, by key
    this.keys = [];
    this.sums = []; // that are being made
    this.used = []; // indices of sums that are not 0
    this.add = (key, amount) => {
      let at = this.index.get(key);
      if (at === undefined) {
        at = this.keys.push(key) - 1;
        this.index.set(key, at);
        this.sums.push(0);
      }
      this.addAt(at, amount);
    };
  }

  addAt(at, amount) {
    if (this.sums[at] === 0 && amount !== 0)
      this.used.push(at);
    this.sums[at] += amount;
  }
  /// Ends sums: returns {used, amounts}, and sets them to 0.
  take() {
    const used = Uint32Array.from(this.used), amounts = Float64Array.from(used, at => this.sums[at]);
    for (const at of used)
      this.sums[at] = 0;
    this.used = [];
    return {used, amounts};
  }

  /// Returns the sums of the slices from i on and before `end`, cut to a time.
  sumsOf(i, end, from, to) {
    const {start} = this.trace;
    for (; i < end; i++) {
      const a = Math.max(from, start[i]), b = Math.min(to, start[i + 1]);
      if (b > a)
        this.each(i, a, b, this.add);
    }
    return this.take();
  }
  /// Returns the sums of a whole block. Makes them when they are first needed.
  block(thread, first, end) {
    const number = (first - this.trace.first[thread]) / BLOCK;
    return this.blocks[thread][number] ??= this.sumsOf(first, end, -Infinity, Infinity);
  }
  /// Makes the sums of the blocks of a thread, one a step.
  *steps(thread) {
    const last = this.trace.first[thread + 1] - 1;
    for (let first = this.trace.first[thread]; first < last; first += BLOCK) {
      this.block(thread, first, Math.min(first + BLOCK, last));
      yield;
    }
  }

  /// Returns the sums over threads between two times, as [[key, amount], …].
  between(threads, from, to) {
    const parts = threads.flatMap(thread => this.parts(thread, from, to));
    for (const {used, amounts} of parts)
      for (let n = 0; n < used.length; n++)
        this.addAt(used[n], amounts[n]);
    const {used, amounts} = this.take();
    return Array.from(used, (at, n) => [this.keys[at], amounts[n]]);
  }
  parts(thread, from, to) {
    const {first, start} = this.trace, parts = [];
    const begin = first[thread], last = first[thread + 1] - 1;
    for (let i = lastUpTo(start, begin, last, from), end; i < last && start[i] < to; i = end) {
      const block = i - (i - begin) % BLOCK;
      end = Math.min(block + BLOCK, last);
      const whole = i === block && start[i] >= from && start[end] <= to;
      parts.push(whole ? this.block(thread, block, end) : this.sumsOf(i, end, from, to));
    }
    return parts;
  }
}
