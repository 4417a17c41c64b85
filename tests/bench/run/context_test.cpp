#include "bench/run/context.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "bench/result/result_json.h"
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

const std::filesystem::path kCatalogue =
    std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "results" / "gpus.json";

TEST(Catalogue, KnowsACardByTheNameItsDriverReports) {
  const Json t4 = datasheet_of("Tesla T4");
  ASSERT_TRUE(t4.is_object());
  EXPECT_EQ(t4.at("id"), "t4");
  EXPECT_EQ(t4.at("compute_capability"), 75);
  EXPECT_EQ(t4.at("bytes_per_s"), 320e9);
}

TEST(Catalogue, TakesNoOtherCardForIt) {
  EXPECT_TRUE(datasheet_of("NVIDIA GeForce RTX 3060 Lite").is_null());
  EXPECT_EQ(datasheet_of("NVIDIA GeForce RTX 3060 Ti").at("id"), "rtx3060ti");
  EXPECT_TRUE(datasheet_of("AMD EPYC").is_null());
  EXPECT_TRUE(datasheet_of("").is_null());
}

Json cards() {
  std::ifstream file(kCatalogue);
  return Json::parse(file).at("gpus");
}

TEST(Catalogue, EachCardStandsInItOnceAndInOneUnit) {
  std::set<std::string> names;
  std::set<std::string> ids;
  for (const Json& gpu : cards()) {
    SCOPED_TRACE(gpu.at("id").get<std::string>());
    EXPECT_TRUE(ids.insert(gpu.at("id").get<std::string>()).second);
    for (const Json& alias : gpu.value("aliases", Json::array())) {
      EXPECT_TRUE(ids.insert(alias.get<std::string>()).second) << alias;
    }
    for (const Json& name : gpu.at("names")) {
      EXPECT_TRUE(names.insert(name.get<std::string>()).second) << name;
    }
    // No card is outside these, from a board of 15 W on; a slip of a unit would be a thousandfold.
    EXPECT_GT(gpu.at("bytes_per_s").get<double>(), 5e10);
    EXPECT_LT(gpu.at("bytes_per_s").get<double>(), 1e13);
    EXPECT_GE(gpu.at("memory_bytes").get<std::int64_t>(), std::int64_t{2} << 30);
    EXPECT_GE(gpu.at("l2_bytes").get<std::int64_t>(), std::int64_t{1} << 19);
    EXPECT_LE(gpu.at("l2_bytes").get<std::int64_t>(), std::int64_t{128} << 20);
    EXPECT_GE(gpu.at("power_w").get<double>(), 15);
    EXPECT_LE(gpu.at("power_w").get<double>(), 1500);
    EXPECT_GE(gpu.at("process_nm").get<double>(), 3);
    EXPECT_LE(gpu.at("process_nm").get<double>(), 28);
    for (const auto& [dtype, rate] : gpu.at("flops_per_s").items()) {
      EXPECT_GT(rate.get<double>(), 5e11) << dtype;
      EXPECT_LT(rate.get<double>(), 1e16) << dtype;
    }
    EXPECT_FALSE(gpu.at("source").get<std::string>().empty());
    // A T4 has neither bf16 nor tf32; what came before Volta has no tensor cores.
    EXPECT_EQ(gpu.at("flops_per_s").contains("bf16"), gpu.at("compute_capability").get<int>() >= 80);
    EXPECT_EQ(gpu.at("flops_per_s").contains("fp16"), gpu.at("compute_capability").get<int>() >= 70);
  }
}

// Published measurements name cards by these.
TEST(Catalogue, KnowsOtherIdsOfItsCards) {
  std::map<std::string, std::string> id_of;
  for (const Json& gpu : cards()) {
    for (const Json& alias : gpu.value("aliases", Json::array())) {
      id_of[alias.get<std::string>()] = gpu.at("id").get<std::string>();
    }
  }
  EXPECT_EQ(id_of["p100-pcie-16gb"], "p100");
  EXPECT_EQ(id_of["v100-sxm2-16gb"], "v100-16gb");
  EXPECT_EQ(id_of["a100-sxm4-80gb"], "a100-80gb");
  EXPECT_EQ(id_of["h100-sxm5-80gb"], "h100-sxm");
}

// All cards of a chip have its process; a PCI Express link carries 0.98 GB/s a lane in generation 3.
TEST(Catalogue, CardsOfAChipAgree) {
  std::map<std::string, std::pair<int, int>> chips;
  for (const Json& gpu : cards()) {
    SCOPED_TRACE(gpu.at("id").get<std::string>());
    const std::pair<int, int> made{gpu.at("process_nm").get<int>(), gpu.at("compute_capability").get<int>()};
    EXPECT_EQ(chips.emplace(gpu.at("chip").get<std::string>(), made).first->second, made);
    if (gpu.at("kind") == "board") {  // the memory is the host's
      EXPECT_FALSE(gpu.contains("pcie"));
      continue;
    }
    EXPECT_THAT(gpu.at("pcie").at("generation").get<int>(), ::testing::AnyOf(3, 4, 5, 6));
    EXPECT_THAT(gpu.at("pcie").at("lanes").get<int>(), ::testing::AnyOf(8, 16));
  }
}

// Published figures are rounded to two or three digits.
TEST(Catalogue, EachRateFollowsFromTheCardsUnitsAndClocks) {
  for (const Json& gpu : cards()) {
    SCOPED_TRACE(gpu.at("id").get<std::string>());
    const Json& check = gpu.at("check");
    EXPECT_FALSE(check.at("source").get<std::string>().empty());
    const double clock = check.at("hz");
    const double tensor_clock = check.value("tensor_hz", clock);
    const auto expect_rates = [&](const Json& rates, const Json& flops_per_clock) {
      for (const auto& [dtype, rate] : rates.items()) {
        const double computed = gpu.at("multiprocessors").get<double>() *
                                flops_per_clock.at(dtype).get<double>() *
                                (dtype == "fp32" ? clock : tensor_clock);
        EXPECT_NEAR(rate.get<double>() / computed, 1, 0.012) << dtype;
      }
    };
    expect_rates(gpu.at("flops_per_s"), check.at("flops_per_clock"));
    if (gpu.contains("flops_per_s_16bit_sum")) {
      expect_rates(gpu.at("flops_per_s_16bit_sum"), check.at("flops_per_clock_16bit_sum"));
    }
    if (check.contains("bus_bits")) {
      const double computed =
          check.at("bus_bits").get<double>() * check.at("bits_per_s_per_pin").get<double>() / 8;
      EXPECT_NEAR(gpu.at("bytes_per_s").get<double>() / computed, 1, 0.002);
    }
  }
}

// A bridge or a switch of links.json joins two of it, or it has no NVLink. The driver lets no GeForce card
// since the 20 series reach another's memory over PCIe.
TEST(Catalogue, SaysOfEachCardWhatJoinsTwoOfIt) {
  std::ifstream file(std::filesystem::path(BENCH_TEST_SOURCE_DIR) / "results" / "links.json");
  const Json document = Json::parse(file);
  std::set<std::string> known;
  for (const Json& link : document.at("links")) {
    known.insert(link.at("id").get<std::string>());
  }
  std::map<std::string, std::set<std::string>> joined;
  for (const Json& gpu : cards()) {
    const auto id = gpu.at("id").get<std::string>();
    SCOPED_TRACE(id);
    for (const Json& link : gpu.at("nvlink")) {
      EXPECT_TRUE(known.contains(link)) << link;
      joined[link].insert(id);
    }
    if (gpu.contains("pcie")) {
      const bool geforce_since_turing = gpu.at("kind") == "desktop" && id.starts_with("rtx");
      EXPECT_EQ(gpu.at("pcie").value("peer_access", true), !geforce_since_turing);
    } else {
      EXPECT_EQ(gpu.at("nvlink").size(), 0U);
    }
  }
  using Ids = std::set<std::string>;
  EXPECT_EQ(joined["nvlink2-bridge"], (Ids{"rtx2080ti", "titanrtx", "quadro-rtx6000", "quadro-rtx8000"}));
  EXPECT_EQ(joined["nvlink2-bridge-x8"], (Ids{"rtx2080", "quadro-rtx5000"}));
  EXPECT_EQ(joined["nvlink3-bridge-rtx"],
            (Ids{"rtx3090", "rtx3090ti", "a4500", "a5000", "a5500", "a6000", "a40"}));
  EXPECT_EQ(joined["nvlink3-bridge"], (Ids{"a100-pcie-40gb", "a100-pcie-80gb"}));
  for (const std::string& link : known) {
    EXPECT_EQ(joined.contains(link), link.starts_with("nvlink")) << link;
  }
}

// From Turing on, GeForce tensor cores run at half the rate when they sum fp16 products in fp32.
TEST(Catalogue, TensorCoresOfGeForceHalveTheirRateForSumsInFp32) {
  for (const Json& gpu : cards()) {
    SCOPED_TRACE(gpu.at("id").get<std::string>());
    const auto id = gpu.at("id").get<std::string>();
    const bool geforce = id.starts_with("rtx") && gpu.at("kind") == "desktop";
    if (gpu.at("compute_capability").get<int>() >= 75) {
      EXPECT_EQ(gpu.contains("flops_per_s_16bit_sum"), geforce);
    }
    if (geforce) {
      EXPECT_NEAR(gpu.at("flops_per_s_16bit_sum").at("fp16").get<double>() /
                      gpu.at("flops_per_s").at("fp16").get<double>(),
                  2, 0.01);
    }
  }
}

}  // namespace
}  // namespace bench
