// A network's step in the terms of the model of GPUs that are not here: bench/model/network_terms.h.
#pragma once

#include <optional>

#include "bench/dtype.h"
#include "bench/model/network_terms.h"
#include "kernels/networks/graph/graph.h"
#include "kernels/operations/optimizer/optimizer.h"

namespace bench::kernels {

struct EagerSetting {
  Dtype dtype = Dtype::fp32;  // fp16, bf16: autocast
  bool cast_whole = false;    // in 16 bits without autocast
  bool train = false;
  Optimizer::Kind optimizer = Optimizer::Kind::sgd;
  double micro_batches = 1;                  // of a training step's batch
  bool recompute = false;                    // only the values between blocks are kept
  std::optional<AttentionForm> attention{};  // none: as the graph tells, else memory spans both
};

// `graph` as a network builds it.
NetworkTerms eager_terms(const Graph& graph, const EagerSetting& setting);

// Of a file. Where its exporter may have folded batch norms, training is planned with them: the likely memory
// is theirs, and its interval reaches down to that of the graph as it is.
NetworkTerms eager_terms_of_file(const Graph& graph, const EagerSetting& setting);

}  // namespace bench::kernels
