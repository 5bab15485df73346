// SPDX-License-Identifier: BSD-2-Clause
// Searches in increasing values.

/// Returns the last index from `low` on and before `high` whose value is not above `value`; `low`
/// if no later one is.
export function lastUpTo(values, low, high, value) {
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// Does the same if the result is probably near `low`: tries steps that double.
export function lastUpToNear(values, low, high, value) {
  let step = 1;
  while (low + step < high && values[low + step] <= value) {
    low += step;
    step *= 2;
  }
  return lastUpTo(values, low, Math.min(low + step, high), value);
}
