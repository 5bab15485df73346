#include "emulator/cli/warnings.h"

#include <cinttypes>
#include <cstdio>

namespace ovnitrace {

void Warnings::report(const Diagnostic &diagnostic) {
  damage_ += !diagnostic.harmless;
  if (told_++ >= limit_)
    return;
  if (diagnostic.harmless)
    std::fprintf(stderr, "ovnitrace: warning: %s: %s\n", diagnostic.file.c_str(),
                 diagnostic.what.c_str());
  else
    std::fprintf(stderr, "ovnitrace: warning: %s, byte %" PRIu64 ": %s\n", diagnostic.file.c_str(),
                 diagnostic.offset, diagnostic.what.c_str());
}

void Warnings::finish() const {
  if (told_ > limit_)
    std::fprintf(stderr, "ovnitrace: warning: and %" PRIu64 " more like these\n", told_ - limit_);
}

} // namespace ovnitrace
