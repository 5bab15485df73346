// SPDX-License-Identifier: BSD-2-Clause
// Decides what `ovnitrace top` shows on a terminal, and what its keys do.
#pragma once

#include "emulator/top/top_table.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ovnitrace {

/// A line of the screen.
struct ScreenLine {
  enum Look : uint8_t { plain, bold, selected };
  std::string text; ///< not wider than the screen
  Look look = plain;
};

/// Holds the table of the newest interval, or a text in its place, and the user's choices.
class ScreenContent {
public:
  /// `save` is called to write the flight recorder.
  ScreenContent(TopView view, std::function<void()> save)
      : view_(std::move(view)), save_(std::move(save)) {}

  /// Sets the size of the screen, in characters.
  void resize(size_t rows, size_t columns);
  /// Takes the newest interval.
  void take(TopPart part);
  /// Takes a key: a byte of UTF-8, or a code of ncurses. The keys are in kKeys.
  void take_key(int key);
  /// Shows `message` in the last line until the next key.
  void show(std::string message) { message_ = std::move(message); }

  /// Returns the lines of the screen, at most as many as it has. `time`: of the clock,
  /// seconds since 1970. `interval`: ns between parts.
  std::vector<ScreenLine> lines(time_t time, uint64_t interval);

  bool is_frozen() const { return frozen_; } ///< no new intervals are wanted
  bool has_ended() const { return ended_; }  ///< the user wants to leave

private:
  enum class Mode : uint8_t { table, filter, explanation, help };

  bool shows_text() const { return mode_ == Mode::explanation || mode_ == Mode::help; }
  void take_filter_key(int key);
  void take_table_key(int key);
  void move(int64_t lines);
  void explain();
  void make_table();
  size_t list_rows() const;
  void add_list(std::vector<ScreenLine> &lines);

  TopView view_;
  const std::function<void()> save_;
  size_t rows_ = 24;
  std::optional<TopPart> part_;
  TopTable table_;
  std::vector<std::string> text_; ///< of an explanation, or of the help
  Mode mode_ = Mode::table;
  uint32_t explained_ = 0;    ///< tid
  size_t selected_ = 0;       ///< line of the table
  uint32_t selected_tid_ = 0; ///< the thread in it; 0: none
  size_t top_ = 0;            ///< first line of the table that is shown
  size_t text_top_ = 0;       ///< first line of the text that is shown
  bool frozen_ = false, ended_ = false;
  std::string message_;
};

} // namespace ovnitrace
