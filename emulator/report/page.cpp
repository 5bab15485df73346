// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/report/page.h"

#include "emulator/output/deflater.h"

#include <nlohmann/json.hpp>

#include <algorithm>

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
constexpr int kPageLevel = 3, kMostMemory = 9; // zlib

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
  std::string deflated;
  Deflater deflater(kPageLevel, Deflater::kRaw, kMostMemory);
  deflater.add(deflated, size + text);
  for (const auto &[name, bytes] : parts)
    deflater.add(deflated, bytes);
  deflater.finish(deflated);
  return deflated;
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
