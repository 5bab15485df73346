// SPDX-License-Identifier: BSD-2-Clause
// What tests do that sanitizers forbid by default. Without a sanitizer, nobody calls these.

/// Memory may be short (FtraceChunk.SizesBeyondMemory): malloc() must then fail, and not end the
/// program.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() {
  return "allocator_may_return_null=1";
}

/// Children of a program with threads may start threads, too (few_threads.h).
extern "C" const char *__tsan_default_options();
extern "C" const char *__tsan_default_options() {
  return "allocator_may_return_null=1:die_after_fork=0";
}
