#include "sweeps/workers/simulator/simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

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
  for (const WakeDelay& delay : p.wake) {
    if (!usable(delay.late_ns) || delay.late_ns.size() != p.wake.front().late_ns.size()) {
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
double beside_speed(const std::vector<Beside>& points, double active, double Beside::*speed) {
  Beside before;
  for (const Beside& point : points) {
    if (active <= point.active) {
      const double part =
          point.active > before.active ? (active - before.active) / (point.active - before.active) : 1;
      return before.*speed + part * (point.*speed - before.*speed);
    }
    before = point;
  }
  return before.*speed * (before.active + 1) / (active + 1);
}

// Of the delays, so that every one of them is drawn as often as any other.
std::vector<double> places(const std::vector<WakeDelay>& wake) {
  std::vector<double> all(wake.empty() ? 0 : wake.front().late_ns.size());
  std::iota(all.begin(), all.end(), 0.0);
  return all;
}

}  // namespace

Simulation::Simulation(const Pipeline& pipeline)
    : p_(pipeline),
      shares_samples_(p_.order == Order::any && p_.workers > 0),
      slots_(p_.workers * p_.prefetch),
      pieces_(shares_samples_ || !p_.storage ? 1 : std::min(kPieces, p_.batch)),
      work_(shares_samples_ ? p_.sample_work_ns : p_.batch_work_ns, stream_seed(p_.seed, 1)),
      compute_(p_.compute_ns, stream_seed(p_.seed, 2)),
      sizes_(p_.sample_sizes, stream_seed(p_.seed, 4)),
      lateness_(places(p_.wake), stream_seed(p_.seed, 5)),
      stagger_(stream_seed(p_.seed, 3)),
      met_(stream_seed(p_.seed, 6)),
      workers_(static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers) * p_.consumers)),
      feeds_(static_cast<std::size_t>(p_.consumers)) {
  const auto most = static_cast<std::size_t>(workers_.size());
  for (std::size_t active = 0; active <= most; ++active) {
    const auto count = static_cast<double>(active);
    worker_speed_.push_back(p_.law.speed_of_each(count));
    beside_worker_.push_back(p_.beside.empty() ? 1 : beside_speed(p_.beside, count, &Beside::worker_speed));
    beside_consumer_.push_back(p_.beside.empty() ? 1
                                                 : beside_speed(p_.beside, count, &Beside::consumer_speed));
  }
}

Outcome Simulation::run() {
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

std::size_t Simulation::index_of(std::size_t feed, std::int64_t number) const {
  return feed * static_cast<std::size_t>(std::max<std::int64_t>(1, p_.workers)) +
         static_cast<std::size_t>(number);
}

void Simulation::set_speeds() {
  const std::size_t active = working_.jobs();
  working_.set_speed(worker_speed_[active] * (computing_.jobs() > 0 ? beside_worker_[active] : 1));
  computing_.set_speed(beside_consumer_[active]);
}

void Simulation::step() {
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

void Simulation::timer_done(std::int64_t who) {
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

bool Simulation::recording(std::size_t feed) const {
  return p_.timeline_steps > 0 && feed == 0 && feeds_[0].started <= p_.warm_up_steps + p_.timeline_steps &&
         feeds_[0].started + 1 >= p_.warm_up_steps;
}

void Simulation::note(std::size_t feed, std::string_view who, const char* what, double from, double to,
                      std::int64_t batch) {
  if (recording(feed)) {
    timeline_.push_back({std::string(who), what, from, to, batch});
  }
}

Outcome Simulation::outcome() {
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
