// SPDX-License-Identifier: BSD-2-Clause
#include "user/top/screen_content.h"

#include "emulator/base/error.h"
#include "emulator/base/short_line.h"
#include "emulator/summary/groups.h"

#include <fmt/core.h>

#include <algorithm>

// Last: it defines macros with short names.
#define NCURSES_NOMACROS
#include <curses.h>

namespace ovnitrace {

namespace {

constexpr int kEscape = 27, kBackspace = 127;

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

constexpr const char *kTableKeys = "q end  s sort  g group  / names  space freeze  enter why  "
                                   "w write  ? help";

std::vector<std::string> lines_of(const std::string &text, size_t columns) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(short_line(text.substr(at, end - at), columns));
    at = end + 1;
  }
  return lines;
}

/// Drops a character of UTF-8.
void drop_last_character(std::string &text) {
  const auto continues = [&] { return (uint8_t(text.back()) & 0xc0) == 0x80; };
  while (!text.empty() && continues())
    text.pop_back();
  if (!text.empty())
    text.pop_back();
}

/// Returns the word after `word`, or before it; the last one is followed by the first.
std::string next_word(const std::vector<std::string> &words, const std::string &word, int step) {
  const auto at = std::find(words.begin(), words.end(), word);
  const auto count = ptrdiff_t(words.size());
  const ptrdiff_t place = at == words.end() ? 0 : at - words.begin();
  return words[size_t((place + step + count) % count)];
}

} // namespace

void ScreenContent::resize(size_t rows, size_t columns) {
  rows_ = rows;
  view_.columns = columns;
  make_table();
  if (mode_ == Mode::explanation && part_)
    explain();
  if (shows_text())
    move(0); // a text that was scrolled to its end may have room now
}

void ScreenContent::take(TopPart part) {
  part_.emplace(std::move(part));
  make_table();
  if (mode_ == Mode::explanation)
    explain();
}

/// Makes the table. The selection stays with its thread.
void ScreenContent::make_table() {
  if (!part_)
    return;
  table_ = top_table(*part_, view_);
  const auto at = std::find(table_.tids.begin(), table_.tids.end(), selected_tid_);
  if (selected_tid_ && at != table_.tids.end())
    selected_ = size_t(at - table_.tids.begin());
  selected_ = std::min(selected_, std::max<size_t>(table_.lines.size(), 1) - 1);
}

/// Explains the selected thread, which may have ended, or have done nothing in the interval.
void ScreenContent::explain() {
  try {
    text_ = lines_of(explain_thread(*part_, explained_, view_.columns), view_.columns);
  } catch (const Error &) {
    text_ = {"this thread did not exist in the last interval"};
  }
  text_top_ = std::min(text_top_, text_.size() - std::min(text_.size(), list_rows()));
}

void ScreenContent::take_key(int key) {
  message_.clear();
  if (mode_ == Mode::filter)
    return take_filter_key(key);
  const auto page = int64_t(list_rows());
  switch (key) {
  case 'q':
    ended_ = true;
    return;
  case ' ':
    frozen_ = !frozen_;
    return;
  case 'w':
    save_();
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
    return move(INT32_MIN);
  case KEY_END:
    return move(INT32_MAX);
  case kEscape:
  case KEY_BACKSPACE:
  case kBackspace:
    mode_ = Mode::table;
    return;
  case 'h':
  case '?':
    text_.clear();
    for (const Key &one : kKeys)
      text_.push_back(fmt::format("{:<10}  {}", one.keys, one.does));
    text_top_ = 0;
    mode_ = Mode::help;
    return;
  }
  if (mode_ == Mode::table)
    take_table_key(key);
}

void ScreenContent::take_table_key(int key) {
  switch (key) {
  case 's':
  case 'S':
    view_.sort = next_word(top_sort_words(), view_.sort, key == 's' ? 1 : -1);
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
    text_top_ = 0;
    mode_ = Mode::explanation;
    return explain();
  }
  make_table();
}

void ScreenContent::take_filter_key(int key) {
  if (key == '\n' || key == '\r' || key == kEscape)
    mode_ = Mode::table;
  else if (key == KEY_BACKSPACE || key == kBackspace || key == '\b')
    drop_last_character(view_.filter);
  else if (key >= ' ' && key <= UINT8_MAX)
    view_.filter += char(key);
  if (key == kEscape)
    view_.filter.clear();
  make_table();
}

/// Moves the selection of the table, or the text.
void ScreenContent::move(int64_t lines) {
  const size_t count = shows_text() ? text_.size() - std::min(text_.size(), list_rows())
                                    : std::max<size_t>(table_.lines.size(), 1) - 1;
  size_t &place = shows_text() ? text_top_ : selected_;
  place = size_t(std::clamp<int64_t>(int64_t(place) + lines, 0, int64_t(count)));
  if (!shows_text())
    selected_tid_ = selected_ < table_.tids.size() ? table_.tids[selected_] : 0;
}

/// Returns how many lines there are between the head and the last line.
size_t ScreenContent::list_rows() const {
  const size_t used = 2 + (shows_text() ? 0 : table_.head.size());
  return rows_ - std::min(rows_, used);
}

void ScreenContent::add_list(std::vector<ScreenLine> &lines) {
  const size_t rows = list_rows();
  const std::vector<std::string> &list = shows_text() ? text_ : table_.lines;
  if (!shows_text()) // the selected line is shown
    top_ = std::clamp(top_, selected_ - std::min(selected_, rows ? rows - 1 : 0), selected_);
  const size_t first = shows_text() ? text_top_ : top_;
  for (size_t n = first; n < std::min(list.size(), first + rows); n++)
    lines.push_back({shows_text() ? short_line(list[n], view_.columns) : list[n],
                     !shows_text() && n == selected_ ? ScreenLine::selected : ScreenLine::plain});
}

std::vector<ScreenLine> ScreenContent::lines(time_t time, uint64_t interval) {
  std::vector<ScreenLine> lines = {
      {short_line(top_title(view_, time, interval, frozen_), view_.columns)}};
  if (!part_ && mode_ != Mode::help)
    lines.push_back({short_line("the first interval is being recorded…", view_.columns)});
  for (size_t n = 0; n < table_.head.size() && !shows_text(); n++)
    lines.push_back(
        {table_.head[n], n + 1 == table_.head.size() ? ScreenLine::bold : ScreenLine::plain});
  add_list(lines);
  lines.resize(rows_ - std::min<size_t>(rows_, 1));
  const std::string keys = mode_ == Mode::table    ? kTableKeys
                           : mode_ == Mode::filter ? "names with: " + view_.filter + "_"
                                                   : "escape back";
  if (rows_)
    lines.push_back({short_line(message_.empty() ? keys : message_, view_.columns)});
  return lines;
}

} // namespace ovnitrace
