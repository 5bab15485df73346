// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/off_cpu/pprof.h"

#include "emulator/off_cpu/frame_names.h"
#include "emulator/output/atomic_file.h"
#include "emulator/output/deflater.h"
#include "emulator/symbols/c_library.h"

#include <protozero/pbf_builder.hpp>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ovnitrace {

namespace {

// Numbers of fields, by message, as in pprof's profile.proto.
enum class Profile : protozero::pbf_tag_type {
  sample_type = 1,
  sample = 2,
  mapping = 3,
  location = 4,
  function = 5,
  string_table = 6,
  time_nanos = 9,
  duration_nanos = 10,
};
enum class ValueType : protozero::pbf_tag_type { type = 1, unit = 2 };
enum class Sample : protozero::pbf_tag_type { location_id = 1, value = 2, label = 3 };
enum class Label : protozero::pbf_tag_type { key = 1, str = 2, num = 3 };
enum class Mapping : protozero::pbf_tag_type {
  id = 1,
  filename = 5,
  build_id = 6,
  has_functions = 7,
  has_filenames = 8,
  has_line_numbers = 9,
  has_inline_frames = 10,
};
enum class Location : protozero::pbf_tag_type { id = 1, mapping_id = 2, address = 3, line = 4 };
enum class Line : protozero::pbf_tag_type { function_id = 1, line = 2 };
enum class Function : protozero::pbf_tag_type { id = 1, name = 2, system_name = 3, filename = 4 };

template <class Message> using Builder = protozero::pbf_builder<Message>;

/// Writes what a sample refers to before the sample, each once.
class PprofFile {
public:
  PprofFile(const OffCpuTimes &times, const OutputPlace &place) : times_(times), file_(place) {
    string("");
  }

  void range(const PprofRange &range);
  void types();
  void main_mapping();
  void sample(const OffCpuTimes::Key &key, const OffCpuTimes::Sum &sum);
  void close() {
    gzip_.finish(compressed_, buffer_);
    file_.write(compressed_);
    file_.commit();
  }

private:
  using Ids = std::unordered_map<uint64_t, uint64_t>; ///< by host << 32 | index

  int64_t string(const std::string &text);
  void type(const char *name, const char *unit);
  void mapping(uint32_t host, uint32_t file);
  uint64_t function(const std::string &name, const std::string &file);
  uint64_t location(uint32_t host, uint32_t frame);
  uint64_t pseudo_location(const std::string &name);
  void flush() {
    gzip_.add(compressed_, buffer_);
    file_.write(compressed_);
    buffer_.clear();
    compressed_.clear();
  }

  const OffCpuTimes &times_;
  AtomicFile file_;
  Deflater gzip_{Z_DEFAULT_COMPRESSION};
  std::string buffer_, compressed_;
  Builder<Profile> profile_{buffer_};
  std::unordered_map<std::string, int64_t> strings_;
  std::map<std::pair<int64_t, int64_t>, uint64_t> functions_; ///< by name and file
  Ids mappings_, frames_;
  std::unordered_map<std::string, uint64_t> pseudo_;
  uint64_t locations_ = 0;
};

int64_t PprofFile::string(const std::string &text) {
  const auto [at, added] = strings_.try_emplace(text, int64_t(strings_.size()));
  if (added)
    profile_.add_string(Profile::string_table, text);
  return at->second;
}

void PprofFile::range(const PprofRange &range) {
  profile_.add_int64(Profile::time_nanos, range.wall_ns);
  profile_.add_int64(Profile::duration_nanos, int64_t(range.duration_ns));
}

void PprofFile::type(const char *name, const char *unit) {
  const int64_t name_string = string(name), unit_string = string(unit);
  Builder<ValueType> type(profile_, Profile::sample_type);
  type.add_int64(ValueType::type, name_string);
  type.add_int64(ValueType::unit, unit_string);
}

/// Defines the values of samples. pprof shows the last one if it is not told which.
void PprofFile::types() {
  type("times", "count");
  type("blocked", "nanoseconds");
  type("waiting", "nanoseconds");
  type("off_cpu", "nanoseconds");
}

void PprofFile::mapping(uint32_t host, uint32_t file) {
  const auto [at, added] =
      mappings_.try_emplace(uint64_t(host) << 32 | file, uint64_t(mappings_.size() + 1));
  if (!added)
    return;
  const StackFile &of = times_.stacks(host).file(file);
  const int64_t path = string(of.path), build_id = string(of.build_id);
  Builder<Mapping> mapping(profile_, Profile::mapping);
  mapping.add_uint64(Mapping::id, at->second);
  mapping.add_int64(Mapping::filename, path);
  mapping.add_int64(Mapping::build_id, build_id);
  for (const Mapping known : {Mapping::has_functions, Mapping::has_filenames,
                              Mapping::has_line_numbers, Mapping::has_inline_frames})
    mapping.add_bool(known, true); // pprof does not look for symbols itself
}

/// Writes the program's mapping first, as pprof expects: the file of the outermost function that is
/// not of the C library.
void PprofFile::main_mapping() {
  for (const auto &[key, sum] : times_.sums()) {
    const StackTable &table = times_.stacks(key.host);
    const auto frames = table.frames(key.stack);
    for (size_t n = frames.size(); n-- > 0;) {
      const StackFrame &frame = table.frame(frames[n]);
      if (!frame.kernel && frame.file != kNone && !is_c_library(table.file(frame.file).path))
        return mapping(key.host, frame.file);
    }
  }
}

uint64_t PprofFile::function(const std::string &name, const std::string &file) {
  const int64_t name_string = string(name), file_string = string(file);
  const auto [at, added] =
      functions_.try_emplace({name_string, file_string}, uint64_t(functions_.size() + 1));
  if (added) {
    Builder<Function> function(profile_, Profile::function);
    function.add_uint64(Function::id, at->second);
    function.add_int64(Function::name, name_string);
    function.add_int64(Function::system_name, name_string);
    function.add_int64(Function::filename, file_string);
  }
  return at->second;
}

uint64_t PprofFile::location(uint32_t host, uint32_t frame) {
  const auto [at, added] = frames_.try_emplace(uint64_t(host) << 32 | frame, locations_ + 1);
  if (!added)
    return at->second;
  locations_++;
  const StackTable &table = times_.stacks(host);
  const StackFrame &of = table.frame(frame);
  const uint64_t id = function(frame_name(table, frame), frame_file(table, frame));
  if (of.file != kNone)
    mapping(host, of.file);
  Builder<Location> location(profile_, Profile::location);
  location.add_uint64(Location::id, at->second);
  if (of.file != kNone) {
    location.add_uint64(Location::mapping_id, mappings_.at(uint64_t(host) << 32 | of.file));
    location.add_uint64(Location::address, of.offset);
  }
  Builder<Line> line(location, Location::line);
  line.add_uint64(Line::function_id, id);
  line.add_int64(Line::line, of.line);
  return at->second;
}

uint64_t PprofFile::pseudo_location(const std::string &name) {
  const auto [at, added] = pseudo_.try_emplace(name, locations_ + 1);
  if (added) {
    locations_++;
    const uint64_t id = function(name, "");
    Builder<Location> location(profile_, Profile::location);
    location.add_uint64(Location::id, at->second);
    Builder<Line> line(location, Location::line);
    line.add_uint64(Line::function_id, id);
  }
  return at->second;
}

void PprofFile::sample(const OffCpuTimes::Key &key, const OffCpuTimes::Sum &sum) {
  const OffCpuTimes::Owner &owner = times_.owners()[key.owner];
  const ThreadInfo &thread = times_.catalog().threads[owner.thread];
  std::vector<uint64_t> locations; // from the innermost outward
  if (const std::string name = times_.innermost(key); !name.empty())
    locations.push_back(pseudo_location(name));
  for (const uint32_t frame : times_.stacks(key.host).frames(key.stack))
    locations.push_back(location(key.host, frame));
  const uint64_t values[] = {sum.count, key.waits ? 0 : sum.ns, key.waits ? sum.ns : 0, sum.ns};
  const std::pair<int64_t, int64_t> texts[] = {
      {string("process"), string(name_or_number(owner.process, thread.pid))},
      {string("thread"), string(name_or_number(owner.name, thread.tid))},
      {string("cause"), string(times_.cause(key))}};
  const std::pair<int64_t, int64_t> numbers[] = {{string("pid"), thread.pid},
                                                 {string("tid"), thread.tid}};
  {
    Builder<Sample> sample(profile_, Profile::sample);
    sample.add_packed_uint64(Sample::location_id, locations.begin(), locations.end());
    sample.add_packed_int64(Sample::value, std::begin(values), std::end(values));
    for (const auto &[name, text] : texts) {
      Builder<Label> label(sample, Sample::label);
      label.add_int64(Label::key, name);
      label.add_int64(Label::str, text);
    }
    for (const auto &[name, number] : numbers) {
      Builder<Label> label(sample, Sample::label);
      label.add_int64(Label::key, name);
      label.add_int64(Label::num, number);
    }
  }
  flush();
}

} // namespace

uint64_t write_pprof(const OffCpuTimes &times, const PprofRange &range, const OutputPlace &place) {
  PprofFile file(times, place);
  file.range(range);
  file.types();
  file.main_mapping();
  for (const auto &[key, sum] : times.sums())
    file.sample(key, sum);
  file.close();
  return times.sums().size();
}

} // namespace ovnitrace
