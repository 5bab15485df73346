// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/summary/report.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace ovnitrace {

namespace {

using Json = nlohmann::ordered_json;

/// Null where it is not known how many.
Json lost_json(uint64_t lost, bool more) {
  return more ? Json() : Json(lost);
}

Json thread_json(const ThreadInfo &thread, const ThreadSummary &summary) {
  const auto time = [&](ThreadState state) { return summary.time[size_t(state)]; };
  const auto latency = [&](uint64_t ns) { return summary.latency.count() ? Json(ns) : Json(); };
  return {
      {"tid", thread.tid},
      {"pid", thread.pid},
      {"parent", thread.parent},
      {"node", thread.node},
      {"birth_ns", thread.birth},
      {"name", thread.name},
      {"time_ns",
       {{"running", time(ThreadState::Running)},
        {"cooling", time(ThreadState::Cooling)},
        {"warming", time(ThreadState::Warming)},
        {"paused", time(ThreadState::Paused)},
        {"unknown", time(ThreadState::Unknown)}}},
      {"switches",
       {{"preempted", summary.preempted},
        {"yielded", summary.yielded},
        {"voluntary", summary.voluntary}}},
      {"wakeups", summary.wakeups},
      {"migrations", summary.migrations},
      {"wakeup_latency_ns",
       {{"count", summary.latency.count()},
        {"p50", latency(summary.latency.percentile(50))},
        {"p99", latency(summary.latency.percentile(99))},
        {"max", latency(summary.latency.max())}}},
  };
}

} // namespace

std::string json_report(const ReportInput &input) {
  const auto &[path, info, catalog, summary] = input;
  Json nodes = Json::array(), threads = Json::array(), cpus = Json::array();
  for (const NodeInfo &node : catalog.nodes)
    nodes.push_back(node.name);
  for (uint32_t index : by_running_time(summary))
    threads.push_back(thread_json(catalog.threads[index], summary.threads[index]));
  for (size_t i = 0; i < catalog.cpus.size(); i++)
    cpus.push_back({{"cpu", catalog.cpus[i].index},
                    {"node", catalog.cpus[i].node},
                    {"busy_ns", summary.cpus[i].busy},
                    {"switches", summary.cpus[i].switches},
                    {"unknown_ns", summary.cpus[i].unknown},
                    {"lost", lost_json(summary.cpus[i].lost, summary.cpus[i].lost_more)}});
  const Json report = {
      {"trace", path},
      {"host", info.host},
      {"kernel", info.kernel},
      {"machine", info.machine},
      {"command", info.command},
      {"tracer", info.tracer},
      {"ended", info.ended},
      {"begin_ns", catalog.begin},
      {"duration_ns", catalog.end - catalog.begin},
      {"events", summary.events},
      {"lost", lost_json(summary.lost, summary.lost_more)},
      {"forgotten", summary.forgotten},
      {"nodes", std::move(nodes)},
      {"threads", std::move(threads)},
      {"cpus", std::move(cpus)},
  };
  // Names are bytes that programs chose: what is no UTF-8 is replaced.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace ovnitrace
