// Worker threads that make batches ahead of their consumer.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "bench/clock.h"
#include "sweeps/workers/loader/batch_queue.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/sample_maker.h"

namespace bench::loader {

struct PoolSettings {
  int workers = 1;   // 0: batches are made by the thread that asks for them
  int prefetch = 2;  // batches a worker may have made or be making beyond what was taken
  Order order = Order::in_order;
  std::int64_t batch = 1;  // samples
  std::uint64_t seed = 1;  // of the order of images, and of crops and flips
  // Workers run at the lowest priority, so that the consumer thread is scheduled at once. At the same
  // priority it may wait for the end of a worker's time slice, which takes milliseconds.
  bool low_priority = false;
  // Asked while waiting, or making a batch without workers; a true one ends that. In the consumer's thread.
  CancelToken interrupted = never;
};

// Use of threads while they worked on a batch.
struct ThreadUse {
  std::int64_t cpu_ns = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
};

// A worker's stretch of work on a batch. Times here and below are nanoseconds of the pool's clock.
struct WorkSpan {
  int worker = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
};

// The batch lies in its slot until it is given back.
struct Batch {
  std::byte* data = nullptr;  // batch × Transform::sample_bytes()
  std::int64_t number = 0;    // in the order they were begun
  std::size_t slot = 0;
  std::int64_t from_ns = 0;  // when its first sample was begun, and its last done
  std::int64_t to_ns = 0;
  ThreadUse use{};                        // of the threads that made it
  StageTimes stages{};                    // summed over the samples
  std::vector<std::int64_t> images{};     // of each sample: its number in the data set
  std::vector<std::int64_t> sample_ns{};  // wall time of each, in the order they were done
  std::vector<WorkSpan> work_spans{};
};

// Pageable memory for slots: std::vector<CacheLine> begins at a cache line. The collator's 32-byte stores
// would cross lines half the time in a vector of bytes, and take a sixth longer.
struct alignas(64) CacheLine {
  std::array<std::byte, 64> bytes;
};
inline std::vector<CacheLine> cache_lines(std::int64_t bytes) {
  return std::vector<CacheLine>(static_cast<std::size_t>((bytes + 63) / 64));
}

class WorkerPool {
 public:
  // One slot per batch outstanding: slots_for(settings). Starts the workers. Throws std::runtime_error where
  // the system refuses to start so many threads. All of it must outlive the pool.
  WorkerPool(const Dataset& data, const Transform& transform, PoolSettings settings, const Clock& clock,
             std::span<std::byte* const> slots, BadFiles& bad);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();  // joins; a worker leaves the sample it is at

  static std::int64_t slots_for(const PoolSettings& settings);

  // Waits for a batch. Rethrows what a worker failed with, such as no image being left; `interrupted` turning
  // true gives a batch without data.
  Batch next();
  void give_back(const Batch& batch);

  std::int64_t scratch_bytes() const { return scratch_bytes_; }  // host memory of all workers, slots excluded

  // For a sample's crop and flip; sample i of batch b is number b × batch + i.
  static std::uint64_t sample_seed(std::uint64_t seed, std::int64_t number);

 private:
  struct Worker;

  void run(int number);
  bool make_next_piece(Worker& worker);
  Batch begin_batch(std::int64_t number, std::size_t slot) const;
  Batch make(Worker& worker, const Piece& piece, std::byte* to);
  std::int64_t make_sample(Worker& worker, std::int64_t number, std::byte* to, StageTimes& stages);
  std::int64_t image_for(std::int64_t sample) const;
  void fail(std::exception_ptr failure);

  const Dataset& data_;
  const Transform transform_;
  const PoolSettings settings_;
  const Clock& clock_;
  const std::span<std::byte* const> slots_;
  BadFiles& bad_;
  const std::vector<std::size_t> images_;  // shuffled
  std::atomic<std::int64_t> scratch_bytes_ = 0;
  std::atomic<bool> stopping_ = false;  // seen within samples
  std::unique_ptr<Worker> own_;         // of the asking thread, without workers

  std::mutex mutex_;
  // Signals a free slot, or the end. In order there is one for each worker: a free slot is of use to one
  // worker only, and waking the others would take cores from the consumer's thread.
  std::vector<std::condition_variable> room_;
  std::condition_variable ready_;  // the consumer's next batch is done, or all is over
  bool over_ = false;
  std::exception_ptr failure_;
  BatchQueue queue_;
  std::map<std::int64_t, Batch> batches_;  // begun and not taken, by number
  std::vector<std::size_t> free_slots_;
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace bench::loader
