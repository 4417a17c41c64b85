// bench advise --current.
#include "bench/advise/advice.h"

#include <gtest/gtest.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

std::string settings_error(const std::string& text) {
  try {
    parse_settings("--current", text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Settings, ReadsEveryKey) {
  const TrainingSettings settings =
      parse_settings("--current", "batch=16,accumulate=8,workers=0,pin=yes,dtype=bf16,cards=3,prefetch=4");
  EXPECT_EQ(settings, (TrainingSettings{.batch = 16,
                                        .accumulate = 8,
                                        .workers = 0,
                                        .prefetch = 4,
                                        .pin = true,
                                        .dtype = "bf16",
                                        .cards = 3}));
  EXPECT_EQ(settings.effective_batch(), 384);
  EXPECT_EQ(parse_settings("--current", "batch=1").accumulate, 1);
}

TEST(Settings, RefusesInOneSentence) {
  for (const char* const text :
       {"", "batch", "batch=16,", "batch=0", "batch=-1", "batch=1.5", "batch=99999999999999999999",
        "workers=-1", "worker=1", "pin=true", "dtype=fp8", "batch=1,batch=2"}) {
    expect_words(settings_error(text));
  }
}

}  // namespace
}  // namespace bench
