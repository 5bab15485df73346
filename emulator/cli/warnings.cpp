#include "emulator/cli/warnings.h"

#include "emulator/cli/tell.h"

namespace ovnitrace {

void Warnings::report(const Diagnostic &diagnostic) {
  damage_ += !diagnostic.harmless;
  if (told_++ >= limit_)
    return;
  if (diagnostic.file.empty())
    tell("warning: {}", diagnostic.what);
  else if (diagnostic.harmless)
    tell("warning: {}: {}", diagnostic.file, diagnostic.what);
  else
    tell("warning: {}, byte {}: {}", diagnostic.file, diagnostic.offset, diagnostic.what);
}

void Warnings::finish() const {
  if (told_ > limit_)
    tell("warning: and {} more like these", told_ - limit_);
}

} // namespace ovnitrace
