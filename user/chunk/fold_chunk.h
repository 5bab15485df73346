// SPDX-License-Identifier: BSD-2-Clause
// One chunk on its way into ForgottenStates.
#pragma once

#include "user/chunk/forgotten_states.h"

namespace ovnitrace {

/// Goes through the records of one chunk; contexts are local to it. Of the frequent events it only
/// remembers where the last of each kind and context is, and looks at those in the end: what a
/// record costs is a store.
class ForgottenStates::Fold {
public:
  Fold(ForgottenStates &to, const Chunk &chunk);

private:
  using Handler = void (Fold::*)(const ftrace_record &);
  static const std::array<Handler, 256> kHandlers; ///< by code; null: tells nothing of a state
  enum Kind : uint8_t { kNothing, kPlaced, kWoken, kMoved, kAtOnce };
  static const std::array<Kind, 256> kKinds; ///< by code
  void on_id(const ftrace_record &record);
  void on_process(const ftrace_record &record);
  void on_parent(const ftrace_record &record);
  void on_name(const ftrace_record &record);
  template <ThreadState state> void on_placed(const ftrace_record &record);
  void on_woken(const ftrace_record &record);
  void on_moved(const ftrace_record &record);
  void on_snapshot(const ftrace_record &record);
  void on_exec(const ftrace_record &record);
  void on_blackout_start(const ftrace_record &record);
  void on_blackout_end(const ftrace_record &record);

  Thread *thread_of(const ftrace_record &record) const;
  void bind(uint16_t context);
  Moment moment(const ftrace_record &record);

  ForgottenStates &to_;
  const Chunk &chunk_;
  const uint16_t cpu_;
  ThreadIdentity bound_;                            ///< by the last id
  const Thread *named_ = nullptr;                   ///< whose name its parts belong to
  std::vector<Thread *> contexts_;                  ///< null: of a thread that is not the latest
  std::vector<std::array<uint32_t, kAtOnce>> last_; ///< by context and kind: which record, 0: none
};

} // namespace ovnitrace
