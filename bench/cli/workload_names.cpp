#include "bench/cli/workload_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/generate/catalogue.h"
#include "bench/registry.h"
#include "bench/text/axis.h"
#include "bench/text/letters.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/workload_reader.h"

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

// --input for a file's network that `option` means: "input_ids=1x384" of --sequence 384. Empty where it means
// none.
std::string sizes_with(const WorkloadType& type, const std::string& option, const std::string& value) {
  const auto input = std::ranges::find(type.options, "input", &CommandOption::name);
  const bool is_number =
      !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  if (!type.file || input == type.options.end() || !is_number) {
    return "";
  }
  const std::size_t rank = option == "sequence" ? 2 : 4;  // of tokens, of images
  const std::size_t first = option == "sequence" ? 1 : 2;
  std::vector<std::string> sizes;
  bool found = false;
  for (const std::string_view part : split(input->default_value, ',')) {
    const std::size_t equals = part.rfind('=');
    std::vector<std::string_view> dims = split(part.substr(equals + 1), 'x');
    if (equals != std::string_view::npos && dims.size() == rank) {
      std::fill(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end(), value);
      found = true;
    }
    sizes.push_back(fmt::format("{}{}", part.substr(0, equals + 1), fmt::join(dims, "x")));
  }
  return found && (option == "sequence" || option == "image-size") ? fmt::format("{}", fmt::join(sizes, ","))
                                                                   : "";
}

// Whether a file's network can have inputs of such sizes: its reader decides.
bool takes_sizes(const WorkloadFile& file, const std::string& sizes) {
  const WorkloadReader* const reader = registry<WorkloadReader>().find(file.format);
  if (reader == nullptr) {
    return false;
  }
  try {
    reader->read(file.path, {{"input", sizes}});
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

// "input_ids (batch x 128)".
std::string inputs_in_words(const WorkloadFile& file) {
  std::vector<std::string> inputs;
  for (const WorkloadInput& input : file.inputs) {
    inputs.push_back(fmt::format("{} ({})", printable(input.name), printable(input.shape)));
  }
  return fmt::format("{}", fmt::join(inputs, ", "));
}

}  // namespace

const WorkloadType* workload_called(std::string_view name) {
  if (const WorkloadType* const type = registry<WorkloadType>().find(name)) {
    return type;
  }
  if (name.find('+') != std::string_view::npos) {  // another network: unet++
    return nullptr;
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
  const std::string file = option == "--workload"
                               ? "; another network is a file for --onnx, which torch.onnx.export() writes"
                               : "";
  const std::string wrong = unknown_value(option, name, accepted);
  if (nearest(name, accepted)) {
    return wrong + file;
  }
  if (const auto model = nearest(name, models)) {
    return fmt::format("{} (did you mean the language model {}? see bench predict --workload {} --help)",
                       wrong, *model, *model);
  }
  return wrong + file;
}

std::string missing_option(const WorkloadType& type, const std::string& option, const std::string& value) {
  if (const std::string sizes = sizes_with(type, option, value); !sizes.empty()) {
    return takes_sizes(*type.file, sizes)
               ? fmt::format("--{}: {} was given, but {} is a file with inputs of its own; give --input {}",
                             option, quote(value), type.name, printable(sizes))
               : fmt::format(
                     "--{}: {} was given, but {} has fixed inputs: {}; leave the option out, or "
                     "export the file again with that size, or with dynamic axes",
                     option, quote(value), type.name, inputs_in_words(*type.file));
  }
  std::vector<std::string> own;
  for (const CommandOption& has : type.options) {
    own.push_back("--" + has.name);
  }
  return fmt::format("--{}: {} was given, but {} has no such option; it has {}", option, quote(value),
                     type.name, own.empty() ? "none" : fmt::format("{}", fmt::join(own, ", ")));
}

}  // namespace bench
