#include "bench/generate/gguf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/generate/optional_members.h"
#include "bench/run/whole_file.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kMostTensors = 1'000'000;
constexpr std::uint64_t kMostEntries = 100'000;
constexpr std::uint64_t kLongestGgufName = 4096;
constexpr std::uint64_t kMostTexts = 16'000'000;
constexpr int kDeepest = 4;  // arrays of arrays
constexpr std::uint32_t kMostDimensions = 8;

// Bits a weight of a tensor's type, scales included.
const std::map<std::uint32_t, double>& bits_of_types() {
  static const std::map<std::uint32_t, double> bits{
      {0, 32},      {1, 16},      {2, 4.5},     {3, 5},       {6, 5.5},  {7, 6},       {8, 8.5},
      {9, 9},       {10, 2.625},  {11, 3.4375}, {12, 4.5},    {13, 5.5}, {14, 6.5625}, {15, 9.125},
      {16, 2.0625}, {17, 2.3125}, {18, 3.0625}, {19, 1.5625}, {20, 4.5}, {21, 3.4375}, {22, 2.5625},
      {23, 4.25},   {24, 8},      {25, 16},     {26, 32},     {27, 64},  {28, 64},     {29, 1.75},
      {30, 16},     {34, 1.6875}, {35, 2.0625}, {39, 4.25}};
  return bits;
}

// Of a number in the header; 0: a text or an array, or no type.
std::uint64_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::uint64_t, 13> kBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < kBytes.size() ? kBytes.at(type) : 0;
}

class Gguf {
 public:
  Gguf(std::string_view option, const fs::path& path)
      : source_(fmt::format("{}: {}", option, path_in_words(path))), stream_(path, std::ios::binary) {
    std::error_code error;
    left_ = fs::file_size(path, error);
    if (!stream_ || error) {
      throw UsageError(fmt::format("{} cannot be read", source_));
    }
    read_header();
  }

  ModelFile model_file() const {
    if (const auto parts = numbers_.find("split.count"); parts != numbers_.end() && parts->second > 1) {
      refuse(fmt::format("it is one of {} parts of a model; give the model's config.json, or join the parts",
                         parts->second));
    }
    const std::string arch = text("general.architecture");
    const std::string source = source_;
    const auto count = [&](const std::string& key) { return number(arch + "." + key); };
    const auto entry_or = [&](const std::string& key, std::int64_t otherwise) {
      const auto found = numbers_.find(arch + "." + key);
      return found == numbers_.end() ? otherwise : found->second;
    };
    LanguageModel model{.id = "",
                        .layers = as_int(count("block_count")),
                        .hidden = count("embedding_length"),
                        .heads = as_int(count("attention.head_count"))};
    model.kv_heads = as_int(entry_or("attention.head_count_kv", model.heads));
    model.head_size =
        as_int(entry_or("attention.key_length", model.heads > 0 ? model.hidden / model.heads : 0));
    model.experts = as_int(entry_or("expert_count", 0));
    model.experts_taken = as_int(entry_or("expert_used_count", 0));
    const std::int64_t inner = entry_or("feed_forward_length", 0);
    model.inner = model.experts > 0 ? entry_or("expert_feed_forward_length", inner) : inner;
    model.context = count("context_length");
    model.vocabulary = entry_or("vocab_size", tokens_);
    model.is_tied = !tensors_.contains("output.weight");
    model.has_qkv_bias = tensors_.contains("blk.0.attn_q.bias");
    model.has_qk_norm = tensors_.contains("blk.0.attn_q_norm.weight");
    model.has_biases_and_sinks = tensors_.contains("blk.0.attn_sinks.weight");
    model.norms_a_layer = tensors_.contains("blk.0.post_ffw_norm.weight") ? 4 : 2;
    model.window = entry_or("attention.sliding_window", 0);
    constexpr std::int64_t kGemma = 6;  // layers of which one sees all
    model.local_layers = model.window == 0   ? 0
                         : arch == "gemma3"  ? as_int(model.layers - model.layers / kGemma)
                         : arch == "gpt-oss" ? model.layers / 2
                                             : model.layers;
    check_language_model(model, source);
    return {.model = model, .format = format_of(model)};
  }

 private:
  struct Tensor {
    double values = 0;
    double bits = 0;
  };

  [[noreturn]] void refuse(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", source_, what));
  }

  template <class T>
  T read() {
    T value{};
    take(sizeof value);
    stream_.read(reinterpret_cast<char*>(&value),
                 sizeof value);  // NOLINT(*-reinterpret-cast): bytes of a file
    return value;
  }

  // Counts bytes as read, before they are.
  void take(std::uint64_t bytes) {
    if (bytes > left_ || !stream_) {
      refuse("the header is cut short; fetch the file again");
    }
    left_ -= bytes;
  }

  void skip(std::uint64_t bytes) {
    take(bytes);
    stream_.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
  }

  std::string read_text(std::uint64_t longest) {
    const auto length = read<std::uint64_t>();
    if (length > longest) {
      refuse(fmt::format("a name has {} bytes; accepted: at most {}", length, longest));
    }
    take(length);
    std::string text(length, '\0');
    stream_.read(text.data(), static_cast<std::streamsize>(length));
    return text;
  }

  std::int64_t read_number(std::uint32_t type) {
    switch (type) {
      case 0:
      case 7:
        return read<std::uint8_t>();
      case 1:
        return read<std::int8_t>();
      case 2:
        return read<std::uint16_t>();
      case 3:
        return read<std::int16_t>();
      case 4:
        return read<std::uint32_t>();
      case 5:
        return read<std::int32_t>();
      case 10:
        return static_cast<std::int64_t>(
            std::min<std::uint64_t>(read<std::uint64_t>(), std::uint64_t{1} << 62));
      case 11:
        return read<std::int64_t>();
      case 6:
        skip(4);
        return 0;  // fp32
      case 12:
        skip(8);
        return 0;  // fp64
      default:
        refuse(fmt::format("a value has the type {}, which GGUF does not have", type));
    }
  }

  void read_value(const std::string& key, std::uint32_t type, int depth) {
    constexpr std::uint32_t kText = 8;
    constexpr std::uint32_t kArray = 9;
    if (type == kText) {
      if (key == "general.architecture") {
        texts_[key] = read_text(kLongestGgufName);
      } else {
        skip(read<std::uint64_t>());
      }
    } else if (type == kArray) {
      if (depth == kDeepest) {
        refuse("arrays are nested too deeply");
      }
      const auto element = read<std::uint32_t>();
      const auto count = read<std::uint64_t>();
      if (count > left_) {
        refuse("the header is cut short; fetch the file again");
      }
      if (key == "tokenizer.ggml.tokens") {
        tokens_ = static_cast<std::int64_t>(count);
      }
      if (const std::uint64_t size = bytes_of_type(element); size > 0 && count > 0) {
        read_value(key, element, depth + 1);  // a number for each layer: the first is taken for all
        skip((count - 1) * size);
        return;
      }
      if (count > kMostTexts) {
        refuse(fmt::format("an array has {} elements; accepted: at most {}", count, kMostTexts));
      }
      for (std::uint64_t i = 0; i < count; ++i) {
        read_value("", element, depth + 1);
      }
    } else {
      const std::int64_t value = read_number(type);
      if (!key.empty()) {
        numbers_.emplace(key, value);
      }
    }
  }

  void read_header() {
    std::array<char, kMagic.size()> magic{};
    take(magic.size());
    stream_.read(magic.data(), magic.size());
    const auto version = read<std::uint32_t>();
    if (version != 2 && version != 3) {
      refuse(fmt::format("GGUF of version {}; accepted: 2 and 3", version));
    }
    const auto tensors = read<std::uint64_t>();
    const auto entries = read<std::uint64_t>();
    if (tensors > kMostTensors || entries > kMostEntries) {
      refuse(fmt::format("tensors: {}, entries: {}; accepted: at most {} and {}", tensors, entries,
                         kMostTensors, kMostEntries));
    }
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::string key = read_text(kLongestGgufName);
      read_value(key, read<std::uint32_t>(), 0);
    }
    for (std::uint64_t i = 0; i < tensors; ++i) {
      read_tensor();
    }
  }

  void read_tensor() {
    const std::string name = read_text(kLongestGgufName);
    const auto dimensions = read<std::uint32_t>();
    if (dimensions > kMostDimensions) {
      refuse(fmt::format("tensor {} has {} dimensions; accepted: at most {}", quote(name), dimensions,
                         kMostDimensions));
    }
    double values = 1;
    for (std::uint32_t i = 0; i < dimensions; ++i) {
      values *= static_cast<double>(read<std::uint64_t>());
    }
    const auto type = read<std::uint32_t>();
    skip(sizeof(std::uint64_t));  // where it lies
    const auto known = bits_of_types().find(type);
    if (known == bits_of_types().end()) {
      refuse(fmt::format("tensor {} has weights of type {}, which is not known", quote(name), type));
    }
    if (!tensors_.emplace(name, Tensor{.values = values, .bits = known->second}).second) {
      refuse(fmt::format("the tensor {} is in it twice", quote(name)));
    }
  }

  WeightFormat format_of(const LanguageModel& model) const {
    double values = 0;
    double bits = 0;
    double all = 0;
    for (const auto& [name, tensor] : tensors_) {
      all += tensor.values;
      if (name != "output.weight" && name != "token_embd.weight") {
        values += tensor.values;
        bits += tensor.values * tensor.bits;
      }
    }
    constexpr double kOff = 0.02;
    const auto counted = static_cast<double>(parameters(model));
    if (values == 0 || std::abs(all / counted - 1) > kOff) {
      refuse(
          fmt::format("its tensors hold {:.4g} parameters, and its sizes make {:.4g}: networks of this form "
                      "are not covered",
                      all, counted));
    }
    const auto output = tensors_.find(model.is_tied ? "token_embd.weight" : "output.weight");
    constexpr double kFew = 7;
    constexpr double kMany = 10;
    const double mean = bits / values;
    return {.name = fmt::format("{:.3g} bits", mean),
            .bits = mean,
            .output_bits = output == tensors_.end() ? mean : output->second.bits,
            .width = mean > kMany  ? 16
                     : mean > kFew ? 8
                                   : 4};
  }

  std::string text(const std::string& key) const {
    const auto found = texts_.find(key);
    if (found == texts_.end()) {
      refuse(fmt::format("{} is missing", key));
    }
    return found->second;
  }

  std::int64_t number(const std::string& key) const {
    const auto found = numbers_.find(key);
    if (found == numbers_.end()) {
      refuse(fmt::format("{} is missing", quote(key)));
    }
    return found->second;
  }

  std::string source_;
  std::ifstream stream_;
  std::uint64_t left_ = 0;  // bytes of the file
  std::map<std::string, std::int64_t> numbers_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, Tensor> tensors_;
  std::int64_t tokens_ = 0;
};

}  // namespace

bool is_gguf(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    return false;
  }
  std::ifstream stream(path, std::ios::binary);
  std::array<char, kMagic.size()> magic{};
  stream.read(magic.data(), magic.size());
  return stream && std::string_view(magic.data(), magic.size()) == kMagic;
}

ModelFile read_gguf(std::string_view option, const fs::path& path) {
  return Gguf(option, path).model_file();
}

}  // namespace bench
