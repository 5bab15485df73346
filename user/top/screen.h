// SPDX-License-Identifier: BSD-2-Clause
// Shows `ovnitrace top` on a terminal.
#pragma once

#include "emulator/top/top_table.h"
#include "user/record/live_view.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ovnitrace {

/// Draws the newest part and takes keys. The keys are in kKeys in screen.cpp.
class TopScreen final : public LiveView {
public:
  explicit TopScreen(TopView view) : view_(std::move(view)) {}
  ~TopScreen() override;

  /// Throws Error if the terminal cannot be used.
  bool wait(uint64_t time, int stop) override;
  void take(const std::string &directory, uint64_t from, uint64_t to) override;
  void saved(const std::string &message) override;

private:
  enum class Mode : uint8_t { table, explanation, help, filter };

  void open();
  bool take_saved();
  void take_key(int key);
  void take_filter_key(int key);
  void move(int lines);
  void explain();
  void make_table();
  void draw();
  void draw_list(int first_row);
  std::string title() const;
  size_t list_rows() const;

  TopView view_;
  std::optional<TopPart> part_;
  TopTable table_;
  std::vector<std::string> text_; ///< of an explanation, or of the help
  Mode mode_ = Mode::table;
  uint32_t explained_ = 0;    ///< tid
  uint32_t selected_tid_ = 0; ///< 0: the line with the number `selected_`
  size_t selected_ = 0;       ///< line of the table or first line of the text
  size_t top_ = 0;            ///< first line of the table that is shown
  bool frozen_ = false;
  bool ended_ = false; ///< by the user
  std::string message_;
  std::mutex saving_;        ///< guards saved_
  std::string saved_;        ///< what saved() was told, until it is shown
  void *terminal_ = nullptr; ///< ncurses' SCREEN
};

} // namespace ovnitrace
