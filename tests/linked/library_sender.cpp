// SPDX-License-Identifier: BSD-2-Clause
// Sends what it logs with libovnitrace's own network sender:
//
//   library_sender ADDRESS:PORT EVENTS   user events 1, numbered in parameter 2
#include <ovnitrace/ftrace.h>

#include <cstdio>
#include <cstdlib>

namespace {

int check(int result, const char *what) {
  if (result >= 0)
    return result;
  printf("%s: %d\n", what, result);
  exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const unsigned events = unsigned(atoi(argv[2]));
  check(FTrace_OSD_init_udp(0, nullptr, argv[1]), "FTrace_OSD_init_udp");
  constexpr int kChunkEvents = 128;
  unsigned logged = 0;
  for (bool first = true; logged < events; first = false) {
    const int chunk = check(FTrace_chunk_create(kChunkEvents * 16, 4 * 16,
                                                FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP),
                            "FTrace_chunk_create");
    check(FTrace_actual_chunk_select(chunk), "FTrace_actual_chunk_select");
    check(FTrace_enable(), "FTrace_enable");
    if (first)
      TRACER_LOGEVENT(FTrace_EVT_trace_start, 0, FTrace_clk_per_msec());
    for (int n = 0; n < kChunkEvents / 2 && logged < events; n++)
      TRACER_LOGEVENT(FTrace_EVT_user_event_1, 7, logged++);
    check(FTrace_disable(), "FTrace_disable");
    check(FTrace_send_chunk(chunk, 0, FTRACE_CHUNK_FLAG_FREE), "FTrace_send_chunk");
    check(FTrace_chunk_delete(chunk), "FTrace_chunk_delete");
  }
}
