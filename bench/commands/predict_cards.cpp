#include "bench/commands/predict_cards.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/link_words.h"
#include "bench/predict/cards_fleet.h"
#include "bench/predict/cards_prediction.h"
#include "bench/predict/cards_report.h"
#include "bench/result/fleet.h"
#include "bench/run/gpu_files.h"
#include "bench/text/axis.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 8> kAccepted{"from",   "cards", "link",  "per-host",
                                                    "bucket", "dtype", "batch", "format"};
void refuse_other_options(const CommandWords& words, const std::vector<Option>& known) {
  for (const Option& argument : known) {
    if (words.has(argument.name) && std::ranges::find(kAccepted, argument.name) == kAccepted.end()) {
      throw UsageError(fmt::format("--{}: it does not go with --cards; accepted: --{}", argument.name,
                                   fmt::join(kAccepted, ", --")));
    }
  }
}

std::vector<const ResultDocument*> documents_of(const std::vector<NamedResult>& results) {
  std::vector<const ResultDocument*> documents;
  for (const NamedResult& result : results) {
    documents.push_back(&result.document);
  }
  return documents;
}

// Of several results, as of a folder, the one that holds training steps to predict from, or those of a fleet.
std::vector<NamedResult> one_card(const CommandWords& words) {
  std::vector<std::string> given = words.texts_of("from");
  given.insert(given.end(), words.before().begin(), words.before().end());
  std::vector<NamedResult> results = read_named_results("--from", given);
  if (results.size() > 1) {
    std::erase_if(results, [](const NamedResult& result) { return !holds_timeline(result.document); });
  }
  if (results.size() > 1 && is_fleet(documents_of(results))) {
    return results;
  }
  return {one_of("--from", std::move(results),
                 "of bench --sweep batch --mode train, or of --sweep cards with one rank among its ranks; or "
                 "one of each machine, with one workload on one model of device")};
}

}  // namespace

std::vector<Option> predict_cards_options() {
  std::vector<Option> options{{"cards", "AXIS", "train on so many cards, from the --from of one: 2,4,8"}};
  for (const Option& option : link_options()) {
    options.push_back(option);
  }
  return options;
}

ExitCode run_predict_cards(const CommandWords& words, const std::vector<Option>& options, std::size_t width) {
  refuse_other_options(words, options);
  CardsRequest request{.path = "", .cards = cards_of(words), .link = link_of(words)};
  if (const std::string* const batches = words.text_of("batch")) {
    request.batches = parse_axis("--batch", *batches);
  }
  if (const std::string* const dtypes = words.text_of("dtype")) {
    request.dtypes = parse_words("--dtype", *dtypes, {"fp32", "tf32", "fp16", "bf16"});
  }
  const std::string chosen = words.choice_of("format");
  const std::vector<NamedResult> from = one_card(words);
  const DeviceInfo& device = from.front().document.context.device;
  request.link.require_kind(device.kind);
  require_nvlink(request.link, device.name);
  request.link = request.link.of_cards(linked_card(device.name));
  std::vector<CardsPrediction> of_each;
  for (const NamedResult& result : from) {
    request.path = result.path;
    of_each.push_back(predict_cards(result.document, request, link_catalogue()));
  }
  const CardsPrediction prediction =
      of_each.size() == 1 ? of_each.front() : join_machines(documents_of(from), of_each);
  std::cout << (chosen == "json"  ? cards_json(prediction)
                : chosen == "csv" ? cards_csv(prediction)
                                  : page_as(chosen, cards_page(prediction), width));
  return ExitCode::done;
}

}  // namespace bench
