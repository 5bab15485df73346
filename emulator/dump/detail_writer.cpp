// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/dump/detail_writer.h"

#include "emulator/base/number_text.h"
#include "emulator/base/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace ovnitrace {

namespace {

constexpr size_t kMaxComm = 64; // of another input than ours it may be longer

/// Returns as much of a name as fits, in one line.
std::string short_name(const std::string &name) {
  return printable_line(std::string_view(name).substr(0, kMaxComm));
}

std::string word_of(const std::string &name, uint32_t tid) {
  std::string word = short_name(name);
  std::replace(word.begin(), word.end(), ' ', '_');
  return fmt::format("{}({})", word.empty() ? "?" : word, tid);
}

std::string json_name_of(const std::string &name) {
  if (name.empty())
    return "null";
  std::string text = "\"";
  for (char c : short_name(name)) // no control character is left in it
    text += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  return text + '"';
}

} // namespace

ThreadTexts::ThreadTexts(const Catalog &catalog) : catalog_(catalog) {
  while (words_.size() < catalog.threads.size())
    add_thread();
  for (const HostInfo &host : catalog.hosts) {
    PeerTexts &texts = peers_.emplace_back();
    for (const PeerName &peer : host.peers) {
      texts.words.push_back(word_of(peer.name, peer.tid));
      texts.json_names.push_back(json_name_of(peer.name));
    }
  }
}

void ThreadTexts::add_thread() {
  words_.emplace_back();
  json_names_.emplace_back();
  name_thread(uint32_t(words_.size() - 1));
}

void ThreadTexts::name_thread(uint32_t thread) {
  const ThreadInfo &info = catalog_.threads[thread];
  words_[thread] = word_of(info.name, info.tid);
  json_names_[thread] = json_name_of(info.name);
}

std::string_view ThreadTexts::peer_text(const std::vector<std::string> PeerTexts::*texts,
                                        uint32_t host, uint32_t tid, uint64_t time) const {
  if (host >= peers_.size())
    return {};
  const std::vector<PeerName> &peers = catalog_.hosts[host].peers;
  const PeerName *peer = find_peer(peers, tid, time);
  return peer ? std::string_view((peers_[host].*texts)[size_t(peer - peers.data())])
              : std::string_view();
}

std::string_view ThreadTexts::peer_word(uint32_t host, uint32_t tid, uint64_t time) const {
  return peer_text(&PeerTexts::words, host, tid, time);
}

std::string_view ThreadTexts::peer_json_name(uint32_t host, uint32_t tid, uint64_t time) const {
  const std::string_view name = peer_text(&PeerTexts::json_names, host, tid, time);
  return name.empty() ? "null" : name;
}

std::string_view ThreadTexts::word(uint32_t thread) const {
  return thread < words_.size() ? std::string_view(words_[thread]) : std::string_view();
}

std::string_view ThreadTexts::json_name(uint32_t thread) const {
  return thread < json_names_.size() ? std::string_view(json_names_[thread]) : "null";
}

void DetailWriter::put(std::string_view text) {
  at_ = std::copy(text.begin(), text.end(), at_);
}

void DetailWriter::start(std::string_view key, std::string_view suffix) {
  put(style_ == Style::text ? " " : first_ ? "\"" : ",\"");
  first_ = false;
  put(key);
  put(suffix);
  put(style_ == Style::text ? "=" : "\":");
}

void DetailWriter::number(std::string_view key, int64_t value) {
  start(key);
  at_ = put_decimal(at_, value);
}

void DetailWriter::address(std::string_view key, uint64_t value) {
  if (style_ == Style::json)
    return number(key, int64_t(value));
  start(key);
  put("0x");
  at_ = fmt::format_to(at_, "{:x}", value);
}

void DetailWriter::word(std::string_view key, std::string_view value) {
  start(key);
  if (style_ == Style::json)
    put("\"");
  put(value);
  if (style_ == Style::json)
    put("\"");
}

void DetailWriter::name(std::string_view key, std::string_view value) {
  const bool json = style_ == Style::json;
  start(key);
  put(json ? "\"" : "");
  for (const char c : value) {
    if (json && (c == '"' || c == '\\'))
      *at_++ = '\\';
    *at_++ = c == ' ' && !json ? '_' : c;
  }
  put(json ? "\"" : "");
}

void DetailWriter::thread(std::string_view key, uint32_t thread, uint32_t tid,
                          std::string_view zero) {
  std::string_view known = threads_.word(thread);
  if (known.empty() && tid)
    known = threads_.peer_word(host_, tid, time_);
  if (style_ == Style::json) {
    number(key, tid);
    start(key, "_name");
    put(tid ? "" : "\"");
    put(!tid              ? zero
        : thread == kNone ? threads_.peer_json_name(host_, tid, time_)
                          : threads_.json_name(thread));
    put(tid ? "" : "\"");
  } else if (tid == 0) {
    word(key, zero);
    put("(0)");
  } else if (!known.empty()) {
    word(key, known);
  } else {
    number(key, tid);
  }
}

} // namespace ovnitrace
