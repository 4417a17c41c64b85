#include "bench/commands/link_words.h"

#include <map>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/measure/axis.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"
#include "bench/measure/units.h"
#include "bench/run/gpu_files.h"
#include "bench/run/result_file.h"

namespace bench {
namespace {

constexpr std::int64_t kMostCards = 65536;

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

}  // namespace

ResultDocument read_named_result(const std::string& option, const std::string& path) {
  try {
    return read_result(path);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

std::vector<std::int64_t> cards_of(const CommandWords& words) {
  const std::string& text = *words.text_of("cards");
  std::vector<std::int64_t> cards = parse_axis("--cards", text);
  if (cards.back() > kMostCards || cards.back() < 2) {
    throw UsageError(fmt::format("--cards: {} was given; accepted: 2 to {}", quote(text), kMostCards));
  }
  return cards;
}

std::vector<CommandArgument> link_options() {
  return {{"link", "NAME|FILE",
           "with --cards: nvlink3, pcie4, …; between hosts nvlink3,ib-4x100g; or a result of bench --sweep "
           "collectives"},
          {"per-host", "N", "with two links: cards of a host (default: 8)"},
          {"bucket", "SIZE", "gradients added up at a time (default: 25MiB)"}};
}

void refuse_link_without_cards(const CommandWords& words) {
  for (const CommandArgument& option : link_options()) {
    if (words.has(option.name) && !words.has("cards")) {
      throw UsageError(fmt::format("--{}: it goes with --cards, as in --cards 2,4,8", option.name));
    }
  }
}

CardsLink link_of(const CommandWords& words, const std::string& device_kind) {
  CardsLink found;
  if (const std::string* const bucket = words.text_of("bucket")) {
    found.bucket = parse_bytes("--bucket", *bucket);
  }
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
    const ResultDocument measured = read_named_result("--link", *text);
    if (measured.context.device.kind != device_kind) {
      throw UsageError(fmt::format(
          "--link: {} was measured on a device of kind {}, the step on one of kind {}; give one of the same",
          quote(*text), printable(measured.context.device.kind), printable(device_kind)));
    }
    found.link = measured_link(*text, measured);
    found.path = *text;
    return found;
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
  found.link = links;
  return found;
}

}  // namespace bench
