// When simulated things happen: timers, and work that advances at a common speed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace bench::simulator {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Due {
  double at = 0;
  std::uint64_t order = 0;  // of two at the same time, the one that was added first
  std::int64_t who = 0;
};

// The earliest on top; O(log n).
class Timers {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  const Due& top() const { return heap_.front(); }
  void add(double at, std::int64_t who) {
    heap_.push_back({at, added_++, who});
    std::ranges::push_heap(heap_, later);
  }
  std::int64_t take() {
    std::ranges::pop_heap(heap_, later);
    const std::int64_t who = heap_.back().who;
    heap_.pop_back();
    return who;
  }

 private:
  static bool later(const Due& a, const Due& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  std::vector<Due> heap_;
  std::uint64_t added_ = 0;
};

// Jobs that share processors, all at one speed, which changes as they come and go. A job that needs w is due
// when the total has advanced by w, so that no job is touched when the speed changes.
class SharedWork {
 public:
  std::size_t jobs() const { return due_.size(); }
  double speed() const { return speed_; }
  void add(double work, std::int64_t who) { due_.add(now_ + work, who); }
  std::int64_t take() {
    now_ = std::max(now_, due_.top().at);  // past rounding
    return due_.take();
  }
  void set_speed(double speed) { speed_ = speed; }
  void advance(double ns) { now_ += ns * speed_; }
  // In real time from now.
  double next() const { return due_.empty() ? kNever : std::max(0.0, due_.top().at - now_) / speed_; }

 private:
  Timers due_;
  double now_ = 0;
  double speed_ = 1;
};

}  // namespace bench::simulator
