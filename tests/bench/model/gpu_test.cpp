#include "bench/model/gpu.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/mutants.h"

namespace bench {
namespace {

Json own_card() {
  return {{"id", "mine"},
          {"chip", "XX100"},
          {"process_nm", 5},
          {"compute_capability", 89},
          {"multiprocessors", 50},
          {"memory_bytes", 16LL << 30},
          {"memory_kind", "gddr6"},
          {"bytes_per_s", 400e9},
          {"flops_per_s", {{"fp32", 20e12}, {"fp16", 80e12}}},
          {"power_w", 150}};
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of_entry(const Json& entry) {
  return refusal([&] { gpu_from_json(entry); });
}

TEST(Gpu, OfTheCatalogue) {
  const GpuCatalogue& catalogue = testing::catalogue();
  EXPECT_GE(catalogue.all().size(), 90U);
  const Gpu& t4 = catalogue.get("--gpu", "t4");
  EXPECT_EQ(t4.chip, "TU104");
  EXPECT_EQ(t4.compute_capability, 75);
  EXPECT_EQ(t4.multiprocessors, 40);
  EXPECT_EQ(t4.bytes_per_s, 320e9);
  EXPECT_EQ(t4.flops_per_s.at(Dtype::fp16), 65e12);
  EXPECT_FALSE(t4.flops_per_s.contains(Dtype::bf16));
  ASSERT_TRUE(t4.bus);
  EXPECT_TRUE(t4.bus->peer_access);
  EXPECT_FALSE(catalogue.get("--gpu", "rtx3090").bus->peer_access);
  EXPECT_FALSE(reaches_peers({"NVIDIA GeForce RTX 2080 SUPER"}, 75)) << "where a file does not tell";
  EXPECT_TRUE(reaches_peers({"NVIDIA GeForce GTX 1080"}, 61));
  EXPECT_TRUE(reaches_peers({"NVIDIA RTX A6000"}, 86));
  EXPECT_EQ(catalogue.get("--gpu", "rtx3090").nvlink, std::vector<std::string>{"nvlink3-bridge-rtx"});
  EXPECT_FALSE(gpu_from_json(own_card()).nvlink) << "not known";
  EXPECT_EQ(t4.bus->generation, 3);
  EXPECT_FALSE(catalogue.get("--gpu", "orin").bus);
  EXPECT_EQ(catalogue.find("jetson-orin"), catalogue.find("orin"));
  EXPECT_EQ(catalogue.find("T4"), &t4);
  EXPECT_EQ(catalogue.find_name("NVIDIA T4"), &t4);
  EXPECT_EQ(catalogue.find_name("NVIDIA T400"), nullptr);
}

TEST(Gpu, IsCalledByItsDriversNameWithoutTheMaker) {
  EXPECT_EQ(display_name(testing::card("t4")), "Tesla T4");
  EXPECT_EQ(display_name(testing::card("rtx3060-12gb")), "GeForce RTX 3060");
  EXPECT_EQ(display_name(testing::card("orin")), "orin");
}

TEST(Gpu, UnknownNamesTheClosest) {
  const auto refused = [](const char* id) { return refusal([&] { testing::catalogue().get("--gpu", id); }); };
  expect_words(refused("a100"));
  expect_words(refused("GeForce RTX 3060 24GB"));
  expect_words(refused("gtx1080"));
  expect_words(refused("h100-80gb"));
  expect_words(refused(""));
  EXPECT_LT(refused(std::string(100'000, 'x').c_str()).size(), 300U);
}

TEST(Gpu, IsFoundByWhatItIsCalled) {
  const auto id_of = [](const char* words) { return testing::catalogue().get("--gpu", words).id; };
  for (const char* words :
       {"rtx3060", "RTX 3060", "GeForce RTX 3060", "NVIDIA GeForce RTX 3060", "3060", "RTX 3060 12GB"}) {
    EXPECT_EQ(id_of(words), "rtx3060-12gb") << words;
  }
  EXPECT_EQ(id_of("tesla t4"), "t4");
  EXPECT_EQ(id_of("NVIDIA T4"), "t4");
  EXPECT_EQ(id_of("RTX 3060 Ti"), "rtx3060ti");
  EXPECT_EQ(id_of("titanrtx"), "titanrtx");
  EXPECT_EQ(id_of("quadro rtx 6000"), "quadro-rtx6000");
  EXPECT_EQ(id_of("RTX 6000 Ada"), "rtx6000-ada");
  EXPECT_EQ(id_of("rtx a6000"), "a6000");
  EXPECT_EQ(id_of("RTX PRO 6000"), "rtxpro6000");
  EXPECT_EQ(id_of("rtx pro 6000 server"), "rtxpro6000-server");
  EXPECT_EQ(id_of("a10g"), "a10g");
  EXPECT_EQ(id_of("orin nano"), "orin-nano");
  EXPECT_EQ(id_of("Jetson Orin NX"), "orin-nx");
  EXPECT_EQ(id_of("AGX Orin"), "orin");
  EXPECT_EQ(id_of("jetson agx xavier"), "xavier");
  EXPECT_EQ(id_of("3090ti"), "rtx3090ti");
  EXPECT_EQ(id_of("4070 Ti Super"), "rtx4070tisuper");
  EXPECT_EQ(id_of("RTX 4060 Ti"), "rtx4060ti-8gb");
  EXPECT_EQ(id_of("RTX 4060 Ti 16GB"), "rtx4060ti-16gb");
  EXPECT_EQ(id_of("5060 Ti"), "rtx5060ti-16gb");
  EXPECT_EQ(id_of("H100 NVL"), "h100-nvl");
  EXPECT_EQ(id_of("a100-sxm-40gb"), "a100-40gb");
  EXPECT_EQ(id_of("A100 SXM 80GB"), "a100-80gb");
  EXPECT_EQ(id_of("a100-sxm4-40gb"), "a100-40gb");
  EXPECT_EQ(id_of("V100 SXM 32GB"), "v100-32gb");
  EXPECT_EQ(id_of("DGX Spark"), "gb10");
  EXPECT_EQ(testing::catalogue().find_called("rtx 6000"), nullptr) << "a Quadro, of Ada or of Blackwell";
  EXPECT_EQ(testing::catalogue().find("rtx3060"), nullptr) << "no id: a card of one's own may have it";
  EXPECT_EQ(testing::catalogue().find_called(""), nullptr);
  EXPECT_EQ(testing::catalogue().find_called("NVIDIA"), nullptr);
}

// However it is typed, no id, alias or driver's name of a card leads to another.
TEST(Gpu, IsFoundByEachOfItsNames) {
  const GpuCatalogue& catalogue = testing::catalogue();
  for (const Gpu& gpu : catalogue.all()) {
    std::vector<std::string> called = gpu.aliases;
    called.push_back(gpu.id);
    called.insert(called.end(), gpu.names.begin(), gpu.names.end());
    for (std::string name : called) {
      EXPECT_EQ(catalogue.get("--gpu", name).id, gpu.id) << name;
      std::ranges::replace(name, '-', ' ');
      std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
      EXPECT_EQ(catalogue.get("--gpu", name).id, gpu.id) << name;
    }
  }
}

TEST(Gpu, OnesOwnNeedsTenFields) {
  const Gpu gpu = gpu_from_json(own_card());
  EXPECT_EQ(gpu.id, "mine");
  EXPECT_EQ(display_name(gpu), "mine");
  EXPECT_EQ(gpu.memory_bytes, 16LL << 30);
  const Json card = own_card();
  for (const auto& [key, value] : card.items()) {
    Json without = card;
    without.erase(key);
    EXPECT_EQ(refusal_of_entry(without), key + " is missing");
  }
}

TEST(Gpu, IsWrittenAsItIsRead) {
  for (const Gpu& gpu : testing::catalogue().all()) {
    EXPECT_EQ(written_value(gpu_from_json(written_value(gpu))), written_value(gpu));
  }
}

// A slip of a unit, or a field of another kind.
TEST(Gpu, RefusesFiguresThatNoCardHas) {
  const auto with = [](const char* key, const Json& value) {
    Json card = own_card();
    card[key] = value;
    return refusal_of_entry(card);
  };
  EXPECT_EQ(with("bytes_per_s", 400), "bytes_per_s is 400; accepted: 1e+10 to 1e+14 (bytes a second)");
  expect_words(with("memory_bytes", 16));
  expect_words(with("compute_capability", 8.9));
  expect_words(with("compute_capability", 8));
  expect_words(with("power_w", -70));
  expect_words(with("memory_kind", "fast"));
  expect_words(with("flops_per_s", {{"fp16", 80e12}}));
  expect_words(with("flops_per_s", {{"fp32", 20e12}, {"fp8", 80e12}}));
  expect_words(with("flops_per_s", {{"fp32", 20}}));
  expect_words(with("id", ""));
  expect_words(with("pcie", {{"generation", 40}, {"lanes", 16}}));
  expect_words(with("flops_per_s_16bit_sum", {{"fp16", 1e30}}));
  expect_words(with("flops_per_s_16bit_sum", "fast"));
  expect_words(with("kind", "console"));
  expect_words(with("pcie", {{"generation", 4}, {"lanes", 16}, {"peer_access", "no"}}));
  expect_words(with("nvlink", "nvlink3"));
}

// The id is part of files' names and of --price; the others are printed.
TEST(Gpu, RefusesTextsThatAreNoNames) {
  const auto with = [](const char* key, const Json& value) {
    Json card = own_card();
    card[key] = value;
    return refusal_of_entry(card);
  };
  EXPECT_EQ(with("id", "My_card.2-8GB"), "");
  for (const char* const id :
       {"../../etc", "a,b", "a b", "cuda:0", "t4=1", "\x1b[31mred", "x\n* fake", "カード"}) {
    expect_words(with("id", id));
  }
  expect_words(with("id", std::string(41, 'x')));
  EXPECT_EQ(with("names", {"カード (TM)"}), "");
  expect_words(with("names", {"fine", "a\x1b[2J"}));
  expect_words(with("chip", std::string(101, 'x')));
  EXPECT_EQ(refusal_of_entry(Json::array()), "the whole is []; accepted: an object");
}

TEST(Gpu, RefusesRatesAboveItsClockAndUnits) {
  Json card = own_card();
  card["check"] = {{"hz", 1.5e9},
                   {"flops_per_clock", {{"fp32", 256}, {"fp16", 1024}}},
                   {"bus_bits", 256},
                   {"bits_per_s_per_pin", 12.5e9}};
  EXPECT_EQ(
      refusal_of_entry(card),
      "flops_per_s.fp32 is 2e+13, above what its clock and units allow: 50 multiprocessors · 256 · 1.5e+09 "
      "Hz = 1.92e+13 FLOP/s");
  card["flops_per_s"]["fp32"] = 19.2e12;
  expect_words(refusal_of_entry(card));
  card["check"]["tensor_hz"] = 1.6e9;
  EXPECT_EQ(refusal_of_entry(card), "");
  card["bytes_per_s"] = 450e9;
  EXPECT_EQ(refusal_of_entry(card),
            "bytes_per_s is 4.5e+11, above what its bus allows: 4e+11 bytes a second");
  card["bytes_per_s"] = 400e9;
  card["flops_per_s_16bit_sum"] = {{"fp16", 170e12}};
  EXPECT_EQ(refusal_of_entry(card), "check.flops_per_clock_16bit_sum is missing");
  card["check"]["flops_per_clock_16bit_sum"] = {{"fp16", 2048}};
  expect_words(refusal_of_entry(card));
  card["flops_per_s_16bit_sum"]["fp16"] = 160e12;
  EXPECT_EQ(refusal_of_entry(card), "");
  card["check"]["flops_per_clock"].erase("fp16");
  EXPECT_EQ(refusal_of_entry(card), "check.flops_per_clock.fp16 is missing");
}

TEST(Gpu, WhateverAFileHoldsItIsReadOrRefused) {
  int read = 0;
  const auto try_it = [&](const Json& entry) { read += refusal_of_entry(entry).empty() ? 1 : 0; };
  testing::for_each_odd_document(testing::json_of("gpus.json")["gpus"][0], try_it);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace bench
