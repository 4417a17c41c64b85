// Bytes by category, and the tracker that every allocation on a device passes through.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace bench {

enum class MemoryCategory { weights, gradients, optimizer, activations, input, workspace, other };

inline constexpr std::array<MemoryCategory, 7> kMemoryCategories{
    MemoryCategory::weights,     MemoryCategory::gradients, MemoryCategory::optimizer,
    MemoryCategory::activations, MemoryCategory::input,     MemoryCategory::workspace,
    MemoryCategory::other};

std::string_view name_of(MemoryCategory category);

class MemoryByCategory {
 public:
  std::int64_t& operator[](MemoryCategory category) { return bytes_[static_cast<std::size_t>(category)]; }
  std::int64_t operator[](MemoryCategory category) const {
    return bytes_[static_cast<std::size_t>(category)];
  }
  std::int64_t total() const;
  // Bytes held whatever the batch: weights, gradients and optimizer state.
  std::int64_t fixed_part() const {
    return (*this)[MemoryCategory::weights] + (*this)[MemoryCategory::gradients] +
           (*this)[MemoryCategory::optimizer];
  }
  bool operator==(const MemoryByCategory&) const = default;

 private:
  std::array<std::int64_t, kMemoryCategories.size()> bytes_{};
};

// The memory a workload will hold, computed without running it.
struct MemoryPlan {
  MemoryByCategory at_peak;  // bytes live at the moment of the peak, by category; sums to peak
  std::int64_t peak = 0;     // bytes
  // The operation that runs at the peak: "backward layer1.0.conv1", or "packing classifier.0" where setup
  // takes more memory than a step. Empty if unknown.
  std::string peak_at{};
  std::int64_t setup_peak = 0;  // bytes held at most while getting ready; 0 where a step's are all there are
  MemoryByCategory in_step{};   // bytes held during a step, not used in full at each moment
  // Expected growth that the system sees beyond a step's bytes, such as a library's code; an estimate,
  // 0 where there is none.
  std::int64_t library = 0;
  // Results of all layers for the whole batch, each counted once, whether or not they are held at the same
  // time: the "feature maps" of the rule of thumb. 0 where it is not known.
  std::int64_t feature_maps = 0;
};

// Memory in use while one operation of a step runs.
struct MemoryMoment {
  std::string name;        // "forward layer1.0.conv1"
  MemoryByCategory bytes;  // what is live: memory reserved and unused at that moment is left out
};

// Counts live and peak bytes and refuses allocations beyond the cap.
class MemoryTracker {
 public:
  // No cap by default. A cap below what is live now only affects later allocations.
  void set_cap(std::optional<std::int64_t> bytes);
  std::optional<std::int64_t> cap() const { return cap_; }

  // Throws OutOfMemory, changing nothing, when the cap would be passed.
  void add(MemoryCategory category, std::int64_t bytes);
  void remove(MemoryCategory category, std::int64_t bytes) noexcept;

  const MemoryByCategory& live() const { return live_; }
  std::int64_t peak() const { return peak_; }
  const MemoryByCategory& at_peak() const { return at_peak_; }
  // Starts a new peak from what is live now.
  void reset_peak();

 private:
  std::optional<std::int64_t> cap_;
  MemoryByCategory live_;
  MemoryByCategory at_peak_;
  std::int64_t peak_ = 0;
};

// Counts bytes as in use while it lives, for memory that was not allocated through the device: where the
// device's memory is the host's, a host copy takes room from it too.
class MemoryReservation {
 public:
  // Throws OutOfMemory as MemoryTracker::add does.
  MemoryReservation(MemoryTracker& tracker, MemoryCategory category, std::int64_t bytes)
      : tracker_(tracker), category_(category), bytes_(bytes) {
    tracker_.add(category_, bytes_);
  }
  ~MemoryReservation() { tracker_.remove(category_, bytes_); }
  MemoryReservation(const MemoryReservation&) = delete;
  MemoryReservation& operator=(const MemoryReservation&) = delete;

 private:
  MemoryTracker& tracker_;
  MemoryCategory category_;
  std::int64_t bytes_;
};

}  // namespace bench
