// SPDX-License-Identifier: BSD-2-Clause
// loopback ROUNDS: the threads `asker` and `answerer` send each other a byte over TCP and
// 127.0.0.1. Meanwhile the thread `patient` waits ten times for a packet that nobody sends, until
// it gives up.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

/// Ends the program if a call failed.
int checked(int result, const char *call) {
  if (result < 0) {
    perror(call);
    exit(1);
  }
  return result;
}

void play(int socket, int rounds, bool first) {
  pthread_setname_np(pthread_self(), first ? "asker" : "answerer");
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  char byte = 0;
  for (int n = 0; n < rounds; n++) {
    if (first)
      checked(int(send(socket, &byte, 1, 0)), "send");
    checked(int(recv(socket, &byte, 1, 0)), "recv");
    if (!first)
      checked(int(send(socket, &byte, 1, 0)), "send");
  }
}

void wait_in_vain() {
  pthread_setname_np(pthread_self(), "patient");
  const int nobody = checked(socket(AF_INET, SOCK_DGRAM, 0), "socket");
  const timeval limit = {0, 5000};
  setsockopt(nobody, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  char byte;
  for (int n = 0; n < 10; n++)
    recv(nobody, &byte, 1, 0);
  close(nobody);
}

} // namespace

int main(int argc, char **argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto *const any = reinterpret_cast<sockaddr *>(&address);
  socklen_t size = sizeof(address);
  const int listener = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
  checked(bind(listener, any, size), "bind");
  checked(listen(listener, 1), "listen");
  checked(getsockname(listener, any, &size), "getsockname");
  const int asks = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
  checked(connect(asks, any, size), "connect");
  const int answers = checked(accept(listener, nullptr, nullptr), "accept");
  std::thread patient(wait_in_vain);
  std::thread answerer(play, answers, rounds, false);
  std::thread asker(play, asks, rounds, true);
  for (std::thread *thread : {&asker, &answerer, &patient})
    thread->join();
}
