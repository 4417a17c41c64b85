#include "kernels/networks/graph/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "bench/text/fingerprint.h"
#include "kernels/networks/graph/drawn_once.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kWorthThreads = 1 << 15;
constexpr std::int64_t kPiece = 65'536;  // values of a table

thread_local DrawnOnce* drawn_once = nullptr;

LayerParameter parameter_of(const Graph& graph, Graph::Value value, Slot slot) {
  const Node& node = graph[value];
  if (node.layer != nullptr) {
    const auto all = node.layer->parameters(graph.place(value));
    const auto at = std::ranges::find(all, slot, &LayerParameter::slot);
    if (at != all.end()) {
      return *at;
    }
  }
  throw std::logic_error(node.name + " has no parameter " + std::string(name_of(slot)));
}

}  // namespace

std::uint64_t stream_of(std::string_view layer, std::string_view parameter) {
  Fnv1a hash;
  for (const std::string_view part : {layer, std::string_view("."), parameter}) {
    hash.add(part);
  }
  return hash.value();
}

void draw(std::span<float> values, const Uniform& start, std::string_view layer, Slot slot,
          std::uint64_t seed, std::int64_t from) {
  // As PyTorch names them.
  const std::string_view name = slot == Slot::mean                          ? "running_mean"
                                : slot == Slot::variance                    ? "running_var"
                                : slot == Slot::bias || slot == Slot::shift ? "bias"
                                                                            : "weight";
  const auto count = static_cast<std::int64_t>(values.size());
  fill_random(values, seed, stream_of(layer, name), static_cast<std::uint64_t>(from));
#pragma omp parallel for schedule(static) if (count > kWorthThreads)
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(start.centre + start.spread * static_cast<double>(values[i]));
  }
}

// A uniform distribution of half-width a has variance a²/3.
Uniform of_deviation(double deviation) {
  return {0, std::numbers::sqrt3 * deviation};
}

Uniform of_fan_in(std::int64_t fan_in, double gain) {
  return of_deviation(gain * std::sqrt(2.0 / static_cast<double>(fan_in)));
}

Uniform norm_start(Slot slot, double gain) {
  return slot == Slot::scale      ? Uniform{gain, 0.2 * gain}
         : slot == Slot::variance ? Uniform{1, 0.5}
                                  : Uniform{};
}

DrawnOnce::DrawnOnce(std::int64_t most_bytes) : left_(most_bytes) {
  if (drawn_once == nullptr) {
    drawn_once = this;
  }
}

DrawnOnce::~DrawnOnce() {
  if (drawn_once == this) {
    drawn_once = nullptr;
  }
}

std::vector<float> plain_parameter(const Graph& graph, Graph::Value value, Slot slot, std::uint64_t seed) {
  const Graph::Value owner = graph.owner_of(value, slot);
  std::vector<float> values(static_cast<std::size_t>(parameter_of(graph, owner, slot).count));
  const DrawnOnce::Key key{graph[owner].layer, graph[owner].name, slot, seed, values.size()};
  if (drawn_once != nullptr) {
    if (const auto known = drawn_once->known_.find(key); known != drawn_once->known_.end()) {
      return known->second;
    }
  }
  graph[owner].layer->init(graph.place(owner), slot, seed, 0, values);
  if (drawn_once != nullptr) {
    ++drawn_once->draws_;
    if (const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
        bytes <= drawn_once->left_) {
      drawn_once->left_ -= bytes;
      drawn_once->known_.emplace(key, values);
    }
  }
  return values;
}

PlainParameter plain_while_initialised(const Graph& graph, Graph::Value value, const SlotInfo& parameter) {
  const bool table = parameter_of(graph, value, parameter.slot).table;
  return {fmt::format("{} {}", graph[value].name, name_of(parameter.slot)),
          4 * (table ? std::min(kPiece, parameter.plain_count) : parameter.plain_count)};
}

void init_parameter(const Graph& graph, Graph::Value value, Slot slot, const StoredValue& input, Dtype dtype,
                    std::uint64_t seed, Operation& operation, Device& device, std::byte* place) {
  if (!parameter_of(graph, value, slot).table) {
    std::vector<float> plain = plain_parameter(graph, value, slot, seed);
    graph[value].layer->arrange(slot, input, plain);
    write_parameter(operation, slot, plain, device, place);
    return;
  }
  const SlotInfo& info = *operation.find(slot);
  const std::int64_t size = info.bytes / info.plain_count;
  const LayerPlace here = graph.place(value);
  std::vector<float> plain;
  std::vector<std::byte> stored;
  for (std::int64_t from = 0; from < info.plain_count; from += kPiece) {
    const std::int64_t count = std::min(kPiece, info.plain_count - from);
    plain.resize(static_cast<std::size_t>(count));
    graph[value].layer->init(here, slot, seed, from, plain);
    stored.resize(static_cast<std::size_t>(count * size));
    store({1, count, 1, 1, Layout::nhwc, size == 4 ? Dtype::fp32 : dtype}, plain, stored.data());
    device.upload(place + from * size, stored.data(), count * size);
  }
}

void write_parameter(Operation& operation, Slot slot, std::span<const float> plain, Device& device,
                     std::byte* place) {
  if (device.host_accessible()) {
    operation.pack(slot, plain, place);
    return;
  }
  std::vector<std::byte> packed(static_cast<std::size_t>(operation.find(slot)->bytes));
  operation.pack(slot, plain, packed.data());
  device.upload(place, packed.data(), static_cast<std::int64_t>(packed.size()));
}

std::vector<float> seeded_image(const Image& shape, std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t stream = stream_of("image", std::to_string(index));
  std::vector<float> image(static_cast<std::size_t>(shape.c * shape.h * shape.w));
  fill_random(image, seed, stream);

  // Each channel: noise, a wave of its own direction and length, and a brightness.
  constexpr std::size_t kTraits = 4;
  std::vector<float> traits(kTraits * static_cast<std::size_t>(shape.c));
  fill_random(traits, seed, stream + 1);
  const double contrast = index % 2 == 0 ? 1.0 : 0.4;
  std::size_t at = 0;
  for (std::int64_t c = 0; c < shape.c; ++c) {
    const float* trait = &traits[kTraits * static_cast<std::size_t>(c)];
    const double across = 20.0 * static_cast<double>(trait[0]) / static_cast<double>(shape.w);
    const double down = 20.0 * static_cast<double>(trait[1]) / static_cast<double>(shape.h);
    const auto brightness = static_cast<double>(trait[2]);
    for (std::int64_t y = 0; y < shape.h; ++y) {
      for (std::int64_t x = 0; x < shape.w; ++x, ++at) {
        const double wave =
            std::sin(across * static_cast<double>(x) + down * static_cast<double>(y) + trait[3]);
        image[at] = static_cast<float>(contrast * (0.5 * static_cast<double>(image[at]) + wave) + brightness);
      }
    }
  }
  return image;
}

}  // namespace bench::kernels
