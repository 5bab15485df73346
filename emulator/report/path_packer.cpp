// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/path_packer.h"

#include "emulator/critical/path_text.h"
#include "emulator/report/varint.h"

#include <nlohmann/json.hpp>

namespace ovnitrace {

std::optional<std::string> pack_path(CriticalPath &path, uint64_t most_bytes) {
  std::string bytes;
  path.for_each([&](const PathSegment &segment) {
    if (bytes.size() > most_bytes)
      return;
    put_varint(bytes, segment.length());
    put_varint(bytes, segment.thread);
    put_varint(bytes, uint64_t(segment.cause));
  });
  if (bytes.size() > most_bytes)
    return {};
  return bytes;
}

nlohmann::ordered_json path_header(const CriticalPath &path, const Catalog &catalog) {
  nlohmann::ordered_json causes = nlohmann::ordered_json::array();
  for (uint32_t cause = 0; cause < kCauses; cause++)
    causes.push_back(cause_label(Cause(cause)));
  return {{"thread", path.thread}, {"from", path.from - catalog.begin}, {"causes", causes}};
}

} // namespace ovnitrace
