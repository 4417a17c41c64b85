// The picture of each stored result, as the script that draws it: every place, colour and word of it, held
// against files of tests/golden/pictures; and gnuplot draws it without a word.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/report/picture.h"
#include "bench/run/picture.h"
#include "bench/run/result_file.h"
#include "plots/gnuplot.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

struct Drawn {
  std::string name;      // of the script
  std::string document;  // below tests/golden
};

void PrintTo(const Drawn& drawn, std::ostream* out) {
  *out << drawn.name;
}

class PicturePages : public ::testing::TestWithParam<Drawn> {};

TEST_P(PicturePages, AreAsBefore) {
  const plots::Picture picture = report::picture_of(read_result(kGolden / GetParam().document));
  expect_page("../pictures/" + GetParam().name + ".gp", plots::gnuplot_script(picture));
}

// gnuplot's words go to stderr, and a picture that is drawn has none.
TEST_P(PicturePages, AreDrawn) {
  const TemporaryFolder folder;
  const plots::Picture picture = report::picture_of(read_result(kGolden / GetParam().document));
  const DrawnPicture drawn = draw(picture, folder.path() / "result.json");
  EXPECT_EQ(drawn.problem, "");
  EXPECT_EQ(drawn.said, "");
  ASSERT_EQ(drawn.files.size(), 2U);
  EXPECT_EQ(read_file(drawn.files[0]).substr(1, 3), "PNG");
  EXPECT_NE(read_file(drawn.files[1]).find("</svg>"), std::string::npos);
}

// Names that a shell or gnuplot would like to run are drawn, and not run.
TEST(Pictures, ForeignTextIsNotRun) {
  const TemporaryFolder folder;
  const fs::path marker = folder.path() / "ran";
  const std::string hostile = fmt::format(
      "it's '; system('touch {0}') #\n`touch {0}`\n@ARG0 \\ \" $(touch {0}) |touch {0}", marker.string());
  ResultDocument document = read_result(kGolden / "documents/batch.json");
  document.context.device.name = hostile;
  document.sweep.workload = hostile;
  for (Finding& finding : document.findings) {
    finding.claim = hostile;
  }
  document.unmeasured.push_back(
      {.name = hostile, .params = Json::object(), .status = "error", .reason = hostile});
  const DrawnPicture drawn = draw(report::picture_of(document), folder.path() / "an odd 'name'.json");
  EXPECT_EQ(drawn.said, "");
  EXPECT_EQ(drawn.files.size(), 2U);
  EXPECT_FALSE(fs::exists(marker));
}

// A script that no test writes any more would stay for ever.
TEST(PicturePagesOfAll, AreMadeByATest) {
  const auto* const suite = ::testing::UnitTest::GetInstance();
  std::size_t cases = 0;
  for (int i = 0; i < suite->total_test_suite_count(); ++i) {
    const ::testing::TestSuite& one = *suite->GetTestSuite(i);
    for (int k = 0; std::string(one.name()).ends_with("PicturePages") && k < one.total_test_count(); ++k) {
      cases += std::string(one.GetTestInfo(k)->name()).starts_with("AreAsBefore/") ? 1 : 0;
    }
  }
  const fs::directory_iterator files(kGolden / "pictures");
  EXPECT_EQ(static_cast<std::size_t>(std::distance(begin(files), end(files))), cases);
}

std::string test_name(const ::testing::TestParamInfo<Drawn>& of) {
  std::string name = of.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    , PicturePages,
    ::testing::Values(Drawn{"batch", "documents/batch.json"},
                      Drawn{"batch-capped", "documents/batch-capped.json"},
                      Drawn{"batch-flags", "documents/batch-flags.json"},
                      Drawn{"batch-interrupted", "documents/batch-interrupted.json"},
                      Drawn{"batch-predicted", "documents/batch-predicted.json"},
                      Drawn{"cards", "documents/cards.json"},
                      Drawn{"collectives", "documents/collectives.json"},
                      Drawn{"kernels", "documents/kernels.json"}, Drawn{"memory", "documents/memory.json"},
                      Drawn{"memory-two-caps", "memory.json"}, Drawn{"transfer", "transfer.json"},
                      Drawn{"workers", "documents/workers.json"}, Drawn{"workers-timeline", "workers.json"},
                      Drawn{"workers-simulated", "documents/workers-simulated.json"}),
    test_name);

}  // namespace
}  // namespace bench::testing
