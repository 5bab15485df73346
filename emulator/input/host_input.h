// SPDX-License-Identifier: BSD-2-Clause
// The opened files of one host: what the catalog is made from and what the merge reads.
#pragma once

#include "emulator/base/unique_fd.h"
#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ovnitrace {

/// Whole chunks of a file, one after another: bytes of the plain file, and where they start in the
/// file itself.
struct FilePart {
  uint64_t start, end;
  uint64_t place;
};

/// One chunk file.
struct ChunkInput {
  std::string name;              ///< for messages
  UniqueFd fd;                   ///< a regular file; of a missing one none
  uint64_t size = 0;             ///< bytes, when it was opened: what is written later is not read
  bool compressed = false;       ///< of zstd frames (emulator/compress)
  uint16_t cpu = 0;              ///< as its name says, until its first chunk says otherwise
  uint64_t records = 0;          ///< that are in it, once it was looked through
  uint64_t written = 0;          ///< records that it had in the end, 0 not known
  uint64_t unwritten = 0;        ///< records of its CPU that were captured and could not be written
  uint64_t unwritten_events = 0; ///< that were lost with them
  std::vector<FilePart> parts = {}; ///< what is to be read of it; empty: all
  bool missing =
      false; ///< there is no such file, and it is not known that its CPU had nothing to record
};

/// One host.
struct HostInput {
  std::string name;
  std::string path = {};            ///< of its directory, for messages
  int64_t clock_offset_ns = 0;      ///< added to each of its times
  uint32_t cpus = 0;                ///< CPUs that it has at least, 0 unknown
  uint64_t began_ns = 0;            ///< when its capture began, by its clock, 0 unknown
  bool start_lost = false;          ///< its files may lack what says that it began
  uint64_t end_ns = 0;              ///< when it ended, 0 unknown
  int64_t to_wall_ns = 0;           ///< what its clock lacks to CLOCK_REALTIME, 0 unknown
  std::vector<PeerName> peers = {}; ///< by tid, then time, by its clock
  std::vector<CommandLine> command_lines = {}; ///< by process, then time, by its clock
  std::vector<std::string> chains = {};        ///< of --control: what each is called
  std::vector<std::string> idle_states = {};   ///< by number: the kernel's names; empty: not known
  bool has_stacks = false;                     ///< they were recorded
  bool all_threads = false;                    ///< every transition of every thread was captured
  bool cpu_holders = false;                    ///< as in HostInfo
  std::string machine = {};                    ///< architecture, empty: not known
  std::vector<DeviceName> devices = {};        ///< that woke threads
  bool sees_refills = false;                   ///< as HostInfo has it
  std::vector<ChunkInput> chunks;
};

} // namespace ovnitrace
