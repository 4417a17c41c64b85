#include "bench/commands/predict_cards.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/commands/link_words.h"
#include "bench/measure/axis.h"
#include "bench/predict/cards_prediction.h"
#include "bench/predict/cards_report.h"
#include "bench/run/gpu_files.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 8> kAccepted{"from",   "cards", "link",  "per-host",
                                                    "bucket", "dtype", "batch", "format"};
void refuse_other_options(const CommandWords& words, const std::vector<CommandArgument>& known) {
  for (const CommandArgument& argument : known) {
    if (words.has(argument.name) && std::ranges::find(kAccepted, argument.name) == kAccepted.end()) {
      throw UsageError(fmt::format("--{}: it does not go with --cards; accepted: --{}", argument.name,
                                   fmt::join(kAccepted, ", --")));
    }
  }
}

// Of several results, as of a folder, the one that holds training steps to predict from.
NamedResult one_card(const CommandWords& words) {
  std::vector<std::string> given = words.texts_of("from");
  given.insert(given.end(), words.before().begin(), words.before().end());
  std::vector<NamedResult> results = read_named_results("--from", given);
  if (results.size() > 1) {
    std::erase_if(results, [](const NamedResult& result) { return !holds_timeline(result.document); });
  }
  return one_of("--from", std::move(results),
                "of bench --sweep batch --mode train, or of --sweep cards with one rank among its ranks");
}

}  // namespace

std::vector<CommandArgument> predict_cards_options() {
  std::vector<CommandArgument> options{
      {"cards", "AXIS", "train on so many cards, from the --from of one: 2,4,8"}};
  for (const CommandArgument& option : link_options()) {
    options.push_back(option);
  }
  return options;
}

ExitCode run_predict_cards(const CommandWords& words, const std::vector<CommandArgument>& options,
                           std::size_t width) {
  refuse_other_options(words, options);
  CardsRequest request{.path = "", .cards = cards_of(words), .link = link_of(words)};
  if (const std::string* const batches = words.text_of("batch")) {
    request.batches = parse_axis("--batch", *batches);
  }
  if (const std::string* const dtypes = words.text_of("dtype")) {
    request.dtypes = parse_words("--dtype", *dtypes, {"fp32", "tf32", "fp16", "bf16"});
  }
  const std::string* const format = words.text_of("format");
  const std::string chosen =
      format == nullptr ? "text"
                        : parse_words("--format", *format, {"text", "markdown", "csv", "json"}).at(0);
  const NamedResult from = one_card(words);
  request.link.require_kind(from.document.context.device.kind);
  request.path = from.path;
  const CardsPrediction prediction = predict_cards(from.document, request, link_catalogue());
  std::cout << (chosen == "json"       ? cards_json(prediction)
                : chosen == "csv"      ? cards_csv(prediction)
                : chosen == "markdown" ? cards_markdown(prediction)
                                       : cards_text(prediction, width));
  return ExitCode::done;
}

}  // namespace bench
