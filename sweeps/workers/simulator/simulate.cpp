// The discrete-event simulation: workers make batches, consumers take them, and each waits for the other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/stats/random.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/loader/batch_queue.h"
#include "sweeps/workers/simulator/contention.h"
#include "sweeps/workers/simulator/events.h"
#include "sweeps/workers/simulator/measurement.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {
namespace {

// Values in shuffled order, each once a pass: every pass keeps their mean exactly, so that a heavy tail does
// not bias a short simulation.
class Draws {
 public:
  Draws(std::span<const double> values, std::uint64_t seed)
      : values_(values.begin(), values.end()), engine_(seed) {}

  bool empty() const { return values_.empty(); }

  double next() {
    if (values_.size() == 1) {
      return values_.front();
    }
    const auto left = static_cast<std::uint64_t>(values_.size() - taken_);
    const std::size_t chosen = taken_ + static_cast<std::size_t>(bounded_draw(engine_, left));
    std::swap(values_[taken_], values_[chosen]);
    const double value = values_[taken_];
    taken_ = taken_ + 1 == values_.size() ? 0 : taken_ + 1;
    return value;
  }

 private:
  std::vector<double> values_;
  std::size_t taken_ = 0;
  std::mt19937_64 engine_;
};

class Simulation {
 public:
  explicit Simulation(const Pipeline& pipeline)
      : p_(pipeline),
        shares_samples_(p_.shares_samples()),
        pieces_(p_.pieces()),
        work_(shares_samples_ ? p_.sample_work_ns : p_.batch_work_ns, stream_seed(p_.seed, 1)),
        compute_(p_.compute_ns, stream_seed(p_.seed, 2)),
        sizes_(p_.sample_sizes, stream_seed(p_.seed, 4)),
        stagger_(stream_seed(p_.seed, 3)),
        workers_(static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers) * p_.consumers)),
        consumers_(static_cast<std::size_t>(p_.consumers), ConsumerState(p_)),
        speeds_(p_, workers_.size()),
        delays_(scheduling_delays(p_, static_cast<double>(workers_.size())), stream_seed(p_.seed, 5)),
        meets_busy_core_(stream_seed(p_.seed, 6)),
        storage_(p_.storage.value_or(Storage())),
        measurement_(p_) {}

  Outcome run() {
    for (std::size_t consumer = 0; consumer < consumers_.size(); ++consumer) {
      workers_[index_of(consumer, 0)].consumer = consumer;
      if (p_.workers == 0) {
        begin(consumer);  // its own batch
      }
      for (std::int64_t i = 0; i < p_.workers; ++i) {
        Worker& worker = workers_[index_of(consumer, i)];
        worker.consumer = consumer;
        worker.batch = i - p_.workers;  // the one before its first
        give_work(index_of(consumer, i));
      }
    }
    set_speeds();
    while (!measurement_.complete()) {
      step();
    }
    return measurement_.outcome(now_, workers_.size());
  }

 private:
  // The consumer thread waits for: a batch, a core to take it on, the end of its copy, the end of the
  // step before it, its own start, or a core to ask for a batch on.
  enum class Wants { batch, taken, copied, previous, started, core };

  struct Worker {
    std::size_t consumer = 0;
    std::int64_t batch = 0;
    std::int64_t pieces_left = 0;
    double piece_work = 0;
    double sized_work = 0;  // of the piece at hand, with storage
    double began = 0;
    bool idle = true;
  };

  struct ConsumerState {
    explicit ConsumerState(const Pipeline& pipeline)
        : queue(pipeline.order, pipeline.workers, pipeline.prefetch, pipeline.batch) {}
    loader::BatchQueue queue;
    std::vector<std::size_t> idle;  // workers without a slot; where they share samples
    std::int64_t batch = 0;         // being copied or loaded
    Wants wants = Wants::batch;
    bool computing = false;
    std::int64_t computed_batch = 0;
    double waits_since = 0;
  };

  std::size_t index_of(std::size_t consumer, std::int64_t number) const {
    return consumer * static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers)) +
           static_cast<std::size_t>(number);
  }

  // ---------- workers

  // Its next batch or sample, where there is a slot for it.
  void give_work(std::size_t index) {
    Worker& worker = workers_[index];
    ConsumerState& consumer = consumers_[worker.consumer];
    const auto handed_out = consumer.queue.hand_out(worker.batch);
    worker.idle = !handed_out;
    if (handed_out) {
      worker.batch = handed_out->batch;
      begin(index);
    } else if (shares_samples_) {
      consumer.idle.push_back(index);
    }
  }

  void begin(std::size_t index) {
    Worker& worker = workers_[index];
    worker.began = now_;
    worker.pieces_left = pieces_;
    worker.piece_work = work_.next() / static_cast<double>(pieces_);
    start_piece(index);
  }

  // Mean size of so many samples, in parts of the mean one.
  double size_of(double samples) {
    if (sizes_.empty()) {
      return 1;
    }
    const auto count = std::max<std::int64_t>(1, std::llround(samples));
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      sum += sizes_.next();
    }
    return sum / static_cast<double>(count);
  }

  void start_piece(std::size_t index) {
    if (!p_.storage) {
      working_.add(workers_[index].piece_work, static_cast<std::int64_t>(index));
      return;
    }
    const double samples = shares_samples_ ? 1 : static_cast<double>(p_.batch) / static_cast<double>(pieces_);
    const double size = size_of(samples);
    workers_[index].sized_work = workers_[index].piece_work * size;
    const double bytes = samples * size * p_.sample_bytes_read;
    const double transferred = storage_.reserve(now_, bytes);
    measurement_.transferred(p_.storage->transfer_ns(bytes));
    ++reading_;
    // At the start each is at another place of its read: threads do not keep step for long.
    const double latency = samples * p_.storage->latency_ns * (now_ > 0 ? 1 : unit_draw(stagger_));
    timers_.add(transferred + latency, static_cast<std::int64_t>(index));
  }

  void piece_done(std::size_t index) {
    Worker& worker = workers_[index];
    if (--worker.pieces_left > 0) {
      start_piece(index);
      return;
    }
    ConsumerState& consumer = consumers_[worker.consumer];
    if (p_.workers == 0) {
      consumer.batch = consumer.queue.take_own();
      measurement_.keep(worker.consumer, "consumer", "make", worker.began, now_, consumer.batch);
      start_copy(worker.consumer);
      return;
    }
    if (measurement_.keeps_timeline(worker.consumer)) {
      const std::size_t number = index - index_of(worker.consumer, 0);
      measurement_.keep(worker.consumer, fmt::format("worker {}", number), "make", worker.began, now_,
                        worker.batch);
    }
    consumer.queue.made(worker.batch);
    give_work(index);
    take_batch(worker.consumer);
  }

  // ---------- consumers

  // The consumer has what it `wants` at that time, or has it already.
  void wait_until(double time, std::size_t index, Wants wants) {
    consumers_[index].wants = wants;
    if (time > now_) {
      timers_.add(time, -1 - static_cast<std::int64_t>(index));
    } else {
      waited(index);
    }
  }

  void waited(std::size_t index) {
    switch (consumers_[index].wants) {
      case Wants::taken:
        batch_taken(index);
        break;
      case Wants::copied:
        copy_done(index);
        break;
      case Wants::core:
        ask_for_batch(index);
        break;
      default:
        start_compute(index);
    }
  }

  // How long the consumer thread, ready now, waits for a core. Counted is the part of all cores' time that
  // workers used so far, not their state at this moment: which core a worker is on is not simulated, and
  // steps of one length would meet the same state again and again.
  double late() {
    const double busy = now_ > 0 ? busy_cores_sum_ / now_ / p_.law.cores : 0;
    return delays_.empty() || unit_draw(meets_busy_core_) >= busy ? 0 : delays_.next();
  }

  void ask_for_batch(std::size_t index) {
    consumers_[index].wants = Wants::batch;
    consumers_[index].waits_since = now_;
    take_batch(index);
  }

  void take_batch(std::size_t index) {
    ConsumerState& consumer = consumers_[index];
    if (consumer.wants != Wants::batch) {
      return;
    }
    if (const auto batch = consumer.queue.take()) {
      consumer.batch = *batch;
      // A batch that was there is taken by a thread that runs.
      wait_until(now_ + (p_.take_ns + (now_ > consumer.waits_since ? late() : 0)), index, Wants::taken);
    }
  }

  void batch_taken(std::size_t index) {
    const ConsumerState& consumer = consumers_[index];
    if (now_ > consumer.waits_since) {
      measurement_.keep(index, "consumer", "wait", consumer.waits_since, now_, consumer.batch);
    }
    start_copy(index);
  }

  void start_copy(std::size_t index) { wait_until(now_ + p_.copy_ns, index, Wants::copied); }

  void copy_done(std::size_t index) {
    ConsumerState& consumer = consumers_[index];
    if (p_.copy_ns > 0) {
      measurement_.copied(index, now_, consumer.batch);
    }
    consumer.wants = Wants::previous;
    release_slot(index);
    if (!consumer.computing) {
      wait_until(now_ + p_.gap_ns, index, Wants::started);
    }
  }

  void release_slot(std::size_t index) {
    ConsumerState& consumer = consumers_[index];
    const std::size_t owner = index_of(index, consumer.queue.free_slot());
    if (p_.workers > 0 && !shares_samples_ && workers_[owner].idle) {
      give_work(owner);
    }
    for (std::int64_t samples = p_.batch; samples > 0 && !consumer.idle.empty(); --samples) {
      const std::size_t worker = consumer.idle.back();
      consumer.idle.pop_back();
      give_work(worker);
    }
  }

  void start_compute(std::size_t index) {
    ConsumerState& consumer = consumers_[index];
    measurement_.step_started(index, now_);
    consumer.computing = true;
    consumer.computed_batch = consumer.batch;
    computing_.add(compute_.next(), static_cast<std::int64_t>(index));
    if (p_.lookahead && p_.workers > 0) {
      ask_for_batch(index);
    }
  }

  void compute_done(std::size_t index) {
    ConsumerState& consumer = consumers_[index];
    consumer.computing = false;
    measurement_.step_computed(index, now_, consumer.computed_batch);
    if (consumer.wants == Wants::previous) {
      wait_until(now_ + p_.gap_ns + late(), index, Wants::started);
    } else if (p_.workers == 0) {
      begin(index);  // its own batch
    } else if (!p_.lookahead) {
      wait_until(now_ + late(), index, Wants::core);
    }
  }

  // ---------- time

  void set_speeds() {
    const std::size_t active = working_.jobs();
    working_.set_speed(speeds_.of_worker(active, computing_.jobs() > 0));
    computing_.set_speed(speeds_.of_consumer(active));
  }

  void step() {
    const double timer = timers_.empty() ? kNever : std::max(0.0, timers_.top().at - now_);
    const double compute = computing_.next();
    const double passed = std::min({timer, working_.next(), compute});
    if (passed == kNever) {
      throw std::logic_error("a simulation came to a standstill");
    }
    measurement_.passed(passed, working_.jobs(), reading_);
    busy_cores_sum_ += passed * std::min(static_cast<double>(working_.jobs()), p_.law.cores);
    now_ += passed;
    working_.advance(passed);
    computing_.advance(passed);
    if (compute == passed) {
      compute_done(static_cast<std::size_t>(computing_.take()));
    } else if (timer == passed) {
      now_ = std::max(now_, timers_.top().at);
      timer_done(timers_.take());
    } else {
      piece_done(static_cast<std::size_t>(working_.take()));
    }
    set_speeds();
  }

  void timer_done(std::int64_t who) {
    if (who < 0) {
      waited(static_cast<std::size_t>(-1 - who));
    } else {
      --reading_;
      working_.add(workers_[static_cast<std::size_t>(who)].sized_work, who);
    }
  }

  const Pipeline& p_;
  bool shares_samples_;
  std::int64_t pieces_;
  Draws work_;
  Draws compute_;
  Draws sizes_;
  std::mt19937_64 stagger_;
  std::vector<Worker> workers_;
  std::vector<ConsumerState> consumers_;
  Speeds speeds_;
  Draws delays_;
  std::mt19937_64 meets_busy_core_;
  loader::Reservations storage_;
  Measurement measurement_;

  double now_ = 0;
  SharedWork working_;    // who: the worker
  SharedWork computing_;  // who: the consumer
  Timers timers_;         // in real time; a worker that reads, or -1 - consumer
  std::int64_t reading_ = 0;
  double busy_cores_sum_ = 0;
};

// Refuses what cannot be simulated; see simulate().
void check(const Pipeline& pipeline) {
  const Pipeline& p = pipeline;
  const auto usable = [](const std::vector<double>& values) {
    return !values.empty() &&
           std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value >= 0; });
  };
  const std::vector<double>& work_ns = p.shares_samples() ? p.sample_work_ns : p.batch_work_ns;
  if (p.workers < 0 || p.consumers < 1 || p.prefetch < 1 || p.batch < 1 || p.steps < 1 ||
      p.warm_up_steps < 0) {
    throw std::invalid_argument("a simulation wants at least one consumer, batch, step and slot");
  }
  if (!usable(work_ns) || !usable(p.compute_ns) || !(p.copy_ns >= 0) || !(p.gap_ns >= 0) ||
      !(p.take_ns >= 0) || !(p.law.cores > 0)) {
    throw std::invalid_argument("a simulation wants times that are not negative, of making and of computing");
  }
  for (const SchedulingLatency& latency : p.scheduling_latency) {
    if (!usable(latency.late_ns) || latency.late_ns.size() != p.scheduling_latency.front().late_ns.size()) {
      throw std::invalid_argument("a simulation wants delays that are not negative, as many for each count");
    }
  }
  if (mean(p.compute_ns) + p.copy_ns + p.gap_ns + mean(work_ns) <= 0) {
    throw std::invalid_argument("a simulation in which nothing takes time has no end");
  }
}

}  // namespace

Outcome simulate(const Pipeline& pipeline) {
  check(pipeline);
  return Simulation(pipeline).run();
}

double ready_au(const Pipeline& pipeline) {
  const double compute = mean(pipeline.compute_ns);
  if (compute <= 0) {
    return 1;
  }
  const double step = pipeline.lookahead ? std::max(compute, pipeline.copy_ns) : compute + pipeline.copy_ns;
  return compute / (step + pipeline.gap_ns);
}

}  // namespace bench::simulator
