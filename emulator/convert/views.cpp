// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/views.h"

#include "emulator/output/atomic_file.h"
#include "emulator/prv/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>

namespace ovnitrace {

namespace {

/// Names of the views that are not timelines. A channel of a user's model may have one of them.
constexpr const char *kOwnViews[] = {"arrows", "time-per-state", "wakeup-latency-distribution",
                                     "time-per-process"};

constexpr uint32_t kProcessType = 5, kLatencyType = 222; // docs/models.md

/// Returns a file name made of the channel's name. If it is taken, adds the PRV type, which is
/// unique.
std::string file_name(const ChannelDef &def, uint32_t type, std::set<std::string> &taken) {
  constexpr size_t kLongest = 100; // bytes, so that every file system takes it
  std::string name;
  for (char c : std::string_view(def.name).substr(0, kLongest))
    name += isalnum(static_cast<unsigned char>(c)) ? c : '-';
  if (!taken.insert(name).second)
    name += fmt::format("-{}", type);
  return name + ".cfg";
}

/// Colours numbers without labels: otherwise the first ones would look like states of threads.
void color_numbers(std::vector<PcfValue> &values) {
  constexpr int64_t kNumbers = 32;
  if (std::none_of(values.begin(), values.end(), [](const PcfValue &v) { return v.color; }))
    for (int64_t n = 1; n <= kNumbers; n++)
      values.push_back({n, {}, palette::series(size_t(n - 1))});
}

/// Makes the views of one of the two traces.
class Views {
public:
  Views(const System &system, TraceKind kind, Pcf pcf, const TraceShape &shape)
      : system_(system), kind_(kind), pcf_(std::move(pcf)), shape_(shape) {}

  std::vector<View> make() {
    for (ChannelId id = 0; id < system_.channels().size(); id++)
      if (const ChannelDef *def = channel_in_trace(system_, id, kind_))
        add_timeline(*def);
    if (kind_ == TraceKind::thread)
      add_of_threads();
    else
      add_of_cpus();
    return std::move(views_);
  }

private:
  void add_timeline(const ChannelDef &def) {
    PcfType &type = type_of(kind_ == TraceKind::thread ? def.thread_type : def.cpu_type);
    View view;
    view.file = file_name(def, type.type, taken_);
    view.about = def.label;
    CfgWindow &window = view.window;
    window.name = title(def.label);
    window.type = type.type;
    window.unit = unit_for(shape_.length);
    if (def.paint == Paint::gradient) {
      window.gradient = true;
      if (auto scale = shape_.scales.find(type.type); scale != shape_.scales.end())
        window.maximum = double(scale->second.common());
    } else {
      window.values = std::move(type.values);
      color_numbers(window.values);
    }
    views_.push_back(std::move(view));
  }

  PcfType &type_of(uint32_t number) {
    return *std::find_if(pcf_.types.begin(), pcf_.types.end(),
                         [&](const PcfType &type) { return type.type == number; });
  }

  void add_of_threads() {
    if (shape_.arrows)
      add_arrows();
    add_histogram("time-per-state", "Time in each state", kThreadStateType,
                  {.maximum = double(kThreadStates - 1)});
    const auto latency = shape_.scales.find(kLatencyType);
    if (latency == shape_.scales.end() || latency->second.empty())
      return;
    // Twenty columns for the common values. All values are counted: rare ones, however long, get
    // more columns of that width, of which Paraver omits empty ones.
    constexpr double kColumns = 20, kColumnsMost = 2000;
    const double largest = double(latency->second.largest());
    const double delta =
        std::max(double(latency->second.common()) / kColumns, largest / kColumnsMost);
    add_histogram("wakeup-latency-distribution", "How many wakeups had which latency (ns)",
                  kLatencyType,
                  {.statistic = CfgHistogram::Statistic::bursts,
                   .minimum = 1,
                   .maximum = largest + 1,
                   .delta = delta,
                   .picture = true});
  }

  void add_of_cpus() {
    int64_t last = 0; // a number of a process; errors are larger, but no process is called so
    if (const View *process = view_of(kProcessType))
      for (const PcfValue &value : process->window.values)
        if (value.value != kStateBad && value.value != kStateTooManyThreads)
          last = std::max(last, value.value);
    add_histogram("time-per-process", "Time that each process ran", kProcessType,
                  {.maximum = double(last), .transposed = true}); // few CPUs, many processes
  }

  /// Adds the states with arrows for who woke whom. In any other view, arrows would hide what is
  /// below.
  void add_arrows() {
    View view{.file = "arrows.cfg",
              .about = "Thread state, with an arrow from each waker to whom it woke",
              .window = view_of(kThreadStateType)->window};
    view.window.name = title("Thread state and wakeups");
    view.window.arrows = true;
    views_.push_back(std::move(view));
  }

  /// Adds a histogram of the timeline of a type, if the trace has the type.
  void add_histogram(const std::string &name, const std::string &about, uint32_t type,
                     CfgHistogram histogram) {
    const View *timeline = view_of(type);
    if (!timeline)
      return;
    histogram.name = title(about);
    views_.push_back({name + ".cfg", about + ": a 2D histogram", timeline->window, histogram});
  }

  const View *view_of(uint32_t type) const {
    const auto at = std::find_if(views_.begin(), views_.end(),
                                 [&](const View &view) { return view.window.type == type; });
    return at == views_.end() ? nullptr : &*at;
  }

  std::string title(const std::string &about) const {
    return (kind_ == TraceKind::thread ? "Thread: " : "CPU: ") + about;
  }

  const System &system_;
  const TraceKind kind_;
  Pcf pcf_;
  const TraceShape &shape_;
  std::set<std::string> taken_{std::begin(kOwnViews), std::end(kOwnViews)};
  std::vector<View> views_;
};

/// Views that the earlier conversion listed, as "thread/state.cfg". Only those were ours.
using Listed = std::set<std::string>;

Listed listed_views(const std::string &readme) {
  Listed listed;
  for (size_t start = 0, end; start < readme.size(); start = end + 1) {
    end = std::min(readme.find('\n', start), readme.size());
    listed.insert(readme.substr(start, std::min(readme.find(' ', start), end) - start));
  }
  return listed;
}

/// Writes the views of a folder. Removes a listed view that is not replaced, unless the user saved
/// another one in its place.
void write_folder(const OutputDirectory &parent, const std::string &name,
                  const std::vector<View> &views, const Listed &listed) {
  constexpr size_t kHead = 1024; ///< bytes that the mark is in
  const OutputDirectory folder = parent.below(name);
  std::set<std::string> written;
  for (const View &view : views) {
    write_text_file(folder.file(view.file),
                    cfg_text(view.window, view.histogram ? &*view.histogram : nullptr));
    written.insert(view.file);
  }
  for (const std::string &file : folder.names())
    if (file.ends_with(".cfg") && !written.contains(file) && listed.contains(name + "/" + file) &&
        folder.start_of(file, kHead).find(fmt::format("\n{}\n", kCfgMark)) != std::string::npos)
      folder.remove(file);
}

std::string readme_lines(const std::string &folder, const std::vector<View> &views) {
  std::string text;
  for (const View &view : views)
    text += fmt::format("{:<40} {}\n", folder + "/" + view.file,
                        one_line_label(view.about, std::to_string(view.window.type)));
  return text;
}

} // namespace

std::vector<View> make_views(const System &system, TraceKind kind, Pcf pcf,
                             const TraceShape &shape) {
  return Views(system, kind, std::move(pcf), shape).make();
}

void write_views(const OutputDirectory &directory, const std::vector<View> &thread,
                 const std::vector<View> &cpu) {
  const OutputDirectory cfg = directory.below("cfg");
  constexpr size_t kReadmeMost = 1 << 20; ///< bytes: far more than it has
  const Listed listed = listed_views(cfg.start_of("README", kReadmeMost));
  write_folder(cfg, "thread", thread, listed);
  write_folder(cfg, "cpu", cpu, listed);
  write_text_file(cfg.file("README"),
                  "Views for Paraver: open thread.prv or cpu.prv, then File > Load Configuration.\n"
                  "Those of thread/ are for thread.prv, those of cpu/ for cpu.prv. In a gradient,\n"
                  "orange is what is beyond the scale, which holds 95 of 100 values.\n\n" +
                      readme_lines("thread", thread) + "\n" + readme_lines("cpu", cpu));
}

} // namespace ovnitrace
