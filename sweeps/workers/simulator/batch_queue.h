// The batches of one consumer, from a worker's first piece of work on them to the slot being free again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

class BatchQueue {
 public:
  explicit BatchQueue(const Pipeline& pipeline)
      : shares_samples_(pipeline.shares_samples()),
        workers_(pipeline.workers),
        slots_(pipeline.workers * pipeline.prefetch),
        samples_(pipeline.batch),
        ready_(static_cast<std::size_t>(std::max<std::int64_t>(1, slots_)), false) {}

  // The batch that a worker works on after `last`: a whole one in order, else one more sample of the newest.
  // nullopt where that needs a slot and none is free.
  std::optional<std::int64_t> hand_out(std::int64_t last) {
    if (!shares_samples_) {
      const std::int64_t batch = last + workers_;
      return batch < freed_ + slots_ ? std::optional(batch) : std::nullopt;
    }
    if (opened_ == 0 || handed_out_ == samples_) {
      if (opened_ - freed_ >= slots_) {
        return std::nullopt;
      }
      open_.emplace_back(opened_++, samples_);
      handed_out_ = 0;
    }
    ++handed_out_;
    return opened_ - 1;
  }

  // A part of the batch that was handed out is made.
  void made(std::int64_t batch) {
    if (!shares_samples_) {
      ready_[static_cast<std::size_t>(batch % slots_)] = true;
      return;
    }
    const auto open = std::ranges::find(open_, batch, &std::pair<std::int64_t, std::int64_t>::first);
    if (--open->second == 0) {
      finished_.push_back(open->first);
      open_.erase(open);
    }
  }

  // The consumer's next; nullopt where it is not there yet.
  std::optional<std::int64_t> take() {
    if (shares_samples_) {
      if (finished_.empty()) {
        return std::nullopt;
      }
      const std::int64_t batch = finished_.front();
      finished_.pop_front();
      return batch;
    }
    const auto slot = static_cast<std::size_t>(next_ % slots_);
    if (!ready_[slot]) {
      return std::nullopt;
    }
    ready_[slot] = false;
    return next_++;
  }
  // The next one, which the consumer's own thread has made.
  std::int64_t take_own() { return next_++; }

  // The slot of the batch that was taken first of those not yet freed. Returns the worker it belongs to in
  // order.
  std::int64_t free_slot() {
    ++freed_;
    return workers_ == 0 ? 0 : (freed_ - 1 + slots_) % workers_;
  }

 private:
  bool shares_samples_;
  std::int64_t workers_;
  std::int64_t slots_;
  std::int64_t samples_;  // of a batch
  std::int64_t freed_ = 0;
  // In order.
  std::vector<bool> ready_;  // by batch modulo slots
  std::int64_t next_ = 0;    // for the consumer
  // Shared samples.
  std::vector<std::pair<std::int64_t, std::int64_t>> open_;  // batch and samples not made; `slots` at most
  std::deque<std::int64_t> finished_;                        // in the order of their completion
  std::int64_t opened_ = 0;                                  // batches that samples were handed out of
  std::int64_t handed_out_ = 0;                              // samples of the newest one
};

}  // namespace bench::simulator
