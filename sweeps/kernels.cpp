// How close do operations come to the machine's limits?
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/text/units.h"
#include "sweeps/kernels/answer.h"
#include "sweeps/kernels/predicted.h"
#include "sweeps/kernels/roofline.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

// A workload without points of its own: each mode and dtype at one batch.
std::vector<KernelPoint> plain_points(const KernelRequest& request) {
  std::vector<KernelPoint> points;
  for (const std::string& mode : request.modes) {
    for (const Dtype dtype : request.dtypes) {
      for (const std::int64_t batch :
           request.batches.empty() ? std::vector<std::int64_t>{1} : request.batches) {
        for (const bool cold : {false, true}) {
          points.push_back(
              {.spec = {.mode = mode, .dtype = dtype, .batch = batch, .seed = request.seed, .options = {}},
               .cold = cold});
        }
      }
    }
  }
  return points;
}

// The points of one workload.
struct Offer {
  const WorkloadType* type;
  std::vector<KernelPoint> points;

  // Workloads with reference points come first, the ones with small batches leading.
  std::int64_t reference_batch() const {
    std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
    for (const KernelPoint& point : points) {
      smallest = point.is_reference ? std::min(smallest, point.spec.batch) : smallest;
    }
    return smallest;
  }
};

std::vector<Offer> offers_of(const SweepRequest& request, const std::vector<Dtype>& dtypes,
                             const Device& device) {
  std::vector<Offer> offers;
  for (const WorkloadType* type : request.workloads) {
    const KernelRequest asked{.modes = request.modes_given ? request.modes : type->modes,
                              .modes_given = request.modes_given,
                              .dtypes = dtypes,
                              .dtypes_given = !request.dtypes.empty(),
                              .batches = request.batches,
                              .seed = request.seed};
    offers.push_back({type, type->kernel_points ? type->kernel_points(asked, device) : plain_points(asked)});
  }
  std::ranges::stable_sort(offers, {}, &Offer::reference_batch);
  return offers;
}

// Options on the command line win over those that the point sets.
SweepPoint point_of(const SweepRequest& request, const WorkloadType& type, KernelPoint offered) {
  const std::string_view caches = offered.cold ? "cold" : "hot";
  WorkloadSpec spec = std::move(offered.spec);
  const std::string series = fmt::format("{}/{}/{}/{}", type.name, spec.mode, name_of(spec.dtype), caches);
  std::string name = "kernels/" + series;
  for (const CommandOption& option : type.options) {
    const bool is_set = spec.options.contains(option.name);
    std::string& value = spec.options[option.name];
    if (&type == request.workload && request.given_options.contains(option.name)) {
      value = request.workload_options.at(option.name).front();
    } else if (!is_set) {
      value = option.default_value;
    }
    if (is_set || value != option.default_value) {
      name += fmt::format("/{}:{}", option.name, value);
    }
  }
  Json params = params_of(type.name, spec);
  params["caches"] = caches;
  auto workload = type.configure(spec);
  return {.name = fmt::format("{}/batch:{}", name, spec.batch),
          .params = std::move(params),
          .spec = std::move(spec),
          .series = series + (offered.is_reference ? "/reference" : ""),
          .workload = std::move(workload),
          .cold = offered.cold,
          .is_reference = offered.is_reference};
}

SweepPlan plan_kernels(const SweepRequest& request, const Device& device) {
  const auto dtypes = request.dtypes.empty() ? default_dtypes(device) : request.dtypes;
  SweepPlan plan;
  plan.axes = {{"workload", Json::array()}, {"dtype", Json::array()}, {"caches", {"hot", "cold"}}};
  for (const Dtype dtype : dtypes) {
    plan.axes["dtype"].push_back(name_of(dtype));
  }
  const bool all = request.workloads.size() > 1;
  std::set<std::string> names;  // two sizes become one where the command line fixes them
  for (const Offer& offer : offers_of(request, dtypes, device)) {
    plan.axes["workload"].push_back(offer.type->name);
    for (const KernelPoint& offered : offer.points) {
      SweepPoint point = point_of(request, *offer.type, offered);
      // The model knows no caches, and of probes such as stream nothing: an operation asked for says so.
      const bool left_out = device.model() != nullptr && (offered.cold || (all && !can_be_predicted(point)));
      if (!left_out && names.insert(point.name).second) {
        plan.points.push_back(std::move(point));
      }
    }
  }
  return plan;
}

// Each point as rates, and the share of what the roofline allows.
std::vector<TextTable> rate_tables(const ResultDocument& document, const std::set<std::string>& references) {
  const KernelsAnswer answer = kernels_answer(document, references);
  const std::vector<KernelResult>& points = answer.points;
  if (points.empty()) {
    return {};
  }
  const Roofline& roofline = answer.roofline;
  const bool is_modelled = !modelled_points(document).empty();
  bool is_passed = false;  // the roofline
  TextTable table{
      .title = is_modelled
                   ? "Predicted rates of the kernels alone, and the share of the data sheet's roofline"
                   : "Rates, and the share of the measured roofline",
      .rows = {{"point",
                is_modelled ? fmt::format("step time ({})", level_in_words(Origin::predicted)) : "step time",
                "bandwidth", "arithmetic", "FLOP/B", Cell::staying("of the roofline"), ""}},
      .lists_points = true};
  for (const KernelResult& point : points) {
    const double bandwidth = point.bandwidth().value;
    const double rate = point.rate().value;
    const bool computes = point.flops > 0;
    const auto limit = roofline.limit(point);
    const double share = point.is_stream() && roofline.memory ? bandwidth / roofline.memory->rate.value
                         : limit                              ? rate / limit->value
                                                              : 0;
    constexpr double kPrintedAbove = 1.005;
    is_passed = is_passed || share >= kPrintedAbove;
    table.rows.push_back({point.short_name(),
                          point.step80_ns ? Cell::time80(point.step_ns.value, *point.step80_ns)
                                          : Cell::time(point.step_ns.value),
                          Cell::rate(bandwidth, "B/s"), computes ? Cell::rate(rate, "FLOP/s") : Cell(),
                          computes ? Cell::number(point.intensity()) : Cell(),
                          share > 0 ? Cell::share(share) : Cell(), Cell(point.mark)});
  }
  if (is_passed) {
    table.title += is_modelled ? " (above 100 %: Winograd's algorithm computes less than is counted)"
                               : " (above 100 %: data from a cache)";
  }
  if (!roofline.memory) {
    table.title = kernels_headlines(answer).empty()
                      ? "Rates"
                      : "Rates. " + no_roofline_in_words(document, answer, references);
  }
  return {table};
}

class KernelsSweep final : public Sweep {
 public:
  KernelsSweep(const SweepRequest& request, const Device& device) : plan_(plan_kernels(request, device)) {
    for (const SweepPoint& point : plan_.points) {
      if (point.is_reference) {
        references_.insert(point.name);
      }
    }
  }

  const SweepPlan& plan() const override { return plan_; }
  Point predicted(const SweepPoint& point, Device& device) const override {
    return predicted_kernel(point, device);
  }
  std::vector<Finding> findings(const ResultDocument& document) const override {
    return kernels_findings(document, references_);
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return rate_tables(document, references_);
  }

 private:
  SweepPlan plan_;
  std::set<std::string> references_;  // names of the points that set the roofline
};

const Registration<SweepType> BENCH_REGISTERED{
    SweepType{.name = "kernels",
              .question = "How close do operations come to the machine's limits?",
              .default_workload = "gemm",
              .covers = [](const WorkloadType& type) { return type.kernel_points != nullptr; },
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<KernelsSweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
