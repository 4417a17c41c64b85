// What eager PyTorch runs for a layer: operations, each of which reads its inputs from memory and writes its
// result there. A layer says them in order; docs/predict-model.md has the rules that the figures follow.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bench/model/network_terms.h"
#include "kernels/networks/eager/product.h"

namespace bench::kernels {

struct LayerPlace;

// Which dtype an operation computes in and writes under autocast.
enum class AutocastDtype {
  as_read,  // the widest of its inputs'
  narrow,   // 16 bits
  wide,     // fp32
};

// What the backward pass reads again.
enum class Saved { nothing, inputs, result };

struct EagerRead {
  // A layer's input by its number, or:
  static constexpr int kPrevious = -1;   // the result of the layer's operation before
  static constexpr int kParameter = -2;  // in fp32
  int from = 0;
  double values = 0;  // a sample
};

// What an operation reads and writes; made from a layer's place: all of its inputs, and its result.
struct EagerFlow {
  std::vector<EagerRead> reads;
  double written = 0;  // values a sample

  EagerFlow(const LayerPlace& place);  // NOLINT(google-explicit-constructor)
  EagerFlow(std::vector<EagerRead> read, double write) : reads(std::move(read)), written(write) {}
  double read() const;
};

// PyTorch's indices are of 64 bits.
inline constexpr double kIndexBytes = 8;

struct EagerOperation {
  Traffic traffic = Traffic::movement;
  EagerFlow flow;
  double places = 0;    // indices that it writes too
  double backward = 0;  // values that training moves in addition, as wide as its result
  Saved saved = Saved::nothing;
  double written_out = 0;  // values that are saved too where code writes it out of simpler operations
  AutocastDtype autocast = AutocastDtype::as_read;
  int backward_launches = 1;
  std::optional<EagerProduct> product{};
  bool for_each_sample = true;  // false: once a step, whatever the batch
  bool is_known = true;         // false: the layer did not say what it runs
};
using EagerOperations = std::vector<EagerOperation>;

// The operations of PyTorch that layers are made of.
namespace eager {

// Of the result of the layer's operation before: as many values in as out.
EagerFlow previous(double values);

EagerOperation movement(const EagerFlow& flow);  // copies, and all that is not named here
EagerOperation elementwise(const EagerFlow& flow, Saved saved);
EagerOperation factors(const EagerFlow& flow, Saved saved);  // a product or a quotient of elements
EagerOperation sum(const EagerFlow& flow);                   // of elements
EagerOperation join(const EagerFlow& flow);                  // one behind the other
EagerOperation batch_norm(const EagerFlow& flow);
EagerOperation norm(const EagerFlow& flow);  // of rows, or of groups of channels
EagerOperation softmax(const EagerFlow& flow);
EagerOperation max_pool(const EagerFlow& flow);
EagerOperation mean(const EagerFlow& flow);
EagerOperation product(const EagerFlow& flow, const EagerProduct& product);
EagerOperation in_fp32(EagerOperation operation);  // also under autocast

}  // namespace eager
}  // namespace bench::kernels
