#include "kernels/devices/cuda/nvml.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "bench/host/shared_library.h"

namespace bench::kernels::cuda {
namespace {

// From NVML's interface, whose numbers do not change: nvmlReturn_t, nvmlClockType_t,
// nvmlTemperatureSensors_t.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCardSensor = 0;
using NvmlDevice = struct nvmlDevice_st*;

// nvmlFieldValue_t.
struct NvmlField {
  unsigned id = 0;
  unsigned scope = 0;  // 0: the GPU
  long long timestamp = 0;
  long long latency = 0;
  int type = 0;    // nvmlValueType_t
  int status = 0;  // nvmlReturn_t
  union {
    double real;
    unsigned number;
    unsigned long long bits = 0;
  } value;
};
static_assert(sizeof(NvmlField) == 40);
constexpr unsigned kPowerNow = 186;  // NVML_FI_DEV_POWER_INSTANT
constexpr int kReal = 0;             // NVML_VALUE_TYPE_DOUBLE; the others are whole numbers

// The value that the function writes into its last argument; nullopt where it is missing or fails.
template <class Value, class Function, class... Arguments>
std::optional<Value> ask(Function* function, Arguments... arguments) {
  Value value{};
  return function != nullptr && function(arguments..., &value) == kSuccess ? std::optional(value)
                                                                           : std::nullopt;
}

class NvmlCard final : public CardMonitor {
 public:
  explicit NvmlCard(const std::string& library)
      : library_(library),
        shutdown_(library_.find<int()>("nvmlShutdown")),
        clock_(library_.find<int(NvmlDevice, int, unsigned*)>("nvmlDeviceGetClockInfo")),
        temperature_(library_.find<int(NvmlDevice, int, unsigned*)>("nvmlDeviceGetTemperature")),
        power_(library_.find<int(NvmlDevice, unsigned*)>("nvmlDeviceGetPowerUsage")),
        fields_(library_.find<int(NvmlDevice, int, NvmlField*)>("nvmlDeviceGetFieldValues")),
        reasons_(
            library_.find<int(NvmlDevice, unsigned long long*)>("nvmlDeviceGetCurrentClocksEventReasons")) {
    if (reasons_ == nullptr) {  // its name before driver 535
      reasons_ =
          library_.find<int(NvmlDevice, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
    }
  }
  NvmlCard(const NvmlCard&) = delete;
  NvmlCard& operator=(const NvmlCard&) = delete;

  ~NvmlCard() override {
    if (started_ && shutdown_ != nullptr) {
      shutdown_();
    }
  }

  bool start(const std::string& pci_bus_id) {
    auto* const init = library_.find<int()>("nvmlInit_v2");
    auto* const find_card = library_.find<int(const char*, NvmlDevice*)>("nvmlDeviceGetHandleByPciBusId_v2");
    started_ = init != nullptr && init() == kSuccess;
    return started_ && find_card != nullptr && find_card(pci_bus_id.c_str(), &card_) == kSuccess;
  }

  DeviceState state() override {
    DeviceState state;
    if (const auto mhz = ask<unsigned>(clock_, card_, kSmClock)) {
      state.clock_mhz = *mhz;
    }
    if (const auto celsius = ask<unsigned>(temperature_, card_, kCardSensor)) {
      state.temperature_c = *celsius;
    }
    if (const auto milliwatts = power_now()) {
      state.power_w = *milliwatts / 1e3;
    }
    if (const auto mask = ask<unsigned long long>(reasons_, card_)) {
      state.throttle_reasons = throttle_reasons(*mask);
    }
    return state;
  }

  std::optional<CardLink> link() override {
    return link_of("nvmlDeviceGetCurrPcieLinkGeneration", "nvmlDeviceGetCurrPcieLinkWidth");
  }
  std::optional<CardLink> best_link() override {
    return link_of("nvmlDeviceGetMaxPcieLinkGeneration", "nvmlDeviceGetMaxPcieLinkWidth");
  }

  std::optional<std::string> driver_version() override {
    constexpr unsigned kLongest = 96;
    std::array<char, kLongest> text{};
    auto* const version = library_.find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
    if (version == nullptr || version(text.data(), kLongest) != kSuccess) {
      return std::nullopt;
    }
    return text.data();
  }

  std::optional<double> power_limit_w() override {
    const auto milliwatts =
        ask<unsigned>(library_.find<int(NvmlDevice, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit"), card_);
    return milliwatts ? std::optional(*milliwatts / 1e3) : std::nullopt;
  }

  Clocks clocks() override {
    auto* const highest = library_.find<int(NvmlDevice, int, unsigned*)>("nvmlDeviceGetMaxClockInfo");
    const auto mhz = [&](int (*call)(NvmlDevice, int, unsigned*), int clock) -> std::optional<double> {
      return ask<unsigned>(call, card_, clock);
    };
    return {.sm = mhz(clock_, kSmClock),
            .sm_max = mhz(highest, kSmClock),
            .memory = mhz(clock_, kMemoryClock),
            .memory_max = mhz(highest, kMemoryClock)};
  }

 private:
  // From Ampere on nvmlDeviceGetPowerUsage is the mean of a second, most of it before a short point.
  std::optional<unsigned> power_now() const {
    NvmlField field;
    field.id = kPowerNow;
    const bool known = fields_ != nullptr && fields_(card_, 1, &field) == kSuccess &&
                       field.status == kSuccess && field.type != kReal;
    return known ? std::optional(field.value.number) : ask<unsigned>(power_, card_);
  }
  std::optional<CardLink> link_of(const char* generation_name, const char* width_name) const {
    const auto generation = ask<unsigned>(library_.find<int(NvmlDevice, unsigned*)>(generation_name), card_);
    const auto width = ask<unsigned>(library_.find<int(NvmlDevice, unsigned*)>(width_name), card_);
    if (!generation || !width) {
      return std::nullopt;
    }
    return CardLink{static_cast<int>(*generation), static_cast<int>(*width)};
  }

  SharedLibrary library_;
  int (*shutdown_)();
  int (*clock_)(NvmlDevice, int, unsigned*);
  int (*temperature_)(NvmlDevice, int, unsigned*);
  int (*power_)(NvmlDevice, unsigned*);
  int (*fields_)(NvmlDevice, int, NvmlField*);
  int (*reasons_)(NvmlDevice, unsigned long long*);
  NvmlDevice card_ = nullptr;
  bool started_ = false;
};

void add_reasons(DeviceState& to, const std::vector<std::string>& reasons) {
  for (const std::string& reason : reasons) {
    if (std::ranges::find(to.throttle_reasons, reason) == to.throttle_reasons.end()) {
      to.throttle_reasons.push_back(reason);
    }
  }
}

}  // namespace

std::vector<std::string> throttle_reasons(std::uint64_t mask) {
  constexpr int kBits = 64;
  constexpr std::array<const char*, 9> kNames{nullptr,  // idle
                                              nullptr,  // clocks somebody set
                                              "sw_power_cap",
                                              "hw_slowdown",
                                              "sync_boost",
                                              "sw_thermal_slowdown",
                                              "hw_thermal_slowdown",
                                              "hw_power_brake_slowdown",
                                              nullptr};  // a display's clock
  std::vector<std::string> reasons;
  for (std::size_t bit = 0; bit < kBits; ++bit) {
    if ((mask >> bit & 1U) == 0) {
      continue;
    }
    if (bit >= kNames.size()) {
      reasons.push_back(fmt::format("nvml_bit_{}", bit));
    } else if (kNames.at(bit) != nullptr) {
      reasons.emplace_back(kNames.at(bit));
    }
  }
  return reasons;
}

std::unique_ptr<CardMonitor> open_nvml(const std::string& pci_bus_id, const std::string& library) {
  auto card = std::make_unique<NvmlCard>(library);
  return card->start(pci_bus_id) ? std::move(card) : nullptr;
}

void ConditionWatch::while_working(Time now) {
  if (monitor_ == nullptr || (seen_ && now - read_ < kEvery)) {
    return;
  }
  DeviceState state = monitor_->state();
  if (seen_) {
    add_reasons(state, seen_->throttle_reasons);
  }
  seen_ = std::move(state);
  read_ = now;
}

DeviceState ConditionWatch::take() {
  if (monitor_ == nullptr) {
    return {};
  }
  DeviceState now = monitor_->state();
  if (!seen_) {
    return now;
  }
  DeviceState state = std::move(*seen_);
  seen_.reset();
  add_reasons(state, now.throttle_reasons);
  return state;
}

}  // namespace bench::kernels::cuda
