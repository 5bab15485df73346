// SPDX-License-Identifier: BSD-2-Clause
#include "user/net/tcp_session.h"

#include "emulator/base/error.h"
#include "emulator/base/human.h"
#include "emulator/base/printable.h"
#include "emulator/format/chunk_header.h"

#include <ovnitrace/ftrace_record.h>

#include <new>
#include <optional>
#include <utility>

namespace ovnitrace {

TcpSession::TcpSession(MakeTraceSink make_sink) : make_sink_(std::move(make_sink)) {}

void TcpSession::receive(std::string_view bytes) {
  if (ended_)
    return;
  try {
    parser_.feed(bytes);
    while (const std::optional<Message> message = ended_ ? std::nullopt : parser_.next())
      handle(*message);
  } catch (const Error &error) {
    refuse(error.what());
  } catch (const std::bad_alloc &) {
    refuse("out of memory");
  }
}

void TcpSession::disconnect(const std::string &why) {
  const std::string cause = why.empty() ? "" : " (" + why + ")";
  give_up(sink_ ? "the sender disconnected before the end" + cause + "; what had come is readable"
                : "the sender disconnected before it identified itself" + cause);
}

void TcpSession::refuse(const std::string &why) {
  if (!ended_)
    output_ += write_message(MessageType::refuse, why);
  give_up(why);
}

void TcpSession::give_up(const std::string &why) {
  if (ended_)
    return;
  ended_ = true;
  error_ = why;
  if (sink_ && sink_->bytes() == 0)
    sink_->discard();
}

void TcpSession::handle(const Message &message) {
  if (!sink_ && message.type != MessageType::identify)
    throw Error("the first message of the sender does not identify it");
  switch (message.type) {
  case MessageType::identify:
    return introduce(message.payload);
  case MessageType::description:
    described_ = false;
    return sink_->describe(message.payload);
  case MessageType::description_end:
    sink_->end_description();
    described_ = true;
    return;
  case MessageType::records:
  case MessageType::zstd_records:
    return append(message);
  case MessageType::end:
    return end(message.payload);
  case MessageType::refuse:
    throw Error("the sender gave up: " + printable_line(message.payload.substr(0, kLongestText)));
  default:
    throw Error("a message of type {} is not for a collector", uint32_t(message.type));
  }
}

void TcpSession::introduce(std::string_view identify) {
  if (sink_)
    throw Error("the sender identified itself twice");
  sink_ = make_sink_(safe_name(read_identify(identify)));
  output_ += write_message(MessageType::accept, sink_->path());
  parser_.allow_large();
}

void TcpSession::append(const Message &message) {
  if (message.payload.size() <= 4)
    throw Error("a message of chunks is empty");
  const auto cpu = get_number<uint32_t>(message.payload, 0);
  const std::string_view bytes = message.payload.substr(4);
  const Codec codec = message.type == MessageType::zstd_records ? Codec::zstd : Codec::none;
  if (cpu >= kMostCpus)
    throw Error("there is no CPU {}", cpu);
  if (codec == Codec::none && bytes.size() % sizeof(ftrace_record))
    throw Error("{} bytes are not whole records", bytes.size());
  sink_->append(uint16_t(cpu), codec, bytes);
}

void TcpSession::end(std::string_view payload) {
  if (!described_)
    throw Error("the sender ended without its trace.json");
  if (payload.size() != 16 || get_number<uint64_t>(payload, 0) != sink_->bytes())
    throw Error("{} bytes of chunks arrived, but the sender says that it sent another number",
                sink_->bytes());
  std::string written;
  put_number(written, sink_->bytes());
  output_ += write_message(MessageType::done, written);
  ended_ = true;
  const uint64_t missing = get_number<uint64_t>(payload, 8);
  complete_ = missing == 0;
  if (missing)
    error_ = human_count(missing, "event is", "events are") +
             " missing, shown as blackouts: the sender had to drop them";
}

} // namespace ovnitrace
