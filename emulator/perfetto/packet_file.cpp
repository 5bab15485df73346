// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/perfetto/packet_file.h"

namespace ovnitrace::perfetto {

void PacketFile::flush() {
  file_.write(buffer_);
  written_ += buffer_.size();
  buffer_.clear();
}

void PacketFile::close() {
  flush();
  file_.commit();
}

} // namespace ovnitrace::perfetto
