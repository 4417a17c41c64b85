#include "bench/generate/memory.h"

#include <algorithm>
#include <cmath>

#include "bench/stats/bisection.h"

namespace bench {
namespace {

constexpr double kOneGibibyte = 1 << 30;
// Activations of a prompt, in values of 16 bits, as multiples of tokens · inner: 3.4 to 4.2 were measured
// with transformers.
constexpr double kActivations = 3.7;
constexpr double kActivationsLeast = 0.6;  // times that
constexpr double kActivationsMost = 1.3;
constexpr double kActivationBytes = 2;
constexpr int kWholeWidth = 16;  // of weights that are not quantised
// The driver's context, the libraries' kernels and workspaces.
constexpr double kLeastDriver = 0.3 * kOneGibibyte;
constexpr double kMostDriver = 1.0 * kOneGibibyte;
// Of the weights: norms, rotary tables and buffers.
constexpr double kOff16 = 0.03;
// Formats of few bits keep some tensors in more and have buffers: 2 to 20 % more than bits and scales was
// measured.
constexpr double kQuantisedMore = 1.08;
constexpr double kOffQuantised = 0.12;

bool surely_fits(const GenerationSetting& setting, std::int64_t batch, std::int64_t context,
                 std::int64_t prompt) {
  return fits(generation_memory(setting, batch, context, prompt), setting.format,
              room_on(*setting.gpu, setting.cards)) == Fits::yes;
}

}  // namespace

std::int64_t chunk_of(std::string_view engine) {
  constexpr std::int64_t kLlamaCpp = 512;
  constexpr std::int64_t kServers = 8192;
  return engine == "pytorch" ? 0 : engine == "llama.cpp" ? kLlamaCpp : kServers;
}

GenerationMemory generation_memory(const GenerationSetting& setting, std::int64_t batch, std::int64_t context,
                                   std::int64_t prompt) {
  const WeightBytes weights = weight_bytes(*setting.model, setting.format, setting.engine);
  const std::int64_t chunk = chunk_of(setting.engine);
  const std::int64_t all = prompt * (chunk == 0 ? batch : 1);
  const auto at_once = static_cast<double>(chunk == 0 ? all : std::min(all, chunk));
  const LanguageModel& model = *setting.model;
  const double inner = static_cast<double>(model.inner) * std::max(1, model.experts_taken);
  const double more =
      setting.format.width < kWholeWidth && setting.engine != "llama.cpp" ? kQuantisedMore : 1;
  return {.weights = more * (weights.layers + weights.output + weights.embedding),
          .kv = static_cast<double>(batch) * static_cast<double>(kv_values(model, context)) *
                setting.kv_bytes_a_value,
          .activations = kActivations * kActivationBytes * at_once * inner};
}

Interval memory80(const GenerationMemory& memory, const WeightFormat& format) {
  const double off = memory.weights * (format.width == kWholeWidth ? kOff16 : kOffQuantised);
  return {.low = memory.total() -
                 std::sqrt(off * off / 4 + std::pow((1 - kActivationsLeast) * memory.activations, 2)),
          .high = memory.total() +
                  std::sqrt(off * off + std::pow((kActivationsMost - 1) * memory.activations, 2))};
}

Interval room_on(const Gpu& gpu, int cards) {
  const auto usable = static_cast<double>(usable_bytes(gpu));
  return {.low = cards * (usable - kMostDriver), .high = cards * (usable - kLeastDriver)};
}

Fits fits(const GenerationMemory& memory, const WeightFormat& format, const Interval& room) {
  const Interval needed = memory80(memory, format);
  return needed.high <= room.low ? Fits::yes : needed.low > room.high ? Fits::no : Fits::perhaps;
}

std::int64_t largest_batch(const GenerationSetting& setting, std::int64_t context, std::int64_t prompt,
                           std::int64_t most) {
  return largest_of(most, [&](std::int64_t batch) { return surely_fits(setting, batch, context, prompt); });
}

std::int64_t largest_context(const GenerationSetting& setting, std::int64_t batch, std::int64_t most) {
  return largest_of(most,
                    [&](std::int64_t context) { return surely_fits(setting, batch, context, context); });
}

}  // namespace bench
