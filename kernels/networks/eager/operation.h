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

// Code that writes an operation out of simpler ones, in values.
struct WrittenOut {
  double saved = 0;  // in addition
  double moved = 0;
  double backward = 0;   // moved in training, too
  bool is_wide = false;  // in fp32 under autocast, by a power; PyTorch had no such operation before 1.12
};

struct EagerOperation {
  Traffic traffic = Traffic::movement;
  EagerFlow flow;
  double beside = 0;    // bytes that it writes too, and training saves: places of maxima, a mask
  double backward = 0;  // values that training moves in addition, as wide as its result
  Saved saved = Saved::nothing;
  WrittenOut written_out{};
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
EagerOperation scaled(const EagerFlow& flow);                // by a number, or by a mask of zeros and ones
EagerOperation dropout(const EagerFlow& flow);
EagerOperation sum(const EagerFlow& flow);   // of elements
EagerOperation join(const EagerFlow& flow);  // one behind the other
EagerOperation batch_norm(const EagerFlow& flow);
EagerOperation norm(const EagerFlow& flow);  // of rows, or of groups of channels
EagerOperation softmax(const EagerFlow& flow);
EagerOperation max_pool(const EagerFlow& flow);
EagerOperation mean(const EagerFlow& flow);
EagerOperation product(const EagerFlow& flow, const EagerProduct& product);
EagerOperation in_fp32(EagerOperation operation);  // also under autocast

}  // namespace eager
}  // namespace bench::kernels
