#include "kernels/networks/onnx/patterns.h"

#include "kernels/networks/onnx/patterns/graph_index.h"
#include "kernels/networks/onnx/patterns/groups.h"

namespace bench::kernels::onnx {

void recognise_patterns(Model& model) {
  GraphIndex index(model.graph);
  for (GraphIndex::NodeId node = 0; node < index.size(); ++node) {
    for (const auto recognise :
         {recognise_activation, recognise_layer_norm, recognise_group_norm, recognise_scatter}) {
      if (index.alive(node)) {
        recognise(index, node);
      }
    }
  }
  index.finish();
}

}  // namespace bench::kernels::onnx
