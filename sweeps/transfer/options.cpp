#include "sweeps/transfer/options.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/transfers.h"

namespace bench::sweeps {
namespace {

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
