// The inputs of a file's network: one is the batch that is measured, others are known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/networks/onnx/import.h"
#include "kernels/networks/onnx/lower/lowering.h"

namespace bench::kernels::onnx {

// The inputs of a file with all their sizes. Throws UsageError where one is not given, or does not fit.
struct PlannedInput {
  std::string name;
  ElementType type = ElementType::f32;
  Extents dims;
  std::int64_t rows = 0;  // of the table that it indexes; 0: none
  bool hides = false;     // a mask of what is ignored
};
struct InputPlan {
  std::vector<PlannedInput> inputs;
  std::int64_t file_batch = 1;
  bool batch_is_free = false;   // the file names it, and its numbers are those of any batch
  std::size_t batch_input = 0;  // the one that the network reads
  std::int64_t vocabulary = 0;  // 0: it reads no tokens
  std::vector<std::string> assumptions;

  Layers graph() const;
};
// "images=1x3x224x224": what --input accepts for that input.
std::string example_sizes(const ValueInfo& input);
InputPlan plan_inputs(const Model& model, const std::string& file, const ImportOptions& options);

// Their values, and what they hold. Throws UsageError where one would hold too many integers.
std::vector<ImportedInput> add_inputs(const InputPlan& plan, const std::string& file, Importing& network);

}  // namespace bench::kernels::onnx
