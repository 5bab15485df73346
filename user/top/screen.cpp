// SPDX-License-Identifier: BSD-2-Clause
#include "user/top/screen.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/messages.h"
#include "emulator/input/source.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <ctime>
#include <iterator>
#include <utility>

// Last: it defines macros with short names.
#define NCURSES_NOMACROS
#include <curses.h>

namespace ovnitrace {

namespace {

constexpr uint64_t kLook = 100'000'000; // ns between looks at the size of the terminal

attr_t attribute_of(ScreenLine::Look look) {
  return look == ScreenLine::bold ? A_BOLD : look == ScreenLine::selected ? A_REVERSE : A_NORMAL;
}

} // namespace

/// Makes the content. SIGUSR2 saves a flight recorder.
TopScreen::TopScreen(TopView view) : content_(std::move(view), [] { kill(getpid(), SIGUSR2); }) {}

/// Repeats what the screen said about saved traces, which is gone with the screen.
TopScreen::~TopScreen() {
  close();
  for (const std::string &message : saved_)
    print("{}", message);
}

void TopScreen::close() {
  if (!terminal_)
    return;
  endwin();
  delscreen(static_cast<SCREEN *>(std::exchange(terminal_, nullptr)));
}

void TopScreen::open() {
  std::setlocale(LC_CTYPE, "");
  SCREEN *const screen = newterm(nullptr, stdout, stdin);
  if (!screen)
    throw Error("cannot draw on this terminal: set TERM to its kind, or use --batch");
  terminal_ = screen;
  set_term(screen);
  std::signal(SIGWINCH, SIG_DFL); // the size is looked at instead
  cbreak();
  noecho();
  keypad(stdscr, true);
  set_escdelay(25);
  nodelay(stdscr, true);
  curs_set(0);
  content_.resize(size_t(LINES), size_t(COLS));
}

bool TopScreen::wait(uint64_t time, int stop) {
  if (!terminal_)
    open();
  draw();
  while (!content_.has_ended()) {
    const uint64_t now = monotonic_ns();
    if (now >= time && !content_.is_frozen())
      return true;
    pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {stop, POLLIN, 0}};
    poll(files, std::size(files),
         int(std::min(time > now ? time - now : kLook, kLook) / 1'000'000) + 1);
    if (files[1].revents)
      return true;
    if (files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
      return false; // the terminal is gone
    const bool has_size = take_size(), has_message = take_saved(), has_keys = take_keys();
    if (has_size || has_message || has_keys)
      draw();
  }
  return false;
}

/// Returns whether the terminal has another size now.
bool TopScreen::take_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col || !size.ws_row ||
      (size.ws_col == COLS && size.ws_row == LINES))
    return false;
  resizeterm(size.ws_row, size.ws_col);
  content_.resize(size.ws_row, size.ws_col);
  return true;
}

void TopScreen::take(const std::string &directory, uint64_t from, uint64_t to) {
  NoDiagnostics none; // a part is made anew each time
  content_.take(read_top_part(directory, from, to, none));
}

void TopScreen::saved(const std::string &message) {
  const std::lock_guard lock(saving_);
  saved_.push_back(message);
}

/// Returns whether there is a new message.
bool TopScreen::take_saved() {
  const std::lock_guard lock(saving_);
  if (shown_saved_ == saved_.size())
    return false;
  shown_saved_ = saved_.size();
  content_.show(saved_.back());
  return true;
}

/// Returns whether there were any.
bool TopScreen::take_keys() {
  bool any = false;
  for (int key = getch(); key != ERR; key = getch()) {
    content_.take_key(key);
    any = true;
  }
  return any;
}

void TopScreen::draw() {
  erase();
  int row = 0;
  for (const ScreenLine &line : content_.lines(time(nullptr), interval)) {
    attrset(attribute_of(line.look));
    mvaddstr(row++, 0, line.text.c_str());
  }
  attrset(A_NORMAL);
  refresh();
}

} // namespace ovnitrace
