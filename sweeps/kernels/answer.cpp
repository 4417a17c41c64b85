#include "sweeps/kernels/answer.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/stats/ratio.h"

namespace bench::sweeps {
namespace {

std::string label_of(const KernelResult& point) {
  return point.mode == kTensorCores ? fmt::format("{}/{}/{}", point.workload, point.mode, point.dtype)
                                    : fmt::format("{}/{}", point.workload, point.dtype);
}

RooflineShare share_of(const KernelResult& point, const Roofline& roofline) {
  const auto ridge = roofline.ridge(point.dtype);
  const RoofCeiling& peak = roofline.compute.at(point.dtype);
  const LimitReport report =
      find_limit({.flops = point.flops, .sample_bytes = point.bytes, .launches = point.launches},
                 {.flops_per_s = peak.rate.value, .bytes_per_s = roofline.memory->rate.value, .source = ""},
                 point.step_ns, roofline.launch_ns);
  return {.point = &point,
          .reached = ratio(point.rate(), *roofline.limit(point)),
          .by_memory = ridge && point.intensity() < ridge->value,
          .is_ceiling = peak.name == point.name,
          .is_predicted = peak.name == kDataSheet,
          .limit = report.limit};
}

std::vector<OperationAnswer> operations_of(const std::vector<KernelResult>& points,
                                           const Roofline& roofline) {
  std::vector<OperationAnswer> operations;
  for (const KernelResult& point : points) {
    const std::string label = label_of(point);
    auto own = std::ranges::find(operations, label, &OperationAnswer::label);
    if (own == operations.end()) {
      own = operations.insert(own, {.label = label});
    }
    own->points.push_back(&point);
    if (!point.is_stream() && !point.cold && !point.above_peak && roofline.limit(point)) {
      own->shares.push_back(share_of(point, roofline));
    }
  }
  for (OperationAnswer& operation : operations) {
    if (!operation.shares.empty()) {
      const auto [worst, best] = std::ranges::minmax_element(
          operation.shares, {}, [](const RooflineShare& share) { return share.reached.value; });
      operation.worst = &*worst;
      operation.best = &*best;
    }
  }
  return operations;
}

const KernelResult* best_multiply_adds(const std::vector<KernelResult>& points, std::string_view mode,
                                       const std::string& dtype) {
  const KernelResult* found = nullptr;
  for (const KernelResult& point : points) {
    if (point.workload == "fma" && point.mode == mode && point.dtype == dtype && !point.above_peak &&
        (found == nullptr || point.rate().low() > found->rate().low())) {
      found = &point;
    }
  }
  return found;
}

}  // namespace

KernelsAnswer kernels_answer(const ResultDocument& document, const std::set<std::string>& references) {
  KernelsAnswer answer;
  answer.points = read_results(document);
  answer.roofline = roofline_in(document, references);
  for (const auto& [dtype, peak] : answer.roofline.compute) {
    const KernelResult* const with = best_multiply_adds(answer.points, kTensorCores, dtype);
    const KernelResult* const without = best_multiply_adds(answer.points, "forward", dtype);
    if (with != nullptr && without != nullptr) {
      answer.tensor_cores[dtype] = {
          .with = with,
          .without = without,
          .times = throughput_ratio({with->step_ns, with->rounds, with->flops},
                                    {without->step_ns, without->rounds, without->flops})};
    }
  }
  answer.operations = operations_of(answer.points, answer.roofline);
  answer.launch = launch_point(answer.points);
  return answer;
}

std::vector<std::string> kernels_headlines(const KernelsAnswer& answer) {
  std::vector<std::string> names;
  const OperationAnswer* slowest = nullptr;
  for (const OperationAnswer& operation : answer.operations) {
    const auto reached = [](const OperationAnswer& one) { return one.worst->reached.value; };
    if (operation.worst != nullptr && !operation.is_probe() && reached(operation) < 1 &&
        (slowest == nullptr || reached(operation) < reached(*slowest))) {
      slowest = &operation;
    }
  }
  if (slowest != nullptr) {
    names.push_back(slowest->share_name());
  }
  const std::size_t with_peaks = 3;
  if (answer.roofline.memory) {
    names.emplace_back("memory_bandwidth");
  }
  std::vector<std::pair<double, std::string>> peaks;
  for (const auto& [dtype, peak] : answer.roofline.compute) {
    peaks.emplace_back(peak.rate.value, dtype);
  }
  std::ranges::stable_sort(peaks, std::ranges::greater{}, &std::pair<double, std::string>::first);
  peaks.resize(std::min(peaks.size(), with_peaks - (slowest != nullptr ? 1 : 0)));
  for (const auto& [rate, dtype] : peaks) {
    names.push_back("arithmetic_peak/" + dtype);
  }
  for (const auto& [dtype, cores] : answer.tensor_cores) {
    names.push_back("tensor_cores/" + dtype);
  }
  if (answer.launch != nullptr) {
    names.emplace_back("launch_round_trip");
  }
  return names;
}

void choose_kernels_headlines(const KernelsAnswer& answer, std::vector<Finding>& findings) {
  std::vector<std::string> names = kernels_headlines(answer);
  if (names.empty()) {
    names.emplace_back("memory_bandwidth");  // says why there is no roofline
  }
  set_headlines(findings, names);
}

}  // namespace bench::sweeps
