#include "bench/model/links.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

TEST(Links, EachOfTheProgramsHasASourceAndSaysWhetherItWasMeasured) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  EXPECT_GE(catalogue.links.size(), 14U);
  for (const Link& link : catalogue.links) {
    const bool is_rule = link.source.starts_with("data sheet: ");
    EXPECT_EQ(is_rule, link.source.ends_with("; not measured")) << link.id;
    EXPECT_TRUE(is_rule || link.source.find("(MIT)") != std::string::npos ||
                link.source.find("(Apache-2.0)") != std::string::npos ||
                link.source.starts_with("NVIDIA/nccl-tests#"))
        << link.id;
    EXPECT_GT(link.hop_ns, 0) << link.id;
    const bool is_network = link.id.starts_with("eth") || link.id.starts_with("ib");
    EXPECT_EQ(link.joins, is_network ? "hosts" : "cards") << link.id;
  }
}

TEST(Links, CardsWithoutPeerAccessGoThroughTheHostsMemory) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const Link& link = catalogue.get("--link", "pcie4");
  const Link peers = link_of_cards(link, {.peer_access = true});
  EXPECT_EQ(peers.bytes_per_s, link.bytes_per_s);
  EXPECT_EQ(peers.name, link.name);
  const Link none = link_of_cards(link, {.peer_access = false});
  EXPECT_EQ(none.bytes_per_s, link.through_host->bytes_per_s);
  EXPECT_EQ(none.bytes_per_s_range, link.through_host->bytes_per_s_range);
  EXPECT_EQ(none.of_8_cards, link.through_host->of_8_cards);
  EXPECT_EQ(none.source, link.through_host->source);
  const Link unknown = link_of_cards(link, {});
  EXPECT_LT(unknown.bytes_per_s, peers.bytes_per_s);
  EXPECT_GT(unknown.bytes_per_s, none.bytes_per_s);
  EXPECT_EQ(unknown.bytes_per_s_range.low, none.bytes_per_s_range.low);
  EXPECT_EQ(unknown.bytes_per_s_range.high, peers.bytes_per_s_range.high);
  const Link half = link_of_cards(link, {.peer_access = true, .bus_bytes_per_s = 15.75e9});
  EXPECT_DOUBLE_EQ(half.bytes_per_s, link.bytes_per_s / 2) << "eight lanes";
  expect_words({none.name, unknown.name, half.name});
  const Link& nvlink = catalogue.get("--link", "nvlink3");
  EXPECT_EQ(link_of_cards(nvlink, {.peer_access = false, .bus_bytes_per_s = 1e9}), nvlink);
}

TEST(Links, SlotsOfFewerLanesAreAsMuchSlower) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const Link& wide = catalogue.get("--link", "pcie3");
  const Link& narrow = catalogue.get("--link", "pcie3-x4");
  EXPECT_EQ(narrow.name, "PCIe 3.0 x4");
  EXPECT_DOUBLE_EQ(narrow.bytes_per_s, wide.bytes_per_s / 4);
  EXPECT_DOUBLE_EQ(narrow.through_host->bytes_per_s_range.low, wide.through_host->bytes_per_s_range.low / 4);
  EXPECT_EQ(link_of_cards(narrow, {.peer_access = true, .bus_bytes_per_s = 15.75e9}).bytes_per_s,
            narrow.bytes_per_s)
      << "the slot is slower than the card";
  const Link any = in_any_slots(wide);
  EXPECT_EQ(any.bytes_per_s, wide.bytes_per_s);
  EXPECT_DOUBLE_EQ(any.bytes_per_s_range.low, wide.bytes_per_s_range.low / 2);
  EXPECT_EQ(any.bytes_per_s_range.high, wide.bytes_per_s_range.high);
  EXPECT_DOUBLE_EQ(any.through_host->bytes_per_s_range.low, wide.through_host->bytes_per_s_range.low / 2);
}

TEST(Links, TheRateOfACardFallsWithEachDoublingToEight) {
  EXPECT_DOUBLE_EQ(share_of_cards(0.64, 2), 1);
  EXPECT_DOUBLE_EQ(share_of_cards(0.64, 4), 0.8);
  EXPECT_DOUBLE_EQ(share_of_cards(0.64, 8), 0.64);
  EXPECT_DOUBLE_EQ(share_of_cards(0.64, 16), 0.64);
  EXPECT_DOUBLE_EQ(share_of_cards(1, 8), 1);
}

TEST(Links, AnUnknownOneIsAnsweredWithTheClosest) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  EXPECT_EQ(catalogue.get("--link", "nvlink3").name, "NVLink 3 through NVSwitch (A100)");
  expect_words(message_of<UsageError>([&] { catalogue.get("--link", "nvlnk3"); }));
}

TEST(Links, NvlinkIsRefusedForACardThatHasNone) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  const auto require = [&](const char* link, const Gpu& gpu) {
    require_nvlink(catalogue.get("--link", link), gpu);
  };
  const auto refusal = [&](const char* link, const char* card) {
    return message_of<UsageError>([&] { require(link, testing::card(card)); });
  };
  expect_words(refusal("nvlink3", "t4"));
  expect_words(refusal("nvlink2", "rtx2080ti"));
  expect_words(refusal("nvlink3-bridge", "orin-nano"));
  EXPECT_NO_THROW(require("nvlink2-bridge", testing::card("rtx2080ti")));
  EXPECT_NO_THROW(require("nvlink3-bridge-rtx", testing::card("a6000")));
  EXPECT_NO_THROW(require("pcie3", testing::card("t4")));
  Gpu own = testing::card("t4");
  own.nvlink.reset();
  EXPECT_NO_THROW(require("nvlink3", own)) << "not known of one's own card";
}

TEST(Links, AUsersFileNeedsNoLossesButAllOfItsLinks) {
  Json own = testing::json_of("links.json");
  own.erase("losses");
  own["links"] = Json::array({own["links"][0], own["links"][1]});
  EXPECT_EQ(own_links_from_json(own).size(), 2U);
  const auto refused = [](const Json& json) {
    expect_words(message_of<UsageError>([&] { own_links_from_json(json); }));
  };
  Json broken = own;
  broken["links"][1].erase("hop_ns");
  refused(broken);
  broken = own;
  broken["links"][1]["bytes_per_s"] = "fast";
  refused(broken);
  broken = own;
  broken["links"][1]["id"] = own["links"][0]["id"];
  refused(broken);
  broken["links"] = Json::array();
  refused(broken);
  broken.erase("schema");
  refused(broken);
}

TEST(Links, ADamagedFileIsRefused) {
  const Json whole = testing::json_of("links.json");
  const auto refused = [&](const char* pointer, const Json& value) {
    Json broken = whole;
    broken[Json::json_pointer(pointer)] = value;
    expect_words(message_of<UsageError>([&] { links_from_json(broken); }));
  };
  refused("/schema", "bench-links/9");
  refused("/links/0/bytes_per_s", 0);
  refused("/links/0/bytes_per_s_range", {1, 2});
  refused("/links/0/hop_ns", -1);
  refused("/links/0/joins", "rooms");
  refused("/links/0/of_8_cards", 1.5);
  refused("/losses/0/p05_p95", {2, 3});
  refused("/slowed/speed", 1.1);
  refused("/slowed/from_bytes_per_s", 0);
}

TEST(Links, TheProgramsOwnStepsLoseAsThoseOfPyTorch) {
  const LinkCatalogue catalogue = links_from_json(testing::json_of("links.json"));
  for (const char* const numbers : {"16-bit", "32-bit"}) {
    EXPECT_EQ(catalogue.loss("one host", numbers, "one")->framework, "PyTorch");
  }
}

TEST(Pcie, LimitsByGenerationAndWidth) {
  EXPECT_NEAR(*pcie_bytes_per_s("gen3 x16"), 15.754e9, 1e6);
  EXPECT_NEAR(*pcie_bytes_per_s("gen4 x8"), 15.754e9, 1e6);
  EXPECT_NEAR(*pcie_bytes_per_s("gen1 x1"), 0.25e9, 1);
  EXPECT_NEAR(*pcie_bytes_per_s("gen5 x16"), 63.015e9, 1e6);
  EXPECT_NEAR(*pcie_bytes_per_s("gen6 x16"), 118e9, 1e9) << "flits";
  EXPECT_FALSE(pcie_bytes_per_s(0, 16));
  EXPECT_FALSE(pcie_bytes_per_s(9, 16));
  for (const char* odd :
       {"", "gen", "gen4", "gen4x16", "gen4 x", "gen4 x16 ", "x16 gen4", "gen0 x1", "gen4 y16", "gen9 x16"}) {
    EXPECT_FALSE(pcie_bytes_per_s(odd)) << odd;
  }
}

}  // namespace
}  // namespace bench
