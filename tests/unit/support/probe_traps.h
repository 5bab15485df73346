// SPDX-License-Identifier: BSD-2-Clause
// Traps in the place of the USDT probes of a loaded library: they count how often each probe fires,
// as a uprobe would, without a tracer. x86-64 and arm64.
#pragma once

#include <csignal>
#include <map>
#include <string>

namespace ovnitrace::test {

/// One at a time. Takes SIGTRAP for as long as it lives; must go before the library does.
class ProbeTraps {
public:
  /// `library`: from dlopen. Probes of `provider` only.
  ProbeTraps(void *library, const std::string &provider);
  ~ProbeTraps();
  ProbeTraps(const ProbeTraps &) = delete;
  ProbeTraps &operator=(const ProbeTraps &) = delete;

  /// How many places of that name the library has.
  size_t places(const std::string &name) const;
  /// How often any of them fired.
  unsigned fired(const std::string &name) const;

private:
  std::map<unsigned char *, std::string> places_; ///< by the address of the nop
  struct sigaction before_;
};

} // namespace ovnitrace::test
