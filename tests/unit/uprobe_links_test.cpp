// SPDX-License-Identifier: BSD-2-Clause
// Places of one BPF program before they are attached: user/bpf/uprobe_links.
#include "user/bpf/uprobe_links.h"

#include "user/bpf/bpf_log.h"

#include "families.skel.h"

#include <bpf/libbpf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

namespace ovnitrace {
namespace {

using Object = std::unique_ptr<families_bpf, decltype(&families_bpf__destroy)>;

TEST(UprobeLinks, EachPlaceTakesTwoFiles) {
  const UprobeLinks links;
  EXPECT_EQ(links.files_needed(0), 0u);
  EXPECT_EQ(links.files_needed(7), 14u);
}

// bpf_attach_type of Linux 6.6: all places of a file with one link.
TEST(UprobeLinks, OneFileIsEnoughIfTheKernelTakesAllPlacesAtOnce) {
  const Object object(families_bpf__open(), families_bpf__destroy);
  ASSERT_TRUE(object);
  UprobeLinks links;
  links.prepare(object->progs.on_user_probe);
  const bool at_once = int(bpf_program__expected_attach_type(object->progs.on_user_probe)) == 48;
  EXPECT_EQ(links.files_needed(7), at_once ? 1u : 14u);
  if (geteuid() != 0) {
    EXPECT_FALSE(at_once) << "it cannot be tried";
  }
}

TEST(UprobeLinks, NothingIsHeldThatWasNotAttached) {
  collect_bpf_log();
  const Object object(families_bpf__open(), families_bpf__destroy);
  UprobeLinks links;
  links.prepare(object->progs.on_user_probe);
  const UprobeAt place[] = {{.offset = 16, .cookie = 1}};
  EXPECT_EQ(links.attach("/bin/sh", {}, 7), 0) << "no place";
  EXPECT_NE(links.attach("/bin/sh", place, 7), 0) << "the program is not loaded";
  const UprobeHold none = links.take(7);
  EXPECT_TRUE(none.fds.empty());
  EXPECT_TRUE(none.links.empty());
  EXPECT_TRUE(links.take_all().empty());
}

} // namespace
} // namespace ovnitrace
