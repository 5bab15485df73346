// SPDX-License-Identifier: BSD-2-Clause
// Formats numbers for people.

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/// Returns a duration: 1234567 → "1.235 ms". Whole ns are exact below 1 µs.
export function duration(ns) {
  if (ns === null || ns === undefined)
    return '–';
  if (ns === 0)
    return '0';
  const [unit, name] = UNITS.find(([size]) => Math.abs(ns) >= size) ?? UNITS[3];
  const value = ns / unit;
  const digits = name === 'ns' ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return value.toFixed(digits) + ' ' + name;
}

/// Returns a time of the trace, exact to the ns: "1.234 567 890 s".
export function exactTime(ns) {
  const all = Math.round(ns), whole = Math.floor(all / 1e9), rest = String(all - whole * 1e9).padStart(9, '0');
  return whole + '.' + rest.replace(/(...)(...)(...)/, '$1\u2009$2\u2009$3') + ' s';
}

export function percent(part, whole) {
  return whole > 0 ? (100 * part / whole).toFixed(1) + ' %' : '–';
}

export function count(number) {
  return number === null || number === undefined ? 'unknown' : number.toLocaleString('en');
}

/// Returns a count: "1 thread", "1,234 threads".
export function counted(number, one, many = one + 's') {
  return count(number) + ' ' + (number === 1 ? one : many);
}

/// Parses "5ms", "30us", "2.5 s" or "100" (ns) to ns. Returns NaN for anything else.
export function parseDuration(text) {
  const match = /^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?$/.exec(text);
  const units = {ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9};
  return match ? Number(match[1]) * units[match[2] ?? 'ns'] : NaN;
}

/// Returns a round distance for an axis, 1, 2 or 5 times a power of ten: at most `most` fit.
export function roundStep(span, most) {
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  return Math.max(1, power * [1, 2, 5, 10].find(n => n * power >= raw));
}
