// The discrete-event simulation: workers make batches, consumers take them, and each waits for the other.
#include "sweeps/workers/simulator/pipeline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/random.h"
#include "sweeps/workers/simulator/draws.h"
#include "sweeps/workers/simulator/events.h"

namespace bench::simulator {
namespace {

// A batch that a worker makes alone reads its samples one after the other, between which it computes. Of
// larger batches, some samples go together.
constexpr std::int64_t kPieces = 64;

void check(const Pipeline& p) {
  const auto usable = [](const std::vector<double>& values) {
    return !values.empty() &&
           std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value >= 0; });
  };
  const bool shares_samples = p.order == Order::any && p.workers > 0;
  if (p.workers < 0 || p.consumers < 1 || p.prefetch < 1 || p.batch < 1 || p.steps < 1 ||
      p.warm_up_steps < 0) {
    throw std::invalid_argument("a simulation wants at least one consumer, batch, step and slot");
  }
  if (!usable(shares_samples ? p.sample_work_ns : p.batch_work_ns) || !usable(p.compute_ns) ||
      !(p.copy_ns >= 0) || !(p.gap_ns >= 0) || !(p.take_ns >= 0) || !(p.law.cores > 0)) {
    throw std::invalid_argument("a simulation wants times that are not negative, of making and of computing");
  }
  for (const SchedulingLatency& delay : p.scheduling_latency) {
    if (!usable(delay.late_ns) || delay.late_ns.size() != p.scheduling_latency.front().late_ns.size()) {
      throw std::invalid_argument("a simulation wants delays that are not negative, as many for each count");
    }
  }
  if (mean_of(p.compute_ns) + p.copy_ns + p.gap_ns +
          mean_of(shares_samples ? p.sample_work_ns : p.batch_work_ns) <=
      0) {
    throw std::invalid_argument("a simulation in which nothing takes time has no end");
  }
}

// Linear between the points, from 1 with no active worker; beyond the last the cores are shared among more.
double shared_speed(const std::vector<SharedCores>& points, double active, double SharedCores::*speed) {
  SharedCores before;
  for (const SharedCores& point : points) {
    if (active <= point.active) {
      const double part =
          point.active > before.active ? (active - before.active) / (point.active - before.active) : 1;
      return before.*speed + part * (point.*speed - before.*speed);
    }
    before = point;
  }
  return before.*speed * (before.active + 1) / (active + 1);
}

// Indices of the sorted delays, each drawn as often as any other.
std::vector<double> places(const std::vector<SchedulingLatency>& latencies) {
  std::vector<double> all(latencies.empty() ? 0 : latencies.front().late_ns.size());
  std::iota(all.begin(), all.end(), 0.0);
  return all;
}

class Simulation {
 public:
  explicit Simulation(const Pipeline& pipeline)
      : p_(pipeline),
        shares_samples_(p_.order == Order::any && p_.workers > 0),
        slots_(p_.workers * p_.prefetch),
        pieces_(shares_samples_ || !p_.storage ? 1 : std::min(kPieces, p_.batch)),
        work_(shares_samples_ ? p_.sample_work_ns : p_.batch_work_ns, stream_seed(p_.seed, 1)),
        compute_(p_.compute_ns, stream_seed(p_.seed, 2)),
        sizes_(p_.sample_sizes, stream_seed(p_.seed, 4)),
        lateness_(places(p_.scheduling_latency), stream_seed(p_.seed, 5)),
        stagger_(stream_seed(p_.seed, 3)),
        met_(stream_seed(p_.seed, 6)),
        workers_(static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers) * p_.consumers)),
        feeds_(static_cast<std::size_t>(p_.consumers)) {
    const auto most = static_cast<std::size_t>(workers_.size());
    for (std::size_t active = 0; active <= most; ++active) {
      const auto count = static_cast<double>(active);
      worker_speed_.push_back(p_.law.speed_of_each(count));
      shared_worker_speed_.push_back(
          p_.shared_cores.empty() ? 1 : shared_speed(p_.shared_cores, count, &SharedCores::worker_speed));
      shared_consumer_speed_.push_back(
          p_.shared_cores.empty() ? 1 : shared_speed(p_.shared_cores, count, &SharedCores::consumer_speed));
    }
  }

  Outcome run() {
    steps_.reserve(static_cast<std::size_t>(p_.steps * p_.consumers));
    for (std::size_t feed = 0; feed < feeds_.size(); ++feed) {
      feeds_[feed].ready.assign(static_cast<std::size_t>(std::max<std::int64_t>(1, slots_)), false);
      if (p_.workers == 0) {
        start_batch_of(feed);
        continue;
      }
      for (std::int64_t i = 0; i < p_.workers; ++i) {
        Worker& worker = workers_[index_of(feed, i)];
        worker.feed = feed;
        worker.batch = i - p_.workers;  // the one before its first
        worker.number = i;
        give_work(index_of(feed, i));
      }
    }
    set_speeds();
    while (finished_ < feeds_.size()) {
      step();
    }
    return outcome();
  }

 private:
  // What the consumer thread waits for: a batch, a core to take it on, the end of its copy, the end of the
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

  std::size_t index_of(std::size_t feed, std::int64_t number) const {
    return feed * static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers)) +
           static_cast<std::size_t>(number);
  }

  bool measuring() const { return measuring_from_ >= 0; }

  // ---------- workers

  // Its next batch or sample, where there is a slot for it.
  void give_work(std::size_t index) {
    Worker& worker = workers_[index];
    Feed& feed = feeds_[worker.feed];
    if (shares_samples_) {
      if (feed.opened == 0 || feed.handed_out == p_.batch) {
        if (feed.opened - feed.copied >= slots_) {
          become_idle(index);
          return;
        }
        feed.open.emplace_back(feed.opened++, p_.batch);
        feed.handed_out = 0;
      }
      ++feed.handed_out;
      worker.batch = feed.opened - 1;
    } else {
      const std::int64_t next = worker.batch + p_.workers;
      if (next >= feed.copied + slots_) {
        become_idle(index);
        return;
      }
      worker.batch = next;
    }
    worker.idle = false;
    worker.began = now_;
    worker.pieces_left = pieces_;
    worker.piece_work = work_.next() / static_cast<double>(pieces_);
    start_piece(index);
  }

  void become_idle(std::size_t index) {
    workers_[index].idle = true;
    if (shares_samples_) {
      feeds_[workers_[index].feed].idle.push_back(index);
    }
  }

  // Mean size of so many samples, in parts of the mean one.
  double size_of(double samples) {
    if (p_.sample_sizes.empty()) {
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
    const double transfer = p_.storage->bytes_per_s > 0
                                ? samples * size * p_.sample_bytes_read / p_.storage->bytes_per_s * 1e9
                                : 0;
    storage_free_ = std::max(now_, storage_free_) + transfer;
    storage_sum_ += measuring() ? transfer : 0;
    ++reading_;
    // At the start each is at another place of its read: threads do not keep step for long.
    const double latency = samples * p_.storage->latency_ns * (now_ > 0 ? 1 : unit_draw(stagger_));
    timers_.add(storage_free_ + latency, static_cast<std::int64_t>(index));
  }

  void piece_done(std::size_t index) {
    Worker& worker = workers_[index];
    if (--worker.pieces_left > 0) {
      start_piece(index);
      return;
    }
    Feed& feed = feeds_[worker.feed];
    if (p_.workers == 0) {
      note(worker.feed, "consumer", "make", worker.began, now_, feed.next);
      feed.batch = feed.next++;
      start_copy(worker.feed);
      return;
    }
    if (recording(worker.feed)) {
      note(worker.feed, fmt::format("worker {}", worker.number), "make", worker.began, now_, worker.batch);
    }
    if (shares_samples_) {
      const auto open =
          std::ranges::find(feed.open, worker.batch, &std::pair<std::int64_t, std::int64_t>::first);
      if (--open->second == 0) {
        feed.finished.push_back(open->first);
        feed.open.erase(open);
      }
    } else {
      feed.ready[static_cast<std::size_t>(worker.batch % slots_)] = true;
    }
    const std::size_t fed = worker.feed;
    give_work(index);
    take_batch(fed);
  }

  // ---------- consumers

  // Without workers: the consumer makes its own.
  void start_batch_of(std::size_t index) {
    Worker& worker = workers_[index];
    worker.feed = index;
    worker.began = now_;
    worker.pieces_left = pieces_;
    worker.piece_work = work_.next() / static_cast<double>(pieces_);
    start_piece(index);
  }

  void take_batch(std::size_t index) {
    Feed& feed = feeds_[index];
    if (feed.wants != Wants::batch) {
      return;
    }
    if (shares_samples_) {
      if (feed.delivered_at == feed.finished.size()) {
        return;
      }
      feed.batch = feed.finished[feed.delivered_at++];
      if (feed.delivered_at == 1024) {
        feed.finished.erase(feed.finished.begin(), feed.finished.begin() + 1024);
        feed.delivered_at = 0;
      }
    } else {
      const auto slot = static_cast<std::size_t>(feed.next % slots_);
      if (!feed.ready[slot]) {
        return;
      }
      feed.ready[slot] = false;
      feed.batch = feed.next++;
    }
    // A batch that was there is taken by a thread that runs.
    const double waits = p_.take_ns + (now_ > feed.waits_since ? late() : 0);
    if (waits > 0) {
      feed.wants = Wants::taken;
      timers_.add(now_ + waits, -1 - static_cast<std::int64_t>(index));
    } else {
      take(index);
    }
  }

  void take(std::size_t index) {
    const Feed& feed = feeds_[index];
    if (now_ > feed.waits_since) {
      note(index, "consumer", "wait", feed.waits_since, now_, feed.batch);
    }
    start_copy(index);
  }

  void start_copy(std::size_t index) {
    Feed& feed = feeds_[index];
    feed.wants = Wants::copied;
    if (p_.copy_ns > 0) {
      timers_.add(now_ + p_.copy_ns, -1 - static_cast<std::int64_t>(index));
    } else {
      copy_done(index);
    }
  }

  void copy_done(std::size_t index) {
    Feed& feed = feeds_[index];
    if (p_.copy_ns > 0) {
      feed.copied_sum += measuring() ? p_.copy_ns : 0;
      note(index, "consumer", "copy", now_ - p_.copy_ns, now_, feed.batch);
    }
    feed.wants = Wants::previous;
    ++feed.copied;
    release_slot(index);
    if (!feed.computing) {
      start_gap(index, 0);
    }
  }

  void release_slot(std::size_t index) {
    Feed& feed = feeds_[index];
    if (p_.workers == 0) {
      return;
    }
    if (!shares_samples_) {
      const std::size_t worker = index_of(index, (feed.copied - 1 + slots_) % p_.workers);
      if (workers_[worker].idle) {
        give_work(worker);
      }
      return;
    }
    for (std::int64_t samples = p_.batch; samples > 0 && !feed.idle.empty(); --samples) {
      const std::size_t worker = feed.idle.back();
      feed.idle.pop_back();
      give_work(worker);
    }
  }

  // Waits for a core, then for what lies between two steps.
  void start_gap(std::size_t index, double late) {
    feeds_[index].wants = Wants::started;
    if (p_.gap_ns + late > 0) {
      timers_.add(now_ + p_.gap_ns + late, -1 - static_cast<std::int64_t>(index));
    } else {
      start_compute(index);
    }
  }

  void ask_for_batch(std::size_t index) {
    feeds_[index].wants = Wants::batch;
    feeds_[index].waits_since = now_;
    take_batch(index);
  }

  // How late a thread that wakes now is scheduled.
  double late() {
    if (p_.scheduling_latency.empty() || !p_.shared_cores.empty()) {
      return 0;
    }
    // The part of the time and not the moment: which core a worker is on at this moment is not simulated, and
    // steps of one length would meet the same moment again and again.
    const double busy = now_ > 0 ? busy_cores_sum_ / now_ / p_.law.cores : 0;
    if (unit_draw(met_) >= busy) {
      return 0;
    }
    const auto place = static_cast<std::size_t>(lateness_.next());
    const auto workers = static_cast<double>(workers_.size());
    const SchedulingLatency* before = &p_.scheduling_latency.front();
    for (const SchedulingLatency& next : p_.scheduling_latency) {
      if (workers <= next.workers) {
        const double gap = next.workers - before->workers;
        const double part = gap > 0 ? std::clamp((workers - before->workers) / gap, 0.0, 1.0) : 1;
        return std::lerp(before->late_ns[place], next.late_ns[place], part);
      }
      before = &next;
    }
    return before->late_ns[place];
  }

  void start_compute(std::size_t index) {
    Feed& feed = feeds_[index];
    const std::int64_t measured = feed.started - p_.warm_up_steps;
    if (measured == 0) {
      feed.first_at = now_;
      if (index == 0) {
        begin_measuring();
      }
    } else if (measured > 0 && measured <= p_.steps) {
      steps_.push_back(now_ - feed.started_at);
      if (measured == p_.steps) {
        total_time_ += now_ - feed.first_at;
        compute_sum_ += feed.compute_sum;
        rate_ += static_cast<double>(p_.steps * p_.batch) / std::max(1e-9, now_ - feed.first_at) * 1e9;
        feed.done = true;
        ++finished_;
      }
    }
    ++feed.started;
    feed.started_at = now_;
    feed.computing = true;
    feed.computed_batch = feed.batch;
    computing_.add(compute_.next(), static_cast<std::int64_t>(index));
    if (p_.lookahead && p_.workers > 0) {
      ask_for_batch(index);
    }
  }

  void compute_done(std::size_t index) {
    Feed& feed = feeds_[index];
    feed.computing = false;
    if (feed.started > p_.warm_up_steps && !feed.done) {
      feed.compute_sum += now_ - feed.started_at;
    }
    note(index, "consumer", "compute", feed.started_at, now_, feed.computed_batch);
    if (feed.wants == Wants::previous) {
      start_gap(index, late());
    } else if (p_.workers == 0) {
      start_batch_of(index);
    } else if (!p_.lookahead) {
      const double waits = late();
      if (waits > 0) {
        feed.wants = Wants::awake;
        timers_.add(now_ + waits, -1 - static_cast<std::int64_t>(index));
      } else {
        ask_for_batch(index);
      }
    }
  }

  // ---------- time

  void set_speeds() {
    const std::size_t active = working_.jobs();
    working_.set_speed(worker_speed_[active] * (computing_.jobs() > 0 ? shared_worker_speed_[active] : 1));
    computing_.set_speed(shared_consumer_speed_[active]);
  }

  void step() {
    const double timer = timers_.empty() ? kNever : std::max(0.0, timers_.top().at - now_);
    const double work = working_.next();
    const double compute = computing_.next();
    const double passed = std::min({timer, work, compute});
    if (passed == kNever) {
      throw std::logic_error("a simulation came to a standstill");
    }
    if (measuring()) {
      active_sum_ += passed * static_cast<double>(working_.jobs());
      reading_sum_ += passed * static_cast<double>(reading_);
    }
    busy_cores_sum_ += passed * std::min(static_cast<double>(working_.jobs()), p_.law.cores);
    now_ += passed;
    working_.advance(passed);
    computing_.advance(passed);
    ++events_;
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
    if (who >= 0) {
      --reading_;
      working_.add(workers_[static_cast<std::size_t>(who)].sized_work, who);
      return;
    }
    const auto index = static_cast<std::size_t>(-1 - who);
    switch (feeds_[index].wants) {
      case Wants::taken:
        take(index);
        break;
      case Wants::copied:
        copy_done(index);
        break;
      case Wants::awake:
        ask_for_batch(index);
        break;
      default:
        start_compute(index);
    }
  }

  // ---------- the outcome

  void begin_measuring() { measuring_from_ = now_; }

  bool recording(std::size_t feed) const {
    return p_.timeline_steps > 0 && feed == 0 && feeds_[0].started <= p_.warm_up_steps + p_.timeline_steps &&
           feeds_[0].started + 1 >= p_.warm_up_steps;
  }

  void note(std::size_t feed, std::string_view who, const char* what, double from, double to,
            std::int64_t batch) {
    if (recording(feed)) {
      timeline_.push_back({std::string(who), what, from, to, batch});
    }
  }

  Outcome outcome() {
    Outcome outcome;
    const double time = std::max(1e-9, now_ - measuring_from_);
    outcome.images_per_s = rate_;
    outcome.au = compute_sum_ / std::max(1e-9, total_time_);
    outcome.compute_ns = compute_sum_ / static_cast<double>(steps_.size());
    outcome.step_ns = std::move(steps_);
    const auto workers = static_cast<double>(workers_.size());
    outcome.computing_workers = active_sum_ / time;
    outcome.worker_busy = active_sum_ / time / workers;
    outcome.worker_reading = reading_sum_ / time / workers;
    outcome.worker_blocked = std::max(0.0, 1 - outcome.worker_busy - outcome.worker_reading);
    outcome.storage_busy = std::min(1.0, storage_sum_ / time);
    for (const Feed& feed : feeds_) {
      outcome.copying += feed.copied_sum / time / static_cast<double>(feeds_.size());
    }
    outcome.events = events_;
    for (TimelineEntry& entry : timeline_) {
      if (entry.to_ns > measuring_from_) {
        entry.from_ns = std::max(0.0, entry.from_ns - measuring_from_);
        entry.to_ns -= measuring_from_;
        outcome.timeline.push_back(std::move(entry));
      }
    }
    return outcome;
  }

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
  std::vector<double> shared_worker_speed_;
  std::vector<double> shared_consumer_speed_;

  double now_ = 0;
  SharedWork working_;    // who: the worker
  SharedWork computing_;  // who: the consumer
  Timers timers_;         // in real time; a worker that reads, or -1 - consumer
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

}  // namespace

Outcome simulate(const Pipeline& pipeline) {
  check(pipeline);
  return Simulation(pipeline).run();
}

double ready_au(const Pipeline& pipeline) {
  const double compute = mean_of(pipeline.compute_ns);
  if (compute <= 0) {
    return 1;
  }
  const double step = pipeline.lookahead ? std::max(compute, pipeline.copy_ns) : compute + pipeline.copy_ns;
  return compute / (step + pipeline.gap_ns);
}

}  // namespace bench::simulator
