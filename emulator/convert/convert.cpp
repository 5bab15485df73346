// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/convert.h"

#include "emulator/convert/labels.h"
#include "emulator/convert/path_row.h"
#include "emulator/convert/prv_rows.h"
#include "emulator/convert/views.h"
#include "emulator/core/replay.h"
#include "emulator/models/json_model.h"
#include "emulator/models/registry.h"
#include "emulator/output/atomic_file.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ovnitrace {

namespace {

/// Leaves the user events that a user's model takes to that model alone.
void give_events_to(const Model &owner, std::vector<Model> &models) {
  auto user = std::find_if(models.begin(), models.end(),
                           [](const Model &model) { return model.name == "user"; });
  std::erase_if(user->events, [&](const EventDef &event) {
    return std::any_of(owner.events.begin(), owner.events.end(),
                       [&](const EventDef &owned) { return owned.kind == event.kind; });
  });
}

std::vector<Model> load_models(const std::vector<std::string> &model_files) {
  std::vector<Model> models = builtin_models();
  for (const std::string &file : model_files) {
    Model model = load_json_model(file, models);
    give_events_to(model, models);
    models.push_back(std::move(model));
  }
  return models;
}

SystemOptions system_options(const Catalog &catalog, const Cut &cut) {
  SystemOptions options;
  options.virtual_cpus = catalog.ovni;
  for (const ThreadInfo &thread : catalog.threads)
    options.left_out.push_back(!cut.keeps(thread));
  return options;
}

/// Returns the PRV types that are painted by size.
std::vector<uint32_t> gradients(const System &system, TraceKind kind) {
  std::vector<uint32_t> types;
  for (ChannelId id = 0; id < system.channels().size(); id++) {
    const ChannelDef &def = system.channels().def(id);
    const uint32_t type = kind == TraceKind::thread ? def.thread_type : def.cpu_type;
    if (def.paint == Paint::gradient && type)
      types.push_back(type);
  }
  return types;
}

constexpr size_t kThreadsInCache = 1000;

/// A running conversion: the replay, the two traces, and the current instant.
class Conversion final : public ReplayPart {
public:
  Conversion(const Catalog &catalog, const ConvertOptions &options, DiagnosticSink &sink)
      : catalog_(catalog), options_(options), from_(options.cut.from),
        wide_(catalog.threads.size() > kThreadsInCache),
        replay_(catalog, load_models(options.model_files), system_options(catalog, options.cut),
                sink, options.lint ? FaultLog::kUnlimited : kFaultsReported),
        path_(options.path ? std::optional<PathRow>(std::in_place, *options.path, catalog,
                                                    catalog.begin + options.cut.from)
                           : std::nullopt),
        thread_layout_(threads_and_path()), cpu_layout_(cpu_layout(replay_.system(), options.cut)),
        directory_(options.directory, options.link),
        threads_(directory_.file("thread.prv"), thread_layout_,
                 {options.gzip, gradients(replay_.system(), TraceKind::thread)}),
        cpus_(directory_.file("cpu.prv"), cpu_layout_,
              {options.gzip, gradients(replay_.system(), TraceKind::cpu)}) {}

  void prefetch(const Event &event) {
    if (!wide_ || event.thread == kNone)
      return;
    replay_.system().prefetch(event.thread);
    threads_.prefetch(event.thread);
    if (event.peer != kNone)
      threads_.prefetch(event.peer);
  }

  /// Returns false after the end of the cut.
  bool before(const Event &event) {
    uint64_t time = event.time > catalog_.begin ? event.time - catalog_.begin : 0;
    if (event.time >= catalog_.begin && !begun_) {
      begun_ = true;
      replay_.skip(); // events that lead to the states at the start happened earlier
    }
    if (time != now_)
      end_instant();
    if (time > options_.cut.to)
      return false;
    now_ = time;
    if (!started_ && now_ >= from_)
      start();
    events_ += started_ && was_captured(event) && has_happened(event) && is_shown(event);
    return true;
  }

  void finish(ConvertResult &result) {
    end_instant();
    if (!started_)
      start();
    uint64_t end = catalog_.end > catalog_.begin ? catalog_.end - catalog_.begin : 0;
    end = std::max(std::min(end, options_.cut.to), now_);
    end = end > from_ ? end - from_ : 0;
    if (path_)
      path_->put_until(end, threads_);
    // First the names of what is in a .prv: where they cannot be written, it does not appear.
    Pcf thread_pcf = write_beside(TraceKind::thread, thread_layout_);
    Pcf cpu_pcf = write_beside(TraceKind::cpu, cpu_layout_);
    const TraceShape threads = threads_.close(end), cpus = cpus_.close(end);
    const System &system = replay_.system();
    std::vector<View> thread_views =
        make_views(system, TraceKind::thread, std::move(thread_pcf), threads);
    if (path_)
      path_->add_to(thread_views, end);
    write_views(directory_, thread_views,
                make_views(system, TraceKind::cpu, std::move(cpu_pcf), cpus));
    result.events = events_;
    result.length = end;
    result.thread_rows = thread_layout_.rows.size();
    result.cpu_rows = cpu_layout_.rows.size();
    replay_.faults().report_unseen();
    result.faults = replay_.faults().count();
    result.untaken = replay_.untaken();
  }

  Replay &replay() { return replay_; }

private:
  Layout threads_and_path() {
    Layout layout = thread_layout(replay_.system(), options_.cut);
    if (path_)
      path_->add_to(layout);
    return layout;
  }

  /// Shows the states at the start of the cut from time 0 on. Earlier punctual events are not
  /// shown.
  void start() {
    started_ = true;
    threads_.begin(kThreadStateType);
    cpus_.begin(kRunningThreadsType);
    replay_.emit(0, threads_, cpus_);
  }

  void end_instant() {
    if (!started_)
      return replay_.skip();
    const uint64_t time = now_ - from_;
    if (path_ && time)
      path_->put_until(time - 1, threads_); // punctual events are emitted 1 ns early
    replay_.emit(time, threads_, cpus_);
    if (path_)
      path_->put_until(time, threads_);
  }

  /// Returns whether the event's thread is in the cut or, without a thread, its CPU.
  bool is_shown(const Event &event) const {
    if (event.thread != kNone)
      return thread_layout_.row_of[event.thread] != kNone;
    return event.cpu == kNone || cpu_layout_.row_of[event.cpu] != kNone;
  }

  /// Writes the .pcf and the .row of one of the traces. Returns the .pcf.
  Pcf write_beside(TraceKind kind, const Layout &layout) {
    const std::string name = kind == TraceKind::thread ? "thread" : "cpu";
    Pcf pcf = make_pcf(replay_.system(), kind);
    if (path_ && kind == TraceKind::thread)
      path_->add_to(pcf);
    write_text_file(directory_.file(name + ".pcf"), pcf_text(pcf));
    write_text_file(directory_.file(name + ".row"), row_text(layout.names));
    return pcf;
  }

  const Catalog &catalog_;
  const ConvertOptions &options_;
  uint64_t from_;
  const bool wide_; ///< so many threads that they do not fit a cache
  Replay replay_;
  std::optional<PathRow> path_;
  Layout thread_layout_, cpu_layout_;
  OutputDirectory directory_;
  PrvRows threads_, cpus_;
  uint64_t now_ = 0;
  uint64_t events_ = 0;  ///< in the cut
  bool begun_ = false;   ///< an event at or after the start of the trace was handled
  bool started_ = false; ///< the start of the cut is reached
};

} // namespace

void check_models(const std::vector<std::string> &model_files) {
  load_models(model_files);
}

ConvertResult convert(EventSource &source, const ConvertOptions &options, DiagnosticSink &sink) {
  check_cut(options.cut, source.catalog());
  ReadAhead reader(source);
  reader.begin(); // before any file is made
  Conversion conversion(source.catalog(), options, sink);
  const bool whole = conversion.replay().play(reader, conversion);
  if (options.lint && whole) // what is open at the end of a cut may yet be closed
    conversion.replay().report_end(source.catalog().end);
  ConvertResult result;
  conversion.finish(result);
  return result;
}

} // namespace ovnitrace
