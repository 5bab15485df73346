#include "user/net/udp_session.h"

#include <nlohmann/json.hpp>

namespace ovnitrace {

using Json = nlohmann::ordered_json;

namespace {

constexpr int kVersion = 1;   // of the trace directory
constexpr int kMaxDepth = 64; // deeper is nothing that ovnitrace writes

/// A stranger's text as an object; null if it is none.
Json parse(const std::string &text) {
  bool too_deep = false;
  const Json json = Json::parse(
      text,
      [&](int depth, Json::parse_event_t, Json &) {
        too_deep = too_deep || depth > kMaxDepth;
        return !too_deep;
      },
      false);
  return json.is_object() && !too_deep ? json : Json();
}

} // namespace

std::string collected_description(const std::string &description, const std::string &from, const UdpCounts &counts,
                                  bool closed) {
  Json json = parse(description);
  if (json.is_null())
    json = {{"format", "ovnitrace"},
            {"version", kVersion},
            {"host", from},
            {"ended",
             {{"how", closed ? "not known: the sender's own description did not come"
                             : "the sender has not said that it ended"}}}};
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
