// What the transfer sweep says of its copies, and its tables, on a made-up machine.
#include "sweeps/transfer/findings.h"

#include <gmock/gmock.h>

#include "sweeps/transfer/tables.h"
#include "tests/sweeps/transfer_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TransferFindings, ModelsStandBesideTheBus) {
  const Finding model = transfer_finding(transfer_card(), "model/h2d/pinned");
  EXPECT_NEAR(*model.value, 25e9, 1e3);
  EXPECT_THAT(model.claim, AllOf(HasSubstr("10.0 µs + bytes / 25.0 GB/s"), HasSubstr("79 % of what the bus"),
                                 HasSubstr("244 KiB reach half")));
  const Finding both = transfer_finding(transfer_card(), "model/both/pinned");
  EXPECT_NEAR(*both.value, 45e9, 1e3);
  const Finding error = transfer_finding(transfer_card(), "model_error");
  EXPECT_NEAR(error.value.value_or(1), 0, 1e-9);
  ASSERT_TRUE(error.ci95);  // five sizes held out of each of five series one way
  EXPECT_NEAR(error.ci95->high, 0, 1e-9);
  EXPECT_EQ(error.evidence.size(), 25U);
  EXPECT_THAT(error.evidence, Contains("transfer/h2d/pinned/touched/1/4096"));
  EXPECT_THAT(error.evidence, Not(Contains(HasSubstr("/both/"))));
  EXPECT_THAT(transfer_finding(transfer_card(), "bus").claim,
              AllOf(HasSubstr("PCIe generation 4 with 16 lanes"), HasSubstr("31.5 GB/s")));
  ResultDocument host = transfer_card();
  host.sweep["transfer"]["crosses_bus"] = false;
  EXPECT_THAT(transfer_finding(host, "bus").claim, HasSubstr("No bus was crossed"));
  EXPECT_THAT(transfer_finding(host, "model/h2d/pinned").claim, Not(HasSubstr("bus")));
}

TEST(TransferFindings, CrossoversNameTheSize) {
  const Finding pinned = transfer_finding(transfer_card(), "crossover/h2d/pinned");
  EXPECT_EQ(pinned.value, 64 * 1024);  // the models meet at 39.5 kB; 64 KiB is the next size measured
  EXPECT_NEAR(pinned.details.at("models_cross_at_bytes").get<double>(), 5000 / (1 / 6.0 - 1 / 25.0), 1);
  EXPECT_THAT(pinned.claim, AllOf(HasSubstr("from 64.0 KiB on"), HasSubstr("at 1.00 GiB")));
  EXPECT_EQ(transfer_finding(transfer_card(), "crossover/h2d/staged").value, 1024 * 1024);
}

TEST(TransferFindings, SeveralAtOnceAndColdPages) {
  EXPECT_NEAR(*transfer_finding(transfer_card(), "at_once/h2d/pinned/in-flight:8").value, 1, 0.01);
  EXPECT_NEAR(*transfer_finding(transfer_card(), "at_once/both/pinned").value, 45.0 / 25, 0.01);
  EXPECT_NEAR(*transfer_finding(transfer_card(), "cold_pages/d2h/pageable/pages:cold").value, 2.5, 0.01);
}

TEST(TransferFindings, CopesWithLittle) {
  EXPECT_EQ(transfer_findings({}).size(), 1U);  // that no bus was crossed
  ResultDocument document;
  add_copies(document, "h2d", "pinned", 10, 1e9);
  document.benchmarks.resize(2);
  EXPECT_FALSE(transfer_findings(document).empty());
  EXPECT_EQ(transfer_tables(document).size(), 1U);
  EXPECT_TRUE(transfer_tables({}).empty());
}

TEST(TransferTables, HaveARowASize) {
  const auto tables = transfer_tables(transfer_card());
  ASSERT_EQ(tables.size(), 6U);  // three directions, the others, pinning, steps
  EXPECT_THAT(tables[0].rows[0], ElementsAre("bytes", "pinned", "pageable", "staged"));
  EXPECT_EQ(tables[0].rows.size(), 12U);
  EXPECT_TRUE(tables[0].lists_points);
  EXPECT_THAT(tables[5].rows[3], Contains("pinned"));
}

}  // namespace
}  // namespace bench::sweeps
