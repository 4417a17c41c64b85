// The element-wise function an operation may apply to its result before storing it.
#pragma once

namespace bench::kernels {

enum class Activation { none, relu, relu6 };

}  // namespace bench::kernels
