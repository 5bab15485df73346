// SPDX-License-Identifier: BSD-2-Clause
// The tables as CSV files in a directory.
#pragma once

#include "emulator/output/atomic_directory.h"
#include "emulator/output/output_file.h"
#include "emulator/tables/tables.h"

#include <array>
#include <memory>
#include <string>

namespace ovnitrace {

/// Files TABLE-0001.csv, TABLE-0002.csv, … as RFC 4180 has them, but with \n: each starts with the
/// names of the columns. A text is quoted, and what is not known is nothing between two commas. A
/// text that a spreadsheet would take for a formula has a ' before it.
class CsvFiles final : public TableSink {
public:
  /// Rows of one file at most: about half a GiB.
  static constexpr uint64_t kMostRows = 5'000'000;

  /// There must be nothing at `directory`, or an empty one. Throws Error.
  explicit CsvFiles(const std::string &directory, uint64_t most_rows = kMostRows);
  ~CsvFiles() override;

  void row(TableId table, std::span<const Cell> cells) override;
  /// Ends the files and gives the directory its name. Without it nothing is left over. Throws
  /// Error.
  void finish();
  uint64_t files() const { return files_; }

private:
  struct Part {
    std::unique_ptr<OutputFile> file;
    uint64_t rows = 0; ///< in this file
    unsigned number = 0;
  };
  void start_part(TableId table);

  AtomicDirectory directory_;
  const uint64_t most_rows_;
  std::array<Part, kTables> parts_;
  uint64_t files_ = 0;
};

} // namespace ovnitrace
