// A training step under given settings: the device's time by batch and dtype from a batch result, the
// loader's from a workers result, copies from a transfer result, limits from a memory result.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/loading_model.h"
#include "bench/evaluate/evaluated_device.h"
#include "bench/model/cards_step.h"
#include "bench/model/parallel_step.h"
#include "bench/result/result.h"

namespace bench {

inline constexpr std::int64_t kMostWorkers = 256;  // of a host, and batches outstanding for each

struct ModelledStep {
  LoadedStep parts;               // of one accumulation
  double device_ns = 0;           // computing alone, without workers on its cores
  double fixed_ns = 0;            // of computing: what a step costs before any sample
  double launching_ns = 0;        // of computing: starting operations
  double exchanging_ns = 0;       // of computing: what several cards take longer than one
  double host_ns = 0;             // the host takes to launch all operations; 0: not known
  std::int64_t device_bytes = 0;  // at the peak; 0: not known
  double host_bytes = 0;          // of batches and workers; 0: not known
  // Standard deviations of the logarithm of the step's time: by the device's time, by the loader's model, and
  // of another run, which is as quick or slow in all settings.
  double device_deviation = 0;
  double loading_deviation = 0;
  double run_deviation = 0;
  double exchange_deviation = 0;    // by the link and by what steps of several cards take over their replay
  std::optional<CardsLoss> loss{};  // of several cards
  bool is_bound = false;            // of several cards whose loss nobody measured: a step takes longer
  std::optional<Interval> read90_ns{};  // of the step's time, where cards scale as they were read to

  double deviation() const;  // of the step's time in another run
};

struct BatchLimits {      // 0: none fits
  std::int64_t safe = 0;  // below 90 % of the cap
  std::int64_t largest = 0;
};

// What another number of cards brings, where it was read: throughput over that of the cards that were read
// times the ratio of cards.
struct CardsScaling {
  double likely = 1;
  Interval efficiency{};  // the same, 90 %
};

// Where nobody measured several cards: throughput of 8 cards over twice that of 4 at the same batch a card,
// on one DGX-1 or DGX A100. NVIDIA/DeepLearningExamples, commit 729963dd, READMEs: 66 pairs, their 5th, 50th
// and 95th percentile.
inline constexpr Interval kPublishedEfficiency{.low = 0.83, .high = 1.02};
inline constexpr double kPublishedMedian = 0.98;
inline constexpr std::int64_t kFewestPublished = 4;  // cards
inline constexpr std::int64_t kMostPublished = 8;
std::string published_scaling_in_words();

// Whose results a StepModel reads.
const std::vector<std::string>& advising_sweeps();

class StepModel {
 public:
  // Throws UsageError naming a file: two results of one sweep, results of two machines, devices, networks or
  // image sizes, a sweep that advises on nothing, no result of the batch and none of the workers sweep.
  explicit StepModel(const std::vector<EvaluatedFile>& files);

  // Of readings: the loader that they tell, which feeds a GPU, and the bytes of host memory that are for it;
  // 0: not known. Nothing else is known of the device.
  StepModel(std::unique_ptr<LoadingModel> loading, std::string mode, double host_memory);

  // How cards that train together are joined; without it what they exchange is not counted. Throws UsageError
  // for a link that was measured on another kind of device.
  void join_cards(CardsLink link, LinkCatalogue catalogue);
  // Or what so many bring, without a link.
  void scale_cards(std::int64_t cards, const CardsScaling& scaling) { scalings_[cards] = scaling; }

  // What was read of a card of so much memory.
  void limit_batches(const std::string& dtype, const BatchLimits& limits, std::int64_t cap) {
    limits_[dtype] = limits;
    memory_cap_ = cap;
  }

  // Throws UsageError for settings that no result here answers.
  void check(const TrainingSettings& settings) const;
  // Throws UsageError for a batch or a dtype that was not measured.
  ModelledStep at(const TrainingSettings& settings) const;
  Bottleneck loading_limit(const TrainingSettings& settings) const;

  const LoadingModel* loading() const { return loading_.get(); }                // nullptr: no workers result
  bool is_read() const { return loading_ && !loading_->facts().is_simulated; }  // by a person
  const EvaluatedDevice* device() const { return device_ ? &*device_ : nullptr; }  // no batch result
  const EvaluatedTask& task() const { return task_; }
  // A device that takes a time, which a workers result may have, says no mode.
  bool is_training() const { return task_.mode == "train" || task_.mode.empty(); }
  bool predicted() const { return device_ && device_->predicted; }
  bool crosses_bus() const { return crosses_bus_; }
  const CardsLink* link() const { return link_ ? &*link_ : nullptr; }
  std::int64_t cards_of_a_host(const TrainingSettings& settings) const {
    return link_ ? link_->cards_of_a_host(settings.cards, !crosses_bus_) : settings.cards;
  }
  bool knows_copies() const { return pinned_bytes_per_s_ > 0 && pageable_bytes_per_s_ > 0; }
  double copy_rate(bool pinned) const { return pinned ? pinned_bytes_per_s_ : pageable_bytes_per_s_; }
  std::vector<std::string> dtypes() const;
  std::vector<std::int64_t> batches(const std::string& dtype) const;  // measured, growing
  // What the memory holds below 90 % of the cap, and at most; none where that is not known.
  std::optional<std::int64_t> safe_batch(const std::string& dtype) const;
  std::optional<std::int64_t> largest_batch(const std::string& dtype) const;
  std::int64_t memory_cap() const { return memory_cap_; }      // of the device; 0: not known
  double host_memory() const { return host_memory_; }          // bytes; 0: not known
  const std::string& file_of(const std::string& sweep) const;  // empty: none was given

 private:
  struct DeviceStep {
    double ns = 0;
    double deviation = 0;
    std::int64_t bytes = 0;
    double gpu_ns = 0;  // of a prediction, as its host_ns; 0: not known
    double host_ns = 0;
    double exchanging_ns = 0;  // of ns
    double exchange_deviation = 0;
    std::optional<CardsLoss> loss{};
    bool is_bound = false;
  };
  DeviceStep device_step(const TrainingSettings& settings) const;
  DeviceStep one_card(const TrainingSettings& settings) const;
  // As one host's loader sees them: its own cards.
  TrainingSettings on_a_host(TrainingSettings settings) const {
    settings.cards = cards_of_a_host(settings);
    return settings;
  }
  std::optional<double> copy_ns(const TrainingSettings& settings) const;
  void read_fixed_times(const ResultDocument& batches, const ResultDocument* kernels);

  std::map<std::string, std::string> files_;  // by sweep
  EvaluatedTask task_;
  std::optional<EvaluatedDevice> device_;
  std::unique_ptr<LoadingModel> loading_;
  struct FixedTime {
    double ns = 0;            // t0, where it is significant
    double launching_ns = 0;  // at most
  };
  std::map<std::string, FixedTime> fixed_;     // by dtype
  std::map<std::string, BatchLimits> limits_;  // by dtype, of a memory result or as read
  std::optional<CardsLink> link_;
  std::map<std::int64_t, CardsScaling> scalings_;  // by cards
  LinkCatalogue catalogue_;
  bool crosses_bus_ = false;
  double pinned_bytes_per_s_ = 0;
  double pageable_bytes_per_s_ = 0;
  std::int64_t memory_cap_ = 0;
  double host_memory_ = 0;
};

}  // namespace bench
