// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni_export/stream_json.h"

#include "emulator/ovni/stream_format.h"

#include <nlohmann/json.hpp>

namespace ovnitrace::ovni {

std::string format_stream_json(const StreamOwner &owner) {
  nlohmann::ordered_json ovni = {
      {"lib", {{"version", kLibraryVersion}, {"commit", "ovnitrace-" OVNITRACE_VERSION}}},
      {"part", "thread"},
      {"tid", owner.tid},
      {"pid", owner.pid},
      {"loom", owner.loom},
      {"app_id", owner.app_id},
      {"require", {{"ovni", kModelVersion}}},
      {"finished", 1},
  };
  for (size_t index = 0; index < owner.cpus.size(); ++index)
    ovni["loom_cpus"].push_back({{"index", index}, {"phyid", owner.cpus[index]}});
  const nlohmann::ordered_json root = {
      {"version", kMetadataVersion},
      {"ovni", ovni},
      {"ovnitrace", {{"name", owner.name}, {"parent", owner.parent}, {"birth", owner.birth}}},
  };
  // The name of a thread may be any bytes.
  return root.dump(1, '\t', false, nlohmann::json::error_handler_t::replace) + "\n";
}

} // namespace ovnitrace::ovni
