// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/critical/disk_list.h"

namespace ovnitrace {

void DiskListBytes::append(const void *record) {
  if (last_.size() == size_ * block_) {
    file_.append(last_.data(), last_.size());
    written_ += block_;
    last_.clear();
  }
  const auto *bytes = static_cast<const unsigned char *>(record);
  last_.insert(last_.end(), bytes, bytes + size_);
  count_++;
}

const void *DiskListBytes::at(uint64_t n) {
  if (n >= written_)
    return last_.data() + (n - written_) * size_;
  if (n - read_from_ >= block_)
    read(n / block_);
  return read_.data() + (n - read_from_) * size_;
}

void DiskListBytes::read(uint64_t block) {
  read_.resize(size_ * block_);
  file_.read(block * read_.size(), read_.data(), read_.size());
  read_from_ = block * block_;
}

} // namespace ovnitrace
