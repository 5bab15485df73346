// SPDX-License-Identifier: BSD-2-Clause
// Reads the page of `ovnitrace report` again, as emulator/report/packed_trace.h and page.h say.
#pragma once

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <bit>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ovnitrace::test {

inline std::string from_base64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0, held = 0;
  for (char c : text) {
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z',
               digit = c >= '0' && c <= '9';
    if (c == '=')
      break;
    const int value = upper      ? c - 'A'
                      : lower    ? c - 'a' + 26
                      : digit    ? c - '0' + 52
                      : c == '+' ? 62
                      : c == '/' ? 63
                                 : -1;
    if (value < 0)
      throw std::runtime_error("no base64");
    held = held << 6 | uint32_t(value);
    if ((bits += 6) >= 8)
      bytes += char(held >> (bits -= 8));
  }
  return bytes;
}

inline std::string inflate_raw(const std::string &bytes) {
  z_stream stream{};
  inflateInit2(&stream, -15);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  std::string all;
  int status = Z_OK;
  while (status == Z_OK) {
    char buffer[1 << 15];
    stream.next_out = reinterpret_cast<Bytef *>(buffer);
    stream.avail_out = sizeof buffer;
    status = inflate(&stream, Z_NO_FLUSH);
    all.append(buffer, sizeof buffer - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END)
    throw std::runtime_error("no deflate");
  return all;
}

/// A column of numbers.
class Numbers {
public:
  explicit Numbers(std::string bytes) : bytes_(std::move(bytes)) {}
  bool more() const { return at_ < bytes_.size(); }
  uint64_t next() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = uint8_t(bytes_.at(at_++));
      value |= uint64_t(byte & 0x7f) << shift;
      if (byte < 0x80)
        return value;
    }
  }

private:
  std::string bytes_;
  size_t at_ = 0;
};

struct PackedSlice {
  uint32_t thread;
  uint8_t state; ///< an index of the header's states; their number: mixed
  bool starts, ends;
  uint64_t start, end; ///< ns from the start of the trace
  int64_t cpu;         ///< 1 + index, 0: none
  uint64_t why, peer;
  std::vector<uint64_t> mix; ///< of a mixed one: ns by state
};

struct PackedPage {
  nlohmann::json header, summary;
  std::map<std::string, std::string> parts;
  std::vector<PackedSlice> slices; ///< by thread, then time

  explicit PackedPage(const std::string &html) {
    const std::string start = "<script type=\"application/octet-stream\">";
    std::string deflated;
    for (size_t at = 0; (at = html.find(start, at)) != html.npos;) {
      at += start.size();
      deflated += from_base64(std::string_view(html).substr(at, html.find('<', at) - at));
    }
    const std::string all = inflate_raw(deflated);
    size_t size = 0;
    for (size_t n = 4; n-- > 0;)
      size = size << 8 | uint8_t(all.at(n));
    header = nlohmann::json::parse(all.substr(4, size));
    size_t at = 4 + size;
    for (const auto &part : header["parts"]) {
      parts[part[0]] = all.substr(at, part[1]);
      at += part[1].get<size_t>();
    }
    if (at != all.size())
      throw std::runtime_error("parts of another size than their list");
    summary = nlohmann::json::parse(parts["summary"]);
    read_slices();
  }

private:
  void read_slices() {
    Numbers length(parts["length"]), cpu(parts["cpu"]), why(parts["why"]), peer(parts["peer"]),
        mix(parts["mix"]);
    const size_t mixed = header["states"].size(); // two flags follow the bits of the largest state
    const unsigned starts = 1u << std::bit_width(mixed), ends = 2 * starts;
    size_t n = 0;
    for (uint32_t t = 0; t < header["threads"].size(); t++) {
      uint64_t time = header["threads"][t]["start"];
      int64_t where = 0;
      for (uint64_t left = header["threads"][t]["slices"]; left > 0; left--) {
        const auto kind = uint8_t(parts["kind"].at(n++));
        const uint64_t start = time, moved = (time += length.next(), cpu.next());
        where += moved % 2 ? -int64_t(moved / 2) - 1 : int64_t(moved / 2);
        slices.push_back({t,
                          uint8_t(kind & (starts - 1)),
                          (kind & starts) != 0,
                          (kind & ends) != 0,
                          start,
                          time,
                          where,
                          why.next(),
                          peer.next(),
                          {}});
        for (size_t state = 0; slices.back().state == mixed && state < mixed; state++)
          slices.back().mix.push_back(mix.next());
      }
    }
    if (n != parts["kind"].size() || length.more() || cpu.more() || why.more() || peer.more() ||
        mix.more())
      throw std::runtime_error("columns of different lengths");
  }
};

} // namespace ovnitrace::test
