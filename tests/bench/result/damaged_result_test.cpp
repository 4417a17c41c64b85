// Results that were damaged or written by another program.
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"

namespace bench {
namespace {

TEST(DamagedResult, IsRefusedWithItsPlace) {
  const Json removed(Json::value_t::discarded);
  const std::vector<std::pair<const char*, Json>> damages{
      {"/schema", "bench-result/7"},
      {"/schema", removed},
      {"/schema", 1},
      {"/context", removed},
      {"/sweep", "batch"},
      {"/benchmarks", nullptr},
      {"/benchmarks/1/stats/median_ns", "12"},
      {"/benchmarks/1/name", 12},
      {"/benchmarks/0/samples_ns/3", 1.5},
      {"/benchmarks/0/samples_ns/3", 18446744073709551615U},
      {"/benchmarks/0/memory/workspace", removed},
      {"/benchmarks/0/stats/ci95_ns", Json::array({1.0})},
      {"/benchmarks/0/iterations", 5},
      {"/benchmarks/0/rounds/0/samples", 1},
      {"/benchmarks/0/rounds/0/samples", 9'000'000'000'000'000'000},
      {"/benchmarks/0/rounds/2/session", 2},
      {"/benchmarks/0/rounds/2/session", -1},
      {"/benchmarks/0/rounds/0/calibration/host/copy_ns", "fast"},
      {"/benchmarks/0/rounds", Json::object()},
      {"/sessions", removed},
      {"/sessions", "all"},
      {"/sessions/0/id", 7},
      {"/sessions/0/threads/OMP_NUM_THREADS", 2},
      {"/sessions/0/history/common_sd", -1},
      {"/benchmarks/0/time_unit", "ms"},
      {"/benchmarks/0/run_type", "aggregate"},
      {"/context/software/onednn", 2.6},
      {"/benchmarks/0/validity/power_w", "hot"},
      {"/unmeasured/0/status", "lost"},
      {"/unmeasured/0/status", "lost\n\x1b[31m"},
      {"/benchmarks/0/stats/median_ns", -20.5},
      {"/benchmarks/0/stats/median_ns", 19'999'998.5},
      {"/benchmarks/0/stats/median_ns", 1e16},
      {"/benchmarks/0/stats/p05_ns", -1},
      {"/benchmarks/0/stats/cv", -0.5},
      {"/benchmarks/0/stats/rounds", 0},
      {"/benchmarks/0/cpu_time", -3},
      {"/benchmarks/0/real_time", -3},
      {"/benchmarks/0/items_per_step", -1},
      {"/benchmarks/0/samples_ns/2", -7},
      {"/benchmarks/0/samples_ns", Json::array()},
      {"/benchmarks/0/rounds/1/samples", -1},
      {"/benchmarks/0/memory/weights", -1},
      {"/benchmarks/1/memory/peak_measured", -1},
      {"/benchmarks/1/name", "batch/resnet18/infer/fp32/batch:1"},
      {"/findings/0/evidence/0", 3},
      {"/findings/1/claim", removed}};
  for (const auto& [place, value] : damages) {
    Json json = Json::parse(to_text(to_json(testing::sample_document())));
    const Json::json_pointer pointer(place);
    if (value.is_discarded()) {
      json[pointer.parent_pointer()].erase(pointer.back());
    } else {
      json[pointer] = value;
    }
    expect_words(message_of<UsageError>([&] { document_from_json(json); }));
  }
}

TEST(DamagedResult, OfAnotherProgramIsRefused) {
  for (const Json& json : {Json::array(), Json(3)}) {
    expect_words(message_of<UsageError>([&] { document_from_json(json); }));
  }
}

}  // namespace
}  // namespace bench
