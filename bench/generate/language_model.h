// Language models that generate text, by their numbers: decoders of Transformers with RMSNorm, rotary
// positions, grouped queries and a gated MLP (Llama 3, Mistral, Phi-4, Qwen 2.5 and 3; mixtures of experts;
// layers that see a window only).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/json.h"

namespace bench {

struct LanguageModel {
  std::string id;                      // "llama3.1_8b"
  std::vector<std::string> aliases{};  // of the same shape
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0;     // of queries
  int kv_heads = 0;  // of keys and values: heads / kv_heads queries share one
  int head_size = 0;
  std::int64_t inner = 0;  // of the MLP, or of one expert
  std::int64_t vocabulary = 0;
  std::int64_t context = 0;  // tokens that it was made for
  bool is_tied = false;      // the output matrix is the embedding
  bool has_qkv_bias = false;
  bool has_qk_norm = false;           // RMSNorm of each query's and key's head
  bool has_biases_and_sinks = false;  // of every product, and a logit a head that no token has (gpt-oss)
  int norms_a_layer = 2;
  int experts = 0;          // 0: an MLP
  int experts_taken = 0;    // by a token
  std::int64_t window = 0;  // tokens that local layers see; 0: all
  int local_layers = 0;

  bool is_plain() const { return experts == 0 && window == 0; }
};

// Parameters of a layer's attention and norms, of one expert or the MLP, and of the output matrix.
std::int64_t attention_parameters(const LanguageModel& model);
std::int64_t expert_parameters(const LanguageModel& model);
std::int64_t matrix_parameters(const LanguageModel& model);
// All layers and the last norm: everything but embedding and output matrix.
std::int64_t body_parameters(const LanguageModel& model);
std::int64_t parameters(const LanguageModel& model);
// Of the body, those that a step of so many tokens reads: experts · (1 - (1 - taken/experts)^tokens) of each
// layer's experts, where every expert is as likely as another.
double body_parameters_read(const LanguageModel& model, double tokens);
// Of the body, those that one token is multiplied by.
double body_parameters_used(const LanguageModel& model);

// Keys and values of one sequence of so many tokens.
std::int64_t kv_values(const LanguageModel& model, std::int64_t tokens);

// The program's models, in the order of lists.
class LanguageModels {
 public:
  // results/language-models.json. Throws UsageError naming the field that is wrong.
  explicit LanguageModels(const Json& document);

  const std::vector<LanguageModel>& all() const { return models_; }
  std::vector<std::string> ids() const;
  // By id or alias, whatever its case, dots, dashes and underscores ("Llama-3.1-8B"); nullptr: there is none.
  const LanguageModel* find(std::string_view name) const;

 private:
  std::vector<LanguageModel> models_;
};

// Throws UsageError for numbers that no model has, or that contradict each other; `source` begins the
// message.
void check_language_model(const LanguageModel& model, std::string_view source);

}  // namespace bench
