#include "bench/run/result_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"

namespace bench {
namespace {

using ::testing::ElementsAre;

constexpr const char* kResult = R"({"schema": "bench-result/2"})";

TEST(ResultPaths, AFolderIsTheResultsInItByName) {
  const testing::TemporaryFolder folder;
  const auto at = [&](const char* name) { return (folder.path() / name).string(); };
  testing::write_file(at("b/batch.json"), kResult);
  testing::write_file(at("batch.json"), kResult);
  testing::write_file(at("batch.2026-01-02.json"), kResult);
  testing::write_file(at("old.2026-01-02.json"), kResult);
  testing::write_file(at(".hidden/batch.json"), kResult);
  testing::write_file(at("verdict.json"), R"({"schema": "bench-compare/1"})");
  testing::write_file(at("batch.txt"), kResult);
  EXPECT_THAT(result_paths({folder.path().string(), "given.json"}),
              ElementsAre(at("b/batch.json"), at("batch.json"), at("old.2026-01-02.json"), "given.json"));
}

TEST(ResultPaths, AFolderWithoutResultsIsRefused) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path() / "verdict.json", R"({"schema": "bench-compare/1"})");
  expect_words(
      without_path(message_of<UsageError>([&] { result_paths({folder.path().string()}); }), folder.path()));
}

TEST(ResultPaths, OfAFolderOnlyTheSweepsAskedForAreTaken) {
  const testing::TemporaryFolder folder;
  const auto write = [&](const char* sweep) {
    ResultDocument document = testing::sample_document();
    document.sweep.name = sweep;
    testing::write_file(folder.path() / fmt::format("{}.json", sweep), to_text(to_json(document)));
  };
  write("batch");
  write("memory");
  const std::string path = folder.path().string();
  const ChosenResults chosen = results_of_sweeps({path, "given.json"}, {"batch", "workers"});
  EXPECT_THAT(chosen.paths, ElementsAre(path + "/batch.json", "given.json")) << "files are not looked into";
  expect_words(without_path(chosen.left_out.at(0), folder.path()));
  expect_words(
      without_path(message_of<UsageError>([&] { results_of_sweeps({path}, {"workers"}); }), folder.path()));
}

}  // namespace
}  // namespace bench
