#include "bench/advise/advice.h"

namespace bench {

std::string name_of(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::none:
      return "none";
    case Bottleneck::undecided:
      return "undecided";
    case Bottleneck::compute:
      return "compute";
    case Bottleneck::launch:
      return "launch";
    case Bottleneck::vram:
      return "VRAM";
    case Bottleneck::bus:
      return "bus";
    case Bottleneck::link:
      return "link";
    case Bottleneck::loader:
      return "loader";
    case Bottleneck::loader_cpu:
      return "loader CPU";
    case Bottleneck::storage:
      return "storage";
    case Bottleneck::host_memory:
      return "host memory";
    case Bottleneck::swap:
      return "swap";
    case Bottleneck::host:
      return "host";
    case Bottleneck::stages:
      return "stages";
  }
  return "undecided";
}

}  // namespace bench
