#include "sweeps/collectives/operation.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/model/parallel_step.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kValuesByPlace = 1021;  // a prime: parts of another rank or another place differ
constexpr int kValuesByRank = 8;

std::int64_t place_value(std::int64_t place, std::uint64_t seed) {
  return (place + static_cast<std::int64_t>(seed % kValuesByPlace)) % kValuesByPlace;
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::all_reduce:
      return "all-reduce";
    case Operation::reduce_scatter:
      return "reduce-scatter";
    case Operation::all_gather:
      return "all-gather";
    case Operation::send_receive:
      return "send-receive";
  }
  return "";
}

std::optional<Operation> operation_named(std::string_view name) {
  const auto at =
      std::ranges::find(kOperations, name, [](Operation operation) { return name_of(operation); });
  return at == std::end(kOperations) ? std::nullopt : std::optional(*at);
}

std::string CollectiveParams::label() const {
  return fmt::format("{}{}", name_of(operation), hosts > 1 ? fmt::format("/hosts:{}", hosts) : "");
}

Json CollectiveParams::to_json() const {
  Json json = {{"operation", name_of(operation)}, {"bytes", bytes}, {"ranks", ranks}, {"hosts", hosts}};
  if (operation == Operation::send_receive) {
    json["peer"] = peer;
  }
  return json;
}

std::optional<CollectiveParams> read_collective_params(const Json& params) {
  const auto operation = operation_named(params.value("operation", ""));
  if (!operation) {
    return std::nullopt;
  }
  return CollectiveParams{.operation = *operation,
                          .bytes = params.value("bytes", std::int64_t{0}),
                          .ranks = params.value("ranks", 2),
                          .hosts = params.value("hosts", 1),
                          .peer = params.value("peer", 1)};
}

std::int64_t shared_bytes(Operation operation, std::int64_t bytes, int ranks) {
  const bool in_parts = operation == Operation::reduce_scatter || operation == Operation::all_gather;
  const std::int64_t unit = kValueBytes * (in_parts ? ranks : 1);
  return (bytes + unit - 1) / unit * unit;
}

double bus_factor(Operation operation, int ranks) {
  switch (operation) {
    case Operation::all_reduce:
      return times_sent(ranks);
    case Operation::reduce_scatter:
    case Operation::all_gather:
      return times_sent(ranks) / 2;
    case Operation::send_receive:
      return 1;
  }
  return 1;
}

float given_value(int rank, std::int64_t place, std::uint64_t seed) {
  return static_cast<float>(1 + rank % kValuesByRank + place_value(place, seed));
}

float summed_value(int ranks, std::int64_t place, std::uint64_t seed) {
  const int rest = ranks % kValuesByRank;
  const int of_ranks =
      ranks / kValuesByRank * (kValuesByRank * (kValuesByRank - 1) / 2) + rest * (rest - 1) / 2;
  return static_cast<float>(ranks * (1 + place_value(place, seed)) + of_ranks);
}

}  // namespace bench::sweeps
