#include "kernels/device/cuda/runtime.h"

#include "kernels/device/cuda/status.h"

namespace bench::kernels::cuda {

void Runtime::check(int error, std::string_view call, Place place) {
  if (error == status::kSuccess) {
    return;
  }
  const Failure failure{.error = error, .name = error_name(error), .text = error_text(error)};
  last_error();
  const bool stays_set = last_error() != status::kSuccess;
  raise({failure.error, failure.name, failure.text, stays_set}, call, place);
}

}  // namespace bench::kernels::cuda
