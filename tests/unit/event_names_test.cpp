// SPDX-License-Identifier: BSD-2-Clause
// Names of codes of events, and letters of those of ovni, which can be any bytes.
#include "emulator/format/event_names.h"

#include <gtest/gtest.h>

namespace ovnitrace {
namespace {

TEST(EventNames, OfOvniAreThreeLettersThatCanBeSeen) {
  EXPECT_EQ(kind_name('O' << 16 | 'H' << 8 | 'x'), "OHx");
  EXPECT_EQ(kind_name('O' << 16 | '!' << 8 | '~'), "O!~");
  EXPECT_EQ(kind_name('V' << 16 | ' ' << 8 | 0x7f), "V??");
  EXPECT_EQ(kind_name('V' << 16 | 0 << 8 | 0xe4), "V*?");
  EXPECT_EQ(kind_name(256), "*?*") << "the first kind that is no code";
}

TEST(EventNames, OfCodesAreUnknownOutsideTheTable) {
  EXPECT_EQ(event_name(0xee), "unknown");
  EXPECT_EQ(event_name(256), "unknown");
  EXPECT_EQ(kind_name(255), event_name(255));
}

} // namespace
} // namespace ovnitrace
