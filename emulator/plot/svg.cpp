// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/plot/svg.h"

#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/base/short_line.h"
#include "emulator/plot/axis.h"
#include "emulator/plot/column_states.h"
#include "emulator/plot/svg_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ovnitrace {

namespace {

// Pixels, unless another unit is given.
constexpr double kPlotWidth = 1000, kRight = 30, kTop = 58;
constexpr int kRowHeight = 18, kGap = 3, kProcessGap = 8, kDarkHeight = 8, kMarkHeight = 14;
constexpr double kCharacter = 6.7; // of a label, on average
constexpr size_t kMostMarks = 10;
constexpr const char *kCriticalColor = "#c00", *kMarkColor = "#06c";

std::string_view word(ShownState state) {
  return info_of(state).name;
}

std::string text_at(double x, double y, const char *style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, style, xml_text(text));
}

/// Returns a path with a rectangle for each run of equal columns; empty if `has` is true for no
/// column.
template <class Has> std::string runs(size_t columns, int height, Has has) {
  std::string path;
  for (size_t c = 0; c < columns; c++) {
    const size_t first = c;
    while (c < columns && has(c))
      c++;
    if (c > first)
      path += fmt::format("M{} 0H{}V{}H{}z", first, c, height, first);
  }
  return path;
}

/// Returns the height of each state of kStacked in a column, with the states below it.
std::array<int, kStacked.size()> heights(const StateTimes &time) {
  std::array<int, kStacked.size()> heights{};
  const uint64_t all = all_of(time);
  int height = 0;
  for (size_t n = 0; n < kStacked.size(); n++) {
    const uint64_t ns = time[size_t(kStacked[n])];
    if (ns)
      height += std::max(1, int(std::lround(kRowHeight * (double(ns) / double(all)))));
    heights[n] = height = std::min(height, kRowHeight);
  }
  if (all && !time[size_t(rest_of(time))]) // the rest can show nothing else
    for (size_t n = kStacked.size(); n-- > 0;) {
      heights[n] = kRowHeight;
      if (time[size_t(kStacked[n])])
        break;
    }
  return heights;
}

class Svg {
public:
  explicit Svg(const Figure &figure) : figure_(figure) {
    size_t longest = 14;
    for (const FigureRow &row : figure.rows)
      longest = std::max(longest, columns_of(row.label));
    left_ = 16 + kCharacter * double(longest);
    y_ = kTop;
  }

  std::string text() {
    for (const FigureRow &row : figure_.rows)
      put_row(row);
    put_path_elsewhere();
    if (figure_.has_dark())
      put_dark();
    put_arrows();
    put_marks();
    put_axis();
    put_legend();
    put_notes();
    return head() + body_ + "</svg>\n";
  }

private:
  double x_of(uint64_t time) const {
    const double length = double(std::max<uint64_t>(figure_.to - figure_.from, 1));
    return left_ + kPlotWidth * double(time - figure_.from) / length;
  }

  std::string head() const {
    const double width = left_ + kPlotWidth + kRight;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
               "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
               "font-family=\"Helvetica,Arial,sans-serif\" font-size=\"12\" fill=\"#222\">\n"
               "<title>{2}</title>\n<defs>\n{3}"
               "<marker id=\"tip\" viewBox=\"0 0 6 6\" refX=\"6\" refY=\"3\" markerWidth=\"5\" "
               "markerHeight=\"5\" orient=\"auto\"><path d=\"M0 0L6 3L0 6z\" fill=\"#111\"/>"
               "</marker>\n</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
               width, y_, xml_text(figure_.title + ": " + figure_.subtitle), fill_patterns()) +
           text_at(10, 24, " font-size=\"16\" font-weight=\"bold\"", figure_.title) +
           text_at(10, 43, " fill=\"#555\"", figure_.subtitle);
  }

  /// Starts a group in which coordinates are columns.
  std::string start_columns(double y) const {
    const double length = double(std::max<uint64_t>(figure_.to - figure_.from, 1));
    return fmt::format("<g transform=\"translate({:.1f} {:.0f}) scale({:.6g} 1)\">", left_, y,
                       kPlotWidth * double(figure_.step) / length);
  }

  void put_row(const FigureRow &row) {
    if (row.new_process)
      y_ += kProcessGap;
    centers_.push_back(y_ + kRowHeight / 2.0);
    body_ += text_at(left_ - 8, y_ + 13, " text-anchor=\"end\"", row.label);
    body_ += start_columns(y_) + "<title>" + xml_text(sums(row)) + "</title>";
    for (const ShownState rest : kStateOrder)
      if (!info_of(rest).stacked)
        put_path(rest, runs(figure_.columns, kRowHeight, [&](size_t c) {
                   return row.time[c][size_t(rest)] && rest_of(row.time[c]) == rest;
                 }));
    for (size_t n = kStacked.size(); n-- > 0;)
      put_path(kStacked[n], area(row, n));
    put_critical(row.path, kRowHeight);
    body_ += "</g>\n";
    y_ += kRowHeight + kGap;
  }

  /// Draws the path, in the gap below the row.
  void put_critical(const std::vector<uint64_t> &ns, int y) {
    const std::string path =
        runs(ns.size(), kGap - 1, [&](size_t column) { return ns[column] > 0; });
    if (!path.empty())
      body_ += fmt::format("<path class=\"critical\" transform=\"translate(0 {})\" fill=\"{}\" "
                           "d=\"{}\"/>",
                           y, kCriticalColor, path);
  }

  /// Draws the path on threads without a row.
  void put_path_elsewhere() {
    const std::vector<uint64_t> &ns = figure_.path_elsewhere;
    if (std::all_of(ns.begin(), ns.end(), [](uint64_t column) { return column == 0; }))
      return;
    y_ += kGap;
    body_ += text_at(left_ - 8, y_ + 8, " text-anchor=\"end\" fill=\"#c00\"", "path elsewhere");
    body_ += start_columns(y_);
    put_critical(ns, kDarkHeight / 2);
    body_ += "</g>\n";
    y_ += kDarkHeight + kGap;
  }

  void put_path(ShownState state, const std::string &path) {
    if (!path.empty())
      body_ += fmt::format("<path class=\"{}\" fill=\"{}\" d=\"{}\"/>", word(state), fill_of(state),
                           path);
  }

  /// Draws the states up to the n-th of kStacked together; those below it are drawn over it. Empty
  /// if the n-th is absent.
  std::string area(const FigureRow &row, size_t n) const {
    std::string path;
    int height = 0;
    bool any = false;
    for (size_t c = 0; c < figure_.columns; c++) {
      const int next = heights(row.time[c])[n];
      any |= row.time[c][size_t(kStacked[n])] > 0;
      if (next == height)
        continue;
      path += height == 0 ? fmt::format("M{} {}V{}", c, kRowHeight, kRowHeight - next)
                          : fmt::format("H{}V{}", c, kRowHeight - next);
      path += next == 0 ? "z" : "";
      height = next;
    }
    if (height)
      path += fmt::format("H{}V{}z", figure_.columns, kRowHeight);
    return any ? path : "";
  }

  /// Returns the times of a row, shown under the pointer.
  static std::string sums(const FigureRow &row) {
    std::string text = row.label;
    for (const ShownState state : kStateOrder) {
      uint64_t ns = 0;
      for (const StateTimes &time : row.time)
        ns += time[size_t(state)];
      if (ns)
        text += fmt::format("; {} {}", word(state), human_duration(ns));
    }
    return text;
  }

  void put_dark() {
    y_ += kGap;
    body_ += text_at(left_ - 8, y_ + 8, " text-anchor=\"end\" fill=\"#a0a\"", "events missing");
    body_ +=
        start_columns(y_) + fmt::format("<path class=\"dark\" fill=\"url(#dark)\" d=\"{}\"/></g>\n",
                                        runs(figure_.columns, kDarkHeight,
                                             [&](size_t c) { return figure_.dark[c] != 0; }));
    y_ += kDarkHeight + kGap;
  }

  void put_arrows() {
    if (figure_.arrows.empty())
      return;
    body_ += "<g class=\"arrows\" stroke=\"#111\" stroke-width=\"0.8\" fill=\"none\">\n";
    for (const FigureArrow &arrow : figure_.arrows)
      body_ += fmt::format("<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" marker-end=\"url(#tip)\"/>\n",
                           x_of(arrow.woken), centers_[arrow.from], x_of(arrow.runs),
                           centers_[arrow.to]);
    body_ += "</g>\n";
  }

  /// Draws a line through all rows at each mark, with its text below them.
  void put_marks() {
    for (const FigureMark &mark : figure_.marks) {
      const double x = x_of(mark.at);
      const bool left = x > left_ + kPlotWidth / 2; // of the line: that side has more room
      body_ += fmt::format("<path class=\"mark\" d=\"M{:.1f} {:.0f}V{:.0f}\" stroke=\"{}\" "
                           "stroke-dasharray=\"4 2\" fill=\"none\"/>\n",
                           x, kTop - 6, y_ + kMarkHeight, kMarkColor);
      body_ += text_at(x + (left ? -4 : 4), y_ + kMarkHeight - 2,
                       left ? " text-anchor=\"end\" font-size=\"11\" fill=\"#06c\""
                            : " font-size=\"11\" fill=\"#06c\"",
                       mark.text);
      y_ += kMarkHeight;
    }
  }

  void put_axis() {
    const Axis axis = make_axis(figure_.from, figure_.to, kMostMarks);
    y_ += 2;
    body_ += fmt::format("<path d=\"M{:.1f} {:.0f}h{:.0f}", left_, y_, kPlotWidth);
    for (const Axis::Mark &mark : axis.marks)
      body_ += fmt::format("M{:.1f} {:.0f}v5", x_of(mark.at), y_);
    body_ += "\" stroke=\"#222\" fill=\"none\"/>\n<g class=\"marks\" text-anchor=\"middle\">\n";
    for (const Axis::Mark &mark : axis.marks)
      body_ += text_at(x_of(mark.at), y_ + 18, "", mark.text);
    body_ += "</g>\n";
    body_ += text_at(left_ + kPlotWidth / 2, y_ + 36, " text-anchor=\"middle\"", axis.title);
    y_ += 50;
  }

  /// Draws the legend of the shown states.
  void put_legend() {
    double x = left_;
    body_ += "<g class=\"legend\">\n";
    for (const ShownState state : kStateOrder) {
      if (!figure_.time_in(state))
        continue;
      const StateInfo &info = info_of(state);
      const double width = 46 + kCharacter * double(info.label.size() + 2 + info.meaning.size());
      if (x > left_ && x + width > left_ + kPlotWidth) {
        x = left_;
        y_ += 20;
      }
      body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"24\" height=\"12\" "
                           "fill=\"{}\" stroke=\"#888\" stroke-width=\"0.5\"/>\n"
                           "<text x=\"{:.1f}\" y=\"{:.0f}\"><tspan font-weight=\"bold\">{}</tspan>"
                           " {}</text>\n",
                           x, y_, fill_of(state), x + 30, y_ + 10, info.label, info.meaning);
      x += width;
    }
    body_ += "</g>\n";
    y_ += 28;
  }

  void put_notes() {
    std::string notes =
        fmt::format("A column is {}; where it has several states it is divided by their shares, "
                    "Running at the bottom.",
                    human_duration(figure_.step));
    if (figure_.threads > figure_.rows.size())
      notes += fmt::format(" {} that ran or waited less are left out.",
                           human_count(figure_.threads - figure_.rows.size(), "thread", "threads"));
    if (figure_.marks_left_out)
      notes += " " + human_count(figure_.marks_left_out, "more mark is", "more marks are") +
               " left out.";
    body_ += text_at(left_, y_, " font-size=\"11\" fill=\"#555\"", notes);
    if (!figure_.path_of.empty()) {
      y_ += 15;
      body_ += text_at(left_, y_, " font-size=\"11\" fill=\"#c00\"",
                       "Below the rows: the critical path of " + figure_.path_of + ".");
    }
    if (!figure_.arrows.empty()) {
      y_ += 15;
      std::string arrows = "Arrows lead from who woke a thread to when it got its CPU";
      if (figure_.arrows.size() < figure_.wakeups)
        arrows +=
            fmt::format(": {} of {}, those that waited longest", human_count(figure_.arrows.size()),
                        human_count(figure_.wakeups, "wakeup", "wakeups"));
      body_ += text_at(left_, y_, " font-size=\"11\" fill=\"#555\"", arrows + ".");
    }
    y_ += 14;
  }

  const Figure &figure_;
  double left_, y_;
  std::vector<double> centers_; ///< by row
  std::string body_;
};

} // namespace

std::string xml_text(std::string_view text) {
  std::string xml;
  for (const char c : printable_line(text))
    xml += c == '&'   ? "&amp;"
           : c == '<' ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  // XML lacks two characters that UTF-8 has.
  for (const std::string_view no : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (size_t at; (at = xml.find(no)) != xml.npos;)
      xml.replace(at, no.size(), "?");
  return xml;
}

std::string svg_of(const Figure &figure) {
  return Svg(figure).text();
}

} // namespace ovnitrace
