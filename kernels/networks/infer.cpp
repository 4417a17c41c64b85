#include "kernels/networks/infer.h"

#include <map>
#include <mutex>
#include <tuple>

#include "bench/error.h"
#include "kernels/networks/fuse.h"
#include "kernels/networks/input.h"
#include "kernels/networks/launch.h"
#include "kernels/networks/oracle.h"
#include "kernels/workloads/compare.h"

namespace bench::kernels {
namespace {

std::vector<Sample> samples_for(const Graph& graph, std::uint64_t seed) {
  std::vector<Sample> samples;
  for (std::uint64_t index = 0; index < distinct_samples(graph); ++index) {
    samples.push_back(seeded_sample(graph, seed, index));
  }
  return samples;
}

// A sweep asks for the same answers at every batch and dtype.
const std::vector<std::vector<float>>& expected_logits(const NetworkType& network, const WorkloadSpec& spec) {
  using Key = std::tuple<std::string, std::map<std::string, std::string>, std::uint64_t>;
  static std::mutex mutex;
  static std::map<Key, std::vector<std::vector<float>>> known;
  const std::scoped_lock lock(mutex);
  std::map<std::string, std::string> sizes;
  for (const WorkloadType::Option& option : size_options(network)) {
    const auto given = spec.options.find(option.name);
    sizes[option.name] = given == spec.options.end() ? option.default_value : given->second;
  }
  const Key key{network.name, sizes, spec.seed};
  auto at = known.find(key);
  if (at == known.end()) {
    const Graph graph = build_network(network, spec);
    at = known.emplace(key, reference_outputs(graph, samples_for(graph, spec.seed), spec.seed)).first;
  }
  return at->second;
}

}  // namespace

std::uint64_t distinct_samples(const Graph& graph) {
  constexpr std::int64_t kExpensive = 100'000'000'000;  // multiply-adds: some seconds on two cores
  return graph.macs() > kExpensive ? 1 : 2;
}

double logits_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 1e-4;  // seen: 1e-6, Winograd included; products of tf32 or bf16 in its place would miss by 1e-3
    case Dtype::tf32:
    case Dtype::fp16:
      return 1e-2;
    case Dtype::bf16:
      return 6e-2;  // seen: 0.5 % for ResNet and VGG, 2.5 % for MobileNetV2 with its clipped activations
  }
  return 0;
}

NetworkPlan plan_inference(const NetworkType& network, const WorkloadSpec& spec, Device& device) {
  const Target target{.batch = spec.batch,
                      .dtype = spec.dtype,
                      .layouts = layouts_for(device, spec.dtype),
                      .implementation = {}};
  return plan_network(fuse_for_inference(build_network(network, spec)), target, device);
}

InferWorkload::InferWorkload(const NetworkType& network, const WorkloadSpec& spec, Device& device)
    : network_(network), spec_(spec), executor_(plan_inference(network, spec, device), device, spec.seed) {
  executor_.set_input(samples_for(executor_.plan().graph, spec.seed));
  recorded_ = record_if_asked(spec, device, [this] { executor_.run(); });
}

Verification InferWorkload::verify() {
  executor_.poison_output();
  step();
  return compare_output();
}

Verification InferWorkload::compare_output() {
  return compare_rows(executor_.output(), expected_logits(network_, spec_), logits_tolerance(spec_.dtype),
                      "the logits of a sample");
}

}  // namespace bench::kernels
