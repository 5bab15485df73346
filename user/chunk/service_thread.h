// SPDX-License-Identifier: BSD-2-Clause
// Sets priorities and signals of the threads beside the main one.
#pragma once

namespace ovnitrace {

/// Blocks signals, which are for the main thread. Call it first in a thread that needs none of the
/// functions below.
void block_signals();

/// Gives a thread a tenth of the CPU share of an ordinary one. Blocks signals and drops
/// capabilities, as below. Call it first in a thread that helps but is not needed.
void enter_background_thread();

/// Blocks signals and drops capabilities. Call it first in a thread that works beside the capture.
void enter_helper_thread();

/// Prepares the reader's or the writer's thread; call it there first. It blocks all signals, which
/// are for the main thread. It takes the lowest real-time priority, or else the best nice value,
/// and then drops the capabilities of the file, which were needed for that.
///
/// The priority is above every ordinary thread, so that a machine full of runnable threads cannot
/// starve this one. It is below every real-time program, which may be what is measured. Children do
/// not inherit it.
void enter_service_thread();

/// Does the same for a thread that waits for children of ask_confined(). A child has nice value -10
/// (-20 where no real-time priority is allowed), so it gets a CPU soon on a machine full of
/// runnable threads. Other children would inherit the real-time priority.
void enter_asking_thread();

} // namespace ovnitrace
