// The picture of each stored result, as the script that draws it: every place, colour and word of it, held
// against files of tests/golden/pictures; and gnuplot draws it without a word.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/evaluate/evaluation_formats.h"
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
  std::string name;                                    // of the script
  std::string document;                                // below tests/golden
  void (*change)(ResultDocument& document) = nullptr;  // for what no stored result has
};

void PrintTo(const Drawn& drawn, std::ostream* out) {
  *out << drawn.name;
}

plots::Picture picture_of(const Drawn& drawn) {
  ResultDocument document = read_result(kGolden / drawn.document);
  if (drawn.change != nullptr) {
    drawn.change(document);
  }
  return report::picture_of(document);
}

void expect_drawn(const plots::Picture& picture) {
  const TemporaryFolder folder;
  const DrawnPicture drawn = draw(picture, folder.path() / "result.json");
  EXPECT_EQ(drawn.problem, "");
  EXPECT_EQ(drawn.said, "") << "gnuplot's words";
  ASSERT_EQ(drawn.files.size(), 2U);
  EXPECT_EQ(read_file(drawn.files[0]).substr(1, 3), "PNG");
  EXPECT_NE(read_file(drawn.files[1]).find("</svg>"), std::string::npos);
}

class PicturePages : public ::testing::TestWithParam<Drawn> {};

TEST_P(PicturePages, AreAsBefore) {
  expect_page("../pictures/" + GetParam().name + ".gp", plots::gnuplot_script(picture_of(GetParam())));
}

TEST_P(PicturePages, AreDrawn) {
  expect_drawn(picture_of(GetParam()));
}

Finding& finding_in(ResultDocument& document, const std::string& name) {
  return *std::ranges::find(document.findings, name, &Finding::name);
}

// A limit and a cap far above all points: named, not drawn. The largest batch is by the line of memory.
void put_limits_far(ResultDocument& document) {
  finding_in(document, "largest_batch").details["source"] = "extrapolated";
  Finding& t_inf = finding_in(document, "t_inf");
  t_inf.details["t_inf_per_s"] = 5000;
  t_inf.details["model_holds"] = false;
  document.sweep.memory_cap_bytes = std::int64_t{40} << 30;
  Finding& saturation = finding_in(document, "ceiling_batch");
  saturation.value = 8;
  saturation.details["may_lie_beyond"] = true;
}

// Two series over a long run: one leaks from its 6th step on, the other makes one jump, which is none.
void run_long(ResultDocument& document) {
  Json leaking = Json::array();
  Json jumping = Json::array();
  for (int step = 0; step <= 30; ++step) {
    leaking.push_back({step, 100'000'000 + 500'000 * std::max(step - 6, 0), 0});
    jumping.push_back({step, step < 10 ? 200'000'000 : 208'000'000, 0});
  }
  const auto soak = [](const char* label, const Json& samples) {
    return Json{{"label", label},     {"point", ""},      {"batch", 4},
                {"wanted_steps", 30}, {"done_steps", 30}, {"samples", samples}};
  };
  document.sweep.state["soak"] = {soak("fp32 training with adam", leaking),
                                  soak("fp32 training with sgd", jumping),
                                  soak("cut", Json::array({Json::array({0, 1, 1})}))};
  Finding growth = finding_of("memory_growth/fp32 training with adam", "bytes/step");
  growth.value = 500'000;
  growth.claim = "Memory of fp32 training with adam grows by 488 KiB a step.";
  document.findings.push_back(growth);
}

// Values computed again, and weights updated between backward operations, belong to the pass around them.
void compute_again(ResultDocument& document) {
  Json& names = document.sweep.state["step_memory"]["names"];
  names[100] = "forward x again";
  names[110] = "optimizer x";
}

ResultDocument result_of(const char* file) {
  return read_result(kGolden / "documents" / file);
}

// What is measured beside what is predicted, with a price for one of them.
TEST(EvaluationPicturePages, AreAsBefore) {
  const Evaluation evaluation =
      evaluate(evaluated_devices({{.path = "batch-train.json", .document = result_of("batch-train.json")},
                                  {.path = "again.json", .document = result_of("batch-train.json")}}),
               parse_prices("cpu=0.35/h"), std::nullopt);
  expect_page("../pictures/evaluate.gp", plots::gnuplot_script(picture_of(evaluation)));
  expect_drawn(picture_of(evaluation));
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
  if (pages_are_written()) {
    GTEST_SKIP() << "some may not be there yet";
  }
  const auto* const suite = ::testing::UnitTest::GetInstance();
  std::size_t cases = 1;  // the evaluation
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
    ::testing::Values(
        Drawn{"batch", "documents/batch.json"},
        Drawn{"batch-far-limits", "documents/batch.json", put_limits_far},
        Drawn{"batch-capped", "documents/batch-capped.json"},
        Drawn{"batch-flags", "documents/batch-flags.json"},
        Drawn{"batch-interrupted", "documents/batch-interrupted.json"},
        Drawn{"batch-predicted", "documents/batch-predicted.json"}, Drawn{"cards", "documents/cards.json"},
        Drawn{"collectives", "documents/collectives.json"},
        Drawn{"kernels-and-memory", "../../results/reference/intel-xeon-2-cores/kernels-all-cpu.json"},
        Drawn{"kernels-predicted", "documents/kernels-predicted.json"},
        Drawn{"transfer-predicted", "documents/transfer-predicted.json"},
        Drawn{"kernels", "documents/kernels.json"}, Drawn{"memory", "documents/memory.json"},
        Drawn{"memory-two-caps", "memory.json"}, Drawn{"memory-long-run", "documents/memory.json", run_long},
        Drawn{"memory-computing-again", "documents/memory.json", compute_again},
        Drawn{"transfer", "transfer.json"}, Drawn{"workers", "documents/workers.json"},
        Drawn{"workers-timeline", "workers.json"},
        Drawn{"workers-simulated", "documents/workers-simulated.json"}),
    test_name);

}  // namespace
}  // namespace bench::testing
