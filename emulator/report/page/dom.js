// SPDX-License-Identifier: BSD-2-Clause
// Makes elements. Texts of the trace only ever become text nodes, so nothing in them is HTML.

export const byId = id => document.getElementById(id);

/// Makes an element: element('td', {className: 'text'}, 'words', otherElement).
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith('aria-') || name === 'role')
      made.setAttribute(name, value);
    else
      made[name] = value;
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
}

export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes))
    made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function button(text, action, properties = {}) {
  return element('button', {type: 'button', onclick: action, ...properties}, text);
}

/// Makes a canvas as large as it is shown, in pixels of the screen. Its context, scaled so that a
/// unit is a CSS pixel.
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d', {alpha: false});
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
