// SPDX-License-Identifier: BSD-2-Clause
// Writes the tables as CSV files in a directory.
#pragma once

#include "emulator/output/atomic_directory.h"
#include "emulator/output/output_file.h"
#include "emulator/tables/tables.h"

#include <array>
#include <memory>
#include <string>

namespace ovnitrace {

/// Writes files TABLE-0001.csv, TABLE-0002.csv, … in the format of RFC 4180, but with \n. Each
/// starts with the names of the columns. Texts are quoted, unknown values are empty. A text that a
/// spreadsheet would take for a formula has a ' before it.
class CsvFiles final : public TableSink {
public:
  /// The most rows of one file: about half a GiB.
  static constexpr uint64_t kMostRows = 5'000'000;

  /// REQUIRES: `directory` does not exist, or is empty. Throws Error.
  explicit CsvFiles(const std::string &directory, uint64_t most_rows = kMostRows);
  ~CsvFiles() override;

  void row(TableId table, std::span<const Cell> cells) override;
  /// Ends the files and gives the directory its name. Without it, nothing is left behind. Throws
  /// Error.
  void finish();

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
};

} // namespace ovnitrace
