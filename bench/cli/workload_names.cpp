#include "bench/cli/workload_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/generate/catalogue.h"
#include "bench/registry.h"
#include "bench/text/letters.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

// By letters: what others call the networks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNetworksKnownAs{{
    {"gpt2", "gpt_small"},
    {"gpt2small", "gpt_small"},
    {"vitb16", "vit_base_16"},
    {"vitbasepatch16224", "vit_base_16"},
    {"bertbaseuncased", "bert_base"},
    {"bertlargeuncased", "bert_large"},
    {"distilbertbaseuncased", "distilbert"},
    {"yolov8small", "yolov8s"},
}};

}  // namespace

const WorkloadType* workload_called(std::string_view name) {
  if (const WorkloadType* const type = registry<WorkloadType>().find(name)) {
    return type;
  }
  const std::string wanted = letters(name);
  const auto* const other =
      std::ranges::find(kNetworksKnownAs, wanted, &std::pair<std::string_view, std::string_view>::first);
  if (other != kNetworksKnownAs.end()) {
    return registry<WorkloadType>().find(other->second);
  }
  const auto& all = registry<WorkloadType>().entries();
  const auto found =
      std::ranges::find_if(all, [&](const auto& type) { return letters(type->name) == wanted; });
  return found == all.end() ? nullptr : found->get();
}

std::string unknown_workload(std::string_view option, std::string_view name,
                             const std::vector<std::string>& accepted) {
  if (const LanguageModel* const model = language_models().find(name)) {
    return fmt::format(
        "{}: {} is a language model, of which this program predicts memory and speed: bench predict "
        "--workload {} --help",
        option, quote(name), model->id);
  }
  // Of a family whose models there are: "qwen3", "llama-4".
  const auto family = [](std::string_view of) {
    const std::string all = letters(of);
    return all.substr(0, all.find_first_of("0123456789"));
  };
  const std::vector<std::string> models = language_models().ids();
  if (std::ranges::any_of(models, [&](const std::string& id) { return family(id) == family(name); })) {
    return unknown_value(option, name, models);
  }
  std::string wrong = unknown_value(option, name, accepted);
  if (nearest(name, accepted)) {
    return wrong;
  }
  if (const auto model = nearest(name, models)) {
    return fmt::format("{} (did you mean the language model {}? see bench predict --workload {} --help)",
                       wrong, *model, *model);
  }
  return option == "--workload"
             ? wrong + "; another network is a file for --onnx, which torch.onnx.export() writes"
             : wrong;
}

}  // namespace bench
