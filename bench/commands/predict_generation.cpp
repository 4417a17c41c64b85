#include "bench/commands/predict_generation.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/cli/terminal.h"
#include "bench/commands/network_words.h"
#include "bench/generate/catalogue.h"
#include "bench/generate/model_file.h"
#include "bench/generate/prediction.h"
#include "bench/result/result_json.h"
#include "bench/run/gpu_files.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"

namespace bench {
namespace {

constexpr std::int64_t kDefaultContext = 4096;
constexpr std::int64_t kMostTokens = std::int64_t{1} << 24;
constexpr std::int64_t kMostSequences = std::int64_t{1} << 16;
constexpr std::int64_t kMostCardsShared = 64;
constexpr std::size_t kMostPoints = 10'000;

std::vector<std::string> engine_names() {
  return generation_speeds().engines();
}

ModelFile model_asked(const CommandWords& words) {
  const std::string* const name = words.text_of("workload");
  const std::string* const path = words.text_of("model");
  if (name != nullptr && path != nullptr) {
    throw UsageError(
        fmt::format("--model: {} was given, and --workload as well; give one of them", quote(*path)));
  }
  if (path != nullptr) {
    ModelFile file = read_model_file("--model", *path);
    file.model.id = std::filesystem::path(*path).filename() == "config.json"
                        ? std::filesystem::absolute(*path).parent_path().filename().string()
                        : std::filesystem::path(*path).stem().string();
    return file;
  }
  const LanguageModel* const model = name == nullptr ? nullptr : language_models().find(*name);
  if (model == nullptr) {
    throw UsageError(unknown_value("--workload", name == nullptr ? "" : *name, language_models().ids()));
  }
  return {.model = *model};
}

std::vector<std::string> formats_of(const std::string& engine) {
  std::vector<std::string> names = weight_format_names();
  std::erase_if(names, [&](const std::string& each) { return !weight_format(each, engine); });
  return names;
}

// Unless asked, as the file says, or as the model is published: gpt-oss in 4 bits, others in 16.
std::vector<WeightFormat> formats_asked(const CommandWords& words, const std::string& engine,
                                        const ModelFile& file) {
  const std::string* const text = words.text_of("weights");
  if (text == nullptr && file.format) {
    return {*file.format};
  }
  const std::vector<std::string> all = weight_format_names();
  if (text == nullptr && !file.stored_as.empty() && !weight_format(file.stored_as, engine)) {
    throw UsageError(fmt::format(
        "--model: the weights are stored as {}, which {}; say with --weights as what they are run: {}",
        quote(file.stored_as),
        std::ranges::find(all, file.stored_as) != all.end() ? engine + " does not have" : "is not known",
        fmt::join(formats_of(engine), ", ")));
  }
  const std::string usual = !file.stored_as.empty()           ? file.stored_as
                            : file.model.has_biases_and_sinks ? "mxfp4"
                                                              : "bf16";
  std::vector<WeightFormat> formats;
  for (const std::string& name :
       parse_words("--weights", text == nullptr ? usual : *text, weight_format_names())) {
    const std::optional<WeightFormat> format = weight_format(name, engine);
    if (!format) {
      throw UsageError(fmt::format("--weights: {} was given, which {} does not have; accepted: {}",
                                   quote(name), engine, fmt::join(formats_of(engine), ", ")));
    }
    formats.push_back(*format);
  }
  return formats;
}

// "8k" is "8192", as contexts are named.
std::string with_thousands(const std::string& text) {
  static const std::regex kNumber(R"((^|[,:])([1-9][0-9]{0,4})[kK](?=$|[,:]))");
  std::string plain;
  std::string::const_iterator from = text.begin();
  for (std::sregex_iterator found(text.begin(), text.end(), kNumber), end; found != end; ++found) {
    plain += fmt::format("{}{}{}", std::string(from, (*found)[0].first), found->str(1),
                         1024 * std::stoll(found->str(2)));
    from = (*found)[0].second;
  }
  return plain + std::string(from, text.end());
}

std::vector<std::int64_t> counts_asked(const CommandWords& words, const std::string& option,
                                       std::int64_t otherwise, std::int64_t most) {
  const std::string* const text = words.text_of(option);
  if (text == nullptr) {
    return {otherwise};
  }
  std::vector<std::int64_t> values =
      parse_axis("--" + option, option == "context" ? with_thousands(*text) : *text);
  if (values.back() > most) {
    throw UsageError(fmt::format("--{}: {} was given; accepted: at most {}", option, values.back(), most));
  }
  return values;
}

ExitCode run_generation(const Command& command, const std::vector<std::string>& words) {
  const CommandWords asked(command, words);
  if (asked.has_dashes() || !asked.before().empty()) {
    throw UsageError(fmt::format("predict: {} is no option; accepted: bench predict {}",
                                 quote(asked.before().empty() ? "--" : asked.before().front()),
                                 command.usage));
  }
  if (const std::string* const catalogue = asked.text_of("gpus")) {
    use_gpu_catalogue("--gpus", *catalogue);
  }
  const std::string format = asked.choice_of("format");
  GenerationRequest request;
  request.engine = asked.choice_of("framework");
  const ModelFile file = model_asked(asked);
  request.model = file.model;
  const std::string* const gpus = asked.text_of("gpu");
  if (gpus == nullptr) {
    throw UsageError(
        "--gpu: a card is missing; give one or more as --gpu rtx3060-12gb,rtx4090, or --gpu all (bench "
        "--list --gpus)");
  }
  request.gpus = gpus_in_list("--gpu", *gpus);
  request.formats = formats_asked(asked, request.engine, file);
  if (asked.has("prompt")) {
    request.prompt = parse_count("--prompt", with_thousands(*asked.text_of("prompt")), 1, kMostTokens);
  }
  const std::int64_t usual = std::min(kDefaultContext, request.model.context);
  request.contexts = counts_asked(asked, "context", std::max(usual, request.prompt.value_or(0)), kMostTokens);
  request.batches = counts_asked(asked, "batch", 1, kMostSequences);
  if (const std::string* const cards = asked.text_of("cards")) {
    request.cards = static_cast<int>(parse_count("--cards", *cards, 1, kMostCardsShared));
  }
  if (const std::string* const prices = asked.text_of("price")) {
    request.prices =
        renamed(parse_prices(*prices), [](const std::string& word) { return gpu_id_of("--price", word); });
    for (const auto& [device, price] : request.prices->by_device) {
      if (std::ranges::find(request.gpus, device, &Gpu::id) == request.gpus.end()) {
        throw UsageError(fmt::format("--price: {} is none of the cards of --gpu", quote(device)));
      }
    }
  }
  const std::size_t points =
      request.gpus.size() * request.formats.size() * request.contexts.size() * request.batches.size();
  if (points > kMostPoints) {
    throw UsageError(
        fmt::format("--batch: these cards, weights, contexts and batches make {} rows; accepted: at most {}",
                    points, kMostPoints));
  }
  const GenerationPrediction prediction = predict_generation(std::move(request), generation_speeds());
  std::cout << formatted(format,
                         {.page = [&] { return generation_page(prediction, asked.has("verbose")); },
                          .csv = [&] { return generation_csv(prediction); },
                          .json = [&] { return to_indented_text(generation_json(prediction)); }},
                         terminal_width(STDOUT_FILENO));
  return ExitCode::done;
}

Command generation_command() {
  return {
      .name = "predict",
      .usage = "--gpu LIST|all --workload MODEL|--model FILE [options]",
      .brief = "",
      .question = "would a language model fit on other GPUs, how fast would it generate, for how many users?",
      .options = {{"gpu", "LIST", "ids (bench --list --gpus), a file card.json, or all", gpus_to_predict},
                  {"gpus", "FILE", "a catalogue for --gpu in place of the program's"},
                  {"workload", "MODEL", "{}", [] { return language_models().ids(); }},
                  {"model", "FILE", "your own: Hugging Face's config.json, or a GGUF file"},
                  {"weights", "LIST", "{} (default: bf16, of gpt_oss mxfp4, of a file as stored)",
                   weight_format_names},
                  {"context", "AXIS", "tokens that a sequence holds: 512,8192 or 8k (default: 4096)"},
                  {"batch", "AXIS", "users, or sequences, at once: 1,4,16 (default: 1)"},
                  {"prompt", "N", "tokens of a prompt (default: the context)"},
                  {"framework", "NAME", "{} (default: llama.cpp)", engine_names},
                  {"cards", "N", "of a kind, that share the model (default: 1)"},
                  {"price", "LIST", "of an hour or a purchase, as rtx4090=0.4/h"},
                  format_option(),
                  {"verbose", "", "what limits the speed of each card"}},
      .notes = {"Nothing is measured: speeds follow from data sheets and published measurements. Intervals "
                "hold 80 %; docs/generate.md says how far they err."},
      .examples =
          {"bench predict --gpu rtx3060-12gb --workload llama3.1_8b --weights int4,bf16",
           "bench predict --gpu rtx3090 --cards 2 --workload llama3.1_70b --weights int4",
           "bench predict --gpu h100-sxm --framework vllm --workload qwen2.5_32b --batch 1:64:x4 --price "
           "h100-sxm=2.5/h",
           "bench predict --gpu all --model Qwen3-8B/config.json --format csv"},
      .run = run_generation,
      .form_words = "--workload llama3.1_8b"};
}

}  // namespace

const Command* generation_form(const std::vector<std::string>& words) {
  static const Command command = generation_command();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    constexpr std::string_view kWorkload = "--workload";
    if (word == "--model" || word.starts_with("--model=")) {
      return &command;
    }
    const bool is_apart = word == kWorkload && i + 1 < words.size();
    const std::string name = is_apart ? words[i + 1]
                             : word.starts_with(std::string(kWorkload) + "=")
                                 ? word.substr(kWorkload.size() + 1)
                                 : "";
    if (language_models().find(name) != nullptr) {
      return &command;
    }
  }
  return nullptr;
}

}  // namespace bench
