// SPDX-License-Identifier: BSD-2-Clause
// How the threads that keep a capture going run.
#pragma once

namespace ovnitrace {

/// To be called first by a thread that helps but is not needed: a tenth of the share of a CPU that
/// an ordinary thread has. Blocks signals and drops capabilities, as below.
void enter_background_thread();

/// To be called first by the reader and the writer. Blocks all signals, which are the main
/// thread's, and takes the lowest real-time priority: above every ordinary thread, so that a
/// machine full of runnable threads cannot starve it, and below every real-time program that may be
/// what is measured. Falls back to the best nice value. Children inherit neither. Then it drops the
/// capabilities of the file, which were needed for that.
void enter_service_thread();

} // namespace ovnitrace
