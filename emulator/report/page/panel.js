// SPDX-License-Identifier: BSD-2-Clause
// Makes the tabs beside the timeline.
import {byId, element} from './dom.js';

export class Panel {
  /// `pages`: [{title, show(element), follows: [what changes it]}].
  constructor(pages) {
    this.pages = pages;
    this.page = byId('pages');
    this.tabs = pages.map(({title}, n) => {
      const tab = element('button', {type: 'button', role: 'tab', id: 'tab-' + n, onclick: () => this.choose(n),
                                     'aria-controls': 'pages'}, title);
      tab.addEventListener('keydown', event => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step) {
          event.stopPropagation();
          const to = (n + step + pages.length) % pages.length;
          this.choose(to);
          this.tabs[to].focus();
        }
      });
      return tab;
    });
    byId('tabs').append(...this.tabs);
    this.page.setAttribute('role', 'tabpanel');
    this.page.setAttribute('aria-live', 'polite');
    this.choose(0);
  }
  choose(n) {
    this.chosen = n;
    this.tabs.forEach((tab, t) => {
      tab.setAttribute('aria-selected', String(t === n));
      tab.tabIndex = t === n ? 0 : -1;
    });
    this.page.scrollTop = 0;
    this.show();
  }
  open(title) {
    this.choose(this.pages.findIndex(page => page.title === title));
  }
  get tab() {
    return this.pages[this.chosen];
  }
  show() {
    this.tab.show(this.page);
  }
  showIfFollows(what) {
    if (this.tab.follows.includes(what))
      this.show();
  }
}
