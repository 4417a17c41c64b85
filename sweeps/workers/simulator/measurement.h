// Measures a simulation once it has warmed up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

// Each consumer has `steps` measured steps, which follow its warm_up_steps. With sums over these steps:
//   au = computing time of all consumers / their time
//   samples_per_s = sum over the consumers of steps · batch / the consumer's time
// Sums over the time since the first consumer's first measured step:
//   computing_workers = ∫ workers that compute dt / time; worker_busy is that by the number of workers
//   storage_busy = time of transfers / time; copying = time of copies / time, the consumers' mean
// Times are the simulation's, in nanoseconds.
class Measurement {
 public:
  explicit Measurement(const Pipeline& pipeline)
      : pipeline_(pipeline), consumers_(static_cast<std::size_t>(pipeline.consumers)) {
    steps_.reserve(static_cast<std::size_t>(pipeline.steps * pipeline.consumers));
  }

  // Every consumer's steps were measured.
  bool complete() const { return complete_ == consumers_.size(); }

  // `ns` went by with these many workers computing, and these many waiting for storage.
  void passed(double ns, std::size_t computing_workers, std::int64_t reading_workers) {
    if (running()) {
      computing_sum_ += ns * static_cast<double>(computing_workers);
      reading_sum_ += ns * static_cast<double>(reading_workers);
    }
  }

  void transferred(double ns) { storage_sum_ += running() ? ns : 0; }  // from storage

  void copied(std::size_t consumer, double to, std::int64_t batch) {
    consumers_[consumer].copied_sum += running() ? pipeline_.copy_ns : 0;
    keep(consumer, "consumer", "copy", to - pipeline_.copy_ns, to, batch);
  }

  void step_started(std::size_t index, double now) {
    ConsumerTimes& consumer = consumers_[index];
    const std::int64_t measured = consumer.started - pipeline_.warm_up_steps;
    if (measured == 0) {
      consumer.first_at = now;
      if (index == 0) {
        from_ = now;
      }
    } else if (measured > 0 && measured <= pipeline_.steps) {
      steps_.push_back(now - consumer.started_at);
      if (measured == pipeline_.steps) {
        const double took = now - consumer.first_at;
        total_time_ += took;
        compute_sum_ += consumer.compute_sum;
        rate_ += static_cast<double>(pipeline_.steps * pipeline_.batch) / std::max(kLeastNs, took) * 1e9;
        consumer.complete = true;
        ++complete_;
      }
    }
    ++consumer.started;
    consumer.started_at = now;
  }

  void step_computed(std::size_t index, double now, std::int64_t batch) {
    ConsumerTimes& consumer = consumers_[index];
    if (consumer.started > pipeline_.warm_up_steps && !consumer.complete) {
      consumer.compute_sum += now - consumer.started_at;
    }
    keep(index, "consumer", "compute", consumer.started_at, now, batch);
  }

  bool keeps_timeline(std::size_t consumer) const {
    const std::int64_t started = consumers_[0].started - pipeline_.warm_up_steps;
    return pipeline_.timeline_steps > 0 && consumer == 0 && started <= pipeline_.timeline_steps &&
           started >= -1;
  }

  void keep(std::size_t consumer, std::string who, const char* what, double from, double to,
            std::int64_t batch) {
    if (keeps_timeline(consumer)) {
      timeline_.push_back({std::move(who), what, from, to, batch});
    }
  }

  // `workers` of all consumers.
  Outcome outcome(double now, std::size_t workers) {
    const double time = std::max(kLeastNs, now - from_);
    const auto count = static_cast<double>(workers);
    Outcome outcome{.samples_per_s = rate_,
                    .au = compute_sum_ / std::max(kLeastNs, total_time_),
                    .step_ns = std::move(steps_),
                    .computing_workers = computing_sum_ / time,
                    .worker_busy = computing_sum_ / time / count,
                    .worker_reading = reading_sum_ / time / count,
                    .storage_busy = std::min(1.0, storage_sum_ / time)};
    outcome.compute_ns = compute_sum_ / static_cast<double>(outcome.step_ns.size());
    for (const ConsumerTimes& consumer : consumers_) {
      outcome.copying += consumer.copied_sum / time / static_cast<double>(consumers_.size());
    }
    for (TimelineEntry& entry : timeline_) {
      if (entry.to_ns > from_) {
        entry.from_ns = std::max(0.0, entry.from_ns - from_);
        entry.to_ns -= from_;
        outcome.timeline.push_back(std::move(entry));
      }
    }
    return outcome;
  }

 private:
  static constexpr double kLeastNs = 1e-9;  // divisors stay above zero

  struct ConsumerTimes {
    std::int64_t started = 0;  // steps
    double started_at = 0;
    double first_at = 0;  // the start of the first measured step
    double compute_sum = 0;
    double copied_sum = 0;
    bool complete = false;
  };
  bool running() const { return from_ >= 0; }

  const Pipeline& pipeline_;
  std::vector<ConsumerTimes> consumers_;
  std::size_t complete_ = 0;
  double from_ = -1;          // until then warming up
  double computing_sum_ = 0;  // workers · ns
  double reading_sum_ = 0;    // workers · ns
  double storage_sum_ = 0;    // ns of transfers
  double total_time_ = 0;     // ns of the consumers' measured steps
  double compute_sum_ = 0;    // ns of computing in them
  double rate_ = 0;           // samples a second
  std::vector<double> steps_;
  std::vector<TimelineEntry> timeline_;
};

}  // namespace bench::simulator
