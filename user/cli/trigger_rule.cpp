// SPDX-License-Identifier: BSD-2-Clause
#include "user/cli/trigger_rule.h"

#include "emulator/base/error.h"
#include "emulator/cli/time_option.h"
#include "user/bpf/trigger_capture.h"
#include "user/select/name_glob.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace ovnitrace {

namespace {

/// Parses a time with a unit. Without one it could be seconds or milliseconds.
uint64_t parse_least(const std::string &trigger, const std::string &time) {
  uint64_t ns = 0;
  if (time.empty() || !std::isalpha(uint8_t(time.back())) || !parse_time(time, ns) || ns == 0)
    throw UsageError("--trigger {}: '{}' is no time above 0 with a unit: write 5ms, 200us or 1s",
                     trigger, time);
  return ns;
}

} // namespace

std::optional<trigger_rule> parse_trigger_rule(const std::string &text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto kind = std::find_if(
      std::begin(kTriggerKinds), std::end(kTriggerKinds),
      [&](const TriggerKindName &known) { return text.substr(0, colon) == known.name; });
  if (kind == std::end(kTriggerKinds))
    return std::nullopt;
  if (colon + 1 >= text.size())
    throw UsageError("--trigger {}: write {}", text, kind->form);
  trigger_rule rule = {};
  rule.kind = kind->kind;
  std::string rest = text.substr(colon + 1);
  if (kind->has_time) {
    const size_t end = rest.find(':');
    rule.least_ns = parse_least(text, rest.substr(0, end));
    if (end == rest.npos)
      return rule;
    rest.erase(0, end + 1);
  }
  rule.has_glob = 1;
  rule.glob = make_name_glob("--trigger " + text, rest);
  return rule;
}

} // namespace ovnitrace
