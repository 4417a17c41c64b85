#include "kernels/devices/cuda/cudnn_version.h"

#include <fmt/format.h>

namespace bench::kernels::cuda {
namespace {

constexpr std::size_t kFirstOfNine = 90'000;
constexpr std::size_t kTellsWorkspace = 90'200;   // of a plan before it is built; without it no plan is taken
constexpr std::size_t kTakesProperties = 90'800;  // of a card, in place of the card

std::size_t major_of(const CudnnVersion& version) {
  return version.number / (version.number < kFirstOfNine ? 1000 : 10'000);
}

}  // namespace

std::string version_text(const CudnnVersion& version) {
  const std::size_t number = version.number;
  return fmt::format("{}.{}.{}", major_of(version),
                     number < kFirstOfNine ? number / 100 % 10 : number / 100 % 100, number % 100);
}

std::string why_unfit(const CudnnVersion& found, const CudnnVersion& wanted, const std::string& place) {
  if (major_of(found) != major_of(wanted)) {
    return fmt::format("{} is cuDNN {}, and this program needs cuDNN {}", place, version_text(found),
                       major_of(wanted));
  }
  if (found.cuda / 1000 != wanted.cuda / 1000) {
    return fmt::format("{} is cuDNN {} for CUDA {}, and this program needs one for CUDA {}", place,
                       version_text(found), found.cuda / 1000, wanted.cuda / 1000);
  }
  if (found.number < kTellsWorkspace) {
    return fmt::format("{} is cuDNN {}, and this program needs 9.2 or later", place, version_text(found));
  }
  return "";
}

std::string why_absent_unknown(const CudnnVersion& found) {
  return found.number >= kTakesProperties
             ? ""
             : fmt::format("cuDNN {} plans only for cards that are here; 9.8 or later plans for others",
                           version_text(found));
}

}  // namespace bench::kernels::cuda
