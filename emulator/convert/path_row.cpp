// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/convert/path_row.h"

#include "emulator/core/model.h"
#include "emulator/critical/path_text.h"

namespace ovnitrace {

void PathRow::add_to(Layout &layout) {
  layout.header.tasks.push_back({{catalog_.threads[path_.thread].host + 1}});
  layout.names.tasks.push_back("critical path");
  row_ = uint32_t(layout.rows.size());
  layout.rows.push_back({uint32_t(layout.header.tasks.size()), 1});
  layout.names.threads.push_back("critical path of " + thread_name(catalog_, path_.thread));
}

void PathRow::put_until(uint64_t time, PrvRows &rows) {
  const auto put = [&](uint64_t at, int64_t thread, int64_t cause) {
    const TypedValue line[] = {{thread, kPathType}, {cause, kPathCauseType}};
    rows.line_of_row(at - begin_, row_, line);
  };
  while (left_) {
    const PathSegment segment = path_.segments.at(left_ - 1);
    if (segment.from - begin_ > time)
      return;
    left_--;
    threads_.insert(segment.thread);
    put(segment.from, int64_t(segment.thread) + 1, int64_t(segment.cause) + 1);
  }
  if (!ended_ && path_.to - begin_ <= time) {
    ended_ = true;
    put(path_.to, 0, 0);
  }
}

std::vector<PcfType> PathRow::types() const {
  PcfType threads = {kPathType, "Critical path: thread", {{0, "Not on the path", {}}}};
  for (const uint32_t thread : threads_)
    threads.values.push_back({int64_t(thread) + 1, thread_name(catalog_, thread),
                              palette::series(threads.values.size() - 1)});
  PcfType causes = {kPathCauseType, "Critical path: cause", {{0, "Not on the path", {}}}};
  for (uint32_t cause = 0; cause < kCauses; cause++)
    causes.values.push_back(
        {int64_t(cause) + 1, std::string(cause_label(Cause(cause))), cause_color(Cause(cause))});
  return {threads, causes};
}

void PathRow::add_to(Pcf &pcf) const {
  for (PcfType &type : types())
    pcf.types.push_back(std::move(type));
}

void PathRow::add_to(std::vector<View> &views, uint64_t length) const {
  for (PcfType &type : types()) {
    View &view = views.emplace_back();
    view.file = type.type == kPathType ? "critical-path.cfg" : "critical-path-cause.cfg";
    view.about = type.label;
    view.window.name = "Thread: " + type.label;
    view.window.type = type.type;
    view.window.unit = unit_for(length);
    view.window.values = std::move(type.values);
  }
}

} // namespace ovnitrace
