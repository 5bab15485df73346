// SPDX-License-Identifier: BSD-2-Clause
// Does long work in steps, so that the page still answers. The steps are those of a generator.

const AT_ONCE = 12; // ms of work in a frame of 16 ms

/// Does steps for some ms. Returns whether the work is done; else calls told() with the last result.
function doFor(work, ms, told) {
  const end = performance.now() + ms;
  for (;;) {
    const {done, value} = work.next();
    if (done)
      return true;
    if (performance.now() >= end) {
      told(value);
      return false;
    }
  }
}

/// Does work and calls done(). Short work is done at once. During longer work, calls told() with what
/// a step yields, and ends early once isWanted() is false.
export function doSoon(work, {told, done, isWanted}) {
  if (doFor(work, AT_ONCE, told))
    done();
  else
    setTimeout(() => isWanted() && doSoon(work, {told, done, isWanted}));
}

/// Does work while the page is idle. Does nothing where the browser (Safari) cannot tell when that is.
export function doWhileIdle(work) {
  globalThis.requestIdleCallback?.(deadline => {
    while (deadline.timeRemaining() > 1)
      if (work.next().done)
        return;
    doWhileIdle(work);
  });
}
