// SPDX-License-Identifier: BSD-2-Clause
// Shows `ovnitrace top` on a terminal.
#pragma once

#include "user/record/live_view.h"
#include "user/top/screen_content.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace ovnitrace {

/// Draws the newest part and takes keys.
class TopScreen final : public LiveView {
public:
  explicit TopScreen(TopView view);
  ~TopScreen() override;

  /// Throws Error if the terminal cannot be used.
  bool wait(uint64_t time, int stop) override;
  void take(const std::string &directory, uint64_t from, uint64_t to) override;
  void saved(const std::string &message) override;
  void close() override;

private:
  void open();
  bool take_saved();
  bool take_size();
  bool take_keys();
  void draw();

  ScreenContent content_;
  std::mutex saving_;              ///< guards saved_ and shown_saved_
  std::vector<std::string> saved_; ///< messages about saved traces
  size_t shown_saved_ = 0;         ///< how many there were when the last one was shown
  void *terminal_ = nullptr;       ///< ncurses' SCREEN
};

} // namespace ovnitrace
