#include "sweeps/workers/pipeline.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/random.h"
#include "bench/run/interrupt.h"
#include "sweeps/workers/check.h"
#include "sweeps/workers/consumer.h"
#include "sweeps/workers/loader/thread_use.h"
#include "sweeps/workers/page_cache.h"
#include "sweeps/workers/staging.h"
#include "sweeps/workers/wake_probe.h"
#include "sweeps/workers/window.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kReadySlots = 2;
constexpr std::int64_t kLeastWindow = 8;   // batches
constexpr std::int64_t kSleeps = 16;       // of the thread beside a window, beside each kind of workers
constexpr std::int64_t kLongWindow = 128;  // longer ones only for as many workers

std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t process_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Where the consumer computes on the host's cores, it leaves those that workers are busy on, and keeps one.
int cores_for_consumer(const PipelineSpec& spec, const Device& device) {
  const int cores = device.info().compute_units;
  return spec.loader == LoaderKind::ready ? cores : std::max(1, cores - spec.pool.workers);
}

std::unique_ptr<Consumer> make_consumer(const PipelineSpec& spec, Device& device) {
  return spec.workload == nullptr ? timed_consumer(spec.step_ns)
                                  : workload_consumer(*spec.workload, spec.workload_spec, device,
                                                      cores_for_consumer(spec, device));
}

class Pipeline final : public Workload {
 public:
  Pipeline(std::string name, PipelineSpec spec, Device& device, std::shared_ptr<Session> session)
      : name_(std::move(name)),
        spec_(std::move(spec)),
        session_(std::move(session)),
        data_(session_->data()),
        staging_(device, spec_.staging, spec_.host_slots(), spec_.slot_bytes()),
        consumer_(make_consumer(spec_, device)),
        window_(window_of(spec_)),
        draw_(spec_.loader == LoaderKind::pool && !session_->drawn.contains(name_)) {
    if (spec_.probe_ns > 0) {
      copying_ = copying_time();  // as long as nobody writes into the slots
    }
    if (spec_.loader == LoaderKind::ready) {
      make_ready();
    } else {
      loader::PoolSettings settings = spec_.pool;
      nice_ = session_->nice.of(settings.workers);
      settings.nice = spec_.probe_ns > 0 ? 0 : nice_;
      settings.seed = stream_seed(settings.seed, session_->visits[name_]++);
      pool_ = std::make_unique<loader::Pool>(data_, spec_.transform, std::move(settings), staging_.slots(),
                                             session_->bad);
    }
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() override {
    try {
      if (computing_) {
        consumer_->finish();
      }
    } catch (...) {  // its failure was the last step's, which no one asked for any more
    }
  }

  void step() override {
    window_notes_ = {};
    std::unique_ptr<WakeProbe> probe;
    if (spec_.probe_ns > 0 && windows_ == 0) {
      probe = std::make_unique<WakeProbe>(std::chrono::nanoseconds(spec_.probe_ns), copying_);
    }
    // A thread that copies all of the time never sleeps.
    const auto wants_sleeps = [&](std::int64_t steps) {
      return probe && steps < 4 * window_ && probe->sleeps() < kSleeps;
    };
    std::vector<std::int64_t> late_unyielding_ns;
    if (probe && nice_ > 0) {
      for (std::int64_t i = 0; wants_sleeps(i) && !interrupted(); ++i) {
        one_step();
      }
      late_unyielding_ns = probe->take();
      pool_->give_way(nice_);
    }
    const std::int64_t cpu_from = process_cpu_ns();
    const std::int64_t storage_from = storage_bytes();
    for (std::int64_t i = 0; (i < window_ || wants_sleeps(i)) && !interrupted(); ++i) {
      one_step();
    }
    if (spec_.probe_ns > 0) {
      window_notes_.late_ns = std::exchange(late_ns_, probe ? probe->take() : std::vector<std::int64_t>());
      window_notes_.late_unyielding_ns = std::exchange(late_unyielding_ns_, std::move(late_unyielding_ns));
    }
    window_notes_.cpu_ns = process_cpu_ns() - cpu_from;
    window_notes_.storage_bytes = storage_bytes() - storage_from;
    window_notes_.host_bytes = staging_.host_bytes() + (pool_ ? pool_->scratch_bytes() : 0);
    window_notes_.bad_files = static_cast<std::int64_t>(session_->bad.all().size());
    ++windows_;
    if (windows_ == 2 && draw_) {  // the first one fills the slots
      session_->drawn.insert(name_);
    } else {
      window_notes_.stretches.clear();
    }
  }

  // From the start of the last step before it to the start of its last: nothing of the pipeline comes to rest
  // between two windows.
  std::int64_t timed_step(Device& /*device*/) override {
    const std::int64_t from = started_ns_ == 0 ? now_ns() : started_ns_;
    step();
    return std::max<std::int64_t>(0, started_ns_ - from);  // interrupted before the first
  }

  Json notes() const override { return notes_of(window_notes_); }

  Verification verify() override {
    Verification verification = check_batch(spec_, data_, session_->bad);
    if (verification.passed && spec_.workload != nullptr &&
        session_->verified.insert(spec_.workload->name).second) {
      if (computing_) {
        consumer_->finish();
        computing_ = false;
      }
      const Verification consumer = consumer_->verify();
      verification.passed = consumer.passed;
      verification.detail += fmt::format("; {}: {}", spec_.workload->name, consumer.detail);
      if (!consumer.passed) {
        verification.error = consumer.error;
        verification.tolerance = consumer.tolerance;
      }
    }
    return verification;
  }

  Work work() const override {
    return {.samples = static_cast<double>(window_ * spec_.pool.batch),
            .sample_bytes = static_cast<double>(window_ * spec_.slot_bytes())};
  }

 private:
  // Batches as the pool makes them, kept for good.
  void make_ready() {
    loader::PoolSettings alone = spec_.pool;
    alone.workers = 0;
    for (std::byte* const slot : staging_.slots()) {
      loader::Pool maker(data_, spec_.transform, alone, std::span(&slot, 1), session_->bad);
      ready_.push_back(maker.next());
    }
  }

  loader::Batch take() {
    const std::int64_t from = now_ns();
    loader::Batch batch;
    if (pool_) {
      batch = pool_->next();
    } else {
      batch.data = ready_[taken_++ % ready_.size()].data;
    }
    const std::int64_t to = now_ns();
    window_notes_.wait_ns += to - from;
    keep(-1, spec_.pool.workers == 0 && pool_ ? "make" : "wait", from, to, batch.number);
    for (const loader::Piece& piece : batch.pieces) {
      if (spec_.pool.workers > 0) {
        keep(piece.worker, "make", piece.from_ns, piece.to_ns, batch.number);
      }
    }
    return batch;
  }

  void end_computing() {
    if (std::exchange(computing_, false)) {
      const std::int64_t asked = now_ns();
      const std::int64_t took = consumer_->finish();
      if (const std::int64_t ended = started_ns_ + took; asked < ended) {  // it slept until then
        window_notes_.late_ns.push_back(std::max<std::int64_t>(0, now_ns() - ended));
      }
      window_notes_.compute_ns.push_back(took);
      keep(-1, "compute", started_ns_, started_ns_ + took, computed_batch_);
    }
  }

  // What a copy to the device takes of this thread's time.
  std::chrono::nanoseconds copying_time() {
    for (int i = 0; i < 2; ++i) {  // touches the memory: batches arrive in two places in turn
      staging_.copy(staging_.slots()[0]);
    }
    const std::int64_t from = loader::thread_cpu_ns();
    staging_.copy(staging_.slots()[0]);
    return std::chrono::nanoseconds(loader::thread_cpu_ns() - from);
  }

  // With workers, the next batch is awaited and copied while the last one is computed; without, the only
  // thread does one thing after another.
  void one_step() {
    const bool alone = pool_ && spec_.pool.workers == 0;
    if (alone) {
      end_computing();
    }
    loader::Batch batch = take();
    if (batch.data == nullptr) {
      return;  // interrupted
    }
    const std::int64_t copy_from = now_ns();
    const std::int64_t copy_ns = staging_.copy(batch.data);
    window_notes_.copy_ns += copy_ns;
    keep(-1, "copy", copy_from, copy_from + copy_ns, batch.number);
    if (pool_) {
      pool_->give_back(batch);
    }
    end_computing();
    const std::int64_t now = now_ns();
    consumer_->start();
    computing_ = true;
    computed_batch_ = batch.number;
    if (started_ns_ != 0) {
      window_notes_.step_ns.push_back(now - started_ns_);
    }
    started_ns_ = now;
    window_notes_.batches.push_back(std::move(batch));
  }

  void keep(int who, const char* what, std::int64_t from, std::int64_t to, std::int64_t batch) {
    if (draw_) {
      window_notes_.stretches.push_back(
          {.who = who, .what = what, .from_ns = from, .to_ns = to, .batch = batch});
    }
  }

  std::string name_;
  PipelineSpec spec_;
  std::shared_ptr<Session> session_;
  const loader::Dataset& data_;
  Staging staging_;
  std::unique_ptr<Consumer> consumer_;
  std::int64_t window_;
  int nice_ = 0;  // of the workers
  bool draw_;
  std::vector<loader::Batch> ready_;
  std::size_t taken_ = 0;
  Window window_notes_;
  std::int64_t windows_ = 0;
  std::chrono::nanoseconds copying_{};
  std::vector<std::int64_t> late_ns_;  // for the next window to tell, and so the other
  std::vector<std::int64_t> late_unyielding_ns_;
  std::int64_t started_ns_ = 0;  // of the last step; 0: none yet
  bool computing_ = false;
  std::int64_t computed_batch_ = 0;
  std::unique_ptr<loader::Pool> pool_;  // last: its workers write into the staging memory
};

}  // namespace

std::int64_t PipelineSpec::host_slots() const {
  return loader == LoaderKind::ready ? kReadySlots : loader::Pool::slots_for(pool);
}

std::int64_t window_of(const PipelineSpec& spec) {
  const std::int64_t workers = spec.loader == LoaderKind::ready ? 1 : std::max(1, spec.pool.workers);
  const std::int64_t least = std::max(kLeastWindow, std::min(2 * spec.host_slots(), kLongWindow));
  return (least + workers - 1) / workers * workers;
}

MemoryPlan pipeline_memory(const PipelineSpec& spec, Device& device) {
  MemoryPlan plan;
  if (spec.workload != nullptr) {
    plan = spec.workload->plan(spec.workload_spec, device);
  }
  const std::int64_t arriving = 2 * spec.slot_bytes();
  plan.at_peak[MemoryCategory::input] += arriving;
  plan.peak += arriving;
  if (plan.in_step.total() > 0) {
    plan.in_step[MemoryCategory::input] += arriving;
    plan.setup_peak += arriving;
  }
  return plan;
}

std::unique_ptr<Workload> make_pipeline(const std::string& name, const PipelineSpec& spec, Device& device,
                                        std::shared_ptr<Session> session) {
  return std::make_unique<Pipeline>(name, spec, device, std::move(session));
}

}  // namespace bench::sweeps
