// What the model of eager PyTorch was fitted to, as results/calibration.json holds it (bench-calibration/1).
// docs/predict-model.md has the formulas; tools/calibrate makes the file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/json.h"
#include "bench/model/network_terms.h"
#include "bench/model/sustained.h"
#include "bench/stats/estimate.h"

namespace bench {

// Rows of published measurements that the fit read.
struct MeasuredRows {
  std::string source;  // "timm pytorch2.4.0-cu124 rtx4090"
  std::int64_t rows = 0;
};

// How a step computes.
enum class NumberKind {
  fp32,
  tf32,
  autocast,
  cast_whole,
};

// What a network does most.
enum class NetworkKind {
  convolutions,
  depthwise,
  attention,
};

// Coefficients of one width of numbers.
struct CoefficientSet {
  struct Layout {
    std::array<double, kProductClasses> flops{};  // times longer than at the sustained rate
    std::array<double, kProductClasses> grads{};
    std::array<double, kTraffics> bytes{};  // times longer than at the memory's bandwidth
  };
  std::vector<std::string> chips;  // that were measured
  std::vector<int> capabilities;   // their compute capabilities
  std::vector<MeasuredRows> measured;
  Layout channels_first;
  Layout channels_last;
  double bandwidth_hbm = 1;  // reached, over the data sheet's
  double bandwidth_gddr6x = 1;
  double bandwidth_other = 1;
  double tile = 0;
  double launch_s = 0;       // of the GPU, an operation
  double overlap = 1;        // exponent that joins the GPU's time with the host's
  double joules = 0;         // of an operation of tensor cores at 12 nm
  double joules_fp32 = 0;    // of one of the fp32 cores
  double shrink = 0;         // exponent of the process
  double cast_whole = 1;     // GPU time of a model cast whole over autocast's coefficients
  double host_train = 1;     // host time of a launch in training, over inference's
  double host_launch_s = 0;  // of the host, an operation: the mean of the machines measured

  bool measured_chip(const std::string& chip) const;
  bool measured_capability(int compute_capability) const;
};

// Steps of one kind, and the chips that they were measured on.
struct MeasuredKind {
  NumberKind numbers = NumberKind::fp32;
  bool train = false;
  NetworkKind network = NetworkKind::convolutions;
  std::vector<std::string> chips;
};

// What a step costs where none of its kind was measured: deviations of the logarithm, by leaving such steps
// out of the fit.
struct UnmeasuredSpread {
  double numbers = 0;  // steps of another dtype were measured
  double mode = 0;     // in the other mode
  double network = 0;  // of other networks
};

// Deviations of the logarithm of predicted over measured time, for families that the fit had not seen.
struct ModelSpread {
  double card = 0;              // of a card's bias
  double rest = 0;              // of a network on a card
  double scale = 1;             // makes 80 % of the rows lie in their intervals
  double ratio_half_width = 0;  // of the 80 % interval of the logarithm of two cards' ratio
};

// torch.compile: factors on an eager step.
struct CompiledFactors {
  std::vector<std::string> chips;
  std::vector<MeasuredRows> measured;
  std::array<double, kTraffics> bytes{};  // 1 where it changes nothing
  double gpu = 1;
  double launch_s = 0;
};

// Matrix products on one kind of units.
struct ProductUnit {
  std::vector<int> capabilities;  // compute capabilities of the cards measured
  OperationEnergy energy;
  double reach = 1;      // of the sustained rate
  double edge = 0;       // values that a side of a tile costs in addition
  double ends = 0;       // terms of the sum that a tile's start and end cost
  double whole = 0;      // share of rounding up to whole waves
  double bandwidth = 1;  // reached, over the data sheet's
  double launch_s = 0;
  double norm = 1;          // exponent that joins arithmetic with memory
  double cache = 1;         // bandwidth of the L2 cache over the memory's
  double split_s = 0;       // of adding the parts of a split sum
  double half_width80 = 0;  // of the logarithm of predicted over measured time, for a card that was left out
};

// See products.h.
struct ProductCoefficients {
  std::vector<std::string> cards;  // ids of those measured
  ProductUnit tensor;
  ProductUnit cores;
  double half_rate = 1;               // on the rate of cards that halve sums in fp32
  double doubled = 1;                 // on the fp32 rate of chips with doubled fp32 cores
  double elsewhere_half_width80 = 0;  // of a generation, a dtype or a kind of sums that was not measured
  double power_half_width80 = 0;      // of what power allows
  std::vector<std::pair<int, int>> tiles;
  std::vector<int> splits;
};

struct ModelCoefficients {
  CoefficientSet fp32;
  CoefficientSet bits16;    // fp16, bf16 and tf32 on tensor cores
  double host_spread = 0;   // deviation of the logarithm of host_launch_s between machines
  double power_spread = 0;  // of what power allows: cooling and clocks differ between machines
  UnmeasuredSpread unmeasured;
  std::vector<MeasuredKind> kinds;
  ModelSpread image;     // networks of images
  ModelSpread language;  // language models
  CompiledFactors compiled;
  ProductCoefficients products;
  double context_bytes = 0;  // the driver's context and the libraries' kernels
  double slack = 1;          // the allocator's blocks over their tensors
  Interval slack80;          // that 80 % of the networks measured need
};

// Throws UsageError naming the field that is missing, of the wrong type or not positive, or the schema.
ModelCoefficients coefficients_from_json(const Json& document);

}  // namespace bench
