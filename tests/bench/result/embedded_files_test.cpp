#include "bench/result/embedded_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace bench {
namespace {

namespace fs = std::filesystem;

TEST(EmbeddedFiles, AreThoseOfTheCheckoutByteForByte) {
  for (const EmbeddedFile& file : embedded_files()) {
    std::ifstream in(fs::path(BENCH_TEST_SOURCE_DIR) / file.path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(text.empty()) << file.path;
    EXPECT_EQ(file.text, text) << file.path;
    EXPECT_EQ(embedded_text(file.path), text) << file.path;
  }
}

TEST(EmbeddedFiles, AFileThatIsNoneIsAnErrorOfTheProgram) {
  EXPECT_THROW(embedded_text("results/absent.json"), std::logic_error);
}

}  // namespace
}  // namespace bench
