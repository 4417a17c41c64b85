#include "bench/commands/predict_cards.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/asked_prediction.h"
#include "bench/commands/link_words.h"
#include "bench/predict/cards_prediction.h"
#include "bench/predict/cards_report.h"
#include "bench/result/fleet.h"
#include "bench/run/gpu_files.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 9> kAccepted{"from",  "cards", "link",   "per-host", "bucket",
                                                    "dtype", "batch", "format", "verbose"};

void refuse_other_options(const CommandWords& words, const std::vector<Option>& known) {
  for (const Option& argument : known) {
    if (words.has(argument.name) && std::ranges::find(kAccepted, argument.name) == kAccepted.end()) {
      throw UsageError(fmt::format("--{}: it does not go with --cards; accepted: --{}", argument.name,
                                   fmt::join(kAccepted, ", --")));
    }
  }
}

// Of several results, as of a folder, the one that holds training steps to predict from, or those of a fleet.
std::vector<NamedResult> results_of_one(const CommandWords& words) {
  std::vector<std::string> given = words.texts_of("from");
  given.insert(given.end(), words.before().begin(), words.before().end());
  std::vector<NamedResult> results = read_named_results("--from", given);
  if (results.size() > 1) {
    std::erase_if(results, [](const NamedResult& result) { return !holds_timeline(result.document); });
  }
  std::vector<const ResultDocument*> documents;
  for (const NamedResult& result : results) {
    documents.push_back(&result.document);
  }
  if (results.size() > 1 && pool(documents).size() == 1) {
    return results;
  }
  return {one_of(
      "--from", std::move(results),
      "of bench --sweep batch --mode train, or of --sweep cards with one rank among its ranks; or "
      "one of each machine, with one workload on one model of device; or a card that is not here by --gpu",
      given)};
}

// Of results of one card.
CardsPrediction from_results(const CommandWords& words, CardsRequest request) {
  if (const std::string* const batches = words.text_of("batch")) {
    request.batches = parse_axis("--batch", *batches);
  }
  if (const std::string* const dtypes = words.text_of("dtype")) {
    request.dtypes = parse_words("--dtype", *dtypes, {"fp32", "tf32", "fp16", "bf16"});
  }
  const std::vector<NamedResult> from = results_of_one(words);
  const ResultDocument& first = from.front().document;
  request.link.require_kind(first.context.device.kind);
  require_nvlink(request.link, first.context.device.name);
  request.link = request.link.of_cards(linked_card(first.context.device.name));
  std::vector<EvaluatedFile> files;
  for (const NamedResult& result : from) {
    files.push_back({.path = result.path, .document = result.document});
  }
  CardsPrediction prediction = predict_cards(pooled_devices(files).front(), request, link_catalogue());
  prediction.workload = workload_of(first);
  return prediction;
}

// Of a card that is not here, whose own step is predicted too.
CardsPrediction from_data_sheet(const CommandWords& words) {
  if (words.has("from")) {
    throw UsageError("--from: with --cards a card is measured, or predicted by --gpu; give one of the two");
  }
  const AskedPrediction asked(words, {.mode = "train", .dtypes = "fp32,fp16"});
  const PredictionRequest& request = asked.request();
  if (request.gpus.size() > 1) {
    throw UsageError(
        fmt::format("--gpu: {} cards were given; with --cards give one of them, or compare them by bench "
                    "evaluate --gpu {} "
                    "--cards {}",
                    request.gpus.size(), *words.text_of("gpu"), *words.text_of("cards")));
  }
  if (request.spec.mode != "train") {
    throw UsageError(
        fmt::format("--cards: cards train together, and mode is {}; give --mode train. For inference nothing "
                    "need be predicted: two cards do twice what one does",
                    quote(request.spec.mode)));
  }
  const Gpu& gpu = request.gpus.front();
  const CardsLink link = link_of(words, &gpu);
  link.require_kind("cuda");
  require_nvlink(link, gpu);
  const Prediction one = asked.predicted();
  one.refuse_nothing();
  std::vector<std::string> left_out;
  CardsPrediction prediction =
      predict_cards(devices_of(one, request, model_coefficients(), left_out).devices.front(),
                    {.cards = cards_of(words),
                     .link = link.of_cards(linked_card(gpu)),
                     .at_saturation = !words.has("batch") && !words.has("verbose")},
                    link_catalogue());
  prediction.workload = one.workload;
  return prediction;
}

}  // namespace

std::vector<Option> predict_cards_options() {
  std::vector<Option> options{{"cards", "AXIS", "train on so many of one --gpu, or of the --from: 2,4,8"}};
  for (const Option& option : link_options()) {
    options.push_back(option);
  }
  return options;
}

ExitCode run_predict_cards(const CommandWords& words, const std::vector<Option>& options, std::size_t width) {
  const std::string chosen = words.choice_of("format");
  const bool is_predicted = words.has("gpu");
  if (!is_predicted) {
    refuse_other_options(words, options);
  }
  const CardsPrediction prediction =
      is_predicted ? from_data_sheet(words)
                   : from_results(words, {.cards = cards_of(words), .link = link_of(words)});
  std::cout << formatted(chosen,
                         {.page = [&] { return cards_page(prediction, words.has("verbose")); },
                          .csv = [&] { return cards_csv(prediction); },
                          .json = [&] { return cards_json(prediction); }},
                         width);
  return ExitCode::done;
}

}  // namespace bench
