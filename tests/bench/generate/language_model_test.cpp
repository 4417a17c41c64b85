#include "bench/generate/language_model.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/generate/catalogue.h"
#include "bench/result/embedded_files.h"

namespace bench {
namespace {

const LanguageModel& model_named(const char* name) {
  const LanguageModel* const model = language_models().find(name);
  if (model == nullptr) {
    throw std::logic_error(name);
  }
  return *model;
}

TEST(LanguageModel, HasThePublishedParameters) {
  const Json document = Json::parse(embedded_text("results/language-models.json"));
  ASSERT_GE(document["models"].size(), 30U);
  for (const Json& entry : document["models"]) {
    const auto id = entry["id"].get<std::string>();
    EXPECT_EQ(parameters(model_named(id.c_str())), entry["parameters"].get<std::int64_t>()) << id;
  }
}

// Published: 131,072 bytes a token of Llama 3.1 8B in bf16; all 256 heads' size of one key and one value a
// layer.
TEST(LanguageModel, CountsKeysAndValuesOfSharedHeads) {
  EXPECT_EQ(2 * kv_values(model_named("llama3.1_8b"), 1), 131'072);
  EXPECT_EQ(2 * kv_values(model_named("qwen2.5_0.5b"), 1000), 12'288'000);
}

// gemma3_4b: 5 layers see all tokens, 29 see 1024; published: 20,480 bytes a token and at most 121,634,816
// more a sequence.
TEST(LanguageModel, LayersWithAWindowKeepNoMoreThanIt) {
  EXPECT_EQ(2 * kv_values(model_named("gemma3_4b"), 100'000), 20'480 * 100'000LL + 121'634'816);
  EXPECT_EQ(2 * kv_values(model_named("gemma3_4b"), 10), 34LL * 4 * 4 * 256 * 10);
}

// Qwen3-30B-A3B: 3.35e9 parameters active of 30.5e9, embedding, output matrix and norms included.
TEST(LanguageModel, ATokenTakesFewExpertsAndABatchNearlyAll) {
  const LanguageModel& model = model_named("qwen3_30b_a3b");
  EXPECT_NEAR(body_parameters_used(model) + 2.0 * static_cast<double>(matrix_parameters(model)),
              3'353'032'704, 1);
  EXPECT_DOUBLE_EQ(body_parameters_read(model, 1), body_parameters_used(model));
  const auto body = static_cast<double>(body_parameters(model));
  EXPECT_GT(body_parameters_read(model, 256), 0.999 * body);
  EXPECT_LT(body_parameters_read(model, 16), 0.7 * body);
  EXPECT_DOUBLE_EQ(body_parameters_read(model_named("phi4"), 1),
                   static_cast<double>(body_parameters(model_named("phi4"))));
}

TEST(LanguageModel, IsFoundAsPeopleWriteIt) {
  for (const char* const name : {"llama3.1_8b", "Llama-3.1-8B", "llama3_1_8b", "llama3_8b", "LLAMA 3.1 8B",
                                 "meta-llama/Llama-3.1-8B-Instruct"}) {
    EXPECT_EQ(model_named(name).id, "llama3.1_8b") << name;
  }
  for (const char* const name : {"", "llama", "llama3.1_9b", "resnet50"}) {
    EXPECT_EQ(language_models().find(name), nullptr) << name;
  }
}

std::string refusal_of(const LanguageModel& model) {
  try {
    check_language_model(model, "here");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(LanguageModel, RefusesNumbersThatNoModelHas) {
  const LanguageModel good = model_named("llama3.1_8b");
  EXPECT_EQ(refusal_of(good), "");
  LanguageModel model = good;
  model.kv_heads = 5;
  EXPECT_EQ(refusal_of(model), "here: 32 attention heads cannot share 5 heads of keys and values evenly");
  model = good;
  model.layers = -1;
  EXPECT_EQ(refusal_of(model), "here: the model's layers is -1; accepted: 1 to 10000");
  model = good;
  model.experts = 8;
  EXPECT_EQ(refusal_of(model), "here: the model's experts that a token takes is 0; accepted: 1 to 8");
  model = good;
  model.layers = 10'000;
  model.inner = 1 << 20;
  model.hidden = 1 << 20;
  EXPECT_EQ(refusal_of(model), "here: these sizes make 3.31e+16 parameters; accepted: at most 1e+14");
}

}  // namespace
}  // namespace bench
