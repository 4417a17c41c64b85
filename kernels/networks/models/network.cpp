#include "kernels/networks/models/network.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/quote.h"
#include "kernels/workloads/network/network_workload.h"

namespace bench::kernels {
namespace {

bool builds(const NetworkType& network, std::int64_t size) {
  try {
    network.build(size);
    return true;
  } catch (const ShapeTooSmall&) {
    return false;
  }
}

// Only searched for when an error message needs it.
std::int64_t smallest_image(const NetworkType& network) {
  std::int64_t size = network.image_step;
  while (size < kLargestImage && !builds(network, size)) {
    size += network.image_step;
  }
  return size;
}

[[noreturn]] void refuse(const NetworkType& network, const std::string& given) {
  const std::string numbers =
      network.image_step == 1 ? "whole numbers" : fmt::format("multiples of {}", network.image_step);
  const std::string side = given.substr(0, given.find('x'));
  const bool is_square = given == side + "x" + side;
  throw UsageError(
      fmt::format("--image-size: {} was given; accepted for {}: {} from {} to {} (pixels a side){}",
                  quote(given), network.name, numbers, smallest_image(network), kLargestImage,
                  is_square && whole_number(side) ? fmt::format(" (did you mean {}?)", side) : ""));
}

}  // namespace

std::int64_t image_size(const NetworkType& network, const WorkloadSpec& spec) {
  const std::string text = option_text(spec, "image-size", std::to_string(network.image_size));
  const auto size = whole_number(text);
  if (!size || *size < 1 || *size > kLargestImage || *size % network.image_step != 0) {
    refuse(network, text);
  }
  return *size;
}

Graph build_network(const NetworkType& network, const WorkloadSpec& spec) {
  if (!network.reads_images()) {
    NetworkSizes sizes;
    for (const WholeOption& option : network.options) {
      sizes[option.name] = option.read(spec);
    }
    return network.build_sized(sizes);
  }
  const std::int64_t size = image_size(network, spec);
  try {
    return network.build(size);
  } catch (const ShapeTooSmall&) {
    refuse(network, std::to_string(size));
  }
}

std::vector<Graph> small_networks(const NetworkType& network, const WorkloadSpec& spec) {
  std::vector<Graph> all;
  if (network.reads_images()) {
    constexpr std::int64_t kStep = 16;  // pixels; the networks halve their maps up to five times
    constexpr std::int64_t kLargest = 128;
    const std::int64_t own = image_size(network, spec);
    const std::int64_t step = std::lcm(kStep, network.image_step);
    for (std::int64_t size = step; size <= std::min(kLargest, own - 1); size += step) {
      if (builds(network, size)) {
        all.push_back(network.build(size));
      }
    }
  } else {
    constexpr std::int64_t kSmall = 8;  // tokens, words of a table
    NetworkSizes sizes;
    for (const WholeOption& option : network.options) {
      sizes[option.name] = std::min(option.read(spec), std::max(option.smallest, kSmall));
    }
    all.push_back(network.build_sized(sizes));
  }
  all.push_back(build_network(network, spec));
  return all;
}

std::vector<CommandOption> size_options(const NetworkType& network) {
  if (network.reads_images()) {
    const std::string multiple =
        network.image_step == 1 ? "" : fmt::format("a multiple of {} ", network.image_step);
    return {{"image-size", std::to_string(network.image_size),
             fmt::format("pixels a side of the images, {}up to {}", multiple, kLargestImage)}};
  }
  std::vector<CommandOption> all;
  for (const WholeOption& option : network.options) {
    all.push_back(option.declared());
  }
  return all;
}

NetworkRegistration::NetworkRegistration(const NetworkType& network) {
  registry<NetworkType>().add(network);
  registry<WorkloadType>().add(network_workload(network));
}

}  // namespace bench::kernels
