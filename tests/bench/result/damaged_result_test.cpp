// Results that were damaged or written by another program.
#include <ostream>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/sample_document.h"

namespace bench {
namespace {

using ::testing::ThrowsMessage;

struct Damage {
  const char* pointer;
  Json value;  // discarded: the field is removed
  const char* message;
};

void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.pointer;
}

class DamagedResult : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedResult, IsRefusedWithItsPlace) {
  Json json = Json::parse(to_text(to_json(testing::sample_document())));
  const Json::json_pointer pointer(GetParam().pointer);
  if (GetParam().value.is_discarded()) {
    json[pointer.parent_pointer()].erase(pointer.back());
  } else {
    json[pointer] = GetParam().value;
  }
  EXPECT_THAT([&] { document_from_json(json); }, ThrowsMessage<UsageError>(GetParam().message));
}

const Json kRemoved(Json::value_t::discarded);

INSTANTIATE_TEST_SUITE_P(
    ResultJson, DamagedResult,
    ::testing::Values(
        Damage{"/schema", "bench-result/7", "schema is bench-result/7; this program reads bench-result/2"},
        Damage{"/schema", kRemoved, "schema is missing; this program reads bench-result/2"},
        Damage{"/schema", 1, "schema is missing; this program reads bench-result/2"},
        Damage{"/context", kRemoved, "context is missing"},
        Damage{"/sweep", "batch", "sweep is a string, not an object"},
        Damage{"/benchmarks", nullptr, "benchmarks is null, not an array"},
        Damage{"/benchmarks/1/stats/median_ns", "12",
               "benchmarks[1].stats.median_ns is a string, not a number"},
        Damage{"/benchmarks/1/name", 12, "benchmarks[1].name is a number, not a string"},
        Damage{"/benchmarks/0/samples_ns/3", 1.5,
               "benchmarks[0].samples_ns[3] is a number, not a 64-bit integer"},
        Damage{"/benchmarks/0/samples_ns/3", 18446744073709551615U,
               "benchmarks[0].samples_ns[3] is a number, not a 64-bit integer"},
        Damage{"/benchmarks/0/memory/workspace", kRemoved, "benchmarks[0].memory.workspace is missing"},
        Damage{"/benchmarks/0/stats/ci95_ns",
               {1.0},
               "benchmarks[0].stats.ci95_ns has 1 elements; an interval has 2"},
        Damage{"/benchmarks/0/iterations", 5, "benchmarks[0].iterations is 5, but 6 samples are listed"},
        Damage{"/benchmarks/0/rounds/0/samples", 1,
               "benchmarks[0] has rounds of 5 samples, but 6 samples are listed"},
        Damage{"/benchmarks/0/rounds/0/samples", 9'000'000'000'000'000'000,
               "benchmarks[0] has rounds of more than the 6 samples that are listed"},
        Damage{"/benchmarks/0/rounds/2/session", 2,
               "benchmarks[0].rounds[2].session is 2, but the file has 2 sessions"},
        Damage{"/benchmarks/0/rounds/2/session", -1,
               "benchmarks[0].rounds[2].session is -1; accepted is 0 or more"},
        Damage{"/benchmarks/0/rounds/0/calibration/host/copy_ns", "fast",
               "benchmarks[0].rounds[0].calibration.host.copy_ns is a string, not a number"},
        Damage{"/benchmarks/0/rounds", Json::object(), "benchmarks[0].rounds is an object, not an array"},
        Damage{"/sessions", kRemoved, "sessions is missing"},
        Damage{"/sessions", "all", "sessions is a string, not an array"},
        Damage{"/sessions/0/id", 7, "sessions[0].id is a number, not a string"},
        Damage{"/sessions/0/threads/OMP_NUM_THREADS", 2,
               "sessions[0].threads.OMP_NUM_THREADS is a number, not a string"},
        Damage{"/sessions/0/history/common_sd", -1,
               "sessions[0].history.common_sd is -1; accepted is 0 or more"},
        Damage{"/benchmarks/0/time_unit", "ms", "benchmarks[0].time_unit is 'ms'; this program reads 'ns'"},
        Damage{"/benchmarks/0/validity/power_w", "hot",
               "benchmarks[0].validity.power_w is a string, not a number"},
        Damage{"/unmeasured/0/status", "lost",
               "unmeasured[0].status is 'lost'; accepted: oom, unsupported, skipped, error"},
        Damage{"/unmeasured/0/status", "lost\n\x1b[31m",
               "unmeasured[0].status is 'lost\\n\\x1b[31m'; accepted: oom, unsupported, skipped, error"},
        Damage{"/benchmarks/0/stats/median_ns", -20.5,
               "benchmarks[0].stats.median_ns is -20.5; accepted is 0 or more"},
        Damage{"/benchmarks/0/stats/median_ns", 19'999'998.5,
               "benchmarks[0].stats.median_ns is 19999998.5, but the samples lie between 19999999 and "
               "9007199254740993"},
        Damage{"/benchmarks/0/stats/median_ns", 1e16,
               "benchmarks[0].stats.median_ns is 1e+16, but the samples lie between 19999999 and "
               "9007199254740993"},
        Damage{"/benchmarks/0/stats/p05_ns", -1, "benchmarks[0].stats.p05_ns is -1; accepted is 0 or more"},
        Damage{"/benchmarks/0/stats/cv", -0.5, "benchmarks[0].stats.cv is -0.5; accepted is 0 or more"},
        Damage{"/benchmarks/0/stats/rounds", 0, "benchmarks[0].stats.rounds is 0; accepted is 1 or more"},
        Damage{"/benchmarks/0/cpu_time", -3, "benchmarks[0].cpu_time is -3; accepted is 0 or more"},
        Damage{"/benchmarks/0/real_time", -3, "benchmarks[0].real_time is -3; accepted is 0 or more"},
        Damage{"/benchmarks/0/items_per_step", -1,
               "benchmarks[0].items_per_step is -1; accepted is 0 or more"},
        Damage{"/benchmarks/0/samples_ns/2", -7, "benchmarks[0].samples_ns[2] is -7; accepted is 0 or more"},
        Damage{"/benchmarks/0/samples_ns", Json::array(),
               "benchmarks[0].samples_ns is empty; a measured point has samples"},
        Damage{"/benchmarks/0/rounds/1/samples", -1,
               "benchmarks[0].rounds[1].samples is -1; accepted is 0 or more"},
        Damage{"/benchmarks/0/memory/weights", -1,
               "benchmarks[0].memory.weights is -1; accepted is 0 or more"},
        Damage{"/benchmarks/1/memory/peak_measured", -1,
               "benchmarks[1].memory.peak_measured is -1; accepted is 0 or more"},
        Damage{"/benchmarks/1/name", "batch/resnet18/infer/fp32/batch:1",
               "benchmarks[1].name is 'batch/resnet18/infer/fp32/batch:1', as benchmarks[0].name is; "
               "accepted is each name once"},
        Damage{"/findings/0/evidence/0", 3, "findings[0].evidence[0] is a number, not a string"},
        Damage{"/findings/1/claim", kRemoved, "findings[1].claim is missing"}));

TEST(ResultOfAnotherProgram, IsRefused) {
  EXPECT_THAT([] { document_from_json(Json::array()); },
              ThrowsMessage<UsageError>("a result is a JSON object, and this is an array"));
  EXPECT_THAT([] { document_from_json(Json(3)); },
              ThrowsMessage<UsageError>("a result is a JSON object, and this is a number"));
}

}  // namespace
}  // namespace bench
