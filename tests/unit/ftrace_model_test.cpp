// SPDX-License-Identifier: BSD-2-Clause
// Random programs of libovnitrace's calls, against a model of what a chunk is: a list.
#include "tests/unit/support/cases.h"
#include "tests/unit/support/ftrace_rig.h"

#include <random>

using namespace ovnitrace::test;

namespace {

constexpr int CYC = FTRACE_CHUNK_FLAG_CYC, JTN = FTRACE_CHUNK_FLAG_JTN,
              STOP = FTRACE_CHUNK_FLAG_STOP;

/// A chunk as the manual describes it. Single-threaded, unbounded time, nothing clever.
struct ModelChunk {
  unsigned slots = 0;
  int mode = 0;
  bool free = true; ///< empty, neither selected nor jumped to yet
  std::vector<Said> events;
  unsigned begun = 0; ///< where the next event of a wrapped cyclic chunk goes
  std::vector<Said> emergency;
  unsigned lost = 0;
  bool ended = false; ///< by next_chunk
  int next = -1;

  bool full() const { return ended || (mode != CYC && events.size() == slots); }
  void put(const Said &event) {
    if (events.size() < slots) {
      events.push_back(event);
    } else {
      events[begun] = event;
      begun = (begun + 1) % slots;
    }
  }
  std::vector<Said> saved() const {
    auto all = events;
    all.insert(all.end(), emergency.begin(), emergency.end());
    if (lost)
      all.push_back({FTrace_EVT_blackout_end, 0, lost});
    return all;
  }
};

struct Model {
  std::vector<ModelChunk> chunks;
  int actual = -1;
  bool enabled = false;

  bool can_jump() const {
    int next = chunks[size_t(actual)].next;
    return next >= 0 && chunks[size_t(next)].free;
  }
  void jump() {
    actual = chunks[size_t(actual)].next;
    chunks[size_t(actual)].free = false;
  }
  void log(const Said &event) {
    if (!enabled)
      return;
    bool next_chunk = std::get<0>(event) == FTrace_EVT_next_chunk;
    ModelChunk *chunk = &chunks[size_t(actual)];
    if (next_chunk && can_jump()) {
      if (chunk->full()) {
        chunk->emergency.push_back(event);
      } else {
        chunk->put(event);
        chunk->ended = true;
      }
      jump();
      return;
    }
    if (chunk->full() && chunk->mode == JTN && can_jump()) {
      jump();
      chunk = &chunks[size_t(actual)];
    }
    if (!chunk->full()) {
      chunk->put(event);
      enabled = chunk->mode != STOP || !chunk->full();
      if (!enabled)
        chunk->emergency.push_back({FTrace_EVT_trace_stop, 0, 0});
    } else if (next_chunk) {
      chunk->emergency.push_back(event);
    } else if (chunk->lost++ == 0) {
      chunk->emergency.push_back({FTrace_EVT_blackout_start, 0, 0});
    }
  }
};

class FtraceModel : public FtraceRig {
protected:
  void run(unsigned seed);
};

void FtraceModel::run(unsigned seed) {
  std::mt19937 random{seed};
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  Model model;
  const int chunks = 2 + below(5);
  for (int i = 0; i < chunks; i++) {
    ModelChunk chunk;
    chunk.slots = 1 + unsigned(below(7));
    chunk.mode = (const int[]){CYC, JTN, JTN, JTN, STOP}[below(5)];
    ASSERT_EQ(create(int(chunk.slots), kFree | chunk.mode, 1000 * kEvent), i);
    model.chunks.push_back(chunk);
  }
  for (int i = 0; i + 1 < chunks; i++) { // a chain with gaps
    if (below(4) == 0)
      continue;
    ASSERT_EQ(FTrace_chunk_link(i, i + 1), 0);
    model.chunks[size_t(i)].next = i + 1;
  }
  ASSERT_EQ(FTrace_actual_chunk_select(0), 0);
  ASSERT_EQ(FTrace_enable(), 0);
  model.actual = 0;
  model.enabled = true;
  model.chunks[0].free = false;

  for (unsigned i = 0, count = unsigned(below(60)); i < count; i++) {
    Said event = below(8) == 0 ? Said{FTrace_EVT_next_chunk, 0, i} : user(i);
    TRACER_LOGEVENT(FTrace_WORD(std::get<0>(event)), 0, i);
    model.log(event);
  }
  FTrace_disable();
  for (int i = 0; i < chunks; i++)
    EXPECT_EQ(said_in(i), model.chunks[size_t(i)].saved()) << "chunk " << i;
}

TEST_F(FtraceModel, EveryChunkEqualsTheModels) {
  for (unsigned seed = 0; seed < ovnitrace::test::cases(300); seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    run(seed);
    clear();
    if (HasFailure())
      break;
  }
}

} // namespace
