// SPDX-License-Identifier: BSD-2-Clause
// Reads the data that the page carries: base64, raw deflate, then a header and parts
// (emulator/report/page.h).

function bytesOf(base64) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n++)
    bytes[n] = text.charCodeAt(n);
  return bytes;
}

async function inflate(blocks) {
  const waiting = [...blocks];
  const packed = new ReadableStream({
    pull(stream) {
      const block = waiting.shift();
      if (!block)
        return stream.close();
      stream.enqueue(bytesOf(block.textContent));
      block.remove();
    },
  });
  const all = packed.pipeThrough(new window.DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(all).arrayBuffer());
}

/// Returns {header, parts}. The parts are bytes by name.
export async function readData(document) {
  const all = await inflate(document.querySelectorAll('script[type="application/octet-stream"]'));
  const size = new DataView(all.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + size)));
  const parts = {};
  let at = 4 + size;
  for (const [name, bytes] of header.parts) {
    parts[name] = all.subarray(at, at + bytes);
    at += bytes;
  }
  return {header, parts};
}

/// Reads the numbers of a column, one after another.
export class Varints {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 0x80)
      return byte;
    let value = byte & 0x7f, unit = 0x80;
    do {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * unit;
      unit *= 0x80;
    } while (byte >= 0x80);
    return value;
  }
  /// Returns the next number as a difference.
  nextSigned() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}
