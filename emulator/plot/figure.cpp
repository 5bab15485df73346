// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/plot/figure.h"

#include "emulator/base/human.h"
#include "emulator/base/short_line.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace ovnitrace {

namespace {

constexpr size_t kMostName = 20, kMostTitle = 80; // characters

/// Chooses the threads that show most.
class Activity final : public SliceSink {
public:
  explicit Activity(size_t threads) : time_(threads) {}

  void on_slice(const Slice &slice) override {
    if (is_active(slice.state))
      time_[slice.thread] += slice.length();
  }
  std::vector<uint32_t> most(std::vector<uint32_t> threads, size_t rows) const {
    std::stable_sort(threads.begin(), threads.end(),
                     [&](uint32_t a, uint32_t b) { return time_[a] > time_[b]; });
    threads.resize(rows);
    std::sort(threads.begin(), threads.end());
    return threads;
  }

private:
  std::vector<uint64_t> time_; ///< by thread
};

class Drawing final : public SliceSink {
public:
  Drawing(Figure &figure, const Catalog &catalog, const std::vector<uint32_t> &threads, bool arrows)
      : figure_(figure), catalog_(catalog), row_(catalog.threads.size(), kNone), arrows_(arrows) {
    for (uint32_t row = 0; row < threads.size(); row++)
      row_[threads[row]] = row;
  }

  void on_slice(const Slice &slice) override {
    const uint32_t row = row_[slice.thread];
    if (row == kNone)
      return;
    each_column(slice.start, slice.end, [&](size_t column, uint64_t ns) {
      figure_.rows[row].time[column][size_t(shown_state(slice))] += ns;
    });
    if (arrows_)
      add_arrow(slice, row);
  }

  void on_cpu(const CpuSpan &span) override {
    if (span.what == CpuSpan::What::dark)
      each_column(span.start, std::max(span.end, span.start + 1),
                  [&](size_t column, uint64_t) { figure_.dark[column] = 1; });
  }

  void add_path(CriticalPath &path) {
    figure_.path_of = thread_label(catalog_.threads[path.thread]);
    figure_.path_elsewhere.resize(figure_.columns);
    for (FigureRow &row : figure_.rows)
      row.path.resize(figure_.columns);
    path.for_each([this](const PathSegment &segment) {
      const uint32_t row = row_[segment.thread];
      std::vector<uint64_t> &to = row == kNone ? figure_.path_elsewhere : figure_.rows[row].path;
      each_column(segment.from, segment.to, [&](size_t column, uint64_t ns) { to[column] += ns; });
    });
  }

  void finish() {
    for (const auto &[wait, arrow] : longest_)
      figure_.arrows.push_back(arrow);
    std::sort(figure_.arrows.begin(), figure_.arrows.end(),
              [](const FigureArrow &a, const FigureArrow &b) { return a.woken < b.woken; });
  }

private:
  struct LessWait {
    bool operator()(const std::pair<uint64_t, FigureArrow> &a,
                    const std::pair<uint64_t, FigureArrow> &b) const {
      return std::tie(a.first, b.second.woken) < std::tie(b.first, a.second.woken);
    }
  };

  template <class Add> void each_column(uint64_t start, uint64_t end, Add add) {
    const uint64_t from = catalog_.begin + figure_.from;
    for (uint64_t at = start - from; at < end - from;) {
      const uint64_t column = at / figure_.step;
      if (column >= figure_.columns)
        return;
      const uint64_t until = std::min(end - from, (column + 1) * figure_.step);
      add(size_t(column), until - at);
      at = until;
    }
  }

  void add_arrow(const Slice &slice, uint32_t row) {
    if (!slice.is_latency() || slice.context != FTRACE_WAKER_TASK || slice.waker.thread == kNone)
      return;
    const uint32_t waker = row_[slice.waker.thread];
    if (waker == kNone || waker == row)
      return;
    figure_.wakeups++;
    longest_.insert(
        {slice.length(), {waker, row, slice.start - catalog_.begin, slice.end - catalog_.begin}});
    if (longest_.size() > FigureOptions::kMostArrows)
      longest_.erase(longest_.begin());
  }

  Figure &figure_;
  const Catalog &catalog_;
  std::vector<uint32_t> row_; ///< by thread
  bool arrows_;
  std::multiset<std::pair<uint64_t, FigureArrow>, LessWait> longest_; ///< by wait, ns
};

std::vector<uint32_t> kept(const Cut &cut, const Catalog &catalog) {
  std::vector<uint32_t> threads;
  for (uint32_t t = 0; t < catalog.threads.size(); t++)
    if (cut.keeps(catalog.threads[t]))
      threads.push_back(t);
  return threads;
}

/// Returns what was traced, in words.
std::string title_of(const std::string &path, const TraceInfo &info) {
  std::string title;
  for (const std::string &argument : info.command) // the program without its directory
    title += title.empty() ? argument.substr(argument.rfind('/') + 1) : " " + argument;
  if (title.empty() && info.attached_pids.empty() && !info.tracer.empty())
    title = info.filters.empty() ? "The whole machine"
                                 : fmt::format("{}", fmt::join(info.filters, ", "));
  return short_line(title.empty() ? path : title, kMostTitle);
}

std::string subtitle_of(const TraceInfo &info, const Catalog &catalog, const Figure &figure) {
  std::string text = short_line(info.host, kMostName);
  if (!info.kernel.empty())
    text += (text.empty() ? "" : ", ") + ("Linux " + short_line(info.kernel, kMostName));
  text += (text.empty() ? "" : ", ") + human_count(cpu_count(catalog), "CPU", "CPUs");
  text += "; " + human_count(figure.threads, "thread", "threads");
  text += ", " + human_duration(figure.to - figure.from);
  if (figure.from)
    text += " from " + human_duration(figure.from) + " on";
  return text;
}

void set_rows(Figure &figure, const Catalog &catalog, const std::vector<uint32_t> &threads) {
  const ThreadInfo *above = nullptr;
  for (const uint32_t t : threads) {
    const ThreadInfo &thread = catalog.threads[t];
    FigureRow &row = figure.rows.emplace_back();
    row.label = thread_label(thread);
    row.new_process = above && (above->host != thread.host || above->pid != thread.pid);
    row.time.resize(figure.columns);
    above = &thread;
  }
}

void set_marks(Figure &figure, const Catalog &catalog, TimeRange range) {
  for (const HostInfo &host : catalog.hosts)
    for (const CaptureMark &mark : host.marks)
      if (mark.time_ns >= range.from && mark.time_ns <= range.to)
        figure.marks.push_back({mark.time_ns - catalog.begin, mark.text});
  std::stable_sort(figure.marks.begin(), figure.marks.end(),
                   [](const FigureMark &a, const FigureMark &b) { return a.at < b.at; });
  if (figure.marks.size() > FigureOptions::kMostMarks) {
    figure.marks_left_out = figure.marks.size() - FigureOptions::kMostMarks;
    figure.marks.resize(FigureOptions::kMostMarks);
  }
}

} // namespace

bool FigureRow::on_path() const {
  return std::any_of(path.begin(), path.end(), [](uint64_t ns) { return ns > 0; });
}

bool Figure::has_dark() const {
  return std::find(dark.begin(), dark.end(), 1) != dark.end();
}

uint64_t Figure::time_in(ShownState state) const {
  uint64_t sum = 0;
  for (const FigureRow &row : rows)
    for (const StateTimes &time : row.time)
      sum += time[size_t(state)];
  return sum;
}

Figure make_figure(const std::string &path, const TraceInfo &info,
                   const std::function<std::unique_ptr<EventSource>()> &open,
                   const FigureOptions &options) {
  std::unique_ptr<EventSource> source = open();
  const Catalog &first = source->catalog();
  check_cut(options.cut, first);
  std::vector<uint32_t> threads = kept(options.cut, first);
  const TimeRange range = range_of(options.cut, first);
  Figure figure;
  figure.threads = threads.size();
  figure.from = range.from - first.begin;
  figure.to = range.to - first.begin;
  if (threads.size() > options.rows) {
    Activity activity(first.threads.size());
    replay_slices(*source, options.cut, activity);
    threads = activity.most(std::move(threads), options.rows);
    source = open();
  }
  const Catalog &catalog = source->catalog();
  const uint64_t length = std::max<uint64_t>(figure.to - figure.from, 1);
  figure.step = (length + options.columns - 1) / options.columns;
  figure.columns = size_t((length + figure.step - 1) / figure.step);
  figure.dark.resize(figure.columns);
  figure.title = title_of(path, info);
  figure.subtitle = subtitle_of(info, catalog, figure);
  set_rows(figure, catalog, threads);
  set_marks(figure, catalog, range);
  Drawing drawing(figure, catalog, threads, options.arrows);
  replay_slices(*source, options.cut, drawing);
  if (options.path)
    drawing.add_path(*options.path);
  drawing.finish();
  return figure;
}

} // namespace ovnitrace
