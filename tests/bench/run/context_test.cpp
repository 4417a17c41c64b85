#include "bench/run/context.h"

#include <filesystem>

#include <gmock/gmock.h>

#include "bench/measure/result_json.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"

namespace bench {
namespace {

DeviceInfo example_device() {
  return {.id = "cuda:0",
          .kind = "cuda",
          .name = "Example GPU",
          .memory_bytes = 12LL << 30,
          .available_bytes = 11LL << 30,
          .compute_units = 28,
          .details = {{"clocks.memory_max_mhz", "7501"},
                      {"clocks.sm_mhz", "210"},
                      {"compute_capability", "8.6"},
                      {"l2_bytes", "3145728"},
                      {"driver", "555.1"},
                      {"onednn", "2.6.3"}}};
}

TEST(Context, FollowsTheSchema) {
  ResultDocument document = testing::sample_document();
  document.context = make_context(example_device(), host_info(), {"bench", "--sweep", "batch"}, 7);
  EXPECT_EQ(testing::schema_errors(to_text(to_json(document))), "");
}

TEST(Context, SaysWhereAndWithWhat) {
  const HostInfo host{.cpu = "Example CPU", .usable_cores = 3, .cpu_quota = 3.5, .memory_bytes = 1 << 30};
  ResultDocument document;
  document.context = make_context(example_device(), host, {"bench", "--sweep", "batch"}, 7);
  const Json context = to_json(document)["context"];
  EXPECT_EQ(context["executable"], "bench");
  EXPECT_EQ(context["argv"], (Json{"bench", "--sweep", "batch"}));
  EXPECT_EQ(context["seed"], 7);
  EXPECT_EQ(context["device"]["name"], "Example GPU");
  EXPECT_EQ(context["device"]["compute_capability"], "8.6");
  EXPECT_EQ(context["device"]["l2_bytes"], 3145728) << "a number, not a text";
  EXPECT_EQ(context["device"]["clocks"], (Json{{"memory_max_mhz", 7501}, {"sm_mhz", 210}}));
  EXPECT_FALSE(context["device"].contains("driver"));
  EXPECT_EQ(context["software"]["driver"], "555.1");
  EXPECT_EQ(context["software"]["onednn"], "2.6.3");
  EXPECT_EQ(context["software"]["bench"], bench_version());
  if (std::filesystem::exists(BENCH_TEST_SOURCE_DIR "/.git") && context["software"].contains("git")) {
    EXPECT_THAT(context["software"]["git"].get<std::string>(),
                ::testing::ContainsRegex("[0-9a-f]{7,}(-dirty)?$|^v[0-9]"));
  }
  EXPECT_EQ(
      context["host"],
      (Json{{"cpu", "Example CPU"}, {"usable_cores", 3}, {"memory_bytes", 1 << 30}, {"cpu_quota", 3.5}}));
}

}  // namespace
}  // namespace bench
