// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/page.h"

#include "emulator/base/error.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <array>

namespace ovnitrace {

namespace {

/// The page, with a line kDataMark in place of its data. assemble.sh makes it of the files in
/// page/.
constexpr std::string_view kPage =
#include "report/page.inc"
    ;
constexpr std::string_view kDataMark = "@DATA@\n";
constexpr std::string_view kBlockStart = "<script type=\"application/octet-stream\">",
                           kBlockEnd = "</script>\n";
constexpr size_t kBlockBytes = 3 << 20; ///< of data in one element: the page decodes them in turn
constexpr int kRawDeflate = -15, kLevel = 3, kMostMemory = 9; // zlib

class Deflater {
public:
  Deflater() {
    check(deflateInit2(&stream_, kLevel, Z_DEFLATED, kRawDeflate, kMostMemory, Z_DEFAULT_STRATEGY));
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater &) = delete;
  Deflater &operator=(const Deflater &) = delete;

  void add(std::string_view bytes, int flush = Z_NO_FLUSH) {
    do { // zlib counts the input in 32 bits
      const size_t now = std::min<size_t>(bytes.size(), 1 << 30);
      stream_.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
      stream_.avail_in = uInt(now);
      bytes.remove_prefix(now);
      do {
        stream_.next_out = reinterpret_cast<Bytef *>(buffer_.data());
        stream_.avail_out = uInt(buffer_.size());
        check(deflate(&stream_, flush));
        out_.append(buffer_.data(), buffer_.size() - stream_.avail_out);
      } while (stream_.avail_out == 0);
    } while (!bytes.empty());
  }
  std::string finish() {
    add({}, Z_FINISH);
    return std::move(out_);
  }

private:
  void check(int status) const {
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      throw Error("cannot compress the report: zlib is out of memory");
  }

  z_stream stream_{};
  std::array<char, 1 << 16> buffer_;
  std::string out_;
};

constexpr size_t base64_size(size_t bytes) {
  return (bytes + 2) / 3 * 4;
}

void append_base64(std::string &text, std::string_view bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto at = [&](size_t n) { return n < bytes.size() ? uint32_t(uint8_t(bytes[n])) : 0; };
  for (size_t n = 0; n < bytes.size(); n += 3) {
    const uint32_t three = at(n) << 16 | at(n + 1) << 8 | at(n + 2);
    for (int shift = 18; shift >= 0; shift -= 6)
      text += kDigits[three >> shift & 63];
    if (n + 3 > bytes.size())
      text.replace(text.size() - (n + 3 - bytes.size()), std::string::npos, n + 3 - bytes.size(),
                   '=');
  }
}

} // namespace

std::string deflate_parts(nlohmann::ordered_json header, const std::vector<PagePart> &parts) {
  header["parts"] = nlohmann::ordered_json::array();
  for (const auto &[name, bytes] : parts)
    header["parts"].push_back({name, bytes.size()});
  // Names are bytes that programs chose: what is no UTF-8 is replaced.
  const std::string text =
      header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string size;
  for (int shift = 0; shift < 32; shift += 8)
    size += char(text.size() >> shift);
  Deflater deflater;
  deflater.add(size);
  deflater.add(text);
  for (const auto &[name, bytes] : parts)
    deflater.add(bytes);
  return deflater.finish();
}

uint64_t page_bytes(uint64_t deflated) {
  const uint64_t blocks = (deflated + kBlockBytes - 1) / kBlockBytes;
  return kPage.size() - kDataMark.size() + base64_size(deflated) +
         blocks * (kBlockStart.size() + kBlockEnd.size());
}

void write_page(AtomicFile &file, std::string_view deflated) {
  const size_t mark = kPage.find(kDataMark);
  file.write(kPage.substr(0, mark));
  std::string block;
  for (; !deflated.empty(); deflated.remove_prefix(std::min(kBlockBytes, deflated.size()))) {
    block = kBlockStart;
    append_base64(block, deflated.substr(0, kBlockBytes));
    block += kBlockEnd;
    file.write(block);
  }
  file.write(kPage.substr(mark + kDataMark.size()));
}

} // namespace ovnitrace
