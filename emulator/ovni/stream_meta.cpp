// SPDX-License-Identifier: BSD-2-Clause
#include "emulator/ovni/stream_meta.h"

#include "emulator/base/bounded_json.h"
#include "emulator/base/printable.h"
#include "emulator/base/small_file.h"
#include "emulator/base/to_number.h"
#include "emulator/ovni/model_names.h"
#include "emulator/ovni/stream_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace ovnitrace::ovni {

namespace {

using nlohmann::json;
using Problems = std::vector<std::string>;

constexpr size_t kFileMax = 16u << 20; ///< bytes: thousands of mark labels fit
constexpr size_t kValuesMax = 1u << 19;
constexpr size_t kLabelMost = 511;  ///< bytes of a title or label that ovni takes
constexpr int32_t kCpusMax = 65536; ///< larger than any host: a wrong number must not cost memory

const json *find_member(const json &object, const char *key) {
  if (!object.is_object())
    return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Returns a printable text: it goes to terminals and files.
std::string read_text(const json &text) {
  return printable_line(text.get<std::string>());
}

/// Returns a whole number within [low, high]. libovni writes its numbers through a double.
std::optional<int64_t> whole(const json *value, int64_t low, int64_t high) {
  if (!value || !value->is_number())
    return std::nullopt;
  if (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX))
    return std::nullopt;
  int64_t number;
  if (value->is_number_float()) {
    const double real = value->get<double>();
    if (!(real >= -9e15 && real <= 9e15) || real != double(int64_t(real)))
      return std::nullopt;
    number = int64_t(real);
  } else {
    number = value->get<int64_t>();
  }
  return number >= low && number <= high ? std::optional(number) : std::nullopt;
}

/// Returns the number as ovni's emulator reads it: without its fraction, 0 if it is absent, nothing
/// if it does not fit.
std::optional<int32_t> ovni_number(const json *value) {
  const double real = value && value->is_number() ? std::trunc(value->get<double>()) : 0;
  return real >= INT32_MIN && real <= INT32_MAX ? std::optional(int32_t(real)) : std::nullopt;
}

int32_t read_id(const json &ovni, const char *key, Problems &problems) {
  const int32_t id = ovni_number(find_member(ovni, key)).value_or(0);
  if (id < 1)
    problems.push_back(std::string("ovni.") + key + " is missing or no number from 1 on");
  return std::max(id, 0);
}

/// Checks the version of libovni, which streams name since metadata version 3.
void check_library(const json &ovni, Problems &problems) {
  const json none = json::object();
  const json *lib = find_member(ovni, "lib");
  for (const char *key : {"version", "commit"})
    if (const json *text = find_member(lib ? *lib : none, key); !text || !text->is_string())
      problems.push_back(std::string("ovni.lib.") + key + " is missing or no text");
}

void read_cpus(const json &ovni, StreamMeta &meta, Problems &problems) {
  const json *list = find_member(ovni, "loom_cpus");
  if (!list)
    return; // in ovni, not every thread has them
  if (!list->is_array() || list->empty()) {
    problems.push_back("ovni.loom_cpus is no list of CPUs");
    return;
  }
  for (const json &cpu : *list) {
    const auto index = ovni_number(find_member(cpu, "index")),
               phyid = ovni_number(find_member(cpu, "phyid"));
    if (cpu.is_object() && index && *index >= 0 && *index < kCpusMax && phyid && *phyid >= 0)
      meta.cpus.emplace_back(uint32_t(*index), uint32_t(*phyid));
    else
      problems.push_back("ovni.loom_cpus has a CPU whose index or phyid is out of range");
  }
}

/// Returns the major and minor number of "1.2.3".
std::optional<std::pair<unsigned, unsigned>> version_of(std::string_view text) {
  unsigned numbers[3];
  const char *at = text.data(), *end = at + text.size();
  for (unsigned &number : numbers) {
    if (&number != numbers && (at == end || *at++ != '.'))
      return std::nullopt;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{})
      return std::nullopt;
    at = stop;
  }
  return at == end ? std::optional(std::pair(numbers[0], numbers[1])) : std::nullopt;
}

void read_mark(const std::string &key, const json &value, StreamMeta &meta, Problems &problems) {
  const auto type = to_number<uint32_t>(key);
  const json *title = find_member(value, "title");
  const json *channel = find_member(value, "chan_type");
  if (!type || *type >= kMarkTypes || !title || !title->is_string()) {
    problems.push_back("ovni.mark has a type without a title or not from 0 to 99");
    return;
  }
  const auto problem = [&](const char *what) {
    problems.push_back("ovni.mark." + std::to_string(*type) + what);
  };
  if (!channel || (*channel != "stack" && *channel != "single"))
    problem(" has a chan_type that is neither single nor stack");
  if (title->get_ref<const std::string &>().size() > kLabelMost)
    problem(" has a title of more than 511 bytes");
  MarkType mark{*type, channel && *channel == "stack", read_text(*title), {}};
  const json *labels = find_member(value, "labels");
  if (labels && !labels->is_object())
    problem(" has labels that are no object");
  else if (labels)
    for (const auto &[number, label] : labels->items()) {
      const auto marked = to_number<int64_t>(number);
      if (label.is_string() && label.get_ref<const std::string &>().size() > kLabelMost)
        problem(" has a label of more than 511 bytes");
      if (marked && label.is_string())
        mark.labels.emplace_back(*marked, read_text(label));
      else
        problems.push_back("ovni.mark." + std::to_string(*type) +
                           " has a label without a number or a text");
    }
  std::sort(mark.labels.begin(), mark.labels.end());
  meta.marks.push_back(std::move(mark));
}

/// Returns whether ovni accepts a version: the major number is equal, the minor one not above that
/// of its emulator.
void check_version(const Model &model, const std::string &want, Problems &problems) {
  const auto version = version_of(want), have = version_of(model.version);
  if (!version || version->first != have->first || version->second > have->second)
    problems.push_back("ovni.require asks for version " + want.substr(0, 64) + " of the model " +
                       std::string(model.name) + ", not " + std::string(model.version) +
                       ": read as far as it is alike");
}

void read_require(const json &ovni, StreamMeta &meta, Problems &problems) {
  const json *require = find_member(ovni, "require");
  if (!require || !require->is_object()) {
    problems.push_back("ovni.require is missing");
    return;
  }
  for (const auto &[name, version] : require->items())
    if (const Model *model = find_model(name); model && version.is_string()) {
      meta.models.insert(model->letter);
      check_version(*model, read_text(version), problems);
    }
}

void read_own(const json &root, StreamMeta &meta) {
  const json *own = find_member(root, "ovnitrace");
  if (!own)
    return;
  if (const json *name = find_member(*own, "name"); name && name->is_string())
    meta.name = printable_line(name->get<std::string>().substr(0, 64));
  meta.parent = uint32_t(whole(find_member(*own, "parent"), 0, INT32_MAX).value_or(0));
  meta.birth = uint64_t(whole(find_member(*own, "birth"), 0, INT64_MAX).value_or(0));
}

} // namespace

std::optional<StreamMeta> parse_stream_meta(const std::string &text, Problems &problems) {
  json root;
  std::string why;
  if (!parse_json(text, kValuesMax, root, why) || !root.is_object()) {
    problems.push_back(why.empty() ? "is no JSON object" : why);
    return std::nullopt;
  }
  const bool known_version = ovni_number(find_member(root, "version")) == kMetadataVersion;
  if (!known_version)
    problems.push_back("metadata version is not " + std::to_string(kMetadataVersion) +
                       ": read as far as it is alike");

  StreamMeta meta;
  const json none = json::object();
  const json *found = find_member(root, "ovni");
  const json &ovni = found ? *found : none;
  if (const json *part = find_member(ovni, "part"); part && part->is_string())
    meta.is_thread = *part == "thread";
  else
    problems.push_back("ovni.part is missing: read as that of a thread");
  if (!meta.is_thread)
    return meta;
  meta.tid = read_id(ovni, "tid", problems);
  meta.pid = read_id(ovni, "pid", problems);
  if (const json *loom = find_member(ovni, "loom"); loom && loom->is_string())
    meta.loom = read_text(*loom);
  else
    problems.push_back("ovni.loom is missing");
  if (meta.loom.find('/') != std::string::npos)
    problems.push_back("ovni.loom has a '/' in it");
  if (known_version)
    check_library(ovni, problems);
  if (whole(find_member(ovni, "finished"), 1, 1) != 1)
    problems.push_back("ovni.finished is not 1: the thread did not end its stream");
  if (const json *value = find_member(ovni, "rank")) {
    const auto rank = ovni_number(value);
    if (rank && *rank >= 0)
      meta.rank = rank;
    else
      problems.push_back("ovni.rank is no number from 0 on");
  }
  if (meta.rank) {
    meta.nranks = std::max(ovni_number(find_member(ovni, "nranks")).value_or(0), 0);
    if (!*meta.nranks)
      problems.push_back("ovni.nranks is missing or no number from 1 on");
    else if (*meta.rank >= *meta.nranks)
      problems.push_back("ovni.rank is " + std::to_string(*meta.rank) + " of " +
                         std::to_string(*meta.nranks) + " ranks");
  }
  if (const json *app = find_member(ovni, "app_id")) {
    meta.app_id = std::max(ovni_number(app).value_or(0), 0);
    if (!*meta.app_id)
      problems.push_back("ovni.app_id is no number from 1 on");
  }
  read_require(ovni, meta, problems);
  read_cpus(ovni, meta, problems);
  if (const json *marks = find_member(ovni, "mark"); marks && marks->is_object())
    for (const auto &[key, value] : marks->items())
      read_mark(key, value, meta, problems);
  read_own(root, meta);
  return meta;
}

std::optional<StreamMeta> read_stream_meta(const std::string &path, Problems &problems) {
  std::string error;
  const auto text = read_small_file(path, kFileMax, error, Links::refuse);
  if (!text) {
    problems.push_back(error);
    return std::nullopt;
  }
  return parse_stream_meta(*text, problems);
}

} // namespace ovnitrace::ovni
