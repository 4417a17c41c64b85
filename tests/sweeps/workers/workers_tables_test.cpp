// The tables of the workers sweep.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sweeps/workers/answer.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::LoaderMachine;
using testing::measured_by;

std::string text_of(const std::vector<TextTable>& tables) {
  std::string text;
  for (const TextTable& table : tables) {
    text += table.title + "\n";
    for (const auto& row : table.rows) {
      for (const Cell& cell : row) {
        text += cell.text + " | ";
      }
      text += "\n";
    }
  }
  return text;
}

TEST(WorkersTables, ShowAsSimulatedOnlyWhatOtherCountsTell) {
  const auto tables = workers_tables(measured_by({}));
  const auto& rows = tables[0].rows;
  for (std::size_t i = 2; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].back() == "–", rows[i].front() == "1") << rows[i].front().text;
  }
}

TEST(WorkersTables, ListEveryCount) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 500, .source = "given"}};
  const Evidence evidence = measured_by(machine);
  const auto tables = workers_tables(evidence);
  ASSERT_EQ(tables.size(), 2U);
  expect_words(tables[0].title);
  EXPECT_EQ(tables[0].rows.size(), 9U);
  EXPECT_EQ(tables[0].rows[1].front(), "ready data");
  for (const TextTable& table : tables) {
    for (const auto& row : table.rows) {
      EXPECT_EQ(row.size(), table.rows[0].size()) << table.title;
    }
  }
  const std::string text = text_of(tables);
  expect_words(text);
}

// Every AU rests on the point with ready data: a flag of its own has to be seen.
TEST(WorkersTables, MarkReadyData) {
  Evidence evidence = measured_by({});
  evidence.points.ready->mark = "○";
  EXPECT_EQ(workers_tables(evidence)[0].rows[1].front(), "ready data ○");
}

}  // namespace
}  // namespace bench::sweeps
