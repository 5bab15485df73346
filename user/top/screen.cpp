// SPDX-License-Identifier: BSD-2-Clause
#include "user/top/screen.h"

#include "emulator/base/clock.h"
#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/input/source.h"
#include "emulator/summary/groups.h"

#include <fmt/core.h>
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

constexpr int kEscape = 27, kBackspace = 127;
constexpr uint64_t kLook = 100'000'000; // ns between looks at the size of the terminal

struct Key {
  const char *keys, *does;
};

/// The lines of the help.
constexpr Key kKeys[] = {
    {"q", "end"},
    {"s, S", "sort by the next column, or by the previous one"},
    {"g", "group by thread, process or name"},
    {"/", "show only names that contain a text; empty: all"},
    {"space", "freeze the screen; again: continue"},
    {"up, down", "select a line; also page up, page down, home and end"},
    {"enter", "explain the selected thread: `ovnitrace why` of the last interval"},
    {"w", "write the flight recorder, 8 MiB of events of each CPU, as a trace"},
    {"h, ?", "this help; escape leaves it"},
};

std::vector<std::string> lines_of(const std::string &text, size_t columns) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(short_line(text.substr(at, end - at), columns));
    at = end + 1;
  }
  return lines;
}

std::string wall_clock() {
  const time_t now = time(nullptr);
  tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

/// Drops a character of UTF-8.
void drop_last_character(std::string &text) {
  const auto continues = [&] { return (uint8_t(text.back()) & 0xc0) == 0x80; };
  while (!text.empty() && continues())
    text.pop_back();
  if (!text.empty())
    text.pop_back();
}

const char *word_of(TopBy by) {
  return by == TopBy::thread ? "thread" : by == TopBy::process ? "process" : "name";
}

/// Returns the word after `word`, or before it; the last one is followed by the first.
std::string next_word(const std::vector<std::string> &words, const std::string &word, int step) {
  const auto at = std::find(words.begin(), words.end(), word);
  const auto count = ptrdiff_t(words.size());
  const ptrdiff_t place = at == words.end() ? 0 : at - words.begin();
  return words[size_t((place + step + count) % count)];
}

} // namespace

TopScreen::~TopScreen() {
  if (!terminal_)
    return;
  endwin();
  delscreen(static_cast<SCREEN *>(terminal_));
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
  view_.columns = size_t(COLS);
}

bool TopScreen::wait(uint64_t time, int stop) {
  if (!terminal_)
    open();
  draw();
  while (!ended_) {
    const uint64_t now = monotonic_ns();
    if (now >= time && !frozen_)
      return true;
    pollfd files[] = {{STDIN_FILENO, POLLIN, 0}, {stop, POLLIN, 0}};
    poll(files, std::size(files),
         int(std::min(time > now ? time - now : kLook, kLook) / 1'000'000) + 1);
    if (files[1].revents)
      return true;
    if (files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
      return false; // the terminal is gone
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row &&
        (size.ws_col != COLS || size.ws_row != LINES)) {
      resizeterm(size.ws_row, size.ws_col);
      view_.columns = size.ws_col;
      make_table();
      draw();
    }
    bool any = take_saved();
    for (int key = getch(); key != ERR; key = getch()) {
      take_key(key);
      any = true;
    }
    if (any)
      draw();
  }
  return false;
}

void TopScreen::take(const std::string &directory, uint64_t from, uint64_t to) {
  NoDiagnostics none; // a part is made anew each time
  part_.emplace(read_top_part(directory, from, to, none));
  make_table();
  if (mode_ == Mode::explanation)
    explain();
}

void TopScreen::saved(const std::string &message) {
  const std::lock_guard lock(saving_);
  saved_ = message;
}

/// Returns whether there is a new message.
bool TopScreen::take_saved() {
  const std::lock_guard lock(saving_);
  if (saved_.empty())
    return false;
  message_ = std::exchange(saved_, {});
  return true;
}

void TopScreen::make_table() {
  if (!part_)
    return;
  table_ = top_table(*part_, view_);
  if (selected_tid_) {
    const auto at = std::find(table_.tids.begin(), table_.tids.end(), selected_tid_);
    if (at != table_.tids.end())
      selected_ = size_t(at - table_.tids.begin());
  }
}

/// A thread may have ended, or have done nothing in the interval.
void TopScreen::explain() {
  try {
    text_ = lines_of(explain_thread(*part_, explained_, view_.columns), view_.columns);
  } catch (const Error &) {
    text_ = {"this thread did not exist in the last interval"};
  }
}

void TopScreen::take_filter_key(int key) {
  if (key == '\n' || key == '\r' || key == kEscape)
    mode_ = Mode::table;
  else if (key == KEY_BACKSPACE || key == kBackspace || key == '\b')
    drop_last_character(view_.filter);
  else if (key >= ' ' && key != kBackspace && key <= UINT8_MAX)
    view_.filter += char(key);
  if (key == kEscape)
    view_.filter.clear();
  make_table();
}

void TopScreen::take_key(int key) {
  message_.clear();
  if (mode_ == Mode::filter)
    return take_filter_key(key);
  const int page = int(list_rows());
  switch (key) {
  case 'q':
    ended_ = true;
    return;
  case ' ':
    frozen_ = !frozen_;
    return;
  case 'w':
    kill(getpid(), SIGUSR2); // what saves a flight recorder
    message_ = "saving…";
    return;
  case KEY_UP:
    return move(-1);
  case KEY_DOWN:
    return move(1);
  case KEY_PPAGE:
    return move(-page);
  case KEY_NPAGE:
    return move(page);
  case KEY_HOME:
    return move(-INT32_MAX);
  case KEY_END:
    return move(INT32_MAX);
  case kEscape:
  case KEY_BACKSPACE:
  case kBackspace:
    mode_ = Mode::table;
    selected_ = 0;
    make_table();
    return;
  case 'h':
  case '?':
    text_.clear();
    for (const Key &one : kKeys)
      text_.push_back(fmt::format("{:<10}  {}", one.keys, one.does));
    selected_ = 0;
    mode_ = Mode::help;
    return;
  }
  if (mode_ != Mode::table)
    return;
  switch (key) {
  case 's':
  case 'S':
    view_.sort = next_word(sort_words(), view_.sort, key == 's' ? 1 : -1);
    break;
  case 'g':
    view_.by = view_.by == TopBy::thread    ? TopBy::process
               : view_.by == TopBy::process ? TopBy::name
                                            : TopBy::thread;
    break;
  case '/':
    mode_ = Mode::filter;
    break;
  case '\n':
  case '\r':
  case KEY_ENTER:
    if (selected_ >= table_.tids.size() || !table_.tids[selected_]) {
      message_ = "select a thread: g groups by thread";
      return;
    }
    explained_ = selected_tid_ = table_.tids[selected_];
    selected_ = 0;
    mode_ = Mode::explanation;
    explain();
    return;
  default:
    return;
  }
  make_table();
}

void TopScreen::move(int lines) {
  const size_t count = mode_ == Mode::table ? table_.lines.size() : text_.size();
  const int64_t last = std::max<int64_t>(int64_t(count) - 1, 0);
  selected_ = size_t(std::clamp<int64_t>(int64_t(selected_) + lines, 0, last));
  if (mode_ == Mode::table)
    selected_tid_ = selected_ < table_.tids.size() ? table_.tids[selected_] : 0;
}

size_t TopScreen::list_rows() const {
  const size_t used = 2 + (mode_ == Mode::table || mode_ == Mode::filter ? table_.head.size() : 0);
  return size_t(LINES) - std::min(size_t(LINES), used);
}

std::string TopScreen::title() const {
  std::string text =
      fmt::format("ovnitrace top   {}   every {}   by {}   sorted by {}", wall_clock(),
                  human_duration(interval), word_of(view_.by), view_.sort);
  if (!view_.filter.empty() || mode_ == Mode::filter)
    text += "   names with: " + view_.filter + (mode_ == Mode::filter ? "_" : "");
  return frozen_ ? text + "   FROZEN" : text;
}

void TopScreen::draw_list(int row) {
  const size_t rows = list_rows();
  const bool is_text = mode_ == Mode::explanation || mode_ == Mode::help;
  const std::vector<std::string> &lines = is_text ? text_ : table_.lines;
  if (is_text) {
    top_ = std::min(selected_, lines.size() - std::min(lines.size(), rows));
  } else {
    selected_ = std::min(selected_, lines.empty() ? 0 : lines.size() - 1);
    top_ = std::clamp(top_, selected_ - std::min(selected_, rows ? rows - 1 : 0), selected_);
  }
  for (size_t n = top_; n < std::min(lines.size(), top_ + rows); n++) {
    const bool marked = !is_text && n == selected_;
    if (marked)
      attron(A_REVERSE);
    mvaddstr(row++, 0, lines[n].c_str());
    if (marked)
      attroff(A_REVERSE);
  }
}

void TopScreen::draw() {
  erase();
  int row = 0;
  mvaddstr(row++, 0, short_line(title(), view_.columns).c_str());
  if (!part_ && mode_ != Mode::help)
    mvaddstr(row++, 0, "the first interval is being recorded…");
  if (part_ && (mode_ == Mode::table || mode_ == Mode::filter))
    for (size_t n = 0; n < table_.head.size(); n++) {
      const bool is_head_of_columns = n + 1 == table_.head.size();
      if (is_head_of_columns)
        attron(A_BOLD);
      mvaddstr(row++, 0, table_.head[n].c_str());
      attroff(A_BOLD);
    }
  draw_list(row);
  const std::string keys = mode_ == Mode::table
                               ? "q end  s sort  g group  / names  space freeze  enter why  "
                                 "w write  ? help"
                               : "escape back";
  mvaddstr(LINES - 1, 0, short_line(message_.empty() ? keys : message_, view_.columns).c_str());
  refresh();
}

} // namespace ovnitrace
