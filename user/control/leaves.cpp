// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/leaves.h"

#include "user/control/scan.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#if defined(__x86_64__)
#include <Zydis/Zydis.h>
#else
#include <cstring>
#endif

namespace ovnitrace::control {

namespace {

constexpr size_t kMostInstructions = 1 << 20; // of one function

/// What an instruction does to the flow of control.
enum class Flow : uint8_t {
  next,     ///< goes on to the one behind it
  calls,    ///< the same, if what is called returns
  nothing,  ///< the same, and may be there only to fill
  ends,     ///< goes nowhere
  leaves,   ///< returns, or jumps through a pointer
  jumps,    ///< to the target
  branches, ///< to the target or the one behind it
  unclear,  ///< jumps through a table or a pointer: one cannot tell
};

struct Step {
  Flow flow = Flow::next;
  unsigned length = 0; ///< 0: it is no instruction
  uint64_t target = 0;
};

#if defined(__x86_64__)

/// Decodes instructions in the order of their addresses, and tells a jump through the table of a
/// switch from a jump through a pointer, which may leave the function. A table of a switch is read
/// at an index that has been compared with a bound, or it holds distances that are added to an
/// address. A jump that is marked `notrack` does not lead to a function.
class Decoder {
public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  Step step(std::string_view bytes, uint64_t address);

private:
  enum class Came : uint8_t { otherwise, by_addition, by_index };
  static bool has_index(const ZydisDecodedOperand &operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.index != ZYDIS_REGISTER_NONE;
  }
  Flow through(const ZydisDecodedInstruction &jump, const ZydisDecodedOperand &to) const;
  void remember(const ZydisDecodedInstruction &instruction, const ZydisDecodedOperand *operands);

  ZydisDecoder decoder_;
  std::map<ZydisRegister, Came> came_; ///< what is in the registers
  unsigned since_bound_ = 1000;        ///< instructions since a comparison and a branch by it
  bool compared_ = false;
};

Flow Decoder::through(const ZydisDecodedInstruction &jump, const ZydisDecodedOperand &to) const {
  constexpr unsigned kNear = 12; // instructions from the bound of a switch to its jump
  if (jump.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
    return Flow::ends;
  Came came = has_index(to) ? Came::by_index : Came::otherwise;
  if (to.type == ZYDIS_OPERAND_TYPE_REGISTER)
    if (const auto found = came_.find(to.reg.value); found != came_.end())
      came = found->second;
  if (came == Came::otherwise)
    return Flow::leaves;
  return came == Came::by_addition || since_bound_ <= kNear ? Flow::ends : Flow::unclear;
}

void Decoder::remember(const ZydisDecodedInstruction &instruction,
                       const ZydisDecodedOperand *operands) {
  since_bound_++;
  switch (instruction.mnemonic) {
  case ZYDIS_MNEMONIC_CMP:
  case ZYDIS_MNEMONIC_SUB:
  case ZYDIS_MNEMONIC_AND:
    compared_ = true;
    break;
  case ZYDIS_MNEMONIC_JNBE:
  case ZYDIS_MNEMONIC_JNB:
    if (compared_)
      since_bound_ = 0;
    break;
  default:
    break;
  }
  for (unsigned n = 0; n < instruction.operand_count_visible; n++) {
    const ZydisDecodedOperand &to = operands[n];
    if (to.type != ZYDIS_OPERAND_TYPE_REGISTER || !(to.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
      continue;
    const ZydisRegister whole =
        ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, to.reg.value);
    if (instruction.mnemonic == ZYDIS_MNEMONIC_ADD)
      came_[whole] = Came::by_addition;
    else if (instruction.mnemonic == ZYDIS_MNEMONIC_MOV && instruction.operand_count_visible > 1 &&
             has_index(operands[1]))
      came_[whole] = Came::by_index;
    else
      came_[whole] = Came::otherwise;
  }
}

/// Returns whether this is code of the linkage table: an optional endbr64, and a jump through a
/// pointer at a distance.
bool is_stub(std::string_view bytes) {
  using namespace std::string_view_literals;
  for (const std::string_view start : {"\xf3\x0f\x1e\xfa"sv, "\xf2"sv})
    if (bytes.starts_with(start))
      bytes.remove_prefix(start.size());
  return bytes.starts_with("\xff\x25"sv);
}

Step Decoder::step(std::string_view bytes, uint64_t address) {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), &instruction, operands)))
    return {};
  Step step = {Flow::next, instruction.length, 0};
  switch (instruction.meta.category) {
  case ZYDIS_CATEGORY_RET:
    step.flow =
        instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? Flow::unclear : Flow::leaves;
    break;
  case ZYDIS_CATEGORY_UNCOND_BR:
  case ZYDIS_CATEGORY_COND_BR:
    if (instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) {
      step.flow = Flow::unclear;
    } else if (operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      step.flow =
          instruction.meta.category == ZYDIS_CATEGORY_COND_BR ? Flow::branches : Flow::jumps;
      ZydisCalcAbsoluteAddress(&instruction, &operands[0], address, &step.target);
    } else if (instruction.meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
      step.flow = through(instruction, operands[0]);
    }
    break;
  case ZYDIS_CATEGORY_CALL:
  case ZYDIS_CATEGORY_SYSCALL:
    step.flow = Flow::calls;
    came_.clear();
    break;
  case ZYDIS_CATEGORY_NOP:
  case ZYDIS_CATEGORY_WIDENOP:
    step.flow = Flow::nothing;
    break;
  default:
    break;
  }
  switch (instruction.mnemonic) {
  case ZYDIS_MNEMONIC_INT3:
  case ZYDIS_MNEMONIC_HLT:
  case ZYDIS_MNEMONIC_UD0:
  case ZYDIS_MNEMONIC_UD1:
  case ZYDIS_MNEMONIC_UD2:
    step.flow = Flow::ends;
    break;
  default:
    break;
  }
  remember(instruction, operands);
  return step;
}

#else

/// A64. Jumps through registers are all unclear but those right behind an addition, which are of
/// the table of a switch.
class Decoder {
public:
  Step step(std::string_view bytes, uint64_t address) {
    uint32_t word;
    if (bytes.size() < sizeof(word))
      return {};
    std::memcpy(&word, bytes.data(), sizeof(word));
    const auto at = [&](unsigned low, unsigned bits) { // a signed distance in words
      const int64_t distance = int64_t(uint64_t(word >> low) << (64 - bits)) >> (64 - bits);
      return address + uint64_t(distance * 4);
    };
    const bool after_addition = added_;
    added_ = (word & 0x1f000000) == 0x0b000000; // add or sub of registers
    if ((word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff)
      return {Flow::leaves, 4, 0}; // ret, retaa, retab
    if ((word & 0xfc000000) == 0x14000000)
      return {Flow::jumps, 4, at(0, 26)};
    if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
      return {Flow::branches, 4, at(5, 19)}; // b.cond, cbz, cbnz
    if ((word & 0x7e000000) == 0x36000000)
      return {Flow::branches, 4, at(5, 14)}; // tbz, tbnz
    if ((word & 0xfefff800) == 0xd61f0800 || (word & 0xfffffc1f) == 0xd61f0000)
      return {after_addition ? Flow::ends : Flow::unclear, 4, 0}; // br
    if ((word & 0xffff0000) == 0 || (word & 0xffe0001f) == 0xd4200000)
      return {Flow::ends, 4, 0}; // udf, brk
    if ((word & 0xfc000000) == 0x94000000 || (word & 0xfefff800) == 0xd63f0800 ||
        (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xffe0001f) == 0xd4000001)
      return {Flow::calls, 4, 0}; // bl, blr, svc
    return {word == 0xd503201f ? Flow::nothing : Flow::next, 4, 0};
  }

private:
  bool added_ = false;
};

/// Returns whether this is code of the linkage table: an optional bti, and adrp x16.
bool is_stub(std::string_view bytes) {
  constexpr uint32_t kBti = 0xd503245f;
  uint32_t words[2] = {};
  std::memcpy(words, bytes.data(), std::min(bytes.size(), sizeof(words)));
  return ((words[0] == kBti ? words[1] : words[0]) & 0x9f00001f) == 0x90000010;
}

#endif

class Walk {
public:
  Walk(const Image &image, uint64_t start);
  Leaves find();

private:
  struct Part {
    uint64_t start, end; ///< end 0: to where it cannot go on
  };
  bool walk(const Part &part);
  void follow(uint64_t jump, const Step &step);
  bool is_inside(uint64_t address) const {
    return std::any_of(parts_.begin(), parts_.end(), [address](const Part &part) {
      return address >= part.start && address < part.end;
    });
  }
  bool refuse(uint64_t address, std::string_view why) {
    refused_ = fmt::format("{} at {:#x}", why, address);
    return false;
  }

  const Image &image_;
  std::map<uint64_t, uint64_t> functions_; ///< all others, address and size
  std::map<uint64_t, uint64_t> cold_;      ///< parts of functions, the same
  std::vector<Part> parts_;
  std::deque<Part> left_;
  std::set<uint64_t> begun_, at_;
  size_t instructions_ = 0;
  std::string refused_;
};

Walk::Walk(const Image &image, uint64_t start) : image_(image) {
  uint64_t size = 0;
  for (const Function &function : image.functions) {
    if (function.address == start)
      size = std::max(size, function.size);
    else if (function.name.find(".cold") != function.name.npos)
      cold_[function.address] = std::max(cold_[function.address], function.size);
    else
      functions_[function.address] = std::max(functions_[function.address], function.size);
  }
  if (size)
    left_.push_back({start, start + size});
}

/// Follows a jump: on in this function, or to another. Code without a name is decoded as if it
/// belonged to this function. Another function's returns do no harm, because the stack shows whose
/// they are.
void Walk::follow(uint64_t jump, const Step &step) {
  if (is_inside(step.target) || begun_.count(step.target))
    return;
  auto part = cold_.upper_bound(step.target);
  if (part != cold_.begin() && step.target - std::prev(part)->first < std::prev(part)->second) {
    part = std::prev(part);
    left_.push_back({part->first, part->first + part->second});
    return;
  }
  auto other = functions_.upper_bound(step.target);
  const bool named = other != functions_.begin() &&
                     (std::prev(other)->first == step.target ||
                      step.target - std::prev(other)->first < std::prev(other)->second);
  if (named ||
      (step.flow == Flow::jumps && is_stub(image_.bytes_at(step.target, kLongestInstruction))))
    at_.insert(step.flow == Flow::jumps ? jump : step.target);
  else
    left_.push_back({step.target, 0});
}

bool Walk::walk(const Part &part) {
  if (!begun_.insert(part.start).second)
    return true;
  if (part.end)
    parts_.push_back(part);
  Decoder decoder;
  Flow last = Flow::next;
  for (uint64_t at = part.start; !part.end || at < part.end;) {
    const Step step = decoder.step(image_.bytes_at(at, kLongestInstruction), at);
    if (!step.length || instructions_++ > kMostInstructions)
      return refuse(at, step.length ? "it is too long" : "there is no instruction");
    if (step.flow == Flow::unclear)
      return refuse(at,
                    "there is a jump through a table or a pointer, which may leave the function");
    if (step.flow == Flow::leaves)
      at_.insert(at);
    else if (step.flow == Flow::jumps || step.flow == Flow::branches)
      follow(at, step);
    if (step.flow != Flow::nothing)
      last = step.flow;
    at += step.length;
    if (!part.end && (step.flow == Flow::ends || step.flow == Flow::leaves ||
                      step.flow == Flow::jumps || functions_.count(at)))
      return true;
  }
  if (last == Flow::branches || last == Flow::next)
    return refuse(part.end, "it runs past its end");
  return true;
}

Leaves Walk::find() {
  if (left_.empty())
    refused_ = "its symbol has no size";
  while (!left_.empty() && refused_.empty()) {
    const Part part = left_.front();
    left_.pop_front();
    walk(part);
  }
  Leaves leaves;
  leaves.refused = refused_;
  if (refused_.empty())
    leaves.at.assign(at_.begin(), at_.end());
  return leaves;
}

} // namespace

Leaves find_leaves(const Image &image, uint64_t address) {
  return Walk(image, address).find();
}

} // namespace ovnitrace::control
