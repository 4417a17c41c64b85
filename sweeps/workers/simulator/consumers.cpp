#include "sweeps/workers/simulator/simulation.h"

#include <algorithm>
#include <cmath>

#include "bench/measure/random.h"

namespace bench::simulator {

void Simulation::start_batch_of(std::size_t index) {
  Worker& worker = workers_[index];
  worker.feed = index;
  worker.began = now_;
  worker.pieces_left = pieces_;
  worker.piece_work = work_.next() / static_cast<double>(pieces_);
  start_piece(index);
}

void Simulation::take_batch(std::size_t index) {
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

void Simulation::take(std::size_t index) {
  const Feed& feed = feeds_[index];
  if (now_ > feed.waits_since) {
    note(index, "consumer", "wait", feed.waits_since, now_, feed.batch);
  }
  start_copy(index);
}

void Simulation::start_copy(std::size_t index) {
  Feed& feed = feeds_[index];
  feed.wants = Wants::copied;
  if (p_.copy_ns > 0) {
    timers_.add(now_ + p_.copy_ns, -1 - static_cast<std::int64_t>(index));
  } else {
    copy_done(index);
  }
}

void Simulation::copy_done(std::size_t index) {
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

void Simulation::release_slot(std::size_t index) {
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

void Simulation::start_gap(std::size_t index, double late) {
  feeds_[index].wants = Wants::started;
  if (p_.gap_ns + late > 0) {
    timers_.add(now_ + p_.gap_ns + late, -1 - static_cast<std::int64_t>(index));
  } else {
    start_compute(index);
  }
}

void Simulation::start_compute(std::size_t index) {
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

void Simulation::ask_for_batch(std::size_t index) {
  feeds_[index].wants = Wants::batch;
  feeds_[index].waits_since = now_;
  take_batch(index);
}

double Simulation::late() {
  if (p_.wake.empty() || !p_.beside.empty()) {
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
  const WakeDelay* before = &p_.wake.front();
  for (const WakeDelay& next : p_.wake) {
    if (workers <= next.workers) {
      const double gap = next.workers - before->workers;
      const double part = gap > 0 ? std::clamp((workers - before->workers) / gap, 0.0, 1.0) : 1;
      return std::lerp(before->late_ns[place], next.late_ns[place], part);
    }
    before = &next;
  }
  return before->late_ns[place];
}

void Simulation::compute_done(std::size_t index) {
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

}  // namespace bench::simulator
