// SPDX-License-Identifier: BSD-2-Clause
#include "tests/browser/support/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace ovnitrace::test {

using nlohmann::json;

namespace {

constexpr const char *kProgram = "/usr/bin/chromium";
constexpr int kPatienceMs = 120000; // of a machine that does much else
constexpr int kIn = 3, kOut = 4;    // the descriptors of --remote-debugging-pipe

void expect(bool holds, const char *what) {
  if (!holds)
    throw std::runtime_error(std::string("browser: ") + what);
}

} // namespace

bool Browser::installed() {
  return access(kProgram, X_OK) == 0;
}

Browser::Browser() {
  int in[2], out[2];
  expect(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "no pipe");
  // Above 4, so that neither is lost when they become 3 and 4.
  const int in_read = fcntl(in[0], F_DUPFD_CLOEXEC, 10);
  const int out_write = fcntl(out[1], F_DUPFD_CLOEXEC, 10);
  close(in[0]);
  close(out[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, in_read, kIn);
  posix_spawn_file_actions_adddup2(&actions, out_write, kOut);
  std::vector<std::string> words = {kProgram,
                                    "--headless",
                                    "--disable-gpu",
                                    "--no-first-run",
                                    "--disable-background-networking",
                                    "--disable-dev-shm-usage",
                                    "--window-size=1400,900",
                                    "--user-data-dir=" + profile_.path(),
                                    "--remote-debugging-pipe"};
  if (geteuid() == 0)
    words.emplace_back("--no-sandbox"); // it has none for root
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const int error = posix_spawn(&child_, kProgram, &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in_read);
  close(out_write);
  to_ = in[1];
  from_ = out[0];
  expect(error == 0, "cannot be started");
  const json target = call("Target.createTarget", {{"url", "about:blank"}});
  session_ = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})
                 .at("sessionId");
  for (const char *domain : {"Page.enable", "Runtime.enable", "Log.enable"})
    call(domain);
}

Browser::~Browser() {
  close(to_); // it ends when nobody drives it any more
  close(from_);
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
}

json Browser::receive() {
  for (;;) {
    if (const size_t end = received_.find('\0'); end != received_.npos) {
      json message = json::parse(received_.substr(0, end));
      received_.erase(0, end + 1);
      return message;
    }
    pollfd ready{from_, POLLIN, 0};
    expect(poll(&ready, 1, kPatienceMs) == 1, "no answer");
    char buffer[1 << 16];
    const ssize_t size = read(from_, buffer, sizeof buffer);
    expect(size > 0, "it has ended");
    received_.append(buffer, size_t(size));
  }
}

void Browser::note(const json &event) {
  const json &what = event["params"];
  const std::string method = event.value("method", "");
  if (method == "Runtime.exceptionThrown")
    complaints_.push_back(what["exceptionDetails"].dump());
  else if (method == "Log.entryAdded" && what["entry"]["level"] != "info")
    complaints_.push_back(what["entry"].dump());
  else if (method == "Runtime.consoleAPICalled" && what["type"] != "log")
    complaints_.push_back(what.dump());
}

json Browser::call(const std::string &method, json parameters) {
  json request = {{"id", ++last_id_}, {"method", method}};
  if (!parameters.is_null())
    request["params"] = std::move(parameters);
  if (!session_.empty())
    request["sessionId"] = session_;
  const std::string text = request.dump() + '\0';
  for (size_t at = 0; at < text.size();) {
    const ssize_t size = write(to_, text.data() + at, text.size() - at);
    expect(size > 0, "cannot write to it");
    at += size_t(size);
  }
  for (;;) {
    json answer = receive();
    if (answer.value("id", 0) != last_id_) {
      note(answer);
      continue;
    }
    if (answer.contains("error"))
      throw std::runtime_error(method + ": " + answer["error"].dump());
    return answer["result"];
  }
}

void Browser::open(const std::string &path) {
  call("Page.navigate", {{"url", "file://" + path}});
  wait_for("window.ovnitrace !== undefined");
}

json Browser::evaluate(const std::string &expression) {
  json answer = call("Runtime.evaluate",
                     {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (answer.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
  return answer["result"].value("value", json());
}

void Browser::wait_for(const std::string &expression) {
  for (int tries = 0; tries < kPatienceMs / 50; tries++) {
    if (evaluate(expression) == true)
      return;
    usleep(50000);
  }
  throw std::runtime_error("never true: " + expression);
}

void Browser::press(const std::string &key) {
  json event = {{"type", "keyDown"}, {"key", key}};
  if (key.size() == 1)
    event["text"] = key;
  call("Input.dispatchKeyEvent", event);
  call("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", key}});
}

void Browser::type(const std::string &text) {
  call("Input.insertText", {{"text", text}});
}

void Browser::mouse(const char *type, double x, double y, int buttons, bool shift) {
  call("Input.dispatchMouseEvent", {{"type", type},
                                    {"x", x},
                                    {"y", y},
                                    {"button", "left"},
                                    {"buttons", buttons},
                                    {"clickCount", 1},
                                    {"modifiers", shift ? 8 : 0}});
}

void Browser::drag(double x0, double y0, double x1, double y1, bool shift) {
  mouse("mousePressed", x0, y0, 1, shift);
  if (x0 != x1 || y0 != y1)
    mouse("mouseMoved", (x0 + x1) / 2, (y0 + y1) / 2, 1, shift);
  mouse("mouseMoved", x1, y1, 1, shift);
  mouse("mouseReleased", x1, y1, 0, shift);
}

void Browser::wheel(double x, double y, double delta_y) {
  call("Input.dispatchMouseEvent",
       {{"type", "mouseWheel"}, {"x", x}, {"y", y}, {"deltaX", 0}, {"deltaY", delta_y}});
}

} // namespace ovnitrace::test
