#include "bench/run/result_folder.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

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
  EXPECT_THAT(
      [&] { result_paths({folder.path().string()}); },
      ThrowsMessage<UsageError>(HasSubstr("holds no result; give a folder that bench --out wrote to")));
}

}  // namespace
}  // namespace bench
