#include "bench/run/result_folder.h"

#include <filesystem>
#include <string>
#include <vector>

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

TEST(ResultPaths, WhatAFolderHoldsBesideIsNamedWithTheReason) {
  const testing::TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return (folder.path() / name).string(); };
  testing::write_file(at("batch.json"), kResult);
  testing::write_file(at("b/batch.json"), kResult);
  testing::write_file(at("b/batch.2026-01-02.json"), kResult);
  testing::write_file(at("verdict.json"), R"({"schema": "bench-compare/1"})");
  testing::write_file(at("b/notes.json"), "{}");
  testing::write_file(at(".hidden/batch.json"), "{}");
  std::filesystem::create_symlink("nowhere", at("link.json"));
  const ChosenFiles chosen = files_of({folder.path().string()}, {"bench-result", "bench-compare"});
  EXPECT_THAT(chosen.paths, ElementsAre(at("b/batch.json"), at("batch.json"), at("verdict.json")));
  ASSERT_EQ(chosen.left_out.size(), 2U);
  for (const std::string& sentence : chosen.left_out) {
    expect_words(without_path(sentence, folder.path()));
  }
  const ChosenFiles both =
      files_of({folder.path().string(), at("b/batch.2026-01-02.json")}, {"bench-result", "bench-compare"});
  EXPECT_EQ(both.paths.back(), at("b/batch.2026-01-02.json"));
  EXPECT_THAT(both.left_out, ElementsAre(chosen.left_out.at(1))) << "what is given itself is not left out";
  for (int i = 10; i < 40; ++i) {
    testing::write_file(at(fmt::format("other-{}.json", i)), "{}");
  }
  expect_words(
      without_path(files_of({folder.path().string()}, {"bench-result"}).left_out.at(1), folder.path()));
}

TEST(ResultPaths, AnEarlierRunThatWasMeasuredBetterMayBeTaken) {
  const testing::TemporaryFolder folder;
  const auto at = [&](const std::string& name) { return (folder.path() / name).string(); };
  for (const char* name : {"batch.json", "batch.2026-01-02.json", "batch.2026-01-03.json", "memory.json"}) {
    testing::write_file(at(name), kResult);
  }
  const ChosenFiles chosen =
      files_of({folder.path().string()}, {"bench-result"},
               [&](const std::string& latest, const std::vector<std::string>& earlier) {
                 EXPECT_EQ(latest, at("batch.json"));
                 EXPECT_EQ(earlier.size(), 2U);
                 return at("batch.2026-01-02.json");
               });
  EXPECT_THAT(chosen.paths, ElementsAre(at("batch.2026-01-02.json"), at("memory.json")));
  for (const std::string& sentence : chosen.left_out) {
    expect_words(without_path(sentence, folder.path()));
  }
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
  const ChosenFiles chosen = results_of_sweeps({path, "given.json"}, {"batch", "workers"});
  EXPECT_THAT(chosen.paths, ElementsAre(path + "/batch.json", "given.json")) << "files are not looked into";
  expect_words(without_path(chosen.left_out.at(0), folder.path()));
  expect_words(
      without_path(message_of<UsageError>([&] { results_of_sweeps({path}, {"workers"}); }), folder.path()));
}

}  // namespace
}  // namespace bench
