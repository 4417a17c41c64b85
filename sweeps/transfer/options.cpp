#include "sweeps/transfer/options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/measure/axis.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "bench/transfers.h"

namespace bench::sweeps {
namespace {

constexpr std::string_view kAcceptedSizes = "sizes such as 4KiB,1MiB and ranges such as 1KiB:1GiB:x2";

std::int64_t size_of(std::string_view option, std::string_view text) {
  std::int64_t bytes = 0;
  try {
    bytes = parse_bytes(option, text);
  } catch (const UsageError& error) {
    const std::string_view sentence = error.what();  // "--sizes: '0' has no unit; give a size such as …"
    throw UsageError(
        fmt::format("{}; accepted: auto, {}", sentence.substr(0, sentence.rfind("; ")), kAcceptedSizes));
  }
  constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
  if (bytes > kLargestSize) {
    throw UsageError(fmt::format("{}: {} was given; accepted: sizes up to 1TiB", option, quote(text)));
  }
  return bytes;
}

void add_range(std::string_view option, std::string_view text, std::vector<std::int64_t>& sizes) {
  const std::vector<std::string_view> parts = split(text, ':');
  const std::string_view step = parts.size() == 3 ? parts[2] : "";
  const char* const end = step.data() + step.size();
  std::int64_t factor = 0;
  if (!step.starts_with('x') || std::from_chars(step.data() + 1, end, factor).ptr != end || factor < 2 ||
      factor > 1024) {
    throw UsageError(fmt::format("{}: {} was given; accepted: {}", option, quote(text), kAcceptedSizes));
  }
  const std::int64_t last = size_of(option, parts[1]);
  for (std::int64_t bytes = size_of(option, parts[0]); bytes <= last; bytes *= factor) {
    sizes.push_back(bytes);
  }
}

std::string node_of(const std::string& text, const Transfers* transfers) {
  if (text == "near" || text == "far" || text == "any") {
    return text;
  }
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw UsageError(
        fmt::format("--numa-node: {} was given; accepted: near, far, any, or a node's number", quote(text)));
  }
  if (transfers != nullptr) {
    std::vector<int> nodes = transfers->nodes();
    std::ranges::sort(nodes);
    if (std::ranges::find(nodes, node_named(text, *transfers)) == nodes.end()) {
      throw UsageError(
          fmt::format("--numa-node: {} was given, but this machine has {} {}; accepted: near, far, any, or a "
                      "node that it has",
                      quote(text), nodes.size() == 1 ? "only node" : "nodes", fmt::join(nodes, ", ")));
    }
  }
  return text;
}

}  // namespace

std::vector<std::int64_t> parse_sizes(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') == std::string_view::npos) {
      sizes.push_back(size_of(option, part));
    } else {
      add_range(option, part, sizes);
    }
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.empty()) {
    throw UsageError(
        fmt::format("{}: {} holds no size; the first must not be above the last", option, quote(text)));
  }
  return sizes;
}

std::vector<std::string> parse_words(std::string_view option, std::string_view text,
                                     const std::vector<std::string>& accepted) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ',')) {
    if (std::ranges::find(accepted, word) == accepted.end()) {
      throw UsageError(fmt::format("{}: {} was given; accepted, separated by commas: {}", option, quote(word),
                                   fmt::join(accepted, ", ")));
    }
    if (std::ranges::find(words, word) == words.end()) {
      words.emplace_back(word);
    }
  }
  return words;
}

TransferOptions transfer_options(const SweepRequest& request, Device& device) {
  constexpr std::int64_t kMostInFlight = 256;
  const auto& given = request.sweep_options;
  TransferOptions options;
  if (given.at("sizes") != "auto") {
    options.sizes = parse_sizes("--sizes", given.at("sizes"));
  }
  options.directions = parse_words("--directions", given.at("directions"), {"h2d", "d2h", "both"});
  options.kinds = parse_words("--host-kinds", given.at("host-kinds"), {"pinned", "pageable", "staged"});
  options.in_flight = parse_axis("--in-flight", given.at("in-flight"));
  if (options.in_flight.back() > kMostInFlight) {
    throw UsageError(fmt::format("--in-flight: {} was given; accepted: 1 to {} copies",
                                 quote(given.at("in-flight")), kMostInFlight));
  }
  options.node = node_of(given.at("numa-node"), transfers_of(device));
  options.workers = parse_count("--workers", given.at("workers"), 0, 1024);
  options.prefetch = parse_count("--prefetch", given.at("prefetch"), 1, 1024);
  return options;
}

}  // namespace bench::sweeps
