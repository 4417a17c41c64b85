// bench on a device that is lost at chosen batches: `--lost-at`, of its only workload. As with a card, every
// call after that answers with the same error until the process ends. It says where it would keep choices.
// Plans, the device's opening and its peaks may take long, by the program's clock, and one of the plans may
// be interrupted.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "bench/cli/options.h"
#include "bench/clock.h"
#include "bench/commands/sweep.h"
#include "bench/device.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/workload.h"

namespace bench::testing {
namespace {

bool lost = false;

void answer() {
  if (lost) {
    throw DeviceLost("fragileSynchronize failed: 700");
  }
}

// The machine's, moved on by plans: no test waits for them.
class MovedClock final : public Clock {
 public:
  time_point now() const override { return steady_clock().now() + moved; }
  void sleep_until(time_point time) const override { steady_clock().sleep_until(time - moved); }

  std::chrono::seconds moved{0};
};

MovedClock moved_clock;

// By as many seconds as the variable says.
void move_clock(const char* variable) {
  const char* const seconds = std::getenv(variable);
  moved_clock.moved += std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
}

int plans = 0;  // made so far

class FragileDevice final : public Device {
 public:
  FragileDevice() = default;
  FragileDevice(const FragileDevice&) = delete;
  FragileDevice& operator=(const FragileDevice&) = delete;
  ~FragileDevice() override {
    if (lost && std::getenv("FRAGILE_CLOSES_INTERRUPTED") != nullptr) {
      std::raise(SIGTERM);
    }
  }
  const DeviceInfo& info() const override { return info_; }
  std::optional<std::string> unsupported(Dtype dtype) const override {
    return dtype == Dtype::fp32 ? std::nullopt : std::optional<std::string>("fp32 only");
  }
  void upload(void* to, const void* from, std::int64_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::int64_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, std::byte value, std::int64_t bytes) override {
    std::memset(to, std::to_integer<int>(value), bytes);
  }
  void synchronize() override { answer(); }
  std::int64_t time(const std::function<void()>& step) override {
    step();
    answer();
    return 1'000'000 + ++steps_ % 3;
  }
  std::int64_t driver_used() const override {
    answer();
    return 0;
  }
  DeviceState state() const override { return {}; }
  void keep_choices(const std::string& file) override { std::cerr << "keeps choices in " << file << '\n'; }
  Peaks peaks(Dtype /*dtype*/) override {
    lost = lost || std::getenv("FRAGILE_PEAKS") != nullptr;
    answer();
    if (!std::exchange(knows_peaks_, true)) {
      move_clock("FRAGILE_PEAKS_TAKE");
    }
    return {};
  }

 protected:
  std::byte* raw_allocate(std::int64_t bytes) override {
    answer();
    return static_cast<std::byte*>(std::malloc(bytes));
  }
  void raw_free(std::byte* data, std::int64_t /*bytes*/) noexcept override { std::free(data); }

 private:
  DeviceInfo info_{.id = "fragile",
                   .kind = "fragile",
                   .name = "a device of the tests",
                   .memory_bytes = 1 << 30,
                   .available_bytes = 1 << 30,
                   .compute_units = 1,
                   .details = {}};
  std::int64_t steps_ = 0;
  bool knows_peaks_ = false;
};

// What its options say, read once.
struct FragileSpec {
  std::int64_t batch = 1;
  std::int64_t activation_bytes = 0;
  bool fails = false;
  int fails_on_step = 1;
  int plan_seconds = 0;
  int interrupted_plan = 0;
};

class FragileWorkload final : public Workload {
 public:
  FragileWorkload(const FragileSpec& spec, Device& device)
      : spec_(spec),
        weights_(device.allocate(100, MemoryCategory::weights)),
        activations_(device.allocate(spec.activation_bytes, MemoryCategory::activations)) {}
  void step() override {
    static std::map<std::int64_t, int> steps;
    lost = lost || (spec_.fails && ++steps[spec_.batch] >= spec_.fails_on_step);
  }
  Verification verify() override { return {true, 0, 0.1, "nothing"}; }
  Work work() const override { return {static_cast<double>(spec_.batch), 1e3, 100, 10, 1}; }

 private:
  FragileSpec spec_;
  Buffer weights_;
  Buffer activations_;
};

class FragileConfigured final : public ConfiguredWorkload {
 public:
  explicit FragileConfigured(const WorkloadSpec& spec) : dtype_(spec.dtype) {
    spec_.batch = spec.batch;
    spec_.activation_bytes = spec.batch * std::atoi(spec.options.at("bytes-a-sample").c_str());
    std::istringstream batches(spec.options.at("lost-at"));
    for (std::int64_t batch = 0; batches >> batch; batches.ignore()) {
      spec_.fails = spec_.fails || batch == spec.batch;
    }
    spec_.fails_on_step = std::atoi(spec.options.at("lost-on-step").c_str());
    spec_.plan_seconds = std::atoi(spec.options.at("plan-takes").c_str());
    spec_.interrupted_plan = std::atoi(spec.options.at("interrupted-plan").c_str());
  }
  std::optional<std::string> unsupported(Device& on) const override { return on.unsupported(dtype_); }
  MemoryPlan plan(Device& /*on*/) const override {
    moved_clock.moved += std::chrono::seconds(spec_.plan_seconds);
    if (++plans == spec_.interrupted_plan) {
      std::raise(SIGINT);
    }
    MemoryPlan plan;
    plan.at_peak[MemoryCategory::weights] = 100;
    plan.at_peak[MemoryCategory::activations] = spec_.activation_bytes;
    plan.peak = plan.at_peak.total();
    return plan;
  }
  std::unique_ptr<Workload> make(Device& on) const override {
    return std::make_unique<FragileWorkload>(spec_, on);
  }

 private:
  Dtype dtype_;
  FragileSpec spec_;
};

const Registration<DeviceKind> device{
    {.name = "fragile",
     .preference = 1,
     .list =
         [] {
           return std::vector<DeviceKind::Listing>{{"fragile", "breaks", ""}};
         },
     .open =
         [](const std::string&) {
           move_clock("FRAGILE_OPENING_TAKES");
           return std::make_unique<FragileDevice>();
         }}};

const Registration<WorkloadType> workload{{
    .name = "fragile",
    .kind = "operation",
    .description = "loses the device at chosen batches",
    .modes = {"infer"},
    .options = {{"lost-at", "", "batches, separated by /"},
                {"lost-on-step", "1", "of those batches"},
                {"bytes-a-sample", "0", "of activations"},
                {"plan-takes", "0", "seconds by the program's clock"},
                {"interrupted-plan", "0", "Ctrl-C comes while this one is made"}},
    .configure = [](const WorkloadSpec& spec) { return std::make_shared<FragileConfigured>(spec); },
}};

}  // namespace
}  // namespace bench::testing

int main(int argc, char** argv) {
  try {
    std::cerr << "process starts\n";
    const bench::ExitCode code =
        bench::run_sweep(bench::parse_options(argc, argv), std::vector<std::string>(argv, argv + argc),
                         bench::testing::moved_clock);
    std::cerr << "plans: " << bench::testing::plans << '\n';
    return static_cast<int>(code);
  } catch (const std::exception& error) {
    std::cerr << "bench: " << error.what() << '\n';
    return static_cast<int>(bench::ExitCode::inconclusive);
  }
}
