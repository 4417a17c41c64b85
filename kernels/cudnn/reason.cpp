#include "kernels/cudnn/reason.h"

namespace bench::kernels::cudnn {

std::string reason_of(std::string_view message) {
  if (message.empty()) {
    return "cuDNN gives no reason";
  }
  constexpr std::string_view kCode = ", and code: ";
  std::string reason(message.substr(0, message.find('\n')));
  const std::size_t code = message.find(kCode);
  if (code != std::string_view::npos && code >= reason.size()) {
    const std::string_view rest = message.substr(code);
    reason += rest.substr(0, rest.find('\n'));
  }
  return reason;
}

}  // namespace bench::kernels::cudnn
