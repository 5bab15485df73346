// A file that is there whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ovnitrace {

/// A file written under a temporary name beside its own and renamed by commit(). Destroyed before
/// that, it is removed, so that an aborted conversion never leaves half a trace under a final name.
/// What was at the path is replaced; a symbolic link there is replaced, not followed. A device or
/// pipe is written in place. Every function throws Error.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path);
  ~AtomicFile();
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;

  void write(std::string_view bytes);
  /// Replaces bytes that were written before.
  void rewrite(uint64_t offset, std::string_view bytes);
  void commit();

private:
  [[noreturn]] void fail(const char *doing) const;

  std::string path_;
  std::string temporary_; ///< empty: written in place, or committed
  int fd_ = -1;
};

/// Writes a small file at once.
void write_text_file(const std::string &path, std::string_view text);

} // namespace ovnitrace
