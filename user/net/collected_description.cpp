// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/udp_session.h"

#include <nlohmann/json.hpp>

#include <array>

namespace ovnitrace {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;        // of the trace directory
constexpr int kMaxDepth = 64;      // deeper is nothing that ovnitrace writes
constexpr unsigned kMaxKeys = 256; // of one object: finding each takes as long as there are others

/// A stranger's text as an object; null if it is none, or not like what ovnitrace writes.
Json parse(const std::string &text) {
  bool strange = false;
  std::array<unsigned, kMaxDepth + 2> keys = {}; // of the object that is open at each depth
  const Json json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t event, Json &) {
        strange = strange || depth > kMaxDepth;
        if (!strange && event == Json::parse_event_t::object_start)
          keys[size_t(depth) + 1] = 0; // its keys are one deeper
        if (!strange && event == Json::parse_event_t::key)
          strange = ++keys[size_t(depth)] > kMaxKeys;
        return !strange;
      },
      false);
  return json.is_object() && !strange && json.value("format", Json()) == "ovnitrace" ? json
                                                                                     : Json();
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
        "written"); // what the sender wrote; the blackouts in the files tell what of it is missing
  json["collected"] = {{"from", from},
                       {"datagrams", counts.taken},
                       {"lost", counts.lost},
                       {"repeated", counts.repeated},
                       {"reordered", counts.reordered},
                       {"late", counts.late},
                       {"wrong", counts.wrong},
                       {"events", counts.events},
                       {"events_lost", counts.events_lost},
                       {"end_came", closed}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ovnitrace
