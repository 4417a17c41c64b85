// Speed and memory of text generation on cards that are not here.
#include <cmath>

#include <gtest/gtest.h>

#include "bench/generate/catalogue.h"
#include "bench/generate/memory.h"
#include "bench/run/gpu_files.h"

namespace bench {
namespace {

constexpr double kGibibyte = 1 << 30;

class Generation : public ::testing::Test {
 protected:
  GenerationSetting setting(const std::string& card, const char* model, const char* weights,
                            const char* engine, int cards = 1) {
    gpu_ = gpu_named("--gpu", card);
    return {.gpu = &gpu_,
            .cards = cards,
            .engine = engine,
            .model = language_models().find(model),
            .format = weight_format(weights, engine).value()};
  }
  static PredictedTime step(const GenerationSetting& setting, std::int64_t batch, std::int64_t context) {
    return predict_step(setting, generation_speeds(), batch, context);
  }

 private:
  Gpu gpu_;
};

// What tools/calibrate/generation.py says of the same, from the fit itself: seconds a step.
TEST_F(Generation, StepsAreThoseOfTheFit) {
  struct Case {
    const char* card;
    const char* model;
    const char* weights;
    const char* engine;
    std::int64_t batch;
    std::int64_t context;
    double ms;
  };
  for (const Case& of : {Case{"rtx3070", "llama3.1_8b", "q4_k_m", "llama.cpp", 1, 256, 13.43},
                         Case{"rtx4080", "llama3.1_8b", "bf16", "llama.cpp", 1, 256, 22.98},
                         Case{"a100-pcie-80gb", "llama3.1_8b", "q4_k_m", "llama.cpp", 1, 256, 7.006},
                         Case{"a100-pcie-80gb", "llama3.1_8b", "bf16", "llama.cpp", 1, 256, 16.92},
                         Case{"rtx4090", "llama3.1_8b", "bf16", "pytorch", 1, 64, 19.31},
                         Case{"rtx4090", "llama3.1_8b", "bf16", "pytorch", 8, 64, 19.51},
                         Case{"h100-sxm", "llama3.1_8b", "bf16", "pytorch", 1, 64, 19.2},
                         Case{"h100-sxm", "llama3.1_8b", "bf16", "pytorch", 8, 64, 19.28},
                         Case{"gb10", "qwen3_30b_a3b", "q8_0", "llama.cpp", 1, 16, 18.47},
                         Case{"gb10", "qwen2.5_7b", "q8_0", "llama.cpp", 2, 528, 36.26},
                         Case{"rtx4090", "llama2_7b", "q8_0", "llama.cpp", 1, 64, 9.28},
                         Case{"rtx3090", "llama3.1_8b", "bf16", "llama.cpp", 8, 64, 20.23},
                         Case{"gb10", "qwen2.5_14b", "q4_k_m", "llama.cpp", 1, 64, 37.23},
                         Case{"a100-80gb", "qwen3_30b_a3b", "bf16", "vllm", 1, 192, 9.553},
                         Case{"rtx4090", "llama3.1_8b", "bf16", "vllm", 1, 313, 23.21}}) {
    EXPECT_NEAR(1e3 * step(setting(of.card, of.model, of.weights, of.engine), of.batch, of.context).seconds,
                of.ms, 0.005 * of.ms)
        << of.card << ' ' << of.model << ' ' << of.engine;
  }
}

TEST_F(Generation, IntervalsAreWiderWhereNothingWasMeasured) {
  const auto width = [&](const char* card, const char* engine) {
    const PredictedTime time = step(setting(card, "llama3.1_8b", "int4", engine), 1, 512);
    EXPECT_LT(time.interval80.low, time.seconds);
    return time.interval80.high / time.interval80.low;
  };
  EXPECT_LT(width("rtx4090", "llama.cpp"), 1.5);
  EXPECT_GT(width("rtx4090", "sglang"), 1.15 * width("rtx4090", "llama.cpp")) << "measured on an H20 alone";
  EXPECT_GT(width("rtx4070ti", "llama.cpp"), 0.99 * width("rtx4000-ada", "llama.cpp"));
}

TEST_F(Generation, MoreWorkTakesLonger) {
  const GenerationSetting of = setting("rtx3060-12gb", "llama3.1_8b", "int4", "llama.cpp");
  EXPECT_LT(step(of, 1, 512).seconds, step(of, 1, 8192).seconds);
  EXPECT_LT(step(of, 1, 512).seconds, step(of, 16, 512).seconds);
  EXPECT_LT(step(of, 16, 512).seconds, 16 * step(of, 1, 512).seconds) << "a batch reads the weights once";
  EXPECT_LT(predict_prompt(of, generation_speeds(), 512).seconds,
            predict_prompt(of, generation_speeds(), 4096).seconds);
}

TEST_F(Generation, CardsThatShareMatricesAreFasterAndThoseThatShareLayersAreNot) {
  const double one = step(setting("rtx3090", "llama3.1_70b", "int4", "vllm"), 1, 512).seconds;
  EXPECT_LT(step(setting("rtx3090", "llama3.1_70b", "int4", "vllm", 2), 1, 512).seconds, 0.8 * one);
  const double in_turn = step(setting("rtx3090", "llama3.1_70b", "int4", "llama.cpp"), 1, 512).seconds;
  EXPECT_GE(step(setting("rtx3090", "llama3.1_70b", "int4", "llama.cpp", 2), 1, 512).seconds, in_turn);
}

// Measured: 14.99 GiB of weights (vLLM); 19.97 GiB with transformers after a prompt of 30720 tokens and 2048
// generated.
TEST_F(Generation, MemoryIsThatOfMeasuredRuns) {
  const GenerationMemory weights =
      generation_memory(setting("rtx3090", "llama3.1_8b", "bf16", "vllm"), 1, 1, 1);
  EXPECT_NEAR(weights.weights / kGibibyte, 14.99, 0.005 * 14.99);
  const GenerationSetting qwen = setting("a100-80gb", "qwen2.5_7b", "bf16", "pytorch");
  EXPECT_NEAR(generation_memory(qwen, 1, 32768, 30720).total() / kGibibyte, 19.97, 0.03 * 19.97);
  EXPECT_NEAR(generation_memory(qwen, 1, 2049, 1).total() / kGibibyte, 14.38, 0.03 * 14.38);
}

TEST_F(Generation, TheLargestBatchAndContextJustFit) {
  const GenerationSetting of = setting("rtx3060-12gb", "llama3.1_8b", "int4", "llama.cpp");
  const Interval room = room_on(*of.gpu, 1);
  const std::int64_t batch = largest_batch(of, 8192, 8192, 4096);
  EXPECT_GT(batch, 1);
  EXPECT_EQ(fits(generation_memory(of, batch, 8192, 8192), of.format, room), Fits::yes);
  EXPECT_NE(fits(generation_memory(of, batch + 1, 8192, 8192), of.format, room), Fits::yes);
  EXPECT_EQ(largest_batch(setting("rtx3060-12gb", "llama3.1_8b", "bf16", "llama.cpp"), 8192, 8192, 4096), 0);
  EXPECT_EQ(fits(generation_memory(setting("rtx3060-12gb", "llama3.1_8b", "bf16", "llama.cpp"), 1, 512, 512),
                 of.format, room),
            Fits::no);
}

TEST_F(Generation, AnEngineThatDoesNotRunOnACardSaysWhatItNeeds) {
  EXPECT_EQ(engine_refusal("vllm", *setting("gtx1080ti", "llama3.1_8b", "int4", "vllm").gpu),
            "vllm does not run on it: it needs compute capability 7.0 or higher, and the card has 6.1");
  EXPECT_EQ(engine_refusal("vllm", *setting("v100-16gb", "llama3.1_8b", "int4", "vllm").gpu), "");
  EXPECT_NE(engine_refusal("tensorrt-llm", *setting("t4", "llama3.1_8b", "int4", "vllm").gpu), "");
  EXPECT_EQ(engine_refusal("llama.cpp", *setting("p100", "llama3.1_8b", "int4", "llama.cpp").gpu), "");
}

// The published file of Qwen2.5-0.5B has 398 MB, 6 of them of its vocabulary: rows of 896 weights are no
// multiple of a k-quant's 256.
TEST(WeightFormats, RowsThatBlocksDoNotDivideTakeMoreBits) {
  const WeightFormat format = weight_format("q4_k_m", "llama.cpp").value();
  const auto bytes_of = [&](const char* model) {
    return weight_bytes(*language_models().find(model), format, "llama.cpp");
  };
  EXPECT_NEAR(bytes_of("qwen2.5_0.5b").layers + bytes_of("qwen2.5_0.5b").output, 392e6, 4e6);
  const auto body = static_cast<double>(body_parameters(*language_models().find("qwen2.5_1.5b")));
  EXPECT_DOUBLE_EQ(bytes_of("qwen2.5_1.5b").layers, body * 4.8 / 8) << "1536 is six blocks";
}

TEST(WeightFormats, FollowTheEngine) {
  EXPECT_DOUBLE_EQ(weight_format("int4", "llama.cpp").value().bits, 4.8) << "q4_k_m";
  EXPECT_DOUBLE_EQ(weight_format("int4", "vllm").value().bits, 4.15);
  EXPECT_FALSE(weight_format("q4_k_m", "vllm"));
  EXPECT_FALSE(weight_format("fp8", "llama.cpp"));
  EXPECT_FALSE(weight_format("int3", "vllm"));
}

}  // namespace
}  // namespace bench
