#include "bench/generate/language_model.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/generate/optional_members.h"
#include "bench/text/letters.h"

namespace bench {
namespace {

// Far beyond any model, and small enough that no product of counts overflows.
constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostWidth = 1 << 20;
constexpr std::int64_t kMostVocabulary = 1 << 24;
constexpr std::int64_t kMostHeads = 1 << 14;
constexpr std::int64_t kMostExperts = 1 << 14;
constexpr std::int64_t kLongestContext = std::int64_t{1} << 30;
constexpr double kMostParameters = 1e14;

int small_member(const Field& object, std::string_view key, std::int64_t otherwise) {
  return as_int(whole_or(object, key, otherwise));
}

LanguageModel model_of(const Field& entry) {
  LanguageModel model{.id = entry.at("id").string(),
                      .layers = small_member(entry, "layers", 0),
                      .hidden = entry.at("hidden").integer(),
                      .heads = small_member(entry, "heads", 0),
                      .kv_heads = small_member(entry, "kv_heads", 0),
                      .head_size = small_member(entry, "head_size", 0),
                      .inner = entry.at("inner").integer(),
                      .vocabulary = entry.at("vocabulary").integer(),
                      .context = entry.at("context").integer(),
                      .is_tied = flag_or(entry, "tied", false),
                      .has_qkv_bias = flag_or(entry, "qkv_bias", false),
                      .has_qk_norm = flag_or(entry, "qk_norm", false),
                      .has_biases_and_sinks = flag_or(entry, "biases_and_sinks", false),
                      .norms_a_layer = small_member(entry, "norms_a_layer", 2),
                      .experts = small_member(entry, "experts", 0),
                      .experts_taken = small_member(entry, "experts_taken", 0),
                      .window = whole_or(entry, "window", 0),
                      .local_layers = small_member(entry, "local_layers", 0)};
  if (const auto aliases = entry.find("aliases")) {
    for (std::size_t i = 0; i < aliases->size(); ++i) {
      model.aliases.push_back(aliases->at(i).string());
    }
  }
  check_language_model(model, entry.path());
  return model;
}

}  // namespace

std::int64_t attention_parameters(const LanguageModel& model) {
  const std::int64_t queries = std::int64_t{model.heads} * model.head_size;
  const std::int64_t keys = std::int64_t{model.kv_heads} * model.head_size;
  const std::int64_t biases = model.has_qkv_bias ? queries + 2 * keys : 0;
  const std::int64_t norms =
      model.norms_a_layer * model.hidden + (model.has_qk_norm ? 2 * model.head_size : 0);
  const std::int64_t further = model.has_biases_and_sinks ? model.hidden + model.heads : 0;
  return 2 * model.hidden * (queries + keys) + biases + norms + further;
}

std::int64_t expert_parameters(const LanguageModel& model) {
  return 3 * model.hidden * model.inner + (model.has_biases_and_sinks ? 2 * model.inner + model.hidden : 0);
}

std::int64_t matrix_parameters(const LanguageModel& model) {
  return model.vocabulary * model.hidden;
}

std::int64_t body_parameters(const LanguageModel& model) {
  const std::int64_t router = model.experts * (model.hidden + (model.has_biases_and_sinks ? 1 : 0));
  const std::int64_t layer =
      attention_parameters(model) + router + std::max(1, model.experts) * expert_parameters(model);
  return model.layers * layer + model.hidden;
}

std::int64_t parameters(const LanguageModel& model) {
  return body_parameters(model) + matrix_parameters(model) * (model.is_tied ? 1 : 2);
}

double body_parameters_read(const LanguageModel& model, double tokens) {
  const auto body = static_cast<double>(body_parameters(model));
  if (model.experts == 0) {
    return body;
  }
  const double unread = std::pow(1 - static_cast<double>(model.experts_taken) / model.experts, tokens);
  return body - unread * static_cast<double>(model.layers) * model.experts *
                    static_cast<double>(expert_parameters(model));
}

double body_parameters_used(const LanguageModel& model) {
  return static_cast<double>(body_parameters(model)) -
         static_cast<double>(model.experts == 0 ? 0 : model.experts - model.experts_taken) * model.layers *
             static_cast<double>(expert_parameters(model));
}

std::int64_t kv_values(const LanguageModel& model, std::int64_t tokens) {
  const std::int64_t seen = model.window > 0 ? std::min(tokens, model.window) : tokens;
  return 2 * std::int64_t{model.kv_heads} * model.head_size *
         (model.local_layers * seen + (model.layers - model.local_layers) * tokens);
}

LanguageModels::LanguageModels(const Json& document) {
  const Field root(document);
  const Field list = root.at("models");
  for (std::size_t i = 0; i < list.size(); ++i) {
    models_.push_back(model_of(list.at(i)));
  }
}

std::vector<std::string> LanguageModels::ids() const {
  std::vector<std::string> ids;
  for (const LanguageModel& model : models_) {
    ids.push_back(model.id);
  }
  return ids;
}

const LanguageModel* LanguageModels::find(std::string_view name) const {
  // "meta-llama/Llama-3.1-8B-Instruct": without who published it and what it was tuned for.
  std::string wanted =
      letters(name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1));
  for (const std::string_view tuned : {"instruct", "chat", "base", "it", "hf"}) {
    if (wanted.ends_with(tuned)) {
      wanted.resize(wanted.size() - tuned.size());
      break;
    }
  }
  const auto is_it = [&](const std::string& known) { return letters(known) == wanted; };
  const auto at = std::ranges::find_if(models_, [&](const LanguageModel& model) {
    return is_it(model.id) || std::ranges::any_of(model.aliases, is_it);
  });
  return at == models_.end() ? nullptr : &*at;
}

void check_language_model(const LanguageModel& model, std::string_view source) {
  struct Count {
    std::string_view name;
    std::int64_t value;
    std::int64_t least;
    std::int64_t most;
  };
  for (const Count& count :
       {Count{"layers", model.layers, 1, kMostLayers}, Count{"hidden size", model.hidden, 1, kMostWidth},
        Count{"attention heads", model.heads, 1, kMostHeads},
        Count{"key and value heads", model.kv_heads, 1, kMostHeads},
        Count{"head size", model.head_size, 1, kMostWidth},
        Count{"inner size of the MLP", model.inner, 1, kMostWidth},
        Count{"vocabulary", model.vocabulary, 1, kMostVocabulary},
        Count{"context", model.context, 1, kLongestContext}, Count{"experts", model.experts, 0, kMostExperts},
        Count{"experts that a token takes", model.experts_taken, model.experts > 0 ? 1 : 0,
              std::max(0, model.experts)},
        Count{"window", model.window, 0, kLongestContext},
        Count{"layers with a window", model.local_layers, 0, model.window > 0 ? model.layers : 0}}) {
    if (count.value < count.least || count.value > count.most) {
      throw UsageError(fmt::format("{}: the model's {} is {}; accepted: {} to {}", source, count.name,
                                   count.value, count.least, count.most));
    }
  }
  if (model.heads % model.kv_heads != 0) {
    throw UsageError(fmt::format("{}: {} attention heads cannot share {} heads of keys and values evenly",
                                 source, model.heads, model.kv_heads));
  }
  const double total =
      model.layers * (static_cast<double>(attention_parameters(model)) +
                      std::max(1, model.experts) * static_cast<double>(expert_parameters(model)));
  if (total > kMostParameters) {
    throw UsageError(fmt::format("{}: these sizes make {:.3g} parameters; accepted: at most {:.0e}", source,
                                 total, kMostParameters));
  }
}

}  // namespace bench
