#include "bench/generate/model_file.h"

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/generate/catalogue.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

const Json kLlama = Json::parse(
    R"({"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
  "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 131072,
  "tie_word_embeddings": false, "rope_scaling": {"factor": 8.0}})");

void expect_same(const LanguageModel& model, const char* known) {
  const LanguageModel* const of = language_models().find(known);
  ASSERT_NE(of, nullptr);
  EXPECT_EQ(parameters(model), parameters(*of)) << known;
  EXPECT_EQ(kv_values(model, 100'000), kv_values(*of, 100'000)) << known;
  EXPECT_EQ(model.context, of->context) << known;
}

TEST(ModelFiles, ConfigsAreTheBuiltInModels) {
  expect_same(model_of_config(kLlama, "config.json"), "llama3.1_8b");
  expect_same(
      model_of_config(Json::parse(R"({"model_type": "qwen2", "num_hidden_layers": 24, "hidden_size": 896,
    "num_attention_heads": 14, "num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true,
    "max_position_embeddings": 32768, "sliding_window": 32768, "use_sliding_window": false})"),
                      "c"),
      "qwen2.5_0.5b");
  expect_same(
      model_of_config(
          Json::parse(
              R"({"model_type": "qwen3_moe", "num_hidden_layers": 48, "hidden_size": 2048, "head_dim": 128,
    "num_attention_heads": 32, "num_key_value_heads": 4, "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
    "num_experts_per_tok": 8, "vocab_size": 151936, "max_position_embeddings": 40960})"),
          "c"),
      "qwen3_30b_a3b");
  expect_same(
      model_of_config(
          Json::parse(
              R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text", "num_hidden_layers": 34,
    "hidden_size": 2560, "head_dim": 256, "intermediate_size": 10240,
    "vocab_size": 262144, "sliding_window": 1024, "sliding_window_pattern": 6, "max_position_embeddings": 131072}})"),
          "c"),
      "gemma3_4b");
}

std::string refusal_of(const Json& config) {
  try {
    model_of_config(config, "config.json");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "(taken)";
}

TEST(ModelFiles, RefuseWhatIsMissingOrAbsurd) {
  std::vector<std::string> lines;
  const auto with = [&](const char* key, const Json& value) {
    Json config = kLlama;
    value.is_discarded() ? static_cast<void>(config.erase(key)) : static_cast<void>(config[key] = value);
    lines.push_back(refusal_of(config));
  };
  with("hidden_size", Json(Json::value_t::discarded));
  with("hidden_size", "4096");
  with("hidden_size", 0);
  with("hidden_size", 4097);
  with("num_key_value_heads", 5);
  with("num_hidden_layers", -3);
  with("num_hidden_layers", 1e9);
  with("vocab_size", 9'000'000'000'000'000'000);
  with("model_type", "deepseek_v3");
  with("model_type", "\x1b[31m");
  with("model_type", 7);
  lines.push_back(refusal_of(Json::array()));
  expect_words(lines);
}

TEST(ModelFiles, SayHowTheirWeightsAreStored) {
  const testing::TemporaryFolder folder;
  const auto stored = [&](const char* key, const Json& value) {
    Json config = kLlama;
    config[key] = value;
    const auto path = folder.path() / "config.json";
    std::ofstream(path) << config;
    return read_model_file("--model", path).stored_as;
  };
  EXPECT_EQ(stored("unsaid", 0), "");
  EXPECT_EQ(stored("torch_dtype", "bfloat16"), "bf16");
  EXPECT_EQ(stored("dtype", "float32"), "fp32");
  EXPECT_EQ(stored("quantization_config", {{"quant_method", "awq"}, {"bits", 4}}), "int4");
  EXPECT_EQ(stored("quantization_config", {{"quant_method", "bitsandbytes"}, {"load_in_8bit", true}}),
            "int8");
  EXPECT_EQ(stored("quantization_config", {{"quant_method", "mxfp4"}}), "mxfp4");
  EXPECT_EQ(stored("quantization_config", {{"quant_method", "hqq"}}), "hqq");
  EXPECT_EQ(stored("quantization_config", 7), "");
}

// Writes a GGUF file's header.
class Header {
 public:
  Header(std::uint32_t version, std::uint64_t tensors, std::uint64_t entries) {
    bytes_ = "GGUF";
    add(version);
    add(tensors);
    add(entries);
  }
  template <class T>
  void add(T value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    bytes_ += bytes;
  }
  void text(const std::string& text) {
    add(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  void number(const std::string& key, std::uint32_t value) {
    text(key);
    add(std::uint32_t{4});
    add(value);
  }
  void tensor(const std::string& name, std::vector<std::uint64_t> dims, std::uint32_t type) {
    text(name);
    add(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t dim : dims) {
      add(dim);
    }
    add(type);
    add(std::uint64_t{0});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

constexpr std::uint32_t kQ4K = 12;
constexpr std::uint32_t kQ6K = 14;
constexpr std::uint32_t kF32 = 0;

// Two layers of 256 channels, 4 query heads and 2 of keys and values, 1000 words.
std::string small_gguf() {
  Header header(3, 4 + 2 * 9, 11);
  header.text("general.architecture");
  header.add(std::uint32_t{8});
  header.text("llama");
  header.number("llama.block_count", 2);
  header.number("llama.embedding_length", 256);
  header.number("llama.attention.head_count", 4);
  header.number("llama.attention.head_count_kv", 2);
  header.number("llama.feed_forward_length", 512);
  header.number("llama.context_length", 2048);
  header.text("llama.rope.freq_base");
  header.add(std::uint32_t{6});
  header.add(10'000.0F);
  header.text("tokenizer.ggml.tokens");
  header.add(std::uint32_t{9});
  header.add(std::uint32_t{8});
  header.add(std::uint64_t{1000});
  for (int i = 0; i < 1000; ++i) {
    header.text("w" + std::to_string(i));
  }
  header.number("general.file_type", 15);
  header.text("general.name");
  header.add(std::uint32_t{8});
  header.text("\x1b[2Jsmall");
  header.tensor("token_embd.weight", {256, 1000}, kQ4K);
  header.tensor("output.weight", {256, 1000}, kQ6K);
  header.tensor("output_norm.weight", {256}, kF32);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    header.tensor(layer + "attn_norm.weight", {256}, kF32);
    header.tensor(layer + "ffn_norm.weight", {256}, kF32);
    header.tensor(layer + "attn_q.weight", {256, 256}, kQ4K);
    header.tensor(layer + "attn_k.weight", {256, 128}, kQ4K);
    header.tensor(layer + "attn_v.weight", {256, 128}, kQ6K);
    header.tensor(layer + "attn_output.weight", {256, 256}, kQ4K);
    header.tensor(layer + "ffn_gate.weight", {256, 512}, kQ4K);
    header.tensor(layer + "ffn_up.weight", {256, 512}, kQ4K);
    header.tensor(layer + "ffn_down.weight", {512, 256}, kQ4K);
  }
  header.tensor("rope_freqs.weight", {32}, kF32);
  return header.bytes();
}

class GgufFiles : public ::testing::Test {
 protected:
  ModelFile read(const std::string& bytes) {
    const auto path = folder_.path() / "model.gguf";
    std::ofstream(path, std::ios::binary) << bytes;
    return read_model_file("--model", path);
  }
  std::string refusal_of(const std::string& bytes) {
    try {
      read(bytes);
    } catch (const UsageError& error) {
      const std::string text = error.what();
      return text.substr(text.find("model.gguf"));
    }
    return "(taken)";
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(GgufFiles, SayShapesAndBits) {
  const ModelFile file = read(small_gguf());
  EXPECT_EQ(file.model.layers, 2);
  EXPECT_EQ(file.model.kv_heads, 2);
  EXPECT_EQ(file.model.head_size, 64);
  EXPECT_EQ(file.model.vocabulary, 1000);
  EXPECT_FALSE(file.model.is_tied);
  // 2 · (256·256·2 + 2·256·128 + 3·256·512 + 2·256) + 256 + 2·256·1000
  EXPECT_EQ(parameters(file.model), 2 * (131'072 + 65'536 + 393'216 + 512) + 256 + 512'000);
  ASSERT_TRUE(file.format);
  EXPECT_NEAR(file.format->bits, 4.65, 0.1) << "q4_k, an eighth of the attention in q6_k";
  EXPECT_DOUBLE_EQ(file.format->output_bits, 6.5625);
  EXPECT_EQ(file.format->width, 4);
}

TEST_F(GgufFiles, RefuseWhatTheyCannotBe) {
  const std::string good = small_gguf();
  std::vector<std::string> lines{refusal_of(good.substr(0, 4)), refusal_of(good.substr(0, good.size() - 1)),
                                 refusal_of(good.substr(0, 300))};
  lines.push_back(refusal_of(Header(1, 1, 1).bytes()));
  lines.push_back(refusal_of(Header(3, 1'000'000'000, 1).bytes()));
  lines.push_back(refusal_of(Header(3, 1, 0xFFFFFFFFFFFFFFFF).bytes()));
  lines.push_back(refusal_of(Header(3, 0, 0).bytes()));
  Header hostile(3, 0, 1);
  hostile.add(std::uint64_t{1} << 40);
  lines.push_back(refusal_of(hostile.bytes()));
  Header type(3, 1, 0);
  type.tensor("\x1b[31mred", {4}, 200);
  lines.push_back(refusal_of(type.bytes()));
  Header nested(3, 0, 1);
  nested.text("deep");
  for (int i = 0; i < 6; ++i) {
    nested.add(std::uint32_t{9});
    if (i > 0) {
      nested.add(std::uint64_t{1});
    }
  }
  lines.push_back(refusal_of(nested.bytes()));
  std::string another = good;
  another.replace(another.find("llama"), 5, "other");  // whose numbers have another prefix
  lines.push_back(refusal_of(another));
  std::string more = good;
  more.replace(more.find("llama.block_count") + 21, 1, "\x09");
  lines.push_back(refusal_of(more));
  Header twice(3, 2, 0);
  twice.tensor("a", {4}, kF32);
  twice.tensor("a", {4}, kF32);
  lines.push_back(refusal_of(twice.bytes()));
  Header part(3, 0, 1);
  part.number("split.count", 3);
  lines.push_back(refusal_of(part.bytes()));
  expect_words(lines);
}

// Whatever byte is wrong or missing: a model or a sentence.
TEST_F(GgufFiles, AnyByteMayBeWrong) {
  const std::string good = small_gguf();
  for (std::size_t at = 0; at < good.size(); at += at < 400 || at + 400 > good.size() ? 1 : 97) {
    for (const char value : {'\0', '\xff'}) {
      std::string bytes = good;
      bytes[at] = value;
      EXPECT_NO_FATAL_FAILURE(refusal_of(bytes)) << at;
    }
    EXPECT_NE(refusal_of(good.substr(0, at)), "(taken)") << at;
  }
}

}  // namespace
}  // namespace bench
