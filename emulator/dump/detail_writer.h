// SPDX-License-Identifier: BSD-2-Clause
// The details of an event, as text or as members of a JSON object.
#pragma once

#include "emulator/input/source.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace {

/// How dump writes the threads of a catalog: made once, so that no event allocates.
class ThreadTexts {
public:
  /// Bytes that one takes at most.
  static constexpr size_t kMaxBytes = 160;

  explicit ThreadTexts(const Catalog &catalog);

  /// `comm(tid)`, a blank in a name as '_', so that a line can be split at its blanks. Empty for a
  /// thread that the catalog does not have.
  std::string_view word(uint32_t thread) const;
  /// The name as a JSON string, `null` where it is not known.
  std::string_view json_name(uint32_t thread) const;
  /// The same of a thread that is not traced, at a time on a host. Empty and `null` where it has no
  /// name.
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

/// Writes ` key=value`, or the members `"key":value` of an object, at a place where there is room.
/// Keys and words are ours: nothing in them is escaped.
class DetailWriter {
public:
  enum class Style : uint8_t { text, json };

  /// `host` and `time`: where and when the event was, for the names of threads.
  DetailWriter(char *at, Style style, const ThreadTexts &threads, uint32_t host, uint64_t time)
      : at_(at), style_(style), threads_(threads), host_(host), time_(time) {}

  void number(std::string_view key, int64_t value);
  /// An address, or a part of one: hexadecimal in text, a number in JSON.
  void address(std::string_view key, uint64_t value);
  /// A name of ours.
  void word(std::string_view key, std::string_view value);
  /// The same with blanks, in text as '_'.
  void name(std::string_view key, std::string_view value);
  /// Another thread: `key=comm(tid)`, or the tid alone where its name is not known. In JSON the
  /// tid, and a member `key_name`. `zero` is the name of tid 0, which is no thread.
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
