// SPDX-License-Identifier: BSD-2-Clause
#include "user/stacks/address_names.h"

#include "emulator/base/clock.h"
#include "emulator/base/to_number.h"
#include "emulator/base/unique_fd.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace ovnitrace {

namespace {

constexpr size_t kLongestLine = 8192;         ///< bytes; the rest of it is left out
constexpr uint64_t kMostOfAFile = 128u << 20; ///< bytes that are read
constexpr uint64_t kSecond = 1'000'000'000;   ///< ns

/// Returns when a process started, in ns of CLOCK_REALTIME and to 10 ms; 0: it has ended.
uint64_t start_of(uint32_t pid) {
  std::string stat, field;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", pid)), stat);
  const size_t name_end = stat.rfind(')'); // a name may have all characters
  if (name_end == stat.npos)
    return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  for (int n = 3; n <= 22; n++) // as proc(5) counts them
    fields >> field;
  const uint64_t ticks = to_number<uint64_t>(field).value_or(0);
  const uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
  return boot + ticks * (kSecond / uint64_t(sysconf(_SC_CLK_TCK)));
}

/// Passes on each line of a file, from its start, without its end. The file can be anybody's, with
/// lines of any length. A last line without an end is left out: it may still be written. Reads at
/// most `most` bytes. Returns how many it has read.
uint64_t each_line(int fd, uint64_t most, const std::function<void(std::string_view)> &take) {
  std::string line;
  std::vector<char> part(64 * 1024);
  uint64_t done = 0;
  while (done < most) {
    const size_t wanted = std::min<uint64_t>(part.size(), most - done);
    const ssize_t got = pread(fd, part.data(), wanted, off_t(done));
    if (got <= 0)
      break;
    done += uint64_t(got);
    for (std::string_view rest(part.data(), size_t(got)); !rest.empty();) {
      const size_t end = rest.find('\n');
      line += rest.substr(0, std::min(end, kLongestLine - line.size()));
      if (end == rest.npos)
        break;
      take(line);
      line.clear();
      rest.remove_prefix(end + 1);
    }
  }
  return done;
}

/// Takes the next word from the start of `text`.
std::string_view word(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view found = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(found.size());
  return found;
}

/// Reads a hexadecimal number; 0 for any other text.
uint64_t number(std::string_view text) {
  if (text.starts_with("0x"))
    text.remove_prefix(2);
  return to_number<uint64_t>(text, 16).value_or(0);
}

} // namespace

void AddressNames::add(uint64_t start, uint64_t size, std::string_view name,
                       std::string_view module) {
  constexpr size_t kLongest = 4096;
  name = name.substr(0, kLongest);
  module = module.substr(0, kLongest);
  if (entries_.size() == kMost || texts_.size() + name.size() + module.size() > kMostBytes)
    return;
  entries_.push_back({start, size ? start + size : 0, uint32_t(texts_.size()),
                      uint32_t(name.size()), uint32_t(module.size())});
  texts_ += name;
  texts_ += module;
}

void AddressNames::sort() {
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry &a, const Entry &b) { return a.start < b.start; });
  uint64_t next = UINT64_MAX;
  for (size_t n = entries_.size(); n-- > 0;) {
    if (n + 1 < entries_.size() && entries_[n + 1].start > entries_[n].start)
      next = entries_[n + 1].start;
    if (!entries_[n].end)
      entries_[n].end = next;
  }
}

/// Reads lines such as "ffffffff81000000 T _text", with "\t[module]" behind some.
AddressNames AddressNames::of_kernel(int kallsyms) {
  AddressNames names;
  each_line(kallsyms, kMostOfAFile, [&](std::string_view line) {
    const uint64_t start = number(word(line));
    const std::string_view kind = word(line), name = word(line), module = word(line);
    if (start && (kind == "t" || kind == "T" || kind == "w" || kind == "W"))
      names.add(start, 0, name, module);
  });
  names.sort();
  return names;
}

/// Takes the names from functions that overlap others of other names: the file does not say when
/// which one was there.
void AddressNames::leave_out_doubtful() {
  const auto name = [&](const Entry &entry) {
    return std::string_view(texts_).substr(entry.text, entry.size);
  };
  std::vector<uint8_t> doubtful(entries_.size());
  size_t longest = 0; // reaches farthest, of those so far
  for (size_t n = 1; n < entries_.size(); n++) {
    const Entry &one = entries_[longest], &other = entries_[n];
    if (other.start < one.end && name(one) != name(other))
      doubtful[longest] = doubtful[n] = true;
    if (other.end > one.end)
      longest = n;
  }
  for (size_t n = 0; n < entries_.size(); n++)
    if (doubtful[n])
      entries_[n].size = 0;
}

/// Reads lines "START SIZE name" with numbers in hexadecimal. A name may have blanks.
AddressNames AddressNames::of_process(uint32_t pid, uint64_t since, uint64_t &most) {
  AddressNames names;
  const UniqueFd file(open(fmt::format("/tmp/perf-{}.map", pid).c_str(),
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat status, process;
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return names;
  const bool lives = stat(fmt::format("/proc/{}", pid).c_str(), &process) == 0;
  const uint64_t start = start_of(pid), written = uint64_t(status.st_mtim.tv_sec) * kSecond;
  if (written + kSecond < (start ? start : since)) // the clock may have been set meanwhile
    return names;
  if (status.st_uid != 0 && status.st_uid != geteuid() &&
      !(lives && status.st_uid == process.st_uid))
    return names;
  most -= std::min(most,
                   each_line(file.get(), std::min(most, kMostOfAFile), [&](std::string_view line) {
                     const uint64_t start = number(word(line)), size = number(word(line));
                     line.remove_prefix(std::min<size_t>(line.size(), 1));
                     if (start && size && size <= UINT64_MAX - start && !line.empty())
                       names.add(start, size, line, "");
                   }));
  names.sort();
  names.leave_out_doubtful();
  return names;
}

AddressNames::Function AddressNames::find(uint64_t address) const {
  auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                [](uint64_t at, const Entry &entry) { return at < entry.start; });
  if (after == entries_.begin() || address >= std::prev(after)->end)
    return {};
  const Entry &entry = *std::prev(after);
  const std::string_view texts = texts_;
  return {texts.substr(entry.text, entry.size),
          texts.substr(entry.text + entry.size, entry.module_size), address - entry.start};
}

} // namespace ovnitrace
