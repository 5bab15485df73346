#include "emulator/core/fault_log.h"

#include <utility>

namespace ovnitrace {

void FaultLog::tell(const Event &event, std::string what) {
  Diagnostic diagnostic;
  if (event.file < catalog_.files.size())
    diagnostic.file = catalog_.files[event.file];
  diagnostic.offset = event.offset;
  diagnostic.time = event.time;
  diagnostic.what = std::move(what);
  sink_.report(diagnostic);
}

} // namespace ovnitrace
