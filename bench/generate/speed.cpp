#include "bench/generate/speed.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

using Logs = std::array<double, GenerationCoefficients::kLogs>;
enum At : std::size_t { kShare, kFixed, kPromptRate, kStepRate };

// Cards before Pascal were not measured: a judgement, of the logarithm of time.
constexpr int kOldestMeasured = 60;
constexpr double kOlder = 0.5;
// Sequences whose products have the rate of a step, and that of a prompt.
constexpr double kFewSequences = 32;
constexpr double kManySequences = 512;
constexpr double kOverlapPower = 4;  // memory and products overlap, the longer one decides

double longer_of(double memory, double products) {
  return std::pow(std::pow(memory, kOverlapPower) + std::pow(products, kOverlapPower), 1 / kOverlapPower);
}

std::string memory_class(const Gpu& gpu) {
  return gpu.memory_kind.starts_with("hbm")     ? "hbm"
         : gpu.memory_kind.starts_with("lpddr") ? "shared"
                                                : "gddr";
}

std::optional<double> rate_in(const Gpu& gpu, Dtype dtype) {
  const auto found = gpu.flops_per_s.find(dtype);
  return found == gpu.flops_per_s.end() ? std::nullopt : std::optional(found->second);
}

// llama.cpp sums products in fp16, where that is twice as fast.
double peak_of(const Gpu& gpu, std::string_view engine) {
  const double fp32 = rate_in(gpu, Dtype::fp32).value_or(0);
  const auto fp16 = rate_in(gpu, Dtype::fp16);
  const double doubled = engine == "llama.cpp" && gpu.halves_sums ? 2 : 1;
  return std::max(fp32, fp16.value_or(0) * doubled);
}

const GenerationCoefficients::Combination& combination_of(const GenerationSetting& setting,
                                                          const GenerationCoefficients& coefficients) {
  const std::string memory = memory_class(*setting.gpu);
  const bool has_cores = memory != "gddr" || rate_in(*setting.gpu, Dtype::fp16).has_value();
  const auto found = std::ranges::find_if(coefficients.combinations, [&](const auto& each) {
    return each.engine == setting.engine && each.memory == memory && each.bits == setting.format.width &&
           each.has_tensor_cores == has_cores;
  });
  if (found == coefficients.combinations.end()) {
    throw UsageError("results/generation.json: no coefficients of " + setting.engine + " with " + memory +
                     " memory");
  }
  return *found;
}

double deviation_named(const GenerationCoefficients& coefficients, const std::string& name) {
  const auto found = coefficients.deviations.find(name);
  if (found == coefficients.deviations.end()) {
    throw UsageError("results/generation.json: deviations has no " + name);
  }
  return found->second;
}

// What the card, the model and the engine decide.
struct Terms {
  const GenerationSetting& setting;
  const GenerationCoefficients& coefficients;
  const GenerationCoefficients::Combination& combination;
  GenerationCoefficients::Chip chip;
  double rate_scale = 1;  // of FLOP/s, next to the reference card
  double parts = 1;       // by which cards divide bytes and products
  double exchange_s = 0;  // of a layer

  Terms(const GenerationSetting& given, const GenerationCoefficients& known)
      : setting(given), coefficients(known), combination(combination_of(given, known)) {
    const Gpu& gpu = *given.gpu;
    const auto found = known.chips.find(gpu.chip);
    chip = found != known.chips.end()
               ? found->second
               : GenerationCoefficients::Chip{.deviation = deviation_named(known, "chip"),
                                              .rate_deviation = deviation_named(known, "rate_chip")};
    if (gpu.compute_capability < kOldestMeasured) {
      chip.deviation = std::sqrt(chip.deviation * chip.deviation + kOlder * kOlder);
    }
    const std::map<std::string, double> values{{"peak", peak_of(gpu, given.engine)},
                                               {"bandwidth", gpu.bytes_per_s},
                                               {"power", gpu.power_w},
                                               {"fp32", rate_in(gpu, Dtype::fp32).value_or(0)}};
    for (const auto& [name, exponent] : known.exponents) {
      rate_scale *= std::pow(values.at(name) / known.reference.at(name), exponent);
    }
    if (given.cards > 1) {
      const bool tensors = shares_tensors(given.engine);
      parts = tensors ? given.cards : 1;
      exchange_s = std::exp(tensors ? known.tensors_log : known.layers_log);
    }
  }

  double bytes_of(double tokens) const {
    const LanguageModel& model = *setting.model;
    return (body_parameters_read(model, tokens) * setting.format.bits +
            static_cast<double>(matrix_parameters(model)) * setting.format.output_bits) /
           kBitsAByte;
  }

  double memory_s(const Logs& logs, double bytes) const {
    return bytes / (setting.gpu->bytes_per_s * parts * std::exp(logs[kShare]));
  }
  double products_s(double log_rate, double work) const {
    return work / (std::exp(log_rate) * rate_scale * parts);
  }
  double overhead_s(const Logs& logs) const {
    return setting.model->layers * (std::exp(logs[kFixed]) + exchange_s);
  }
};

// `seconds` of logarithms, at the middle; the interval from its slopes.
PredictedTime with_interval(const Terms& terms, const std::function<double(const Logs&)>& seconds,
                            bool is_prompt, const std::string& rest) {
  const auto& [engine, memory, bits, has_cores, rows, middle, covariance] = terms.combination;
  Logs logs = middle;
  logs[kPromptRate] += terms.chip.rate_log;
  logs[kStepRate] += terms.chip.rate_log;
  const LanguageModel& model = *terms.setting.model;
  const GenerationCoefficients::Factor factor = model.experts > 0  ? terms.coefficients.experts
                                                : model.window > 0 ? terms.coefficients.window
                                                                   : GenerationCoefficients::Factor{};
  const double of_chip = is_prompt ? 0 : terms.chip.log + factor.log;
  const double value = seconds(logs);
  Logs slopes{};
  constexpr double kStep = 1e-4;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    Logs moved = logs;
    moved[i] += kStep;
    slopes[i] = (std::log(seconds(moved)) - std::log(value)) / kStep;
  }
  double variance = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = 0; j < logs.size(); ++j) {
      variance += slopes[i] * slopes[j] * covariance[i][j];
    }
  }
  const auto& known = terms.coefficients;
  const auto add = [&](double deviation_of_log) { variance += deviation_of_log * deviation_of_log; };
  add(slopes[kFixed] * deviation_named(known, engine == "pytorch" ? "host_without_graphs" : "host"));
  const double of_rate = slopes[kPromptRate] + slopes[kStepRate];
  add(of_rate * terms.chip.rate_deviation);
  add(of_rate * deviation_named(known, "rate_source"));
  add(deviation_named(known, rest));
  if (!is_prompt) {
    add(terms.chip.deviation);
    add(deviation_named(known, "source"));
    add(factor.deviation);
  }
  const double spread = std::exp(kNormal80 * std::sqrt(variance));
  const double predicted = value * std::exp(of_chip);
  return {.seconds = predicted, .interval80 = {.low = predicted / spread, .high = predicted * spread}};
}

std::map<std::string, double> as_numbers(const Field& object) {
  std::map<std::string, double> numbers;
  object.for_each([&](const std::string& key, const Field& field) { numbers[key] = field.number(); });
  return numbers;
}

GenerationCoefficients::Factor factor_of(const Field& field) {
  return {.log = field.at("log").number(), .deviation = field.at("deviation").number()};
}

Logs logs_of(const Field& list) {
  Logs logs{};
  for (std::size_t i = 0; i < logs.size(); ++i) {
    logs[i] = list.at(i).number();
  }
  return logs;
}

}  // namespace

std::string engine_refusal(std::string_view engine, const Gpu& gpu) {
  // Their documents' supported hardware: vLLM 0.14, SGLang 0.5, TensorRT-LLM 0.18. The others run on all
  // cards of the catalogue.
  struct Requirement {
    std::string_view engine;
    int compute_capability;
  };
  constexpr std::array<Requirement, 3> kRequired{{{"vllm", 70}, {"sglang", 75}, {"tensorrt-llm", 80}}};
  const auto* const required = std::ranges::find(kRequired, engine, &Requirement::engine);
  if (required == kRequired.end() || gpu.compute_capability >= required->compute_capability) {
    return {};
  }
  const auto version = [](int capability) { return fmt::format("{}.{}", capability / 10, capability % 10); };
  return fmt::format("{} does not run on it: it needs compute capability {} or higher, and the card has {}",
                     engine, version(required->compute_capability), version(gpu.compute_capability));
}

std::vector<std::string> GenerationCoefficients::engines() const {
  std::vector<std::string> engines;
  for (const Combination& each : combinations) {
    if (std::ranges::find(engines, each.engine) == engines.end()) {
      engines.push_back(each.engine);
    }
  }
  return engines;
}

GenerationCoefficients generation_coefficients(const Json& document) {
  const Field root(document);
  GenerationCoefficients read;
  const Field list = root.at("combinations");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Field each = list.at(i);
    GenerationCoefficients::Combination one{.engine = each.at("engine").string(),
                                            .memory = each.at("memory").string(),
                                            .bits = static_cast<int>(each.at("bits").integer()),
                                            .has_tensor_cores = each.at("tensor_cores").json().get<bool>(),
                                            .rows = static_cast<int>(each.at("rows").integer()),
                                            .logs = logs_of(each.at("logs"))};
    const Field covariance = each.at("covariance");
    for (std::size_t line = 0; line < one.covariance.size(); ++line) {
      one.covariance[line] = logs_of(covariance.at(line));
    }
    read.combinations.push_back(std::move(one));
  }
  const Field chips = root.at("chips");
  chips.for_each([&](const std::string& name, const Field& chip) {
    read.chips[name] = {.log = chip.at("log").number(),
                        .deviation = chip.at("deviation").number(),
                        .rate_log = chip.at("rate_log").number(),
                        .rate_deviation = chip.at("rate_deviation").number()};
  });
  read.reference = as_numbers(root.at("reference"));
  read.exponents = as_numbers(root.at("exponents"));
  read.deviations = as_numbers(root.at("deviations"));
  read.experts = factor_of(root.at("experts"));
  read.window = factor_of(root.at("window"));
  const Field cards = root.at("cards_log");
  read.tensors_log = cards.at("tensors").number();
  read.layers_log = cards.at("layers").number();
  return read;
}

int rows_measured(const GenerationSetting& setting, const GenerationCoefficients& coefficients) {
  return combination_of(setting, coefficients).rows;
}

bool shares_tensors(std::string_view engine) {
  return engine != "llama.cpp" && engine != "pytorch";
}

PredictedTime predict_step(const GenerationSetting& setting, const GenerationCoefficients& coefficients,
                           std::int64_t batch, std::int64_t context) {
  const Terms terms(setting, coefficients);
  const LanguageModel& model = *setting.model;
  const auto sequences = static_cast<double>(batch);
  const double bytes = terms.bytes_of(sequences) +
                       sequences * static_cast<double>(kv_values(model, context)) * setting.kv_bytes_a_value;
  const double attention = 4.0 * model.layers * model.heads * model.head_size * static_cast<double>(context);
  const double work =
      sequences *
      (2 * (body_parameters_used(model) + static_cast<double>(matrix_parameters(model))) + attention);
  const double prompts =
      std::clamp(std::log(sequences / kFewSequences) / std::log(kManySequences / kFewSequences), 0.0, 1.0);
  const auto rate_of = [&](const Logs& logs) {
    return logs[kStepRate] + prompts * (logs[kPromptRate] - logs[kStepRate]);
  };
  PredictedTime time = with_interval(
      terms,
      [&](const Logs& logs) {
        return longer_of(terms.memory_s(logs, bytes), terms.products_s(rate_of(logs), work)) +
               terms.overhead_s(logs);
      },
      false, batch > 1 ? "rest_batches" : "rest");
  Logs logs = terms.combination.logs;
  const double all =
      longer_of(terms.memory_s(logs, bytes), terms.products_s(rate_of(logs), work)) + terms.overhead_s(logs);
  time.memory_share = terms.memory_s(logs, bytes) / all;
  time.products_share = terms.products_s(rate_of(logs), work) / all;
  return time;
}

PredictedTime predict_prompt(const GenerationSetting& setting, const GenerationCoefficients& coefficients,
                             std::int64_t tokens) {
  const Terms terms(setting, coefficients);
  const LanguageModel& model = *setting.model;
  const auto length = static_cast<double>(tokens);
  const double work = 2 * length * body_parameters_used(model) +
                      2.0 * model.layers * model.heads * model.head_size * length * length +
                      2 * static_cast<double>(matrix_parameters(model));
  return with_interval(
      terms,
      [&](const Logs& logs) {
        return longer_of(terms.memory_s(logs, terms.bytes_of(length)),
                         terms.products_s(logs[kPromptRate], work)) +
               terms.overhead_s(logs);
      },
      true, "rest_prompt");
}

}  // namespace bench
