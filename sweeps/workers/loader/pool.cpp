#include "sweeps/workers/loader/pool.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/stats/random.h"
#include "bench/stats/rounds.h"
#include "bench/text/quote.h"

namespace bench::loader {
namespace {

// How often a waiting consumer asks whether it was interrupted.
constexpr auto kAskEvery = std::chrono::milliseconds(50);

// Changes the calling thread alone. The system never refuses a lower priority.
void lower_own_priority() {
  constexpr int kLowest = 19;  // as nice(1) counts
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowest);
}

// Use by the calling thread, so far.
ThreadUse own_use() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return {.cpu_ns = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec,
          .voluntary_switches = usage.ru_nvcsw,
          .involuntary_switches = usage.ru_nivcsw};
}

void add(ThreadUse& to, const ThreadUse& use, std::int64_t times = 1) {
  to.cpu_ns += times * use.cpu_ns;
  to.voluntary_switches += times * use.voluntary_switches;
  to.involuntary_switches += times * use.involuntary_switches;
}

// A worker's part of the batch, from its sample `first` on.
void add(Batch& batch, const Batch& piece, std::int64_t first) {
  batch.to_ns = std::max(batch.to_ns, piece.work_spans.back().to_ns);
  add(batch.use, piece.use);
  batch.stages += piece.stages;
  std::ranges::copy(piece.images, batch.images.begin() + first);
  batch.sample_ns.insert(batch.sample_ns.end(), piece.sample_ns.begin(), piece.sample_ns.end());
  batch.work_spans.push_back(piece.work_spans.back());
}

}  // namespace

struct WorkerPool::Worker {
  Worker(int worker_number, const Transform& transform, CancelToken token, const Clock& clock)
      : number(worker_number), cancelled(std::move(token)), maker(transform, clock, cancelled) {}
  int number;
  std::int64_t last_batch = 0;
  CancelToken cancelled;
  SampleMaker maker;
  std::vector<std::byte> encoded;
  std::int64_t noted_bytes = 0;
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
      images_(shuffled_round(static_cast<std::size_t>(data.size()), settings_.seed, 0)),
      room_(settings_.order == Order::in_order ? static_cast<std::size_t>(std::max(1, settings_.workers))
                                               : 1),
      queue_(settings_.order, settings_.workers, settings_.prefetch, settings_.batch),
      free_slots_(slots.size()) {
  if (std::ssize(slots) != slots_for(settings_)) {
    throw std::logic_error(fmt::format("a pool of {} workers needs {} slots, not {}", settings_.workers,
                                       slots_for(settings_), slots.size()));
  }
  std::iota(free_slots_.rbegin(), free_slots_.rend(), std::size_t{0});
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
    threads_.clear();
    throw std::runtime_error(
        fmt::format("--workers: the system started {} of {} threads and refused the next ({}); give fewer",
                    started, settings_.workers, error.what()));
  }
}

WorkerPool::~WorkerPool() {
  fail(nullptr);
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
    worker.last_batch = number - settings_.workers;
    while (make_next_piece(worker)) {
    }
  } catch (const Cancelled&) {
    // The pool is being destroyed.
  } catch (...) {
    fail(std::current_exception());
  }
}

// False once all is over.
bool WorkerPool::make_next_piece(Worker& worker) {
  std::condition_variable& room = room_[static_cast<std::size_t>(worker.number) % room_.size()];
  std::optional<Piece> piece;
  std::byte* to = nullptr;
  {
    std::unique_lock lock(mutex_);
    room.wait(lock, [&] { return over_ || (piece = queue_.hand_out(worker.last_batch)); });
    if (!piece) {
      return false;
    }
    worker.last_batch = piece->batch;
    auto batch = batches_.find(piece->batch);
    if (batch == batches_.end()) {
      batch = batches_.emplace(piece->batch, begin_batch(piece->batch, free_slots_.back())).first;
      free_slots_.pop_back();
      room.notify_all();  // where they share samples, the others may join in
    }
    to = batch->second.data + piece->first * transform_.sample_bytes();
  }
  const Batch made = make(worker, *piece, to);
  const std::scoped_lock lock(mutex_);
  add(batches_.at(piece->batch), made, piece->first);
  if (queue_.made(piece->batch)) {
    ready_.notify_one();
  }
  return true;
}

Batch WorkerPool::begin_batch(std::int64_t number, std::size_t slot) const {
  return {.data = slots_[slot],
          .number = number,
          .slot = slot,
          .from_ns = clock_.now_ns(),
          .images = std::vector<std::int64_t>(static_cast<std::size_t>(settings_.batch))};
}

// Times and use of the piece; its place in the batch is the caller's.
Batch WorkerPool::make(Worker& worker, const Piece& piece, std::byte* to) {
  Batch made;
  const ThreadUse before = own_use();
  const std::int64_t from = clock_.now_ns();
  std::int64_t done = from;
  for (std::int64_t i = 0; i < piece.count; ++i, to += transform_.sample_bytes()) {
    const std::int64_t number = piece.batch * settings_.batch + piece.first + i;
    made.images.push_back(make_sample(worker, number, to, made.stages));
    const std::int64_t begun = std::exchange(done, clock_.now_ns());
    made.sample_ns.push_back(done - begun);
  }
  made.work_spans.push_back({.worker = worker.number, .from_ns = from, .to_ns = done});
  made.use = own_use();
  add(made.use, before, -1);
  const std::int64_t bytes =
      worker.maker.scratch_bytes() + static_cast<std::int64_t>(worker.encoded.capacity());
  scratch_bytes_ += bytes - std::exchange(worker.noted_bytes, bytes);
  return made;
}

// Returns the image it took: the sample's own, or the next one that is not bad.
std::int64_t WorkerPool::make_sample(Worker& worker, std::int64_t number, std::byte* to, StageTimes& stages) {
  std::int64_t image = image_for(number);
  for (std::int64_t tried = 0; tried < data_.size(); ++tried, image = (image + 1) % data_.size()) {
    if (worker.cancelled()) {
      throw Cancelled();
    }
    if (bad_.contains(image)) {
      continue;
    }
    try {
      const std::int64_t read_from = clock_.now_ns();
      data_.read(image, worker.encoded);
      stages.read += static_cast<double>(clock_.now_ns() - read_from);
      stages += worker.maker.make(worker.encoded, sample_seed(settings_.seed, number), to);
      return image;
    } catch (const BadImage& error) {
      bad_.add(image, error.what());
    }
  }
  const auto [first, reason] = *bad_.all().begin();
  throw UsageError(fmt::format(
      "--data: none of the {} images can be used (the first, {}: {}); give a folder or tar file of "
      "intact JPEG images",
      data_.size(), printable(data_.name(first)), reason));
}

// Each pass through the data is the same permutation begun at another place: every image once, no two passes
// in the same batches.
std::int64_t WorkerPool::image_for(std::int64_t sample) const {
  const auto place = static_cast<std::uint64_t>(sample);
  const std::uint64_t pass = place / images_.size();
  const std::uint64_t shift = pass == 0 ? 0 : stream_seed(settings_.seed, pass) % images_.size();
  return static_cast<std::int64_t>(images_[(place % images_.size() + shift) % images_.size()]);
}

std::uint64_t WorkerPool::sample_seed(std::uint64_t seed, std::int64_t number) {
  return stream_seed(seed, static_cast<std::uint64_t>(number));
}

Batch WorkerPool::next() {
  const std::int64_t asked = clock_.now_ns();
  if (own_) {
    Batch batch = begin_batch(queue_.take_own(), 0);
    try {
      add(batch, make(*own_, {.batch = batch.number, .first = 0, .count = settings_.batch}, batch.data), 0);
    } catch (const Cancelled&) {
      return {};
    }
    return batch;
  }
  std::unique_lock lock(mutex_);
  std::optional<std::int64_t> number;
  while (!ready_.wait_for(lock, kAskEvery, [&] { return over_ || (number = queue_.take()); })) {
    if (settings_.interrupted()) {
      return {};
    }
  }
  if (failure_) {
    std::rethrow_exception(failure_);
  }
  Batch batch = std::move(batches_.extract(*number).mapped());
  batch.stages.hand_off = static_cast<double>(clock_.now_ns() - std::max(asked, batch.to_ns));
  return batch;
}

void WorkerPool::give_back(const Batch& batch) {
  if (own_) {
    return;
  }
  std::size_t owner = 0;
  {
    const std::scoped_lock lock(mutex_);
    owner = static_cast<std::size_t>(queue_.free_slot());
    free_slots_.push_back(batch.slot);
  }
  room_[owner % room_.size()].notify_one();
}

}  // namespace bench::loader
