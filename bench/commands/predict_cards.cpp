#include "bench/commands/predict_cards.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/axis.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"
#include "bench/measure/units.h"
#include "bench/predict/cards_prediction.h"
#include "bench/predict/cards_report.h"
#include "bench/run/gpu_files.h"
#include "bench/run/result_file.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 8> kAccepted{"from",   "cards", "link",  "per-host",
                                                    "bucket", "dtype", "batch", "format"};
constexpr std::int64_t kMostCards = 65536;

ResultDocument read(const std::string& option, const std::string& path) {
  try {
    return read_result(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

void refuse_other_options(const CommandWords& words, const std::vector<CommandArgument>& known) {
  for (const CommandArgument& argument : known) {
    if (words.has(argument.name) && std::ranges::find(kAccepted, argument.name) == kAccepted.end()) {
      throw UsageError(fmt::format("--{}: it does not go with --cards; accepted: --{}", argument.name,
                                   fmt::join(kAccepted, ", --")));
    }
  }
}

// A whole number of a point's params; 0 where there is none.
std::int64_t whole(const Json& params, const char* key) {
  const auto found = params.find(key);
  return found != params.end() && is_int64(*found) ? found->get<std::int64_t>() : 0;
}

// The medians of a collectives result.
MeasuredAllReduce measured_link(const std::string& path, const ResultDocument& document) {
  MeasuredAllReduce measured;
  std::map<double, double> by_size;
  for (const MeasuredPoint& point : document.benchmarks) {
    const auto operation = point.params.find("operation");
    const std::int64_t bytes = whole(point.params, "bytes");
    if (operation != point.params.end() && *operation == "all-reduce" && bytes > 0 &&
        point.stats.median_ns > 0) {
      measured.ranks = whole(point.params, "ranks");
      by_size[static_cast<double>(bytes)] = point.stats.median_ns;
    }
  }
  for (const auto& [bytes, ns] : by_size) {
    measured.points.push_back({.bytes = bytes, .ns = ns});
  }
  constexpr std::size_t kLeast = 2;
  if (document.sweep.name != "collectives" || measured.ranks < 2 || measured.points.size() < kLeast) {
    throw UsageError(fmt::format(
        "--link: {} holds no all-reduces of two sizes or more; give a result of bench --sweep collectives",
        quote(path)));
  }
  return measured;
}

void read_link(const CommandWords& words, const ResultDocument& document, CardsRequest& request) {
  const std::string* const text = words.text_of("link");
  if (text == nullptr) {
    std::vector<std::string> ids;
    for (const Link& link : link_catalogue().links) {
      ids.push_back(link.id);
    }
    throw UsageError(
        fmt::format("--link: what joins the cards is missing; accepted: {}, two of them for cards of a host "
                    "and for hosts "
                    "(nvlink3,ib-4x100g), or a result of bench --sweep collectives",
                    fmt::join(ids, ", ")));
  }
  const std::string* const per_host = words.text_of("per-host");
  if (text->ends_with(".json")) {
    if (per_host != nullptr) {
      throw UsageError("--per-host: a measured link has its own hosts; leave it out");
    }
    const ResultDocument measured = read("--link", *text);
    if (measured.context.device.kind != document.context.device.kind) {
      throw UsageError(fmt::format(
          "--link: {} was measured on a device of kind {}, the step on one of kind {}; give one of the same",
          quote(*text), printable(measured.context.device.kind), printable(document.context.device.kind)));
    }
    request.link = measured_link(*text, measured);
    request.link_path = *text;
    return;
  }
  const std::vector<std::string_view> names = split(*text, ',');
  if (names.size() > 2) {
    throw UsageError(fmt::format(
        "--link: {} was given; accepted: one link, or two, within a host and between hosts", quote(*text)));
  }
  CardLinks links{.inside = link_catalogue().get("--link", std::string(names.front()))};
  if (names.size() == 2) {
    links.between = link_catalogue().get("--link", std::string(names.back()));
    links.per_host = per_host == nullptr ? 8 : parse_count("--per-host", *per_host, 1, kMostCards);
  } else if (per_host != nullptr) {
    throw UsageError(
        "--per-host: what joins the hosts is missing; give --link with two, as nvlink3,ib-4x100g");
  }
  request.link = links;
}

}  // namespace

std::vector<CommandArgument> predict_cards_options() {
  return {{"cards", "AXIS", "train on so many cards, from the --from of one: 2,4,8"},
          {"link", "NAME|FILE",
           "with --cards: nvlink3, pcie4, …; between hosts nvlink3,ib-4x100g; or a result of bench --sweep "
           "collectives"},
          {"per-host", "N", "with two links: cards of a host (default: 8)"},
          {"bucket", "SIZE", "gradients added up at a time (default: 25MiB)"}};
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
  CardsRequest request{
      .path = paths.front(), .cards = parse_axis("--cards", *words.text_of("cards")), .link = CardLinks{}};
  if (request.cards.back() > kMostCards || request.cards.back() < 2) {
    throw UsageError(
        fmt::format("--cards: {} was given; accepted: 2 to {}", quote(*words.text_of("cards")), kMostCards));
  }
  if (const std::string* const bucket = words.text_of("bucket")) {
    request.bucket = parse_bytes("--bucket", *bucket);
  }
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
  const ResultDocument document = read("--from", request.path);
  read_link(words, document, request);
  const CardsPrediction prediction = predict_cards(document, request, link_catalogue());
  std::cout << (chosen == "json"       ? cards_json(prediction)
                : chosen == "csv"      ? cards_csv(prediction)
                : chosen == "markdown" ? cards_markdown(prediction)
                                       : cards_text(prediction, width));
  return ExitCode::done;
}

}  // namespace bench
