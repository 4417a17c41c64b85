// bench advise --current.
#include "bench/advise/settings.h"

#include <gmock/gmock.h>

#include "bench/error.h"

namespace bench {
namespace {

using ::testing::HasSubstr;

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
  for (const auto& [text, message] : {std::pair{"", "has no value"},
                                      {"batch", "'batch' has no value"},
                                      {"batch=16,", "has no value"},
                                      {"batch=0", "batch is '0'; accepted: a whole number from 1"},
                                      {"batch=-1", "batch is '-1'"},
                                      {"batch=1.5", "batch is '1.5'"},
                                      {"batch=99999999999999999999", "a whole number"},
                                      {"workers=-1", "a whole number from 0"},
                                      {"worker=1", "did you mean workers?"},
                                      {"pin=true", "pin is 'true'; accepted: yes, no"},
                                      {"dtype=fp8", "accepted: fp32, tf32, bf16, fp16, half"},
                                      {"batch=1,batch=2", "batch is given twice"}}) {
    EXPECT_THAT(settings_error(text), HasSubstr(message)) << text;
    EXPECT_THAT(settings_error(text), ::testing::StartsWith("--current: "));
  }
}

}  // namespace
}  // namespace bench
