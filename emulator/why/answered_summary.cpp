// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/why/answered_summary.h"

#include "emulator/core/program_threads.h"
#include "emulator/critical/path.h"
#include "emulator/slices/slicer.h"
#include "emulator/summary/summarizer.h"
#include "emulator/why/explainer.h"

#include <vector>

namespace ovnitrace {

AnsweredSummary summarize_and_answer(EventSource &source, const TraceInfo &info, const Cut &cut,
                                     SliceSink *more) {
  const Catalog &catalog = source.catalog();
  check_cut(cut, catalog);
  Summarizer summarizer(catalog, cut);
  Explainer explainer(catalog, cut_to_program(cut, info, catalog),
                      info.program_pid ? main_thread(catalog, info) : kNone);
  Cut whole; // who ran while a thread waited need not be of the cut
  whole.to = cut.to;
  std::vector<SliceView> views = {{cut, summarizer}, {whole, explainer}};
  if (more)
    views.push_back({whole, *more});
  replay_slices(source, views);
  AnsweredSummary all{summarizer.finish(), explainer.finish(), {}};
  all.summary.recorded = all.why.recorded;
  for (size_t t = 0; t < all.summary.threads.size(); t++)
    all.summary.threads[t].outside = all.why.threads[t].outside;
  all.answer = answer_of(info, catalog, all.why);
  return all;
}

} // namespace ovnitrace
