// What is measured between ranks, by the definitions of nccl-tests (doc/PERFORMANCE.md there). Pure
// arithmetic.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/json.h"

namespace bench::sweeps {

enum class Operation { all_reduce, reduce_scatter, all_gather, send_receive };

inline constexpr std::array kOperations{Operation::all_reduce, Operation::reduce_scatter,
                                        Operation::all_gather, Operation::send_receive};

inline constexpr std::int64_t kValueBytes = sizeof(float);

std::string_view name_of(Operation operation);
std::optional<Operation> operation_named(std::string_view name);

// A point's params.
struct CollectiveParams {
  Operation operation = Operation::all_reduce;
  // all_reduce: of a rank's buffer. reduce_scatter: of what each rank gives. all_gather: of what each rank
  // gets. send_receive: of the message.
  std::int64_t bytes = 0;
  int ranks = 2;  // that take part
  int hosts = 1;  // that they are on
  int peer = 1;   // of send_receive: the rank that rank 0 exchanges messages with

  // What differs between series: "all-reduce", "send-receive/hosts:2".
  std::string label() const;
  Json to_json() const;
};
// Those that are missing have their defaults; nullopt where the operation is unknown. Throws Json::exception.
std::optional<CollectiveParams> read_collective_params(const Json& params);

// The size next above that ranks can share evenly, in whole fp32 values.
std::int64_t shared_bytes(Operation operation, std::int64_t bytes, int ranks);

// Bus bandwidth over algorithm bandwidth (bytes over time): what the slowest link carries, so that it can be
// held against the hardware whatever the number of ranks. 2(n-1)/n, (n-1)/n, (n-1)/n, 1.
double bus_factor(Operation operation, int ranks);

// The value at this place of what a rank gives: a small whole number above 0, so that sums are exact in fp32
// in any order, up to 16,000 ranks.
float given_value(int rank, std::int64_t place, std::uint64_t seed);
// The sum of all ranks' values at this place.
float summed_value(int ranks, std::int64_t place, std::uint64_t seed);

}  // namespace bench::sweeps
