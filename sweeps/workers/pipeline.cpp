#include "sweeps/workers/pipeline.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/stats/random.h"
#include "bench/stats/statistics.h"
#include "sweeps/workers/consumer.h"
#include "sweeps/workers/loader/reference.h"
#include "sweeps/workers/record.h"
#include "sweeps/workers/staging.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kReadySlots = 2;
constexpr std::int64_t kLeastWindow = 8;   // batches
constexpr std::int64_t kLongWindow = 128;  // longer ones only for as many workers

std::int64_t process_cpu_ns() {
  return std::int64_t{std::clock()} * (1'000'000'000 / CLOCKS_PER_SEC);
}

// Bytes that this process has had read from storage so far; file systems over a network do not count.
std::int64_t storage_bytes() {
  constexpr std::int64_t kBlock = 512;  // whatever the file system's is
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return kBlock * used.ru_inblock;
}

// A consumer on the host's cores leaves those that workers are busy on, and keeps one.
std::unique_ptr<Consumer> make_consumer(const PipelineSpec& spec, Device& device, const Clock& clock) {
  if (spec.workload == nullptr) {
    return timed_consumer(spec.step_ns, clock);
  }
  const int cores = device.info().compute_units;
  return workload_consumer(*spec.workload, device,
                           spec.loader == LoaderKind::ready ? cores : std::max(1, cores - spec.pool.workers));
}

// The first steps of a window, for the picture; times count from the first entry.
std::vector<simulator::TimelineEntry> first_steps(std::vector<simulator::TimelineEntry> timeline,
                                                  const std::vector<double>& step_ns) {
  constexpr std::ptrdiff_t kSteps = 6;
  constexpr std::size_t kMost = 400;
  const double start = std::ranges::min(timeline, {}, &simulator::TimelineEntry::from_ns).from_ns;
  const double end = std::accumulate(
      step_ns.begin(), step_ns.begin() + std::min<std::ptrdiff_t>(kSteps, std::ssize(step_ns)), 0.0);
  for (simulator::TimelineEntry& entry : timeline) {
    entry.from_ns -= start;
    entry.to_ns = std::min(entry.to_ns - start, end);
  }
  std::erase_if(timeline, [&](const simulator::TimelineEntry& entry) { return entry.from_ns >= end; });
  timeline.resize(std::min(timeline.size(), kMost));
  return timeline;
}

constexpr int kWorkersThatCheck = 8;
// Larger batches are checked by their first samples: the memory cap does not count these slots.
constexpr std::int64_t kMostSlotBytes = std::int64_t{64} << 20;

// A batch in memory of its own.
struct OwnBatch {
  std::vector<std::byte> memory;
  loader::Batch batch;
};

// Compares a batch of the pool with a single thread's and with the reference: the first of a pool with the
// spec's workers, eight at most, byte for byte equal to a single thread's, and its first sample close to the
// slow reference of the transform.
Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, const Clock& clock,
                         loader::BadFiles& bad) {
  const std::int64_t sample_bytes = spec.transform.sample_bytes();
  loader::PoolSettings few = spec.pool;
  few.prefetch = 1;
  few.batch = std::clamp<std::int64_t>(kMostSlotBytes / sample_bytes, 1, spec.pool.batch);
  const auto make = [&](int workers, std::byte fill, std::int64_t least_number) {
    few.workers = workers;
    const std::int64_t slots = loader::WorkerPool::slots_for(few);
    OwnBatch own;
    own.memory.assign(static_cast<std::size_t>(slots * few.batch * sample_bytes), fill);
    std::vector<std::byte*> places;
    for (std::int64_t i = 0; i < slots; ++i) {
      places.push_back(own.memory.data() + i * few.batch * sample_bytes);
    }
    loader::WorkerPool pool(data, spec.transform, few, clock, places, bad);
    do {
      own.batch = pool.next();
    } while (own.batch.data != nullptr && own.batch.number < least_number);
    return own;
  };
  // Filled with different bytes, so that one that neither writes differs too.
  const OwnBatch by_pool = make(std::min(spec.pool.workers, kWorkersThatCheck), std::byte{0xCD}, 0);
  const loader::Batch& batch = by_pool.batch;
  const OwnBatch alone = make(0, std::byte{0x32}, batch.number);
  const loader::Batch& expected = alone.batch;

  Verification verification;
  if (batch.data == nullptr || expected.data == nullptr) {
    verification.detail = "interrupted";
    return verification;
  }
  for (std::int64_t i = 0; i < few.batch; ++i) {
    if (std::memcmp(batch.data + i * sample_bytes, expected.data + i * sample_bytes,
                    static_cast<std::size_t>(sample_bytes)) != 0) {
      verification.detail =
          fmt::format("sample {} of batch {} differs from the one made by a single thread", i, batch.number);
      verification.error = 1;
      return verification;
    }
  }
  // The stored form rounds: to 1/255 as bytes, to 2^-9 in bf16.
  std::vector<std::byte> encoded;
  data.read(batch.images.front(), encoded);
  verification.error = loader::difference_from_reference(
      batch.data, encoded, loader::WorkerPool::sample_seed(spec.pool.seed, batch.number * few.batch),
      spec.transform, spec.pool.interrupted);
  verification.tolerance = 2.0 / 255;
  verification.passed = verification.error <= verification.tolerance;
  verification.detail = fmt::format(
      "{} samples as one thread makes them, byte for byte; pixels of the first {:.2f}/255 from the "
      "reference, on average",
      few.batch, 255 * verification.error);
  return verification;
}

class PipelineWorkload final : public Workload {
 public:
  PipelineWorkload(PipelineSpec spec, Device& device, std::shared_ptr<LoaderSession> session)
      : spec_(std::move(spec)),
        session_(std::move(session)),
        clock_(session_->clock),
        data_(session_->data()),
        staging_(spec_, device, clock_),
        consumer_(make_consumer(spec_, device, clock_)),
        length_(window_of(spec_)),
        keeps_timeline_(spec_.loader == LoaderKind::pool && !session_->timelines.contains(spec_.name)) {
    if (spec_.loader == LoaderKind::ready) {
      make_ready();
    } else {
      loader::PoolSettings settings = spec_.pool;
      settings.low_priority = settings.workers <= session_->most_low_priority_workers;
      settings.seed = stream_seed(settings.seed, session_->repetitions[spec_.name]++);
      pool_ = std::make_unique<loader::WorkerPool>(data_, spec_.transform, std::move(settings), clock_,
                                                   staging_.slots(), session_->bad);
    }
  }
  PipelineWorkload(const PipelineWorkload&) = delete;
  PipelineWorkload& operator=(const PipelineWorkload&) = delete;
  ~PipelineWorkload() override {
    try {
      if (computing_) {
        consumer_->finish();
      }
    } catch (...) {  // the last step failed, and its result is not wanted
    }
  }

  void step() override {
    window_ = std::make_shared<Window>();
    timeline_.clear();
    std::vector<loader::Batch> batches;
    const std::int64_t cpu_from = process_cpu_ns();
    const std::int64_t storage_from = storage_bytes();
    for (std::int64_t i = 0; i < length_ && !interrupted(); ++i) {
      if (loader::Batch batch = one_step(); batch.data != nullptr) {
        batches.push_back(std::move(batch));
      }
    }
    window_->add_batches(batches);
    window_->cpu_ns = process_cpu_ns() - cpu_from;
    window_->storage_bytes = storage_bytes() - storage_from;
    window_->host_bytes = staging_.host_bytes() + (pool_ ? pool_->scratch_bytes() : 0);
    window_->bad_files = static_cast<std::int64_t>(session_->bad.all().size());
    if (keeps_this_window()) {
      if (!timeline_.empty()) {
        window_->timeline = first_steps(timeline_, window_->step_ns);
      }
      session_->timelines.insert(spec_.name);
    }
    ++windows_;
  }

  // From the start of the last step before the window to the start of its last step: the pipeline does not
  // rest between two windows.
  std::int64_t timed_step(Device& /*device*/) override {
    const std::int64_t from = started_ns_ == 0 ? clock_.now_ns() : started_ns_;
    step();
    return std::max<std::int64_t>(0, started_ns_ - from);  // interrupted before the first
  }

  std::shared_ptr<const SampleNote> note() const override { return window_; }

  Verification verify() override {
    if (std::exchange(computing_, false)) {
      consumer_->finish();
    }
    Verification verification = check_batch(spec_, data_, clock_, session_->bad);
    if (verification.passed && spec_.workload != nullptr &&
        session_->verified.insert(spec_.workload_name).second) {
      const Verification consumer = consumer_->verify();
      verification.passed = !consumer.failed();
      if (!consumer.not_checked.empty()) {
        verification.not_checked = fmt::format("{}: {}", spec_.workload_name, consumer.not_checked);
      }
      if (!consumer.detail.empty()) {
        verification.detail += fmt::format("; {}: {}", spec_.workload_name, consumer.detail);
      }
      if (consumer.failed()) {
        verification.error = consumer.error;
        verification.tolerance = consumer.tolerance;
      }
    }
    resume();
    return verification;
  }

  Work work() const override {
    return {.samples = static_cast<double>(length_ * spec_.pool.batch),
            .sample_bytes = static_cast<double>(length_ * spec_.slot_bytes())};
  }

 private:
  // The next window continues the last step, so that a pause would be part of it. Until now the workers have
  // filled every slot: those batches are consumed first, or the window would have them for nothing.
  void resume() {
    started_ns_ = 0;
    window_ = std::make_shared<Window>();
    const std::int64_t full = spec_.pool.workers > 0 && pool_ ? spec_.host_slots() : 0;
    std::vector<loader::Batch> batches;
    std::int64_t waited_ns = 0;  // for the last of them
    for (std::int64_t i = 0; i < full + 1 && !interrupted(); ++i) {
      waited_ns = -window_->wait_ns;
      if (loader::Batch batch = one_step(); batch.data != nullptr) {
        batches.push_back(std::move(batch));
      }
      waited_ns += window_->wait_ns;
    }
    window_->add_batches(batches);
    if (full > 0 && !window_->batch_ns.empty() && !window_->step_ns.empty()) {
      drop_what_is_left(full, waited_ns);
    }
  }

  // Workers that are only a little slower than the consumer would take many steps to fall behind.
  void drop_what_is_left(std::int64_t slots, std::int64_t waited_ns) {
    const double step_ns = mean(window_->step_ns);
    const double batch_ns = mean(window_->batch_ns) / static_cast<double>(spec_.pool.workers);
    constexpr double kWaits = 0.1;  // of a step
    if (batch_ns < step_ns || static_cast<double>(waited_ns) > kWaits * step_ns) {
      return;
    }
    for (std::int64_t i = 0; i < slots && !interrupted(); ++i) {
      if (const loader::Batch batch = take(); batch.data != nullptr) {
        pool_->give_back(batch);
      }
    }
    one_step();
  }

  void make_ready() {
    loader::PoolSettings alone = spec_.pool;
    alone.workers = 0;
    for (std::byte* const slot : staging_.slots()) {
      loader::WorkerPool maker(data_, spec_.transform, alone, clock_, std::span(&slot, 1), session_->bad);
      ready_.push_back(maker.next());
    }
  }

  loader::Batch take() {
    const std::int64_t from = clock_.now_ns();
    loader::Batch batch;
    if (pool_) {
      batch = pool_->next();
    } else {
      batch.data = ready_[taken_++ % ready_.size()].data;
    }
    const std::int64_t to = clock_.now_ns();
    window_->wait_ns += to - from;
    keep("consumer", spec_.pool.workers == 0 && pool_ ? "make" : "wait", from, to, batch.number);
    if (spec_.pool.workers > 0 && keeps_this_window()) {
      for (const loader::WorkSpan& span : batch.work_spans) {
        keep(fmt::format("worker {}", span.worker), "make", span.from_ns, span.to_ns, batch.number);
      }
    }
    return batch;
  }

  void end_computing() {
    if (std::exchange(computing_, false)) {
      const std::int64_t asked = clock_.now_ns();
      const std::int64_t took = consumer_->finish();
      if (const std::int64_t ended = started_ns_ + took; asked < ended) {  // it slept until then
        window_->late_ns.push_back(std::max(0.0, static_cast<double>(clock_.now_ns() - ended)));
      }
      window_->compute_ns.push_back(static_cast<double>(took));
      keep("consumer", "compute", started_ns_, started_ns_ + took, computed_batch_);
    }
  }

  // With workers, the next batch is awaited and copied while the last one is computed; without, this thread
  // does one after the other. Returns the batch; one without data where the run was interrupted.
  loader::Batch one_step() {
    const bool alone = pool_ && spec_.pool.workers == 0;
    if (alone) {
      end_computing();
    }
    loader::Batch batch = take();
    if (batch.data == nullptr) {
      return batch;
    }
    const std::int64_t copy_from = clock_.now_ns();
    staging_.copy(batch.data);
    const std::int64_t copied = clock_.now_ns();
    window_->copy_ns += copied - copy_from;
    keep("consumer", "copy", copy_from, copied, batch.number);
    if (pool_) {
      pool_->give_back(batch);
    }
    end_computing();
    const std::int64_t now = clock_.now_ns();
    consumer_->start();
    computing_ = true;
    computed_batch_ = batch.number;
    if (started_ns_ != 0) {
      window_->step_ns.push_back(static_cast<double>(now - started_ns_));
    }
    started_ns_ = now;
    return batch;
  }

  // The time line is that of the second window: the first one fills the slots.
  bool keeps_this_window() const { return keeps_timeline_ && windows_ == 1; }
  void keep(const std::string& who, const char* what, std::int64_t from, std::int64_t to,
            std::int64_t batch) {
    if (keeps_this_window()) {
      timeline_.push_back({who, what, static_cast<double>(from), static_cast<double>(to), batch});
    }
  }

  const PipelineSpec spec_;
  std::shared_ptr<LoaderSession> session_;
  const Clock& clock_;
  const loader::Dataset& data_;
  Staging staging_;
  std::unique_ptr<Consumer> consumer_;
  std::int64_t length_;  // of a window, in batches
  bool keeps_timeline_;
  std::vector<loader::Batch> ready_;
  std::size_t taken_ = 0;
  std::shared_ptr<Window> window_;
  std::vector<simulator::TimelineEntry> timeline_;  // of the consumer and each worker
  std::int64_t windows_ = 0;
  std::int64_t started_ns_ = 0;  // of the last step; 0: none yet
  bool computing_ = false;
  std::int64_t computed_batch_ = 0;
  std::unique_ptr<loader::WorkerPool> pool_;  // last: its workers write into the staging memory
};

}  // namespace

std::int64_t PipelineSpec::host_slots() const {
  return loader == LoaderKind::ready ? kReadySlots : loader::WorkerPool::slots_for(pool);
}

std::int64_t window_of(const PipelineSpec& spec) {
  const std::int64_t workers = spec.loader == LoaderKind::ready ? 1 : std::max(1, spec.pool.workers);
  const std::int64_t least = std::max(kLeastWindow, std::min(2 * spec.host_slots(), kLongWindow));
  return (least + workers - 1) / workers * workers;
}

ConfiguredPipeline::ConfiguredPipeline(PipelineSpec spec, std::shared_ptr<LoaderSession> session)
    : spec_(std::move(spec)), session_(std::move(session)) {}

std::optional<std::string> ConfiguredPipeline::unsupported(Device& device) const {
  return spec_.workload == nullptr ? std::nullopt : spec_.workload->unsupported(device);
}

MemoryPlan ConfiguredPipeline::plan(Device& device) const {
  MemoryPlan plan;
  if (spec_.workload != nullptr) {
    plan = spec_.workload->plan(device);
  }
  const std::int64_t arriving = 2 * spec_.slot_bytes();
  plan.at_peak[MemoryCategory::input] += arriving;
  plan.peak += arriving;
  if (plan.in_step.total() > 0) {
    plan.in_step[MemoryCategory::input] += arriving;
    plan.setup_peak += arriving;
  }
  return plan;
}

std::unique_ptr<Workload> ConfiguredPipeline::make(Device& device) const {
  return std::make_unique<PipelineWorkload>(spec_, device, session_);
}

PointCost ConfiguredPipeline::least_cost() const {
  constexpr std::int64_t kMostAsked = 1000;  // images whose size is asked for
  if (!session_->storage) {
    return {};
  }
  double bytes = 0;
  try {
    bytes = mean_encoded_bytes(session_->data(), kMostAsked);
  } catch (const Unsupported&) {
    return {};  // making the point says so
  }
  const auto readers = static_cast<double>(std::max(1, spec_.pool.workers));
  const double image_ns = session_->storage->transfer_ns(bytes) + session_->storage->latency_ns / readers;
  const double batch_ns = image_ns * static_cast<double>(spec_.pool.batch);
  const auto window = static_cast<double>(window_of(spec_));
  if (spec_.loader == LoaderKind::ready) {
    // Ready data alone answers nothing: the cost includes the smallest pool, so that there is time for both.
    return {.setup_ns = (static_cast<double>(spec_.host_slots()) + 1 + 2 * window) * batch_ns};
  }
  return {.setup_ns = (1 + window) * batch_ns, .step_ns = window * batch_ns};
}

}  // namespace bench::sweeps
