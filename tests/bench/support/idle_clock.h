// A clock for code that really runs in several threads: time passes only while all of them wait, and then at
// once to the moment that the next sleeper waits for. How fast the machine is, and what else it does, changes
// nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "bench/clock.h"

namespace bench::testing {

class IdleClock final : public Clock {
 public:
  time_point now() const override { return time_point(time_point::duration(now_ += kAsking)); }
  void sleep_until(time_point time) const override {
    std::unique_lock lock(mutex_);
    const auto until = sleepers_.insert(time.time_since_epoch().count());
    moved_.wait(lock, [&] { return now_ >= *until; });
    sleepers_.erase(until);
  }

 private:
  static constexpr std::int64_t kAsking = 2000;  // ns: so that nothing takes no time

  // How often each other thread of the process was switched; nullopt where one of them runs.
  using Switches = std::map<std::string, std::string>;
  static std::optional<Switches> waiting_threads() {
    Switches all;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      if (entry.path().filename() == std::to_string(gettid())) {
        continue;
      }
      std::ifstream status(entry.path() / "status");
      std::string& switches = all[entry.path().filename()];
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("State:") && line.find("S (sleeping)") == std::string::npos) {
          return std::nullopt;
        }
        if (line.find("ctxt_switches:") != std::string::npos) {
          switches += line;
        }
      }
    }
    return all;
  }

  // A thread that waited at both looks and was not switched meanwhile waited all the time; so there was a
  // moment when all did.
  void advance_when_idle(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto first = waiting_threads();
      if (first && first == waiting_threads()) {
        const std::scoped_lock lock(mutex_);
        if (!sleepers_.empty()) {  // the next one's time may have passed by asking
          now_ = std::max<std::int64_t>(now_, *sleepers_.begin());
          moved_.notify_all();
        }
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable moved_;
  mutable std::multiset<std::int64_t> sleepers_;  // what they wait for, in the clock's ticks
  mutable std::atomic<std::int64_t> now_ = 0;
  // Last: it uses all of the above.
  std::jthread conductor_{[this](const std::stop_token& stop) { advance_when_idle(stop); }};
};

}  // namespace bench::testing
