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
  std::optional<AttentionForm> attention{};  // none: as the graph tells, else memory spans both
};

// `graph` as a network builds it.
NetworkTerms eager_terms(const Graph& graph, const EagerSetting& setting);

// Whether an exporter may have folded batch norms into the convolutions: most have a bias, and nothing is
// normalised.
bool may_have_folded_norms(const Graph& graph);

}  // namespace bench::kernels
