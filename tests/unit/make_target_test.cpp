// SPDX-License-Identifier: BSD-2-Clause
// Captures that are sent, and how long a collector has for the rest: user/record/make_target,
// user/record/capture_storage.
#include "user/record/make_target.h"

#include "emulator/base/error.h"
#include "tests/unit/support/fake_collector.h"
#include "tests/unit/support/temp_dir.h"
#include "user/record/capture_storage.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

namespace ovnitrace {
namespace {

using test::FakeCollector;

using Make = std::function<std::unique_ptr<TraceTarget>(const RecordOptions &)>;

/// Returns the name of the trace that a sender has said.
std::string sent_name(const Make &make) {
  std::string said;
  {
    FakeCollector collector([&](int fd) {
      FakeCollector::say(fd, MessageType::accept, "there");
      MessageParser parser;
      char bytes[4096];
      for (ssize_t got; (got = recv(fd, bytes, sizeof bytes, 0)) > 0;) {
        parser.feed({bytes, size_t(got)});
        while (const auto message = parser.next())
          if (message->type == MessageType::identify)
            said = message->payload;
      }
    });
    RecordOptions options;
    options.send = collector.endpoint().text();
    EXPECT_EQ(make(options)->place(), options.send + " as there");
  } // the collector has heard all
  return said;
}

TEST(SendingTarget, HasTheNameOfTheProgram) {
  const std::string name =
      sent_name([](const RecordOptions &options) { return make_target(options, "/bin/app", 2); });
  EXPECT_NE(name.find("app-"), name.npos) << name;
  EXPECT_EQ(name.find("bin"), name.npos) << name;
  EXPECT_EQ(name.find('.'), name.npos) << "it has no number: " << name;
}

TEST(SendingTarget, OfASaveHasANumber) {
  const test::TempDir dir;
  RecordOptions local;
  local.directory = dir / "run";
  const auto whole = make_target(local, "app", 1);
  unsigned saves = 4;
  for (const char *number : {".5", ".6"}) {
    const std::string name = sent_name([&](const RecordOptions &options) {
      return make_save_target(options, "app", 1, *whole, saves);
    });
    EXPECT_NE(name.find("app-"), name.npos) << name;
    EXPECT_TRUE(name.ends_with(number)) << name;
  }
  EXPECT_EQ(saves, 6u);
}

TEST(SendingTarget, SaysWhatIsWrongWithItsOptions) {
  const test::TempDir dir;
  const auto error_of = [](const RecordOptions &options) {
    try {
      make_target(options, "app", 1);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  RecordOptions options;
  options.send = "nowhere";
  EXPECT_EQ(error_of(options), "--send nowhere: give tcp://HOST:PORT; an IPv6 address goes into "
                               "brackets, and a port is at most 65535");
  options.send = "tcp://127.0.0.1:1";
  options.key_file = dir / "none";
  EXPECT_EQ(error_of(options),
            "--key " + options.key_file + ": cannot be read: No such file or directory");
}

// A minute, and a second for each MiB that can be waiting.
TEST(SendingTime, GrowsWithWhatCanWait) {
  constexpr uint64_t kSecond = 1'000'000'000;
  RecordOptions options;
  options.chunk_bytes = 1 << 20;
  options.spare_chunks = 16;
  options.buffer.bytes = 32 << 20;
  EXPECT_EQ(sending_time(options, 4), (60 + 4 + 16) * kSecond);
  options.chunk_bytes = (1 << 20) - 1;
  EXPECT_EQ(sending_time(options, 4), (60 + 4 + 16 - 1) * kSecond) << "whole MiB";
  for (const BufferKind::Kind kind : {BufferKind::kCyc, BufferKind::kStop}) {
    options.buffer.kind = kind;
    EXPECT_EQ(sending_time(options, 4), (60 + 4 * 32) * kSecond);
  }
  EXPECT_EQ(sending_time({}, 0), 60 * kSecond);
}

} // namespace
} // namespace ovnitrace
