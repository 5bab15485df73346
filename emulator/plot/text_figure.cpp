// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/plot/text_figure.h"

#include "emulator/base/human.h"
#include "emulator/base/palette.h"
#include "emulator/base/short_line.h"
#include "emulator/plot/axis.h"
#include "emulator/plot/column_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kLabel = 24, kLeast = 20; // characters
constexpr char kMixed = ':';               ///< plain: it ran or waited, but for less than half
constexpr char kElsewhere = '*';           ///< the critical path, on threads without a letter
constexpr const char *kEighths[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// Returns one of the 6 x 6 x 6 colours that a terminal has from number 16 on.
int nearest_index(Color color) {
  constexpr std::array kLevels = {0, 95, 135, 175, 215, 255};
  const auto nearest = [&](int value) {
    size_t best = 0;
    for (size_t n = 1; n < kLevels.size(); n++)
      if (std::abs(kLevels[n] - value) < std::abs(kLevels[best] - value))
        best = n;
    return int(best);
  };
  return 16 + 36 * nearest(color.red) + 6 * nearest(color.green) + nearest(color.blue);
}

/// Returns the terminal's own colour for nothing.
bool has_color(ShownState state) {
  return state != ShownState::unknown && state != ShownState::dead;
}

/// The two states of a column, and the height of the lower one in eighths.
struct Cell {
  ShownState below = ShownState::dead, above = ShownState::dead;
  int height = 0;
};

uint64_t time_in(const StateTimes &time, ShownState state) {
  return time[size_t(state)];
}

Cell cell_of(const StateTimes &time) {
  const uint64_t all = all_of(time);
  if (!all)
    return {};
  constexpr std::span kOthers = std::span(kStacked).subspan(1); // than Running
  Cell cell;
  cell.below =
      time_in(time, ShownState::running)
          ? ShownState::running
          : *std::max_element(kOthers.begin(), kOthers.end(), [&](ShownState a, ShownState b) {
              return time_in(time, a) < time_in(time, b);
            });
  cell.above = rest_of(time);
  for (const ShownState state : kOthers)
    if (state != cell.below && time_in(time, state) > time_in(time, cell.above))
      cell.above = state;
  const uint64_t below = time_in(time, cell.below);
  if (below)
    cell.height = std::max(1, int(std::lround(8 * (double(below) / double(all)))));
  if (below && below < all)
    cell.height = std::min(cell.height, 7); // what else was there is seen too
  return cell;
}

char plain_of(const StateTimes &time) {
  const uint64_t all = all_of(time);
  if (!all)
    return ' ';
  uint64_t active = 0;
  ShownState most = ShownState::running;
  for (const ShownState state : kStacked) {
    active += time_in(time, state);
    if (time_in(time, state) > time_in(time, most))
      most = state;
  }
  if (active && active < all - active)
    return kMixed;
  const ShownState shown = active ? most : rest_of(time);
  return info_of(shown).glyph;
}

class Text {
public:
  Text(const Figure &figure, TextStyle style) : figure_(figure), style_(style) {}

  std::string all() {
    text_ = figure_.title + "\n" + figure_.subtitle + "\n\n";
    if (!figure_.threads)
      return text_ + "No thread was recorded.\n";
    for (const FigureRow &row : figure_.rows) {
      put_label(row.label);
      for (size_t c = 0; c < figure_.columns; c++)
        if (style_ == TextStyle::plain)
          text_ += plain_of(row.time[c]);
        else
          put_cell(cell_of(row.time[c]));
      end_line();
    }
    if (!figure_.path_of.empty())
      put_path();
    if (figure_.has_dark()) {
      put_label("events missing");
      for (const uint8_t dark : figure_.dark)
        text_ += dark ? '!' : ' ';
      end_line();
    }
    if (!figure_.marks.empty())
      put_marks();
    put_axis();
    put_legend();
    return std::move(text_);
  }

private:
  void put_label(const std::string &label) {
    const std::string text = short_line(label, kLabel);
    text_ += std::string(kLabel - columns_of(text), ' ') + text + ' ';
  }

  void end_line() {
    below_ = above_ = ShownState::dead;
    if (style_ != TextStyle::plain)
      text_ += "\x1b[0m";
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }

  /// 38: foreground, 48: background.
  void put_color(int ground, ShownState state) {
    if (!has_color(state)) {
      text_ += fmt::format("\x1b[{}m", ground + 1); // the terminal's own
      return;
    }
    const Color color = info_of(state).color;
    if (style_ == TextStyle::true_color)
      text_ += fmt::format("\x1b[{};2;{};{};{}m", ground, color.red, color.green, color.blue);
    else
      text_ += fmt::format("\x1b[{};5;{}m", ground, nearest_index(color));
  }

  /// A column in which the thread was never seen has the plain character: the terminal's own colour
  /// is that of a thread that has ended.
  void put_cell(const Cell &cell) {
    if (!cell.height && cell.above == ShownState::unknown)
      return put_unknown();
    if (cell.height && cell.below != below_)
      put_color(38, below_ = cell.below);
    if (cell.height < 8 && cell.above != above_)
      put_color(48, above_ = cell.above);
    text_ += kEighths[cell.height];
  }

  void put_unknown() {
    for (const auto &[ground, now] : {std::pair(38, &below_), std::pair(48, &above_)})
      if (has_color(*now))
        put_color(ground, *now = ShownState::unknown);
    text_ += info_of(ShownState::unknown).glyph;
  }

  /// Chooses letters for the rows on the path, and the letter of each column: that of the row with
  /// most of it.
  void put_path() {
    char next = 'a';
    for (const FigureRow &row : figure_.rows)
      letters_ += !row.on_path() ? ' ' : next <= 'z' ? next++ : kElsewhere;
    put_label("critical path");
    for (size_t c = 0; c < figure_.columns; c++) {
      uint64_t most = figure_.path_elsewhere[c];
      char letter = most ? kElsewhere : ' ';
      for (size_t row = 0; row < letters_.size(); row++)
        if (figure_.rows[row].path[c] > most) {
          most = figure_.rows[row].path[c];
          letter = letters_[row];
        }
      text_ += letter;
    }
    end_line();
  }

  size_t column_of(uint64_t time) const {
    return std::min(size_t((time - figure_.from) / figure_.step), figure_.columns - 1);
  }

  static char mark_letter(size_t n) { return char('A' + n); }

  /// Puts a letter at each mark. Where several share a column, the last one is seen.
  void put_marks() {
    std::string line(figure_.columns, ' ');
    for (size_t n = 0; n < figure_.marks.size(); n++)
      line[column_of(figure_.marks[n].at)] = mark_letter(n);
    put_label("marks");
    text_ += line;
    end_line();
  }

  void put_mark_legend() {
    for (size_t n = 0; n < figure_.marks.size(); n++)
      text_ += fmt::format("{} {} at {}\n", mark_letter(n), figure_.marks[n].text,
                           human_duration(figure_.marks[n].at));
    if (figure_.marks_left_out)
      text_ +=
          human_count(figure_.marks_left_out, "more mark is", "more marks are") + " left out.\n";
  }

  void put_path_legend() {
    constexpr size_t kWidth = 100; // characters
    std::string line = fmt::format("Critical path of {}:", short_line(figure_.path_of, kLabel));
    const auto put = [&](const std::string &word) {
      if (columns_of(line) + 1 + columns_of(word) > kWidth) {
        text_ += line + '\n';
        line = " ";
      }
      line += ' ' + word;
    };
    for (size_t row = 0; row < letters_.size(); row++)
      if (letters_[row] != ' ' && letters_[row] != kElsewhere)
        put(fmt::format("{} {},", letters_[row], short_line(figure_.rows[row].label, kLabel)));
    put(fmt::format("{} another thread", kElsewhere));
    text_ += line + '\n';
  }

  void put_axis() {
    const Axis axis =
        make_axis(figure_.from, figure_.to, std::max<size_t>(2, figure_.columns / 12));
    std::string line(figure_.columns, '-'), numbers(figure_.columns + kLabel, ' ');
    for (const Axis::Mark &mark : axis.marks) {
      const size_t column = column_of(mark.at);
      line[column] = '+';
      numbers.replace(column, mark.text.size(), mark.text);
    }
    const std::string space(kLabel + 1, ' ');
    numbers.erase(numbers.find_last_not_of(' ') + 1);
    text_ += space + line + '\n' + space + numbers + '\n' + space + axis.title + "\n\n";
  }

  void put_legend() {
    for (const ShownState state : kStateOrder) {
      if (!figure_.time_in(state))
        continue;
      const StateInfo &info = info_of(state);
      if (style_ == TextStyle::plain) {
        text_ += info.glyph == ' ' ? "blank" : std::string(1, info.glyph);
      } else {
        put_color(38, state);
        text_ += has_color(state) ? "██" : std::string(1, info.glyph) + ' ';
        text_ += "\x1b[0m";
      }
      text_ += fmt::format(" {}: {}\n", info.label, info.meaning);
    }
    text_ +=
        style_ == TextStyle::plain
            ? std::string(1, kMixed) + " ran or waited for a CPU for less than half of the column\n"
            : std::string(kEighths[3]) +
                  " the height of Running, or of the longest wait, is its share of the column\n";
    if (!figure_.path_of.empty())
      put_path_legend();
    put_mark_legend();
    text_ += fmt::format("A column is {}.", human_duration(figure_.step));
    if (figure_.threads > figure_.rows.size())
      text_ += fmt::format(" {} that ran or waited less are left out.",
                           human_count(figure_.threads - figure_.rows.size(), "thread", "threads"));
    text_ += '\n';
  }

  const Figure &figure_;
  const TextStyle style_;
  /// The colours that the terminal has now.
  ShownState below_ = ShownState::dead, above_ = ShownState::dead;
  std::string text_;
  std::string letters_; ///< by row, of the critical path
};

} // namespace

size_t text_columns(size_t width) {
  return std::max(kLeast, width > kLabel + 1 ? width - kLabel - 1 : 0);
}

std::string text_of(const Figure &figure, TextStyle style) {
  return Text(figure, style).all();
}

} // namespace ovnitrace
