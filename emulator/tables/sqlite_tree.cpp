// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/tables/sqlite_tree.h"

#include "emulator/base/error.h"

#include <algorithm>
#include <cstring>

namespace ovnitrace {

namespace {

constexpr size_t kBlocks = 4, kBlockBytes = 256 * 1024; ///< that are written at once
constexpr uint64_t kPagesAt = 28;                       ///< where the header has their number

/// SQLite locks bytes from here on: the page with them is never used.
constexpr uint32_t kLockPage = (1u << 30) / SqlitePages::kBytes + 1;

uint8_t *put_big_endian(uint8_t *at, uint32_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    *at++ = uint8_t(value >> shift);
  return at;
}

uint32_t big_endian_4(const uint8_t *at) {
  return uint32_t(at[0]) << 24 | uint32_t(at[1]) << 16 | uint32_t(at[2]) << 8 | at[3];
}

void check_size(const SqliteRecord &record) {
  if (record.bytes() > SqliteTree::kMostBytes)
    throw Error("internal error: a row of the database is longer than any can be");
}

std::string_view text_of(const uint8_t *bytes, size_t size) {
  return {reinterpret_cast<const char *>(bytes), size};
}

} // namespace

SqlitePages::SqlitePages(AtomicFile &file, uint32_t pages)
    : file_(file), pages_(pages), relay_(std::vector<Block>(kBlocks), 1, {}, [this](Block &block) {
        file_.rewrite(block.offset, text_of(block.bytes.data(), block.bytes.size()));
        block.bytes.clear();
      }) {}

uint32_t SqlitePages::append(const Page &page) {
  std::vector<uint8_t> &bytes = relay_.current().bytes;
  if (pages_ + 1 == kLockPage) {
    bytes.resize(bytes.size() + kBytes);
    pages_++;
  }
  bytes.insert(bytes.end(), page.begin(), page.end());
  pages_++;
  if (bytes.size() >= kBlockBytes)
    pass();
  return pages_;
}

void SqlitePages::pass() {
  Block &block = relay_.current();
  block.offset = offset(pages_ + 1) - block.bytes.size();
  relay_.pass();
}

void SqlitePages::replace(uint32_t number, const Page &page) {
  file_.rewrite(offset(number), text_of(page.data(), page.size()));
}

void SqlitePages::finish() {
  pass();
  relay_.finish();
  uint8_t pages[4];
  put_big_endian(pages, pages_, 4);
  file_.rewrite(kPagesAt, text_of(pages, sizeof(pages)));
}

SqliteTree::SqliteTree(SqlitePages &pages, Kind kind, uint32_t root)
    : pages_(pages), kind_(kind), root_(root) {
  levels_.push_back(std::make_unique<Level>());
}

uint32_t SqliteTree::add_row(const SqliteRecord &record) {
  check_size(record);
  if (rows_ == UINT32_MAX)
    throw Error("a table of the database would have more than 4,294,967,295 rows: export a part of "
                "the trace with --from and --until");
  uint8_t head[2 * 9];
  uint8_t *end = put_sqlite_varint(head, record.bytes());
  end = put_sqlite_varint(end, uint64_t(rows_) + 1);
  uint8_t *at = place(0, size_t(end - head) + record.bytes()); // which may ask for rows_
  record.put(std::copy(head, end, at));
  return ++rows_;
}

void SqliteTree::add_entry(const SqliteRecord &record) {
  check_size(record);
  uint8_t head[9];
  uint8_t *end = put_sqlite_varint(head, record.bytes());
  record.put(std::copy(head, end, place(0, size_t(end - head) + record.bytes())));
}

/// Where the next cell of a level goes.
uint8_t *SqliteTree::place(size_t level, size_t bytes) {
  if (level == levels_.size())
    levels_.push_back(std::make_unique<Level>());
  Level &to = *levels_[level];
  const auto pointers = [&] { return header_bytes(level) + 2 * size_t(to.cells); };
  if (pointers() + 2 + bytes > to.content)
    pass_on(level);
  to.content -= bytes;
  to.last = bytes;
  put_big_endian(&to.page[pointers()], uint32_t(to.content), 2);
  to.cells++;
  return &to.page[to.content];
}

/// Writes a full page, puts its key into the level above and empties it. Keys of leaves of a table
/// are also in the level above; all others are there instead, so that the last cell goes up.
void SqliteTree::pass_on(size_t level) {
  Level &full = *levels_[level];
  uint8_t key[kMostBytes + 16]; // with its length
  size_t key_bytes = 0;
  uint32_t right = 0;
  if (level == 0 && kind_ == Kind::table) {
    key_bytes = size_t(put_sqlite_varint(key, rows_) - key);
  } else {
    const uint8_t *cell = &full.page[full.content];
    const size_t child = level ? 4 : 0;
    if (child)
      right = big_endian_4(cell);
    key_bytes = full.last - child;
    std::memcpy(key, cell + child, key_bytes);
    full.content += full.last;
    full.cells--;
  }
  seal(level, right);
  const uint32_t number = pages_.append(full.page);
  uint8_t *up = place(level + 1, 4 + key_bytes);
  std::memcpy(put_big_endian(up, number, 4), key, key_bytes);
  full.cells = 0;
  full.content = SqlitePages::kBytes;
}

/// The header of a page, and zeros where it has neither pointers nor cells.
void SqliteTree::seal(size_t level, uint32_t right) {
  Level &page = *levels_[level];
  const int kind = kind_ == Kind::table ? (level ? 5 : 13) : (level ? 2 : 10);
  uint8_t *at = put_big_endian(page.page.data(), uint32_t(kind), 1);
  at = put_big_endian(at, 0, 2); // no free blocks
  at = put_big_endian(at, page.cells, 2);
  at = put_big_endian(at, uint32_t(page.content), 2);
  at = put_big_endian(at, 0, 1); // no fragments
  if (level)
    at = put_big_endian(at, right, 4);
  std::fill(at + 2 * page.cells, &page.page[0] + page.content, uint8_t(0));
}

void SqliteTree::finish() {
  uint32_t right = 0;
  for (size_t level = 0; level < levels_.size(); level++) {
    seal(level, right);
    if (level + 1 == levels_.size())
      pages_.replace(root_, levels_[level]->page);
    else
      right = pages_.append(levels_[level]->page);
  }
}

} // namespace ovnitrace
