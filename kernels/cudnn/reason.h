// cuDNN's reasons, out of what cudnn-frontend makes of them. Needs no header of theirs.
#pragma once

#include <string>
#include <string_view>

namespace bench::kernels::cudnn {

// "<call> failed with message: <cuDNN's lines>, and code: CUDNN_STATUS_X" comes to its first line and the
// code; of several such, as where all plans of the heuristics fail, the first.
std::string reason_of(std::string_view message);

}  // namespace bench::kernels::cudnn
