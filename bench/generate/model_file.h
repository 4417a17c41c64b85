// A language model of one's own: Hugging Face's config.json, or the header of a GGUF file, of which no weight
// is read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "bench/generate/language_model.h"
#include "bench/generate/weight_format.h"

namespace bench {

struct ModelFile {
  LanguageModel model;
  std::optional<WeightFormat> format{};  // of a GGUF file: the mean bits of its tensors
  std::string stored_as{};               // of config.json: "int4", "bf16"; empty: it does not say
};

// By its first bytes. Throws UsageError naming `option`, the file and what is wrong: a file that is neither,
// is cut short, of another version, or whose numbers are missing, absurd or contradict each other.
ModelFile read_model_file(std::string_view option, const std::filesystem::path& path);

// Of a text that is a config.json; `source` begins messages.
LanguageModel model_of_config(const Json& config, const std::string& source);

}  // namespace bench
