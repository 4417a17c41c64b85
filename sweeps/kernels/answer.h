// What a kernels sweep answers: the roofline, and what each operation reaches of it. Findings put it into
// words.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/model/step_limit.h"
#include "bench/result/result.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps {

// A point's rate over min(peak, intensity · bandwidth), and what limits it.
struct RooflineShare {
  const KernelResult* point = nullptr;
  Estimate reached;
  bool by_memory = false;   // the lower roof is memory's
  bool is_ceiling = false;  // the peak is this point's own rate
  bool is_predicted = false;
  StepLimit limit = StepLimit::unknown;

  bool from_cache() const { return by_memory && reached.value > 1.05; }
};

// The points of one operation in one dtype, hot and cold.
struct OperationAnswer {
  std::string label;  // "gemm/fp32"; multiply-adds on tensor cores have one of their own
  std::vector<const KernelResult*> points{};
  std::vector<RooflineShare> shares{};  // of its hot points; empty: none has a roof
  const RooflineShare* worst = nullptr;
  const RooflineShare* best = nullptr;

  std::string share_name() const { return "roofline_share/" + label; }
  // Multiply-adds probe the roofline: they fall short of it by design wherever memory is not the limit.
  bool is_probe() const { return points.front()->workload == "fma"; }
};

// The best multiply-adds in one dtype.
struct TensorCores {
  const KernelResult* with = nullptr;
  const KernelResult* without = nullptr;
  Estimate times{};  // as much as the ordinary units
};

struct KernelsAnswer {
  std::vector<KernelResult> points{};  // which all others point to
  Roofline roofline{};
  std::map<std::string, TensorCores> tensor_cores{};  // by dtype
  std::vector<OperationAnswer> operations{};          // in the order of the file
  const KernelResult* launch = nullptr;               // launch_point()

  KernelsAnswer() = default;
  KernelsAnswer(KernelsAnswer&&) = default;
  KernelsAnswer& operator=(KernelsAnswer&&) = default;
  KernelsAnswer(const KernelsAnswer&) = delete;
  KernelsAnswer& operator=(const KernelsAnswer&) = delete;
  ~KernelsAnswer() = default;
};
// `references`: names of the points that are to set the roofline; a file does not tell them.
KernelsAnswer kernels_answer(const ResultDocument& document, const std::set<std::string>& references);

// memory_bandwidth, cache_bandwidth, roof_incomplete, arithmetic_peak/<dtype>, ridge/<dtype>,
// tensor_cores/<dtype>, roofline_share/<workload>/<dtype>, cold_caches/<workload>/<dtype>, launch_round_trip,
// conditions; each only where points tell it.
std::vector<Finding> kernels_findings(const ResultDocument& document,
                                      const std::set<std::string>& references);
// Why there is none, and what to do: a sentence.
std::string no_roofline_in_words(const ResultDocument& document, const KernelsAnswer& answer,
                                 const std::set<std::string>& references);
// roofline_share/… and cold_caches/… of these.
std::vector<Finding> operation_findings(const std::vector<OperationAnswer>& operations);

// What to print first: names of findings; none where no point tells one.
std::vector<std::string> kernels_headlines(const KernelsAnswer& answer);
// The operation that falls shortest of its roofline first, then the roofline. Of a file's findings too.
void choose_kernels_headlines(const KernelsAnswer& answer, std::vector<Finding>& findings);

}  // namespace bench::sweeps
