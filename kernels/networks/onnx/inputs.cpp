#include "kernels/networks/onnx/inputs.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/onnx/constants/rebatch.h"
#include "kernels/networks/onnx/mask_sense.h"
#include "kernels/networks/onnx/reader/weights_among_inputs.h"

namespace bench::kernels::onnx {
namespace {

constexpr std::int64_t kUsualSequence = 128;
constexpr std::int64_t kMostSize = std::int64_t{1} << 30;

std::string text_of(const std::vector<Dimension>& dims) {
  std::vector<std::string> sizes;
  for (const Dimension& dim : dims) {
    sizes.push_back(dim.size ? std::to_string(*dim.size) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  return sizes.empty() ? "a single value" : fmt::format("{}", fmt::join(sizes, " x "));
}

bool is_whole(ElementType type) {
  return type == ElementType::i64 || type == ElementType::i32;
}

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string example_sizes(const ValueInfo& input) {
  if (!input.dims) {
    return input.name + "=1x3x224x224";
  }
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < input.dims->size(); ++i) {
    const Dimension& dim = (*input.dims)[i];
    const bool pixels = input.dims->size() == 4 && i > 1;
    sizes.push_back(dim.size && *dim.size > 0 ? std::to_string(*dim.size)
                    : i == 0                  ? "1"
                    : pixels                  ? "224"
                    : input.dims->size() == 4 ? "3"
                                              : "128");
  }
  return fmt::format("{}={}", input.name, fmt::join(sizes, "x"));
}

namespace {

// The number of earlier positions whose keys and values a decoder is given: there are none.
bool counts_the_past(const std::string& symbol) {
  const std::string name = lower_case(symbol);
  return name.find("past") != std::string::npos && name.find_first_of("+- ") == std::string::npos;
}

bool is_batch(const std::string& symbol) {
  const std::string name = lower_case(symbol);
  return name == "batch" || name == "batch_size" || name == "n";
}

// A cache or a state of each sample, not one number of each.
bool carries_batch(const PlannedInput& input) {
  return is_float(input.type) && !is_mask(input.name) && input.dims.size() > 1 &&
         input.dims.front().per_sample && elements_of(input.dims) > 0;
}

// Floats, or the bytes of an image.
bool is_samples(const PlannedInput& input) {
  const bool bytes = input.type == ElementType::u8 || input.type == ElementType::i8;
  return (is_float(input.type) && input.dims.size() >= 2) || (bytes && input.dims.size() >= 3);
}

class Planner {
 public:
  Planner(const Model& model, const std::string& file, const ImportOptions& options)
      : model_(model), file_(file), options_(options) {}

  InputPlan plan() {
    check_names();
    const std::set<std::string> hiding = masks_that_hide(model_.graph);
    for (const ValueInfo& input : model_.graph.inputs) {
      plan_.inputs.push_back(sized(input));
      plan_.inputs.back().hides = hiding.contains(input.name);
      plan_.inputs.back().rows = is_whole(input.type) ? table_rows(input.name) : 0;
    }
    choose();
    bind_batch();
    return std::move(plan_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    constexpr std::size_t kLongest = 400;  // characters
    throw UsageError(fmt::format("{}: {}", file_, printable(why, kLongest)));
  }

  void check_names() const {
    std::vector<std::string> names;
    for (const ValueInfo& input : model_.graph.inputs) {
      names.push_back(quote(input.name));
    }
    for (const auto& [name, sizes] : options_.inputs) {
      const auto at = std::ranges::find(model_.graph.inputs, name, &ValueInfo::name);
      if (at == model_.graph.inputs.end()) {
        throw UsageError(fmt::format("--input {}: the file has no such input; its inputs are {}", quote(name),
                                     fmt::join(names, ", ")));
      }
      if (at->dims && at->dims->size() != sizes.size()) {
        throw UsageError(fmt::format("--input {}: {} sizes were given, but the input is {}", printable(name),
                                     sizes.size(), printable(text_of(*at->dims))));
      }
      const std::int64_t of_file = at->dims && !at->dims->empty() ? at->dims->front().size.value_or(1) : 1;
      if (!sizes.empty() && sizes[0] != 1 && sizes[0] != of_file) {
        throw UsageError(fmt::format(
            "--input {}: the first size is {}; accepted: 1, for one sample (--batch sets the batch)",
            printable(name), sizes[0]));
      }
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 1 || sizes[i] > kMostSize) {
          throw UsageError(fmt::format("--input {}: the size {} is not accepted", printable(name), sizes[i]));
        }
        if (i > 0 && at->dims && (*at->dims)[i].size.value_or(sizes[i]) != sizes[i]) {
          throw UsageError(
              fmt::format("--input {}: the file fixes the input to {}; only sizes that were exported as "
                          "dynamic can be set",
                          printable(name), printable(text_of(*at->dims))));
        }
      }
    }
  }

  // The first dimension as the file has it; free ones as 1.
  PlannedInput sized(const ValueInfo& input) {
    PlannedInput planned{.name = input.name, .type = input.type, .dims = {}};
    const auto given = options_.inputs.find(input.name);
    if (!input.dims && given == options_.inputs.end()) {
      refuse(fmt::format("the input '{}' may be of any shape; give it, as --input {}=1x3x224x224", input.name,
                         input.name));
    }
    const std::size_t rank = input.dims ? input.dims->size() : given->second.size();
    if (rank > Shape::kMostDims) {
      refuse(fmt::format("the input '{}' has {} dimensions; at most {} are accepted", input.name, rank,
                         Shape::kMostDims));
    }
    for (std::size_t i = 0; i < rank; ++i) {
      const Dimension dim = input.dims ? (*input.dims)[i] : Dimension{};
      std::optional<std::int64_t> size = dim.size && *dim.size > 0 ? dim.size : std::nullopt;
      if (!size && given != options_.inputs.end()) {
        size = i == 0 ? 1 : given->second[i];
      }
      if (!size && !dim.symbol.empty() && sizes_.contains(dim.symbol)) {
        size = sizes_.at(dim.symbol);
      }
      if (!size && i == 0) {
        size = 1;
      }
      if (!size && counts_the_past(dim.symbol)) {
        size = 0;
      }
      if (!size && i > 0 && is_batch(dim.symbol)) {
        refuse(fmt::format("the input '{}' is {}, but the batch must be its first dimension; export it so",
                           input.name, text_of(*input.dims)));
      }
      if (!size && (is_whole(input.type) || input.type == ElementType::boolean) && rank <= 2) {
        size = kUsualSequence;
        plan_.assumptions.push_back(
            fmt::format("The input '{}' has {} tokens, as no size is given; --input {}=1x{} sets another.",
                        input.name, kUsualSequence, input.name, 2 * kUsualSequence));
      }
      if (!size) {
        refuse(fmt::format("the input '{}' is {}, whose free sizes must be given, as --input {}", input.name,
                           text_of(*input.dims), example_sizes(input)));
      }
      if (*size > kMostSize) {
        refuse(fmt::format("the input '{}' is {}, which is too large", input.name, text_of(*input.dims)));
      }
      if (!dim.symbol.empty()) {
        sizes_.emplace(dim.symbol, *size);
      }
      planned.dims.emplace_back(*size);
    }
    constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
    std::int64_t elements = 1;
    for (const Extent& extent : planned.dims) {
      elements = extent.size > 0 && elements > kMostElements / extent.size ? kMostElements + 1
                                                                           : elements * extent.size;
      if (elements > kMostElements) {
        refuse(fmt::format("the input '{}' has more than 2^40 elements", input.name));
      }
    }
    return planned;
  }

  // The rows of the table that integer inputs index; 0 where they index none.
  std::int64_t table_rows(const std::string& input) const {
    std::set<std::string> names{input};
    const auto reads = [&](const Node& node, std::size_t index) {
      return index < node.inputs.size() && names.contains(node.inputs[index]);
    };
    static const std::set<std::string> kKeeps{"Cast",      "Identity", "Reshape",  "Squeeze",
                                              "Unsqueeze", "Slice",    "Transpose"};
    for (const Node& node : model_.graph.nodes) {
      if (kKeeps.contains(node.op) && reads(node, 0) && !node.outputs.empty()) {
        names.insert(node.outputs[0]);
      }
      if (node.op == "Gather" && reads(node, 1)) {
        const auto table = std::ranges::find(model_.graph.initializers, node.inputs[0], &Tensor::name);
        if (table != model_.graph.initializers.end() && is_float(table->type) && table->dims.size() == 2) {
          return table->dims[0];
        }
      }
    }
    return 0;
  }

  // The first input of floats that suits.
  template <class Suits>
  bool choose_samples(const Suits& suits) {
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      const PlannedInput& input = plan_.inputs[i];
      if (is_samples(input) && elements_of(input.dims) > 0 && suits(input)) {
        plan_.batch_input = i;
        return true;
      }
    }
    return false;
  }

  // The batch is that of the first input of floats that is no mask, else of the token ids that look up most
  // rows, else of a mask of floats.
  void choose() {
    if (choose_samples([](const PlannedInput& input) { return !is_mask(input.name); })) {
      return;
    }
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      const PlannedInput& input = plan_.inputs[i];
      if (is_whole(input.type) && input.dims.size() == 2 && input.rows > plan_.vocabulary) {
        plan_.vocabulary = input.rows;
        plan_.batch_input = i;
      }
    }
    if (plan_.vocabulary == 0 && !choose_samples([](const PlannedInput& /*input*/) { return true; })) {
      refuse(
          "no input can hold the batch: it needs floats with two dimensions or more, or whole numbers of two "
          "dimensions that a "
          "Gather looks up in a table");
    }
  }

  bool is_free(std::size_t input) const {
    const auto& dims = model_.graph.inputs[input].dims;
    return !dims || !dims->front().size || *dims->front().size < 1;
  }

  // The first dimension of each input that is free, or has the size of a batch that is not.
  void bind_batch() {
    const Extent batch = plan_.inputs[plan_.batch_input].dims.front();
    plan_.file_batch = batch.size;
    plan_.batch_is_free = is_free(plan_.batch_input);
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      PlannedInput& input = plan_.inputs[i];
      if (input.dims.empty()) {
        continue;
      }
      // Beside a free batch, a single row is one for all samples.
      const bool alike = !plan_.batch_is_free && input.dims.front().size == batch.size;
      if (i == plan_.batch_input || is_free(i) || alike) {
        input.dims.front() = kBatch;
      }
    }
  }

  const Model& model_;
  const std::string& file_;
  const ImportOptions& options_;
  InputPlan plan_;
  std::map<std::string, std::int64_t> sizes_;  // of the file's symbols
};

Constant positions(const PlannedInput& input) {
  const std::int64_t length = input.dims.back().size;
  Constant made{.type = input.type, .dims = input.dims, .values = {}};
  for (std::int64_t i = 0; i < elements_of(input.dims); ++i) {
    made.values.push_back(static_cast<double>(i % length));
  }
  compress(made);
  return made;
}

// Token ids that are the same for every sample.
Constant tokens(const PlannedInput& input) {
  constexpr std::int64_t kStep = 7919;  // a prime, so that they differ
  Constant made{.type = input.type, .dims = input.dims, .values = {}};
  for (std::int64_t i = 0; i < elements_of(input.dims); ++i) {
    made.values.push_back(static_cast<double>((i + 1) * kStep % input.rows));
  }
  compress(made);
  return made;
}

Constant zeros(const PlannedInput& input) {
  return Constant::uniform(input.type, input.dims, 0);
}
Constant ones(const PlannedInput& input) {
  return Constant::uniform(input.type, input.dims, 1);
}

bool is_boolean(const PlannedInput& input) {
  return input.type == ElementType::boolean;
}
bool is_drawn(const PlannedInput& input) {
  return is_float(input.type) && !is_mask(input.name);
}
bool has_places(const PlannedInput& input) {
  return !input.dims.empty();
}
bool names_rows(const PlannedInput& input) {
  constexpr std::int64_t kTypes = 16;
  return input.rows > kTypes;
}
bool hides(const PlannedInput& input) {
  return input.hides && (is_boolean(input) || is_mask(input.name));
}
bool is_named_mask(const PlannedInput& input) {
  return is_mask(input.name);
}
bool is_any(const PlannedInput& /*input*/) {
  return true;
}

// What an input holds that is not the batch: the first of these that fits.
struct Guess {
  std::vector<std::string_view> words;    // one of which its name has; none: any name
  std::vector<std::string_view> without;  // none of which its name has
  bool (*fits)(const PlannedInput& input);
  const char* content;                              // as it is printed; {}: rows of the table that it indexes
  Constant (*values)(const PlannedInput& input){};  // nullptr: drawn, as a parameter
  bool is_listed = false;                           // its elements differ
};
const std::vector<Guess>& guesses() {
  static const std::vector<Guess> all{
      {{}, {}, is_drawn, "seeded values, the same for every sample"},
      {{"position"}, {}, has_places, "positions 0, 1, 2, …", positions, true},
      {{}, {"type", "segment"}, names_rows, "tokens below {}, the same for every sample", tokens, true},
      {{}, {}, hides, "zeros (a mask that hides where it is true)", zeros},
      {{}, {}, is_named_mask, "ones (a mask)", ones},
      {{"length"}, {}, is_any, "ones", ones},
      {{}, {}, is_boolean, "ones", ones},
      {{}, {}, is_any, "zeros", zeros},
  };
  return all;
}

// The content of an input that is not the batch. Throws Refused beyond the budget.
std::string fill(const PlannedInput& input, Value& value, Budget& budget) {
  const std::string name = lower_case(input.name);
  const auto has_one = [&](const std::vector<std::string_view>& words) {
    return std::ranges::any_of(words, [&](std::string_view word) { return name.find(word) != name.npos; });
  };
  const Guess& guess = *std::ranges::find_if(guesses(), [&](const Guess& each) {
    return (each.words.empty() || has_one(each.words)) && !has_one(each.without) && each.fits(input);
  });
  if (guess.values == nullptr) {
    value.parameter = input.name;
    value.trained = false;
  } else {
    budget.take(guess.is_listed ? elements_of(input.dims) : 0);
    value.constant = std::make_shared<Constant>(guess.values(input));
  }
  return fmt::format(fmt::runtime(guess.content), input.rows);
}

}  // namespace

Layers InputPlan::graph() const {
  const Extents& dims = inputs[batch_input].dims;
  if (vocabulary > 0) {
    return Layers(Tokens{.sequence = dims[1].size, .vocabulary = vocabulary});
  }
  Layers graph = dims.size() == 4 ? Layers(Image{dims[1].size, dims[2].size, dims[3].size})
                                  : Layers::reading(shape_of(dims));
  constexpr int kLowestSigned = -128;
  if (inputs[batch_input].type == ElementType::u8) {
    graph.set_lowest_byte(0);
  } else if (inputs[batch_input].type == ElementType::i8) {
    graph.set_lowest_byte(kLowestSigned);
  }
  return graph;
}

InputPlan plan_inputs(const Model& model, const std::string& file, const ImportOptions& options) {
  return Planner(model, file, options).plan();
}

std::vector<ImportedInput> add_inputs(const InputPlan& plan, const std::string& file, Importing& network) {
  std::vector<ImportedInput> all;
  network.file_batch = plan.file_batch;
  network.batch_is_free = plan.batch_is_free;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const PlannedInput& input = plan.inputs[i];
    Value value;
    value.name = input.name;
    value.type = input.type;
    value.shape = shape_of(input.dims);
    ImportedInput described{
        .name = input.name, .shape = value.shape.text(), .content = "seeded values", .values = {}};
    if (i == plan.batch_input) {
      value.layer = network.graph.image();
      if (plan.vocabulary > 0) {
        described.content = fmt::format("tokens below {}", plan.vocabulary);
      } else if (network.graph.lowest_byte()) {
        described.content = "seeded bytes";
      }
    } else if (carries_batch(input)) {
      value.layer = network.append(input.name, {}, InputOptions{.shape = value.shape});
      described.content = "seeded values, the same for every sample";
    } else {
      try {
        described.content = fill(input, value, network.budget);
        described.values = value.constant;
      } catch (const Refused&) {
        throw UsageError(fmt::format("{}: the input {} is {}, more integers than can be made up", file,
                                     quote(input.name), value.shape.text()));
      }
      if (value.is_known()) {
        network.guesses.emplace(input.name, input.name);
      }
    }
    all.push_back(described);
    network.values.insert_or_assign(input.name, std::move(value));
  }
  return all;
}

}  // namespace bench::kernels::onnx
