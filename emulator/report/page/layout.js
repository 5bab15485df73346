// SPDX-License-Identifier: BSD-2-Clause
// Defines sizes that several parts of the timeline share, in CSS pixels.

export const NAMES = 210; // the column of names
export const HEIGHTS = {head: 24, cpu: 22, process: 24, thread: 22}; // by type of row
