// Which cuDNN the program works with. Needs no CUDA header.
#pragma once

#include <cstddef>
#include <string>

namespace bench::kernels::cuda {

struct CudnnVersion {
  std::size_t number = 0;  // 91900 is 9.19.0; before cuDNN 9, 8907 was 8.9.7
  std::size_t cuda = 0;    // that it was built with: 13000 is 13.0
};

// "9.19.0".
std::string version_text(const CudnnVersion& version);

// Why the program, built with `wanted`, cannot use the library at `place`; empty where it can. Another major
// version of cuDNN has other functions; one for another CUDA opens that CUDA's libraries (the wheels of both
// put cuDNN into one folder, where the last one that was installed remains); before 9.2 a plan's workspace is
// known only once it is built.
std::string why_unfit(const CudnnVersion& found, const CudnnVersion& wanted, const std::string& place);

// Why it has no plans for a card that is described and not here; empty where it has.
std::string why_absent_unknown(const CudnnVersion& found);

}  // namespace bench::kernels::cuda
