// SPDX-License-Identifier: BSD-2-Clause
// Saves the view as a PNG file.
import {byId, element} from './dom.js';

/// Returns the parts of the timeline that are visible as one canvas.
export function pictureOf({graphs, colors}) {
  const parts = ['overview', 'axis', ...graphs.shown ? ['graphs'] : [], 'rows'].map(byId);
  const picture = element('canvas', {width: Math.max(...parts.map(part => part.width)),
                                     height: parts.reduce((sum, part) => sum + part.height, 0)});
  const context = picture.getContext('2d');
  context.fillStyle = colors.ui('panel');
  context.fillRect(0, 0, picture.width, picture.height);
  let y = 0;
  for (const part of parts) {
    context.drawImage(part, 0, y);
    y += part.height;
  }
  return picture;
}

/// Downloads it.
export function savePicture(app) {
  app.draw();
  pictureOf(app).toBlob(blob => {
    const href = URL.createObjectURL(blob);
    element('a', {href, download: byId('title').textContent.replace(/[^\w.-]+/g, '_').slice(0, 60) + '.png'}).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }, 'image/png');
}
