// A run of the simulated pipeline: who waits for what, and what happens next.
#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "sweeps/workers/simulator/clock.h"
#include "sweeps/workers/simulator/draws.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

class Simulation {
 public:
  explicit Simulation(const Pipeline& pipeline);
  Outcome run();

 private:
  // What the consumer's thread waits for: a batch, a core to take it on, the end of its copy, the end of the
  // step before it, its own start, or a core to ask for a batch on.
  enum class Wants { batch, taken, copied, previous, started, awake };

  struct Worker {
    std::size_t feed = 0;
    std::int64_t number = 0;
    std::int64_t batch = 0;
    std::int64_t pieces_left = 0;
    double piece_work = 0;
    double sized_work = 0;  // of the piece at hand, with storage
    double began = 0;
    bool idle = true;
  };

  struct Feed {
    std::vector<bool> ready;             // in order: by batch modulo slots
    std::vector<std::int64_t> finished;  // any: in the order of their completion
    std::size_t delivered_at = 0;        //   the first not delivered
    std::vector<std::pair<std::int64_t, std::int64_t>>
        open;                     // any: batch and samples not done, slots at most
    std::int64_t opened = 0;      // any: batches that samples were handed out of
    std::int64_t handed_out = 0;  //   samples of the newest one
    std::vector<std::size_t> idle;
    std::int64_t copied = 0;  // batches whose slots are free again
    std::int64_t next = 0;    // in order: the batch waited for
    std::int64_t batch = 0;   // being copied or loaded
    Wants wants = Wants::batch;
    bool computing = false;
    std::int64_t computed_batch = 0;
    std::int64_t started = 0;  // steps
    double started_at = 0;
    double waits_since = 0;
    double first_at = 0;  // the start of the first measured step
    double compute_sum = 0;
    double copied_sum = 0;
    bool done = false;
  };

  std::size_t index_of(std::size_t feed, std::int64_t number) const;
  bool measuring() const { return measuring_from_ >= 0; }

  // Of workers, in workers.cpp.

  // Its next batch or sample, where there is a slot for it.
  void give_work(std::size_t index);
  void become_idle(std::size_t index);
  // Of so many samples together, in parts of the mean.
  double size_of(double samples);
  void start_piece(std::size_t index);
  void piece_done(std::size_t index);

  // Of consumers, in consumers.cpp.

  // Without workers: the consumer makes its own.
  void start_batch_of(std::size_t index);
  void take_batch(std::size_t index);
  void take(std::size_t index);
  void start_copy(std::size_t index);
  void copy_done(std::size_t index);
  void release_slot(std::size_t index);
  // Waits for a core, then for what lies between two steps.
  void start_gap(std::size_t index, double late);
  void ask_for_batch(std::size_t index);
  // How late a thread gets a core that wakes now.
  double late();
  void start_compute(std::size_t index);
  void compute_done(std::size_t index);

  // Time.

  void set_speeds();
  void step();
  void timer_done(std::int64_t who);

  // What is told.

  void begin_measuring() { measuring_from_ = now_; }

  bool recording(std::size_t feed) const;
  void note(std::size_t feed, std::string_view who, const char* what, double from, double to,
            std::int64_t batch);
  Outcome outcome();

  const Pipeline& p_;
  bool shares_samples_;
  std::int64_t slots_;
  std::int64_t pieces_;
  Draws work_;
  Draws compute_;
  Draws sizes_;
  Draws lateness_;  // a place in the growing delays
  std::mt19937_64 stagger_;
  std::mt19937_64 met_;  // is the core busy on which a thread wakes?
  std::vector<Worker> workers_;
  std::vector<Feed> feeds_;
  // By the workers that compute.
  std::vector<double> worker_speed_;
  std::vector<double> beside_worker_;
  std::vector<double> beside_consumer_;

  double now_ = 0;
  WorkClock working_;    // who: the worker
  WorkClock computing_;  // who: the consumer
  Agenda timers_;        // in real time; a worker that reads, or -1 - consumer
  double storage_free_ = 0;
  std::int64_t reading_ = 0;
  std::int64_t events_ = 0;
  std::size_t finished_ = 0;

  double measuring_from_ = -1;
  double active_sum_ = 0;
  double busy_cores_sum_ = 0;  // since the start
  double reading_sum_ = 0;
  double storage_sum_ = 0;
  double total_time_ = 0;
  double compute_sum_ = 0;
  double rate_ = 0;
  std::vector<double> steps_;
  std::vector<TimelineEntry> timeline_;
};

}  // namespace bench::simulator
