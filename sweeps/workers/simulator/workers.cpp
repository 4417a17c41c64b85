#include "sweeps/workers/simulator/simulation.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include "bench/measure/random.h"

namespace bench::simulator {

void Simulation::give_work(std::size_t index) {
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

void Simulation::become_idle(std::size_t index) {
  workers_[index].idle = true;
  if (shares_samples_) {
    feeds_[workers_[index].feed].idle.push_back(index);
  }
}

double Simulation::size_of(double samples) {
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

void Simulation::start_piece(std::size_t index) {
  if (!p_.storage) {
    working_.add(workers_[index].piece_work, static_cast<std::int64_t>(index));
    return;
  }
  const double samples = shares_samples_ ? 1 : static_cast<double>(p_.batch) / static_cast<double>(pieces_);
  const double size = size_of(samples);
  workers_[index].sized_work = workers_[index].piece_work * size;
  const double transfer =
      p_.storage->bytes_per_s > 0 ? samples * size * p_.sample_bytes_read / p_.storage->bytes_per_s * 1e9 : 0;
  storage_free_ = std::max(now_, storage_free_) + transfer;
  storage_sum_ += measuring() ? transfer : 0;
  ++reading_;
  // At the start each is at another place of its read: threads do not keep step for long.
  const double latency = samples * p_.storage->latency_ns * (now_ > 0 ? 1 : unit_draw(stagger_));
  timers_.add(storage_free_ + latency, static_cast<std::int64_t>(index));
}

void Simulation::piece_done(std::size_t index) {
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

}  // namespace bench::simulator
