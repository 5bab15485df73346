// SPDX-License-Identifier: BSD-2-Clause
#include "user/top/batch.h"

#include "emulator/base/clock.h"
#include "emulator/base/human.h"
#include "emulator/cli/stdout_writer.h"
#include "emulator/summary/report.h"

#include <fmt/core.h>
#include <poll.h>

#include <utility>

namespace ovnitrace {

namespace {

std::string text_of(TopPart &part, const TopView &view, size_t lines, uint64_t interval) {
  const TopTable table = top_table(part, view);
  const auto end = time_t((int64_t(part.sums.summary.to) + part.info.to_wall_ns) / 1'000'000'000);
  std::string text = top_title(view, end, interval) + '\n';
  for (const std::string &line : table.head)
    text += line + '\n';
  const size_t count = table.lines.size(), shown = lines ? std::min(lines, count) : count;
  for (size_t n = 0; n < shown; n++)
    text += table.lines[n] + '\n';
  if (shown < count)
    text += fmt::format("({} more: --top 0 prints all)\n", count - shown);
  return text + '\n';
}

} // namespace

TopBatch::TopBatch(TopView view, uint64_t count, size_t lines, bool json)
    : view_(std::move(view)), count_(count), left_(count), lines_(lines), json_(json) {}

bool TopBatch::wait(uint64_t time, int stop) {
  const uint64_t now = monotonic_ns();
  pollfd file = {stop, POLLIN, 0};
  if (left_ && !gone_ && now < time)
    poll(&file, 1, int((time - now) / 1'000'000) + 1);
  return left_ > 0 && !gone_;
}

void TopBatch::take(const std::string &directory, uint64_t from, uint64_t to) {
  NoDiagnostics none; // a part is made anew each time
  TopPart part = read_top_part(directory, from, to, none);
  StdoutWriter out;
  if (json_) {
    apply_filter(part.sums.summary, part.catalog(), view_.filter);
    const ReportInput input{part.place, part.info, part.catalog(), part.sums.summary,
                            part.sums.answer};
    write_json_report(input, {.sort = view_.sort, .one_line = true},
                      [&](std::string_view text) { out.write(text); });
  } else {
    out.write(text_of(part, view_, lines_, interval));
  }
  out.flush();
  gone_ = out.gone();
  left_--;
}

std::string TopBatch::unfinished() const {
  return left_ && !gone_ ? fmt::format("{} of {} intervals were printed",
                                       human_count(count_ - left_), human_count(count_))
                         : "";
}

} // namespace ovnitrace
