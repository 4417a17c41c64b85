// Changes as PyTorch spells them.
#include "bench/advise/change_words.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(ChangeWords, ChannelsLastIsWrittenWhereHalfPrecisionWasMeasuredWithIt) {
  const TrainingSettings now{.batch = 8, .dtype = "fp32"};
  TrainingSettings then = now;
  then.dtype = "fp16";
  const SettingUse on_gpu{.on_gpu = true, .training = true, .convolves_channels_last = true};
  EXPECT_EQ(pytorch_setting(now, then, on_gpu),
            "torch.autocast(\"cuda\", dtype=torch.float16), torch.amp.GradScaler(); "
            "model.to(memory_format=torch.channels_last), the images too");
  EXPECT_EQ(pytorch_setting(now, then, {.on_gpu = true}), "torch.autocast(\"cuda\", dtype=torch.float16)");
  EXPECT_EQ(pytorch_setting(then, now, on_gpu), "no torch.autocast");
}

}  // namespace
}  // namespace bench
