// SPDX-License-Identifier: BSD-2-Clause
#include "user/control/grammar.h"

#include "emulator/base/error.h"
#include "emulator/base/printable.h"
#include "emulator/base/to_number.h"

#include <fmt/core.h>

#include <algorithm>

namespace ovnitrace::control {

namespace {

constexpr size_t kMostText = 1 << 16; // bytes of a chain

/// A piece of the text between colons and commas.
struct Piece {
  std::string_view text;
  Span span;
};

std::string_view without_0x(std::string_view text) {
  return text.starts_with("0x") || text.starts_with("0X") ? text.substr(2) : text;
}

std::string quoted(std::string_view text) {
  return "'" + printable_line(text) + "'";
}

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}
  Chain parse();

private:
  Piece next_piece();
  Piece next_value(const AlarmType &type);
  bool take(char c);
  [[noreturn]] void fail(Span where, const std::string &what) const {
    fail_usage(text_, where, what);
  }
  void parse_item();
  bool parse_chain_token(const Piece &word);
  void parse_repeat(const Piece &word);
  void parse_alarm(const Piece &event);
  void parse_uniform(const Piece &word);
  void parse_value(Alarm &alarm);
  void read_value(Alarm &alarm, const Piece &piece);
  void parse_suffixes(Alarm &alarm);
  void parse_suffix(Alarm &alarm, const Piece &piece);
  void check(const Alarm &alarm) const;
  uint64_t number(const Piece &piece, const std::string &what, uint64_t least) const;
  Piece named(const Piece &token);
  Span from(size_t at) const { return {at, at_ - at}; }

  const std::string_view text_;
  size_t at_ = 0;
  Chain chain_;
};

bool Parser::take(char c) {
  if (at_ >= text_.size() || text_[at_] != c)
    return false;
  at_++;
  return true;
}

Piece Parser::next_piece() {
  const size_t start = at_;
  at_ = std::min(text_.find_first_of(":,", at_), text_.size());
  return {text_.substr(start, at_ - start), from(start)};
}

/// Reads the value of an alarm. The name of a function may contain `::` and, in brackets, commas.
Piece Parser::next_value(const AlarmType &type) {
  if (type.value != ValueKind::place && type.value != ValueKind::function)
    return next_piece();
  const size_t start = at_;
  for (int depth = 0; at_ < text_.size(); at_++) {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "::" && at_ > start)
      at_++;
    else if (depth == 0 && (c == ':' || c == ','))
      break;
    depth += c == '(' || c == '<' || c == '[';
    depth -= (c == ')' || c == '>' || c == ']') && depth > 0;
  }
  return {text_.substr(start, at_ - start), from(start)};
}

uint64_t Parser::number(const Piece &piece, const std::string &what, uint64_t least) const {
  const std::optional<uint64_t> value = to_number<uint64_t>(piece.text);
  if (piece.text.empty())
    fail(piece.span, fmt::format("{} is missing", what));
  if (!value || *value < least || *value > uint64_t(INT64_MAX))
    fail(piece.span, fmt::format("{} is no {}: a whole number of {} or more is expected",
                                 quoted(piece.text), what, least));
  return *value;
}

void Parser::parse_uniform(const Piece &word) {
  Alarm alarm;
  uint64_t *const numbers[] = {&alarm.period, &alarm.length, &alarm.samples};
  constexpr const char *kNames[] = {"PERIOD of uniform", "LENGTH of uniform", "COUNT of uniform"};
  for (size_t n = 0; n < std::size(numbers); n++) {
    if (!take(':'))
      fail({at_, 0}, fmt::format("{} is missing: uniform:PERIOD:LENGTH:COUNT", kNames[n]));
    const Piece piece = next_piece();
    *numbers[n] = number(piece, kNames[n], 1);
  }
  alarm.span = from(word.span.at);
  if (alarm.samples - 1 > (uint64_t(INT64_MAX) - alarm.length) / alarm.period)
    fail(alarm.span, "this number of instructions is too large");
  if (at_ < text_.size() && text_[at_] == ':')
    fail({at_, 1}, "uniform takes no suffix: a comma or the end is expected");
  for (const Alarm &other : chain_.alarms)
    if (!other.type)
      fail(alarm.span, "the chain has a second uniform: at most one is allowed");
  chain_.alarms.push_back(alarm);
}

/// Returns the name behind `name:` or `waitfor:`.
Piece Parser::named(const Piece &token) {
  if (!take(':'))
    fail({at_, 0}, fmt::format("{}:NAME is expected", token.text));
  const Piece name = next_piece();
  if (name.text.empty())
    fail(name.span, fmt::format("the name of {} is missing", token.text));
  return name;
}

/// Parses repeat, repeatN and repeat:N.
void Parser::parse_repeat(const Piece &word) {
  constexpr size_t kWord = std::string_view("repeat").size();
  if (chain_.repeat_given)
    fail(word.span, "the chain has a second repeat");
  chain_.repeat_given = true;
  if (word.text.size() > kWord)
    chain_.repeat =
        number({word.text.substr(kWord), {word.span.at + kWord, word.span.length - kWord}},
               "number of rounds", 1);
  else
    chain_.repeat = take(':') ? number(next_piece(), "number of rounds", 1) : 0;
}

/// Parses a word of the chain itself: repeat, name or waitfor.
bool Parser::parse_chain_token(const Piece &word) {
  if (word.text.starts_with("repeat")) {
    parse_repeat(word);
  } else if (word.text == "name") {
    const Piece name = named(word);
    if (!chain_.name.empty())
      fail(name.span, "the chain has a second name");
    chain_.name = name.text;
    chain_.name_span = name.span;
  } else if (word.text == "waitfor") {
    const Piece name = named(word);
    if (!chain_.waitfor.empty())
      fail(name.span, "the chain has a second waitfor");
    chain_.waitfor = name.text;
    chain_.waitfor_span = name.span;
  } else {
    return false;
  }
  if (at_ < text_.size() && text_[at_] == ':')
    fail({at_, 1}, "a comma or the end is expected");
  return true;
}

void Parser::read_value(Alarm &alarm, const Piece &piece) {
  const std::string what = fmt::format("value of {}", alarm.type->name);
  if (piece.text.empty())
    fail(piece.span, fmt::format("the {} is missing; write, for example, {}:{}", what,
                                 alarm.type->name, alarm.type->example));
  const auto wrong = [&](const char *expected) {
    fail(piece.span, fmt::format("{} is no {}: {} is expected, as {}", quoted(piece.text), what,
                                 expected, alarm.type->example));
  };
  std::optional<uint64_t> value;
  const std::string_view digits = without_0x(piece.text);
  const bool hex = digits.size() != piece.text.size();
  switch (alarm.type->value) {
  case ValueKind::none:
    break;
  case ValueKind::number:
    alarm.number = number(piece, what, 1);
    break;
  case ValueKind::hex:
    value = to_number<uint64_t>(digits, 16);
    if (!value || digits.size() > 8)
      wrong("a hexadecimal number of up to 8 digits");
    alarm.number = *value;
    break;
  case ValueKind::small_hex:
    value = to_number<uint64_t>(digits, hex ? 16 : 10);
    if (!value || *value > 0xffff)
      wrong("a number below 65536");
    alarm.number = *value;
    break;
  case ValueKind::bytes:
    if (digits.size() % 2 || digits.size() > 30 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != digits.npos || digits.empty())
      wrong("the hexadecimal bytes of an instruction, up to 15,");
    break;
  case ValueKind::pair: {
    const size_t dot = piece.text.find('.');
    value = to_number<uint64_t>(piece.text.substr(0, dot));
    const auto second =
        dot == piece.text.npos ? std::nullopt : to_number<uint64_t>(piece.text.substr(dot + 1));
    if (!value || !second || *value > UINT32_MAX || *second > UINT32_MAX)
      wrong("two numbers with a dot between them");
    alarm.number = *value;
    alarm.second = *second;
    break;
  }
  case ValueKind::place: {
    const size_t plus = piece.text.rfind('+');
    if (hex && !(value = to_number<uint64_t>(digits, 16)))
      wrong("a hexadecimal address");
    if (!hex && plus != piece.text.npos && plus > 0 && !piece.text.starts_with("operator") &&
        piece.text.find("::operator") == piece.text.npos) {
      const std::string_view offset = piece.text.substr(plus + 1);
      value = to_number<uint64_t>(without_0x(offset), 16);
      if (!value)
        wrong("the offset, hexadecimal, behind the + of IMAGE+OFFSET");
    }
    alarm.number = value.value_or(0);
    break;
  }
  case ValueKind::text:
    if (piece.text.size() >= CONTROL_STRING)
      wrong("a string of less than 64 bytes");
    break;
  case ValueKind::word:
  case ValueKind::function:
    break;
  }
}

void Parser::parse_value(Alarm &alarm) {
  if (alarm.type->value == ValueKind::none)
    return;
  if (!take(':'))
    fail({at_, 0}, fmt::format("the value of {0} is missing: as {0}:{1}", alarm.type->name,
                               alarm.type->example));
  const Piece piece = next_value(*alarm.type);
  alarm.value = piece.text;
  alarm.value_span = piece.span;
  read_value(alarm, piece);
}

/// Parses what follows an alarm: countN, tidN, bcast or global.
void Parser::parse_suffix(Alarm &alarm, const Piece &piece) {
  const auto tail = [&](std::string_view word) -> std::optional<Piece> {
    if (!piece.text.starts_with(word))
      return {};
    return Piece{piece.text.substr(word.size()),
                 {piece.span.at + word.size(), piece.span.length - word.size()}};
  };
  const auto once = [&](bool given) {
    if (given)
      fail(piece.span, fmt::format("{} is given twice", quoted(piece.text)));
  };
  if (piece.text == "bcast") {
    once(alarm.bcast);
    alarm.bcast = true;
  } else if (piece.text == "global") {
    once(alarm.global);
    alarm.global = true;
  } else if (const auto count = tail("count")) {
    once(alarm.count);
    alarm.count = number(*count, "number behind count", 1);
  } else if (const auto tid = tail("tid")) {
    once(alarm.tid.has_value());
    const uint64_t which = number(*tid, "number behind tid", 0);
    if (which > UINT32_MAX)
      fail(tid->span, "the tid is too large");
    alarm.tid = uint32_t(which);
  } else {
    fail(piece.span, fmt::format("{} is no suffix of an alarm: countN, tidN, bcast or global is "
                                 "expected",
                                 quoted(piece.text)));
  }
}

void Parser::parse_suffixes(Alarm &alarm) {
  while (take(':'))
    parse_suffix(alarm, next_piece());
  // `,bcast`, as examples of the manual write it
  while (text_.substr(at_) == ",bcast" || text_.substr(at_).starts_with(",bcast,")) {
    at_++;
    parse_suffix(alarm, next_piece());
  }
}

void Parser::check(const Alarm &alarm) const {
  if (alarm.global && alarm.tid)
    fail(alarm.span, "tid and global exclude each other: tid counts the hits of one thread, global "
                     "those of all");
  if (alarm.type->type == CONTROL_ICOUNT && alarm.count > UINT64_MAX / alarm.number)
    fail(alarm.span, "this number of instructions is too large");
  constexpr uint64_t kLongest = 366ull * 86400; // s
  if (alarm.type->type == CONTROL_TIMEOUT && alarm.number > kLongest)
    fail(alarm.value_span, "the timeout is longer than a year");
}

void Parser::parse_alarm(const Piece &event) {
  const auto named = std::find_if(std::begin(kEventNames), std::end(kEventNames),
                                  [&](const EventName &row) { return row.name == event.text; });
  if (named == std::end(kEventNames))
    fail(event.span,
         fmt::format(
             "{} is not an event: write {} or uniform; after the alarms, repeat, name or waitfor",
             quoted(event.text), event_names()));
  Alarm alarm;
  alarm.event = named->event;
  if (!take(':'))
    fail({at_, 0},
         fmt::format("the alarm of {} is missing, as {}:address:foo", event.text, event.text));
  const Piece type = next_piece();
  alarm.type = find_type(type.text);
  if (!alarm.type)
    fail(type.span, fmt::format("{} is no type of alarm: one of {} is expected", quoted(type.text),
                                type_names()));
  parse_value(alarm);
  parse_suffixes(alarm);
  alarm.span = from(event.span.at);
  check(alarm);
  chain_.alarms.push_back(std::move(alarm));
}

void Parser::parse_item() {
  const Piece word = next_piece();
  if (word.text.empty())
    fail(word.span, "an alarm is missing: EVENT:TYPE[:VALUE] is expected, as start:address:foo");
  if (parse_chain_token(word))
    return;
  if (chain_.repeat_given || !chain_.name.empty() || !chain_.waitfor.empty())
    fail(word.span, "after repeat, name or waitfor, no alarm can follow");
  if (word.text == "uniform")
    parse_uniform(word);
  else
    parse_alarm(word);
}

Chain Parser::parse() {
  if (text_.size() > kMostText)
    throw UsageError("--control: the chain is longer than 64 KiB");
  chain_.text = text_;
  do
    parse_item();
  while (take(','));
  if (at_ < text_.size())
    fail({at_, 1}, "a comma or the end is expected");
  if (chain_.alarms.empty())
    fail({0, text_.size()}, "the chain has no alarms");
  return std::move(chain_);
}

} // namespace

void fail_usage(std::string_view text, Span where, const std::string &what) {
  constexpr size_t kWide = 200; // of a long chain only what is around the place is shown
  const size_t start = where.at > kWide ? where.at - kWide / 2 : 0;
  const size_t at = std::min(where.at, text.size());
  const size_t shown = std::min<size_t>(text.size() - start, kWide + kWide / 2);
  const size_t length =
      std::clamp<size_t>(where.length, 1, std::max<size_t>(start + shown - at, 1));
  const std::string before = printable_line(text.substr(start, at - start));
  const std::string line = before + printable_line(text.substr(at, start + shown - at));
  throw UsageError("--control: {}\n  {}\n  {}{}", what, line, std::string(before.size(), ' '),
                   "^" + std::string(length - 1, '~'));
}

Chain parse_chain(std::string_view text) {
  return Parser(text).parse();
}

} // namespace ovnitrace::control
