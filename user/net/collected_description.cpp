// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/base/json_text.h"
#include "user/net/udp_session.h"

#include <nlohmann/json.hpp>

namespace ovnitrace {

using Json = nlohmann::json;

namespace {

constexpr int kVersion = 1; // of the trace directory
constexpr size_t kMostValues = 1 << 20;

/// Parses a stranger's text. Returns null if it is not an object, or not one that ovnitrace writes.
Json parse(const std::string &text) {
  Json json;
  std::string why;
  const bool is_ours = parse_json(text, kMostValues, json, why) && json.is_object() &&
                       json.value("format", Json()) == "ovnitrace";
  return is_ours ? json : Json();
}

} // namespace

bool is_description(const std::string &text) {
  return !parse(text).is_null();
}

std::string collected_description(const std::string &description, const std::string &from,
                                  const UdpCounts &counts, bool closed) {
  Json json = parse(description);
  if (json.is_null())
    json = {{"format", "ovnitrace"},
            {"version", kVersion},
            {"host", from},
            {"ended",
             {{"how", closed ? "not known: the sender's own description did not come"
                             : "the sender has not said that it ended"}}}};
  if (counts.lost || counts.wrong || counts.events_lost)
    json.erase(
        "written"); // what the sender wrote; the blackouts in the files say what of it is missing
  json["collected"] = {{"from", from},
                       {"datagrams", counts.taken},
                       {"lost", counts.lost},
                       {"repeated", counts.repeated},
                       {"reordered", counts.reordered},
                       {"late", counts.late},
                       {"wrong", counts.wrong},
                       {"events", counts.events},
                       {"events_lost", counts.events_lost},
                       {"dropped", counts.dropped},
                       {"end_came", closed}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ovnitrace
