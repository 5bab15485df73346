// SPDX-License-Identifier: BSD-2-Clause
// Adapts the palette to a dark or light page, and makes patterns for readers who see no colours.
import {UNKNOWN, PAUSED, DEAD} from './trace.js';

/// Whether a pattern has a mark at a place of the screen.
const MARKS = {
  hatched: (x, y) => (x + y) % 6 < 2,
  vertical: x => x % 4 < 1,
  horizontal: (_x, y) => y % 4 < 1,
  dots: (x, y) => x % 8 === 0 && y % 8 === 4,
};

function parse(css) {
  return [1, 3, 5].map(at => parseInt(css.slice(at, at + 2), 16));
}
function mix(a, b, part) {
  return a.map((value, n) => Math.round(value * (1 - part) + b[n] * part));
}
/// Returns a colour as in ImageData, on the little-endian machines that browsers run on.
function packed([red, green, blue]) {
  return (255 << 24 | blue << 16 | green << 8 | red) >>> 0;
}
const css = rgb => `rgb(${rgb.join(' ')})`;
/// Returns black or white, whichever is read better on the colour.
const inkOn = rgb => rgb[0] * 0.3 + rgb[1] * 0.59 + rgb[2] * 0.11 > 125 ? '#000' : '#fff';

export class Colors {
  constructor(header) {
    this.header = header;
    this.light = matchMedia('(prefers-color-scheme: light)').matches;
    this.apply();
  }
  toggle() {
    this.light = !this.light;
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.light ? 'light' : 'dark';
    const style = getComputedStyle(document.documentElement);
    this.ui = name => style.getPropertyValue('--' + name).trim();
    const row = parse(this.ui('row'));
    const states = this.header.states.map(state => parse(state.color));
    // The palette is meant for a black background: its background becomes ours.
    states[UNKNOWN] = row;
    if (this.light) {
      states[PAUSED] = mix(states[PAUSED], row, 0.74);
      states[DEAD] = mix(row, [0, 0, 0], 0.06);
    }
    this.rgb = states;
    this.css = states.map(css);
    this.ink = states.map(inkOn);
    // Inactive states must not attract the eye.
    this.quiet = {[PAUSED]: css(mix(states[PAUSED], this.light ? [0, 0, 0] : [255, 255, 255], 0.45)),
                  [DEAD]: this.ui('soft'), [UNKNOWN]: this.ui('soft')};
    this.pixel = Uint32Array.from(states, packed);
    const dark = [0, 0, 0];
    this.marks = Uint32Array.from(states, rgb => packed(mix(rgb, dark, 0.38)));
    const series = this.header.series.map(parse);
    this.series = series.map(css);
    this.seriesPixel = Uint32Array.from(series, packed);
    this.seriesInk = series.map(inkOn);
    this.row = packed(row);
    this.alarm = this.header.alarm;
    this.alarmPixel = packed(parse(this.alarm));
  }

  /// Returns the pixel of a state at a place of the screen, by its pattern.
  at(state, x, y) {
    const mark = MARKS[this.header.states[state].pattern];
    // What is not seen has the colour of the background, and no darker one.
    return mark?.(x, y) ? this.marks[state === UNKNOWN ? PAUSED : state] : this.pixel[state];
  }
}

/// Fills the legend.
export function showLegend(list, header, colors) {
  list.replaceChildren();
  for (const state of header.state_order) {
    const item = document.createElement('li'), canvas = document.createElement('canvas');
    canvas.width = 22;
    canvas.height = 13;
    const context = canvas.getContext('2d'), image = context.createImageData(22, 13);
    const pixels = new Uint32Array(image.data.buffer);
    for (let n = 0; n < pixels.length; n++)
      pixels[n] = colors.at(state, n % 22, Math.floor(n / 22));
    context.putImageData(image, 0, 0);
    const name = document.createElement('b');
    name.textContent = header.states[state].label;
    item.append(canvas, name, ' ' + header.states[state].meaning);
    list.append(item);
  }
}
