#include "sweeps/workers/loader/pool.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/random.h"

namespace bench::loader {
namespace {

// How often a waiting consumer asks whether it was interrupted.
constexpr auto kAskEvery = std::chrono::milliseconds(50);

// Changes the calling thread alone. The system never refuses a lower priority.
void lower_own_priority() {
  constexpr int kLowest = 19;  // as nice(1) counts
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowest);
}

}  // namespace

struct WorkerPool::Worker {
  Worker(int worker_number, const Transform& transform, CancelToken token, const Clock& clock)
      : number(worker_number), cancelled(std::move(token)), maker(transform, clock, cancelled) {}
  int number;
  CancelToken cancelled;
  SampleMaker maker;
  std::vector<std::byte> encoded;
  std::int64_t noted_bytes = 0;
};

struct WorkerPool::Open {
  Batch batch;
  std::int64_t begun = 0;  // samples
  std::int64_t done = 0;
};

std::int64_t WorkerPool::slots_for(const PoolSettings& settings) {
  return std::max<std::int64_t>(1, std::int64_t{settings.workers} * settings.prefetch);
}

WorkerPool::WorkerPool(const Dataset& data, const Transform& transform, PoolSettings settings,
                       const Clock& clock, std::span<std::byte* const> slots, BadFiles& bad)
    : data_(data),
      transform_(transform),
      settings_(std::move(settings)),
      clock_(clock),
      slots_(slots),
      bad_(bad),
      order_(data.size(), settings_.seed),
      room_(settings_.order == Order::in_order ? static_cast<std::size_t>(std::max(1, settings_.workers))
                                               : 1),
      free_(slots.size()) {
  if (std::ssize(slots) != slots_for(settings_)) {
    throw std::logic_error(fmt::format("a pool of {} workers needs {} slots, not {}", settings_.workers,
                                       slots_for(settings_), slots.size()));
  }
  std::iota(free_.rbegin(), free_.rend(), std::size_t{0});
  if (settings_.workers == 0) {
    own_ = std::make_unique<Worker>(0, transform_, settings_.interrupted, clock_);
  }
  // All workers begin together: the first ones would leave no core to the thread that starts the others.
  std::unique_lock begin(mutex_);
  try {
    for (int i = 0; i < settings_.workers; ++i) {
      threads_.emplace_back([this, i] { run(i); });
    }
  } catch (const std::system_error& error) {
    begin.unlock();
    const std::size_t started = threads_.size();
    fail(nullptr);
    for (std::thread& thread : threads_) {
      thread.join();
    }
    throw std::runtime_error(
        fmt::format("the system started {} of {} worker threads and refused the next: {}", started,
                    settings_.workers, error.what()));
  }
}

WorkerPool::~WorkerPool() {
  fail(nullptr);
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void WorkerPool::fail(std::exception_ptr failure) {
  const std::scoped_lock lock(mutex_);
  over_ = true;
  stopping_ = true;
  if (!failure_) {
    failure_ = std::move(failure);
  }
  for (std::condition_variable& room : room_) {
    room.notify_all();
  }
  ready_.notify_all();
}

void WorkerPool::run(int number) {
  if (settings_.low_priority) {
    lower_own_priority();
  }
  { const std::scoped_lock begin(mutex_); }
  try {
    Worker worker(
        number, transform_, [this] { return stopping_.load(); }, clock_);
    if (settings_.order == Order::in_order) {
      make_in_order(worker);
    } else {
      make_any(worker);
    }
  } catch (const Cancelled&) {
    // The pool is being destroyed.
  } catch (...) {
    fail(std::current_exception());
  }
}

std::int64_t WorkerPool::make_sample(Worker& worker, std::int64_t number, std::byte* to, Batch& batch) {
  const std::int64_t start = clock_.now_ns();
  std::int64_t image = order_.image_for(number);
  for (std::int64_t tried = 0;; ++tried) {
    if (worker.cancelled()) {
      throw Cancelled();
    }
    if (tried == data_.size()) {
      const auto [first, reason] = *bad_.all().begin();
      throw UsageError(fmt::format("--data: none of the {} images can be used; the first, {}: {}",
                                   data_.size(), printable(data_.name(first)), reason));
    }
    if (!bad_.contains(image)) {
      try {
        const std::int64_t read_from = clock_.now_ns();
        data_.read(image, worker.encoded);
        batch.stages.read += static_cast<double>(clock_.now_ns() - read_from);
        batch.stages += worker.maker.make(worker.encoded, sample_seed(settings_.seed, number), to);
        break;
      } catch (const BadImage& error) {
        bad_.add(image, error.what());
      }
    }
    image = (image + 1) % data_.size();
  }
  const std::int64_t end = clock_.now_ns();
  batch.sample_ns.push_back(end - start);
  if (!batch.work_spans.empty() && batch.work_spans.back().worker == worker.number) {
    batch.work_spans.back().to_ns = end;
  } else {
    batch.work_spans.push_back({.worker = worker.number, .from_ns = start, .to_ns = end});
  }
  return image;
}

std::uint64_t WorkerPool::sample_seed(std::uint64_t seed, std::int64_t number) {
  return stream_seed(seed, static_cast<std::uint64_t>(number));
}

void WorkerPool::note_scratch(Worker& worker) {
  const std::int64_t bytes =
      worker.maker.scratch_bytes() + static_cast<std::int64_t>(worker.encoded.capacity());
  scratch_bytes_ += bytes - std::exchange(worker.noted_bytes, bytes);
}

Batch WorkerPool::make_whole(Worker& worker, std::int64_t number) {
  Batch batch;
  batch.number = number;
  batch.slot = static_cast<std::size_t>(number) % slots_.size();
  batch.data = slots_[batch.slot];
  const ThreadUse before = ThreadUse::so_far();
  batch.from_ns = clock_.now_ns();
  for (std::int64_t i = 0; i < settings_.batch; ++i) {
    batch.images.push_back(
        make_sample(worker, number * settings_.batch + i, batch.data + i * transform_.sample_bytes(), batch));
  }
  batch.to_ns = clock_.now_ns();
  batch.use = ThreadUse::so_far().since(before);
  note_scratch(worker);
  return batch;
}

void WorkerPool::make_in_order(Worker& worker) {
  const auto slots = static_cast<std::int64_t>(slots_.size());
  for (std::int64_t number = worker.number;; number += settings_.workers) {
    {
      std::unique_lock lock(mutex_);
      room_[static_cast<std::size_t>(worker.number)].wait(
          lock, [&] { return over_ || number < given_back_ + slots; });
      if (over_) {
        return;
      }
    }
    Batch batch = make_whole(worker, number);
    const std::scoped_lock lock(mutex_);
    done_.emplace(number, std::move(batch));
    if (number == taken_) {
      ready_.notify_one();
    }
  }
}

void WorkerPool::make_any(Worker& worker) {
  for (;;) {
    std::shared_ptr<Open> open;
    std::int64_t sample = 0;
    {
      std::unique_lock lock(mutex_);
      const auto unfinished = [&] { return !open_.empty() && open_.back()->begun < settings_.batch; };
      room_.front().wait(lock, [&] { return over_ || unfinished() || !free_.empty(); });
      if (over_) {
        return;
      }
      if (!unfinished()) {
        open_.push_back(std::make_shared<Open>());
        Batch& batch = open_.back()->batch;
        batch.slot = free_.back();
        free_.pop_back();
        batch.data = slots_[batch.slot];
        batch.number = begun_++;
        batch.images.resize(static_cast<std::size_t>(settings_.batch));
        batch.from_ns = clock_.now_ns();
        room_.front().notify_all();  // the others may join in
      }
      open = open_.back();
      sample = open->begun++;
    }
    Batch part;  // of the batch: this sample
    const ThreadUse before = ThreadUse::so_far();
    const std::int64_t image = make_sample(worker, open->batch.number * settings_.batch + sample,
                                           open->batch.data + sample * transform_.sample_bytes(), part);
    const ThreadUse used = ThreadUse::so_far().since(before);
    note_scratch(worker);

    const std::scoped_lock lock(mutex_);
    Batch& batch = open->batch;
    batch.use += used;
    batch.stages += part.stages;
    batch.images.at(static_cast<std::size_t>(sample)) = image;
    batch.sample_ns.push_back(part.sample_ns.front());
    batch.work_spans.push_back(part.work_spans.front());
    if (++open->done == settings_.batch) {
      batch.to_ns = clock_.now_ns();
      std::erase(open_, open);
      finished_.push_back(std::move(batch));
      ready_.notify_one();
    }
  }
}

Batch WorkerPool::next() {
  const std::int64_t asked = clock_.now_ns();
  if (own_) {
    try {
      return make_whole(*own_, taken_++);
    } catch (const Cancelled&) {
      return {};
    }
  }
  std::unique_lock lock(mutex_);
  const auto there = [&] {
    return settings_.order == Order::in_order ? done_.contains(taken_) : !finished_.empty();
  };
  while (!ready_.wait_for(lock, kAskEvery, [&] { return over_ || there(); })) {
    if (settings_.interrupted()) {
      return {};
    }
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  Batch batch;
  if (settings_.order == Order::in_order) {
    batch = std::move(done_.extract(taken_).mapped());
  } else {
    batch = std::move(finished_.front());
    finished_.pop_front();
  }
  ++taken_;
  batch.stages.hand_off = static_cast<double>(clock_.now_ns() - std::max(asked, batch.to_ns));
  return batch;
}

void WorkerPool::give_back(const Batch& batch) {
  std::size_t for_whom = 0;
  {
    const std::scoped_lock lock(mutex_);
    if (settings_.order == Order::in_order) {
      for_whom = static_cast<std::size_t>(given_back_) % room_.size();
    }
    ++given_back_;
    free_.push_back(batch.slot);
  }
  room_[for_whom].notify_one();
}

}  // namespace bench::loader
