#include "bench/commands/predict_cards.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <string_view>

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
  std::vector<std::string> paths = words.texts_of("from");
  paths.insert(paths.end(), words.before().begin(), words.before().end());
  if (paths.size() != 1) {
    throw UsageError(fmt::format(
        "--from: {} results were given; accepted with --cards: one, of bench --sweep batch --mode train",
        paths.size()));
  }
  CardsRequest request{.path = paths.front(), .cards = cards_of(words), .link = {}};
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
  const ResultDocument document = read_named_result("--from", request.path);
  request.link = link_of(words, document.context.device.kind);
  const CardsPrediction prediction = predict_cards(document, request, link_catalogue());
  std::cout << (chosen == "json"       ? cards_json(prediction)
                : chosen == "csv"      ? cards_csv(prediction)
                : chosen == "markdown" ? cards_markdown(prediction)
                                       : cards_text(prediction, width));
  return ExitCode::done;
}

}  // namespace bench
