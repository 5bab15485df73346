// SPDX-License-Identifier: BSD-2-Clause
// Writes the details of an event as text, or as members of a JSON object.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// Holds the names of threads as dump writes them. They are made ahead, so that no event allocates.
class ThreadTexts {
public:
  /// The most bytes of a thread.
  static constexpr size_t kMaxBytes = 160;

  explicit ThreadTexts(const Catalog &catalog);

  /// Adds the next thread of the catalog.
  void add_thread();
  /// Takes a new name of a thread from the catalog.
  void name_thread(uint32_t thread);

  /// Returns `comm(tid)` with '_' for a blank, so that a line can be split at its blanks. Empty for
  /// a thread that the catalog does not have.
  std::string_view word(uint32_t thread) const;
  /// Returns the name as a JSON string, `null` if it is not known.
  std::string_view json_name(uint32_t thread) const;
  /// Return the same for an untraced thread, at a time on a host. Without a name: "" and `null`.
  std::string_view peer_word(uint32_t host, uint32_t tid, uint64_t time) const;
  std::string_view peer_json_name(uint32_t host, uint32_t tid, uint64_t time) const;

private:
  struct PeerTexts {
    std::vector<std::string> words, json_names; ///< by index in HostInfo::peers
  };
  std::string_view peer_text(const std::vector<std::string> PeerTexts::*texts, uint32_t host,
                             uint32_t tid, uint64_t time) const;

  const Catalog &catalog_;
  std::vector<std::string> words_, json_names_;
  std::vector<PeerTexts> peers_; ///< by host
};

/// Writes ` key=value`, or members `"key":value` of an object, where the caller has made room. Does
/// not escape keys and words: they are ours.
class DetailWriter {
public:
  enum class Style : uint8_t { text, json };

  /// `host` and `time`: where and when the event was, for the names of threads.
  DetailWriter(char *at, Style style, const ThreadTexts &threads, uint32_t host, uint64_t time)
      : at_(at), style_(style), threads_(threads), host_(host), time_(time) {}

  void number(std::string_view key, int64_t value);
  /// Writes an address, or a part of one: hexadecimal in text, a number in JSON.
  void address(std::string_view key, uint64_t value);
  /// Writes a name of ours.
  void word(std::string_view key, std::string_view value);
  /// Writes any printable name. In text, '_' stands for its blanks.
  void name(std::string_view key, std::string_view value);
  /// Writes another thread: `key=comm(tid)`, or the tid alone if its name is not known. In JSON:
  /// the tid, and a member `key_name`. `zero` is the name for tid 0, which is not a thread.
  void thread(std::string_view key, uint32_t thread, uint32_t tid, std::string_view zero = "idle");

  char *end() const { return at_; }
  bool is_json() const { return style_ == Style::json; }

private:
  void put(std::string_view text);
  void start(std::string_view key, std::string_view suffix = {});

  char *at_;
  bool first_ = true;
  Style style_;
  const ThreadTexts &threads_;
  const uint32_t host_;
  const uint64_t time_; ///< ns
};

} // namespace ovnitrace
