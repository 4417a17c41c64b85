// From a layer to the operation that computes it, for one batch, dtype and device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/adaptive_pool/adaptive_pool.h"
#include "kernels/adaptive_pool/adaptive_pool_backward.h"
#include "kernels/add/add.h"
#include "kernels/attention/attention.h"
#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm/batch_norm_backward.h"
#include "kernels/concat/concat_backward.h"
#include "kernels/conv2d/conv2d.h"
#include "kernels/conv_transpose/conv_transpose.h"
#include "kernels/cross_entropy/cross_entropy.h"
#include "kernels/embedding/embedding.h"
#include "kernels/gelu/gelu.h"
#include "kernels/layer_norm/layer_norm.h"
#include "kernels/linear/linear.h"
#include "kernels/loss_scale/loss_scale.h"
#include "kernels/matmul/matmul.h"
#include "kernels/networks/graph.h"
#include "kernels/networks/layout.h"
#include "kernels/operation.h"
#include "kernels/optimizer/optimizer.h"
#include "kernels/pool/pool.h"
#include "kernels/pool/pool_backward.h"
#include "kernels/position_embedding/position_embedding.h"
#include "kernels/relu/relu.h"
#include "kernels/relu/relu_backward.h"
#include "kernels/rows/rows_backward.h"
#include "kernels/softmax/softmax.h"
#include "kernels/upsample/upsample_backward.h"

namespace bench::kernels {

struct Target {
  std::int64_t batch = 1;
  Dtype dtype = Dtype::fp32;
  NetworkLayouts layouts;
  std::string implementation;  // empty: the device's best
};

// Operations shared by description: ResNet-50 has 53 convolutions of 23 kinds, and describing one to a
// library costs more than everything else a plan does.
class OperationCache {
 public:
  template <class Spec>
  std::shared_ptr<Operation> make(const Spec& spec, Device& device, const std::string& implementation) {
    auto& known = std::get<Entries<Spec>>(entries_);
    for (const auto& [description, operation] : known) {
      if (description == spec) {
        return operation;
      }
    }
    known.emplace_back(spec, make_operation(spec, device, implementation));
    return known.back().second;
  }

 private:
  template <class Spec>
  using Entries = std::vector<std::pair<Spec, std::shared_ptr<Operation>>>;
  std::tuple<Entries<Conv2d>, Entries<Matmul>, Entries<Pool>, Entries<AdaptivePool>, Entries<BatchNorm>,
             Entries<Relu>, Entries<Add>, Entries<Softmax>, Entries<BatchNormBackward>, Entries<ReluBackward>,
             Entries<PoolBackward>, Entries<AdaptivePoolBackward>, Entries<Linear>, Entries<CrossEntropy>,
             Entries<Optimizer>, Entries<Concat>, Entries<ConcatBackward>, Entries<Upsample>,
             Entries<UpsampleBackward>, Entries<ConvTranspose>, Entries<Rows>, Entries<RowsBackward>,
             Entries<Embedding>, Entries<PositionEmbedding>, Entries<LayerNorm>, Entries<Gelu>,
             Entries<Attention>, Entries<FindOverflow>, Entries<UpdateLossScale>>
      entries_;
};

// What a library that compiles its kernels keeps for as many operations, beside the memory they are given: an
// estimate, where the host's memory is the device's. Seen with oneDNN 2.6 and AVX-512: 23 to 50 KiB an
// operation, and in 16-bit inference, which has kernels of another family, 0.3 to 0.8 MiB more.
constexpr std::int64_t compiled_code_bytes(std::size_t operations) {
  return static_cast<std::int64_t>(operations) * 38 * 1024;
}
inline constexpr std::int64_t kSixteenBitInferenceCode = std::int64_t{512} << 10;

// How the layer's output is stored. Token ids take the four bytes of an fp32 each.
TensorDesc tensor_of(const Graph& graph, Graph::Value value, const Target& target);

// The network's output as a matrix where it is a sequence: a row for each position of each sample.
TensorDesc output_of(const Graph& graph, const Target& target);

// The ordinary pools that a pooling layer amounts to: its own for a maximum; for an adaptive average where
// all windows are alike, otherwise none.
Pool max_pool_of(const Layer& layer, const TensorDesc& src);
std::optional<Pool> average_pool_of(const Layer& layer, const TensorDesc& src);

// The convolution of a layer, in the forward direction.
Conv2d conv2d_of(const Graph& graph, Graph::Value value, const Target& target, const ExtraBytes& extra);

// What joins or enlarges maps, in the forward direction.
Concat concat_of(const Graph& graph, Graph::Value value, const Target& target);
Rows rows_of(const Graph& graph, Graph::Value value, const Target& target);
ConvTranspose conv_transpose_of(const Graph& graph, Graph::Value value, const Target& target);

// The operations of a network of text, in their forward direction. Their rows are the positions of all
// samples.
std::int64_t rows_of(const TensorDesc& sequence);
Embedding embedding_of(const Graph& graph, Graph::Value value, const Target& target);
PositionEmbedding position_embedding_of(const Graph& graph, Graph::Value value, const Target& target);
LayerNorm layer_norm_of(const Graph& graph, Graph::Value value, const Target& target);
Attention attention_of(const Graph& graph, Graph::Value value, const Target& target);
// A linear layer over plain weights.
Linear linear_of(const Graph& graph, Graph::Value value, const Target& target);

// The operation of one layer; nullptr where nothing is to be computed (the image; flatten, which only
// renames). `extra` is for convolutions, see Conv2d. Throws Unsupported.
std::shared_ptr<Operation> lower(const Graph& graph, Graph::Value value, const Target& target,
                                 const ExtraBytes& extra, Device& device, OperationCache& cache);

// plain_parameter() in the order the lowered operation wants: behind a flatten, a linear layer's columns
// follow the order in which the flattened tensor is stored, so that nothing is reordered at run time.
std::vector<float> lowered_parameter(const Graph& graph, Graph::Value value, Slot slot, const Target& target,
                                     std::uint64_t seed);

}  // namespace bench::kernels
