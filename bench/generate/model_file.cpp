#include "bench/generate/model_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/generate/gguf.h"
#include "bench/generate/optional_members.h"
#include "bench/run/result_file.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

// Of config.json's model_type, and what its family has that the file does not say.
struct Family {
  std::string_view name;
  bool has_qkv_bias = false;
  bool has_qk_norm = false;
  bool has_biases_and_sinks = false;
  bool ties_by_default = false;
  bool may_have_window = false;
  int norms_a_layer = 2;
};
constexpr std::array<Family, 9> kFamilies{{
    {.name = "llama"},
    {.name = "mistral", .may_have_window = true},
    {.name = "mixtral", .may_have_window = true},
    {.name = "phi3"},
    {.name = "qwen2", .has_qkv_bias = true},
    {.name = "qwen3", .has_qk_norm = true},
    {.name = "qwen3_moe", .has_qk_norm = true},
    {.name = "gemma3_text",
     .has_qk_norm = true,
     .ties_by_default = true,
     .may_have_window = true,
     .norms_a_layer = 4},
    {.name = "gpt_oss", .has_qkv_bias = true, .has_biases_and_sinks = true, .may_have_window = true},
}};

const Family& family_of(const std::string& type, const std::string& source) {
  const auto* const known = std::ranges::find(kFamilies, type, &Family::name);
  if (known == kFamilies.end()) {
    std::vector<std::string_view> names;
    for (const Family& family : kFamilies) {
      names.push_back(family.name);
    }
    throw UsageError(fmt::format("{}: models of type {} are not covered; accepted: {}", source, quote(type),
                                 fmt::join(names, ", ")));
  }
  return *known;
}

// Layers whose attention sees a window, as the file lists them or its family has them.
int local_layers(const Field& config, const Family& family, int layers) {
  if (const auto types = config.find("layer_types")) {
    int count = 0;
    for (std::size_t i = 0; i < types->size(); ++i) {
      count += types->at(i).string() == "sliding_attention" ? 1 : 0;
    }
    return count;
  }
  if (const auto pattern = config.find("sliding_window_pattern")) {  // every so many layers, one sees all
    const std::int64_t every = std::max<std::int64_t>(1, pattern->integer());
    return layers - as_int(layers / every);
  }
  return family.name == "gpt_oss" ? layers / 2 : layers;
}

// Gemma 3's files leave out what is as in its smallest model.
Json with_defaults(const Json& config) {
  if (!config.is_object() || config.value("model_type", Json()) != "gemma3_text") {
    return config;
  }
  Json filled{{"num_attention_heads", 8}, {"num_key_value_heads", 4},    {"head_dim", 256},
              {"vocab_size", 262208},     {"sliding_window_pattern", 6}, {"max_position_embeddings", 131072}};
  filled.update(config);
  return filled;
}

LanguageModel model_in(const Json& document, const std::string& source) {
  const Field whole(document);
  // Models that see images keep the text's numbers apart.
  const auto of_text = whole.find("text_config");
  const Json filled = with_defaults(of_text ? of_text->json() : document);
  const Field config(filled);
  const Family& family = family_of(config.at("model_type").string(), source);
  LanguageModel model{.id = "",
                      .layers = as_int(config.at("num_hidden_layers").integer()),
                      .hidden = config.at("hidden_size").integer(),
                      .heads = as_int(config.at("num_attention_heads").integer())};
  model.kv_heads = as_int(whole_or(config, "num_key_value_heads", model.heads));
  model.head_size = as_int(whole_or(config, "head_dim", model.heads > 0 ? model.hidden / model.heads : 0));
  if (!config.has("head_dim") && model.heads > 0 && model.hidden % model.heads != 0) {
    throw UsageError(fmt::format(
        "{}: a hidden size of {} is not divided evenly by {} attention heads, and head_dim is missing",
        source, model.hidden, model.heads));
  }
  model.experts = as_int(whole_or(config, "num_local_experts", whole_or(config, "num_experts", 0)));
  model.experts_taken = model.experts > 0 ? as_int(whole_or(config, "num_experts_per_tok", 0)) : 0;
  const std::int64_t inner = config.at("intermediate_size").integer();
  model.inner = model.experts > 0 ? whole_or(config, "moe_intermediate_size", inner) : inner;
  model.vocabulary = config.at("vocab_size").integer();
  model.context = config.at("max_position_embeddings").integer();
  model.is_tied =
      flag_or(config, "tie_word_embeddings", flag_or(whole, "tie_word_embeddings", family.ties_by_default));
  model.has_qkv_bias = family.has_qkv_bias || flag_or(config, "attention_bias", false);
  model.has_qk_norm = family.has_qk_norm;
  model.has_biases_and_sinks = family.has_biases_and_sinks;
  model.norms_a_layer = family.norms_a_layer;
  if (family.may_have_window && config.has("sliding_window")) {
    model.window = config.at("sliding_window").integer();
    model.local_layers = local_layers(config, family, model.layers);
  }
  check_language_model(model, source);
  return model;
}

// How a quantised model's weights are stored ("int4", or the method's own name), else their type.
std::string stored_as(const Json& document) {
  const Field config(document);
  if (const auto quantised = config.find("quantization_config"); quantised && quantised->json().is_object()) {
    const std::string method = text_or(*quantised, "quant_method", "");
    const std::int64_t bits = flag_or(*quantised, "load_in_4bit", false)   ? 4
                              : flag_or(*quantised, "load_in_8bit", false) ? 8
                                                                           : whole_or(*quantised, "bits", 0);
    return bits == 4 || bits == 8 ? fmt::format("int{}", bits) : method;
  }
  const auto of_text = config.find("text_config");
  const std::string type = text_or(config, "torch_dtype", text_or(config, "dtype", ""));
  const std::string stored =
      type.empty() && of_text ? text_or(*of_text, "torch_dtype", text_or(*of_text, "dtype", "")) : type;
  return stored == "float32" ? "fp32" : stored == "float16" ? "fp16" : stored == "bfloat16" ? "bf16" : "";
}

}  // namespace

LanguageModel model_of_config(const Json& config, const std::string& source) {
  try {
    return model_in(config, source);
  } catch (const UsageError& error) {
    const std::string_view what = error.what();
    throw UsageError(what.starts_with(source) ? std::string(what) : fmt::format("{}: {}", source, what));
  }
}

ModelFile read_model_file(std::string_view option, const fs::path& path) {
  if (is_gguf(path)) {
    return read_gguf(option, path);
  }
  const std::string source = fmt::format("{}: {}", option, path_in_words(path));
  const Json config = read_json(path);
  return {.model = model_of_config(config, source), .stored_as = stored_as(config)};
}

}  // namespace bench
