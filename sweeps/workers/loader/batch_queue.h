// Which worker makes what, and which batch the consumer gets next: the pool works by these rules, and the
// simulator follows the same in simulated time. Knows no threads and no clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace bench::loader {

// How workers share the batches, and in which order the consumer gets them.
enum class Order {
  in_order,  // worker k mod W makes batch k whole; batches are delivered by number, so a slow one holds back
             // all after it
  any,  // all workers share the samples of the oldest unfinished batch; the first done is delivered first
};

constexpr const char* name_of(Order order) {
  return order == Order::in_order ? "in-order" : "any";
}

// A worker's unit of work: `count` samples of a batch, from its sample `first` on.
struct Piece {
  std::int64_t batch = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// The batches of one consumer, from a worker's first piece of them to their slots being free again. A slot is
// the memory of a batch; each worker has `prefetch` of them.
class BatchQueue {
 public:
  BatchQueue(Order order, std::int64_t workers, std::int64_t prefetch, std::int64_t samples_of_batch)
      : shares_samples_(order == Order::any && workers > 0),
        workers_(workers),
        slots_(workers * prefetch),
        samples_(samples_of_batch) {}

  // The worker's next piece after that of batch `last`, at first its number less the workers: the next whole
  // batch that is its own, in order, else one more sample of the newest. nullopt where that needs a slot and
  // none is free.
  std::optional<Piece> hand_out(std::int64_t last) {
    if (!shares_samples_) {
      const Piece whole{.batch = last + workers_, .first = 0, .count = samples_};
      return whole.batch < freed_ + slots_ ? std::optional(whole) : std::nullopt;
    }
    if (opened_ == 0 || handed_out_ == samples_) {
      if (opened_ - freed_ >= slots_) {
        return std::nullopt;
      }
      open_.emplace_back(opened_++, samples_);
      handed_out_ = 0;
    }
    return Piece{.batch = opened_ - 1, .first = handed_out_++, .count = 1};
  }

  // A piece of the batch is made. True where the consumer's next batch is there since.
  bool made(std::int64_t batch) {
    if (shares_samples_) {
      const auto open = std::ranges::find(open_, batch, &std::pair<std::int64_t, std::int64_t>::first);
      if (--open->second > 0) {
        return false;
      }
      open_.erase(open);
    }
    done_.push_back(batch);
    return shares_samples_ || batch == next_;
  }

  // The consumer's next; nullopt where it is not there yet.
  std::optional<std::int64_t> take() {
    const auto found = shares_samples_ ? done_.begin() : std::ranges::find(done_, next_);
    if (found == done_.end()) {
      return std::nullopt;
    }
    const std::int64_t batch = *found;
    done_.erase(found);
    ++next_;
    return batch;
  }
  // The next one, which the consumer's own thread makes: without workers.
  std::int64_t take_own() { return next_++; }

  // The slot of the batch that was taken first of those not yet freed. Returns the worker it belongs to in
  // order.
  std::int64_t free_slot() {
    const std::int64_t batch = freed_++;
    return workers_ == 0 ? 0 : batch % workers_;
  }

 private:
  bool shares_samples_;
  std::int64_t workers_;
  std::int64_t slots_;
  std::int64_t samples_;           // of a batch
  std::int64_t next_ = 0;          // batches taken; in order, the number of the next
  std::int64_t freed_ = 0;         // batches
  std::deque<std::int64_t> done_;  // and not taken, in the order of their completion
  // Where samples are shared.
  std::vector<std::pair<std::int64_t, std::int64_t>> open_;  // batch and samples not made; `slots` at most
  std::int64_t opened_ = 0;                                  // batches that samples were handed out of
  std::int64_t handed_out_ = 0;                              // samples of the newest one
};

}  // namespace bench::loader
