// SPDX-License-Identifier: BSD-2-Clause
// Probes for user events that the kernel or ovnitrace does not take: user/bpf/family_capture. They
// need root.
#include "user/bpf/family_capture.h"

#include "tests/unit/support/child_status.h"
#include "tests/unit/support/few_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ovnitrace {
namespace {

using Lines = std::vector<std::string>;

class FamilyProbes : public testing::Test {
protected:
  void SetUp() override {
    if (geteuid() != 0)
      GTEST_SKIP() << "only root may load BPF programs";
  }
  /// A file of this name that has one probe.
  static ProbedFile probed(const std::string &name, uint64_t offset, size_t not_understood = 0) {
    ProbedFile file;
    file.path = name;
    file.fd = UniqueFd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    file.probes.resize(1);
    file.probes[0].offset = offset;
    file.not_understood = not_understood;
    return file;
  }
  static std::vector<ProbedFile> both(ProbedFile one, ProbedFile other) {
    std::vector<ProbedFile> files;
    files.push_back(std::move(one));
    files.push_back(std::move(other));
    return files;
  }
};

TEST_F(FamilyProbes, FilesWhoseProbesAreNotTakenAreNamed) {
  const Capture capture({});
  constexpr uint64_t kNowhere = 1ull << 50; // after the end of the file
  FamilyCapture families(capture, parse_families("user"),
                         both(probed("first", kNowhere, 3), probed("second", 4096, 2)), 0);
  EXPECT_EQ(families.refused(), Lines());
  families.attach();
  EXPECT_EQ(families.refused(),
            (Lines{"the kernel refuses probes in first: Invalid argument; events that it logs are "
                   "not captured (they need Linux 5.15 with CONFIG_UPROBES)",
                   "2 of the probes in second are unlike those of ovnitrace/usdt.h: their events "
                   "are not captured"}));
  families.detach();
}

TEST_F(FamilyProbes, HaveAsManyFilesAsTheyNeed) {
  EXPECT_EQ(test::status_of([] {
              const Capture capture({});
              FamilyCapture families(capture, parse_families("user"),
                                     both(probed("first", 4096), probed("second", 8192)), 0);
              test::lower_file_limit(0);
              families.attach();
              return int(families.refused().size());
            }),
            0);
}

} // namespace
} // namespace ovnitrace
