// Measures a simulation once it has warmed up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

// Times are the simulation's, in nanoseconds.
class Measurement {
 public:
  explicit Measurement(const Pipeline& pipeline);

  // Every consumer's steps were measured.
  bool complete() const { return complete_ == consumers_.size(); }

  // `ns` went by with these many workers computing, and these many waiting for storage.
  void passed(double ns, std::size_t computing_workers, std::int64_t reading_workers);
  void transferred(double ns);  // from storage
  void copied(std::size_t consumer, double to, std::int64_t batch);
  void step_started(std::size_t index, double now);
  void step_computed(std::size_t index, double now, std::int64_t batch);

  bool keeps_timeline(std::size_t consumer) const;
  void keep(std::size_t consumer, std::string who, const char* what, double from, double to,
            std::int64_t batch);

  // `workers` of all consumers.
  Outcome outcome(double now, std::size_t workers);

 private:
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
