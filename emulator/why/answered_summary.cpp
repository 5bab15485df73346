// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/answered_summary.h"

#include "emulator/core/program_threads.h"
#include "emulator/input/stacks.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/explainer.h"

#include <vector>

namespace ovnitrace {

void add_explained(Summary &summary, const Explanation &why) {
  summary.recorded = why.recorded;
  for (size_t t = 0; t < summary.threads.size(); t++) {
    summary.threads[t].outside = why.threads[t].outside;
    summary.threads[t].gate = why.threads[t].gate;
    summary.threads[t].start_waits = why.threads[t].start_waits;
    summary.threads[t].idle_known = why.threads[t].idle_known;
    summary.threads[t].idle = why.threads[t].idle;
  }
}

AnsweredSummary summarize_and_answer(EventSource &source, const TraceInfo &info, const Cut &cut,
                                     SliceSink *more, const std::string &command) {
  const Catalog &catalog = source.catalog();
  check_cut(cut, catalog);
  Summarizer summarizer(catalog, cut);
  NoDiagnostics silent; // `why` reports what is wrong with stacks
  const Stacks stacks(catalog, silent);
  Explainer explainer(catalog, cut_to_program(cut, info, catalog), started_threads(catalog),
                      &stacks);
  Cut whole; // who ran while a thread waited need not be of the cut
  whole.to = cut.to;
  std::vector<SliceView> views = {{cut, summarizer}, {whole, explainer}};
  if (more)
    views.push_back({whole, *more});
  replay_slices(source, views);
  AnsweredSummary all{summarizer.finish(), explainer.finish(), {}};
  add_explained(all.summary, all.why);
  all.answer = answer_of(info, catalog, all.why, command);
  return all;
}

} // namespace ovnitrace
