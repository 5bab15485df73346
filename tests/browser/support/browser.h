// SPDX-License-Identifier: BSD-2-Clause
// A headless Chromium with one page, driven over the DevTools protocol through a pipe.
#pragma once

#include "tests/unit/support/temp_dir.h"

#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <string>
#include <vector>

namespace ovnitrace::test {

class Browser {
public:
  /// Whether there is one on this machine.
  static bool installed();

  /// Throws std::runtime_error where it does not start, or does not answer within two minutes.
  Browser();
  ~Browser();
  Browser(const Browser &) = delete;
  Browser &operator=(const Browser &) = delete;

  /// Opens a file and waits until window.ovnitrace is there.
  void open(const std::string &path);
  /// The value of an expression of JavaScript, awaited. Throws where it throws.
  nlohmann::json evaluate(const std::string &expression);
  /// Waits until an expression is true.
  void wait_for(const std::string &expression);

  void press(const std::string &key); ///< as KeyboardEvent.key
  void type(const std::string &text);
  void click(double x, double y) { drag(x, y, x, y); }
  void point(double x, double y) { mouse("mouseMoved", x, y, 0, false); }
  /// `shift`: with that key held.
  void drag(double x0, double y0, double x1, double y1, bool shift = false);
  void wheel(double x, double y, double delta_y);

  /// Exceptions, and what was written to the console as a warning or an error.
  const std::vector<std::string> &complaints() const { return complaints_; }

private:
  nlohmann::json call(const std::string &method, nlohmann::json parameters = {});
  nlohmann::json receive();
  void note(const nlohmann::json &event);
  void mouse(const char *type, double x, double y, int buttons, bool shift);

  TempDir profile_;
  pid_t child_ = -1;
  int to_ = -1, from_ = -1;
  int last_id_ = 0;
  std::string session_, received_;
  std::vector<std::string> complaints_;
};

} // namespace ovnitrace::test
