#include "bench/generate/prediction.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace bench {
namespace {

constexpr double kThousand = 1000;

GenerationLimits limits_of(const GenerationRequest& request, const GenerationSetting& setting,
                           const GenerationCoefficients& coefficients) {
  GenerationLimits limits;
  const std::int64_t context = request.contexts.front();
  limits.largest_context =
      largest_context(setting, 1, std::max(request.model.context, request.contexts.back()));
  limits.largest_batch = largest_batch(setting, std::max(context, request.prompt.value_or(0)),
                                       request.prompt.value_or(context), kMostBatch);
  // Of the weights alone: an empty cache.
  for (std::int64_t batch = 1; batch <= kMostBatch; ++batch) {
    const PredictedTime step = predict_step(setting, coefficients, batch, 1);
    if (step.products_share >= step.memory_share) {
      limits.ridge_batch = batch;
      break;
    }
  }
  const auto thousand = static_cast<std::int64_t>(kThousand);
  limits.kv_bytes =
      static_cast<double>(kv_values(request.model, context + thousand) - kv_values(request.model, context)) *
      setting.kv_bytes_a_value;
  const PredictedTime before = predict_step(setting, coefficients, 1, context);
  const PredictedTime after = predict_step(setting, coefficients, 1, context + thousand);
  limits.kv_time = after;
  limits.kv_time.seconds = after.seconds - before.seconds;
  const double share = limits.kv_time.seconds / after.seconds;
  limits.kv_time.interval80 = {.low = after.interval80.low * share, .high = after.interval80.high * share};
  GenerationSetting in_int4 = setting;
  in_int4.format = *weight_format("int4", setting.engine);
  limits.bytes_in_int4 = generation_memory(in_int4, 1, 1, 1).weights;
  limits.rows = rows_measured(setting, coefficients);
  limits.refusal = engine_refusal(setting.engine, *setting.gpu);
  return limits;
}

std::optional<double> cost_per_million(const GenerationRequest& request, const Gpu& gpu, std::int64_t batch,
                                       double step_s) {
  if (!request.prices) {
    return {};
  }
  const auto price = request.prices->by_device.find(gpu.id);
  if (price == request.prices->by_device.end()) {
    return {};
  }
  constexpr double kMillion = 1e6;
  constexpr double kSecondsAnHour = 3600;
  const double hour = cost_per_hour(price->second, *request.prices, gpu.power_w) * request.cards;
  return hour / kSecondsAnHour * step_s / static_cast<double>(batch) * kMillion;
}

}  // namespace

GenerationPrediction predict_generation(GenerationRequest request,
                                        const GenerationCoefficients& coefficients) {
  GenerationPrediction prediction{.request = std::move(request), .points = {}, .limits = {}};
  const GenerationRequest& asked = prediction.request;
  for (std::size_t gpu = 0; gpu < asked.gpus.size(); ++gpu) {
    for (std::size_t format = 0; format < asked.formats.size(); ++format) {
      const GenerationSetting setting{.gpu = &asked.gpus[gpu],
                                      .cards = asked.cards,
                                      .engine = asked.engine,
                                      .model = &asked.model,
                                      .format = asked.formats[format]};
      prediction.limits.push_back(limits_of(asked, setting, coefficients));
      const bool runs = prediction.limits.back().refusal.empty();
      const Interval room = room_on(*setting.gpu, asked.cards);
      for (const std::int64_t context : asked.contexts) {
        const std::int64_t prompt = asked.prompt.value_or(context);
        const PredictedTime first = predict_prompt(setting, coefficients, prompt);
        for (const std::int64_t batch : asked.batches) {
          const GenerationMemory memory =
              generation_memory(setting, batch, std::max(context, prompt), prompt);
          const PredictedTime step = predict_step(setting, coefficients, batch, context);
          prediction.points.push_back(
              {.gpu = gpu,
               .format = format,
               .context = context,
               .batch = batch,
               .prompt = prompt,
               .memory = memory,
               .memory80 = memory80(memory, setting.format),
               .fit = runs ? fits(memory, setting.format, room) : Fits::no,
               .step = step,
               .first = first,
               .cost_per_million = cost_per_million(asked, *setting.gpu, batch, step.seconds)});
        }
      }
    }
  }
  return prediction;
}

}  // namespace bench
