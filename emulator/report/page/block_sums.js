// SPDX-License-Identifier: BSD-2-Clause
// Sums up amounts of slices over any span of threads, fast: it keeps the sums of blocks of slices.
import {lastUpTo} from './search.js';

export const BLOCK = 512; // slices of a thread

export class BlockSums {
  /// `each(slice, start, end, add)` calls add(key, amount) for the part of a slice between two times.
  /// Keys are numbers. The amounts of the parts of a slice add up to those of the slice.
  /// `block(thread, number, first, end)`: returns the sums of a whole block; by default those of each().
  constructor(trace, each, block) {
    this.trace = trace;
    this.each = each;
    this.blocks = trace.threads.map(() => []); // sums of whole blocks that are made, by thread
    this.keys = [];
    this.sums = []; // that are being made
    this.used = []; // indices of sums that are not 0
    this.makeTable(1024);
    this.add = (key, amount) => this.addAt(this.find(key), amount);
    this.block = block ?? this.block;
  }

  /// Makes a hash table of the keys. Each has its place in `keys` and `sums`.
  makeTable(size) {
    this.table = new Int32Array(size).fill(-1);
    for (let at = 0; at < this.keys.length; at++)
      this.table[this.entryOf(this.keys[at])] = at;
  }
  /// Returns the entry of a key in the table, else a free one.
  entryOf(key) {
    const mask = this.table.length - 1;
    let entry = Math.imul(key, 0x9e3779b1) >>> Math.clz32(mask); // the high bits depend on all of the key
    while (this.table[entry] >= 0 && this.keys[this.table[entry]] !== key)
      entry = entry + 1 & mask;
    return entry;
  }
  find(key) {
    const at = this.table[this.entryOf(key)];
    return at >= 0 ? at : this.append(key);
  }
  append(key) {
    const at = this.keys.push(key) - 1;
    this.sums.push(0);
    if (2 * at >= this.table.length)
      this.makeTable(2 * this.table.length);
    else
      this.table[this.entryOf(key)] = at;
    return at;
  }

  addAt(at, amount) {
    if (this.sums[at] === 0 && amount !== 0)
      this.used.push(at);
    this.sums[at] += amount;
  }
  /// Ends sums: returns {used, amounts}, and sets them to 0.
  take() {
    const used = Uint32Array.from(this.used), amounts = new Float64Array(used.length);
    for (let n = 0; n < used.length; n++) {
      amounts[n] = this.sums[used[n]];
      this.sums[used[n]] = 0;
    }
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
  block(thread, number, first, end) {
    return this.blocks[thread][number] ??= this.sumsOf(first, end, -Infinity, Infinity);
  }
  /// Makes the sums of the whole blocks that between() needs, one a step. Yields how much is done, from
  /// 0 to 1.
  *steps(threads, from, to) {
    const {first, start} = this.trace;
    for (let t = 0; t < threads.length; t++) {
      const begin = first[threads[t]], last = first[threads[t] + 1] - 1;
      for (let n = Math.ceil((lastUpTo(start, begin, last, from) - begin) / BLOCK), i, end; (i = begin + n * BLOCK) < last; n++) {
        end = Math.min(i + BLOCK, last);
        if (start[end] > to)
          break;
        this.block(threads[t], n, i, end);
        yield (t + (end - begin) / (last - begin)) / threads.length;
      }
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
      parts.push(whole ? this.block(thread, (i - begin) / BLOCK, i, end) : this.sumsOf(i, end, from, to));
    }
    return parts;
  }
}
