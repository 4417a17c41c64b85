// The workload `stream`: what memory delivers. A sample is one row of each array.
#include "kernels/stream/stream.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

const std::vector<std::pair<std::string, Stream::Kind>>& kinds() {
  static const std::vector<std::pair<std::string, Stream::Kind>> all{{"triad", Stream::Kind::triad},
                                                                     {"copy", Stream::Kind::copy},
                                                                     {"scale", Stream::Kind::scale},
                                                                     {"add", Stream::Kind::add},
                                                                     {"read", Stream::Kind::read}};
  return all;
}

Stream described(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = std::int64_t{1} << 36;
  Stream stream;
  for (const auto& [name, kind] : kinds()) {
    if (spec.mode == name) {
      stream.kind = kind;
    }
  }
  stream.rows = spec.batch;
  stream.count = whole_option(spec, "elements", 1, kMost);
  stream.dtype = spec.dtype;
  return stream;
}

constexpr Tolerances kTolerances{.fp32 = 1e-5, .tf32 = 1e-5, .fp16 = 1e-3, .bf16 = 8e-3};

std::vector<std::string> modes() {
  std::vector<std::string> names;
  names.reserve(kinds().size());
  for (const auto& [name, kind] : kinds()) {
    names.push_back(name);
  }
  return names;
}

const Registration<WorkloadType> registered{operation_workload(OperationType<Stream>{
    .name = "stream",
    .description = "what memory delivers: copy, scale, add, triad and read-only",
    .modes = modes(),
    .options = {{"elements", "16777216", "elements of a sample's row in each array, 1 to 2^36"}},
    .described = described,
    .single = single_row<Stream>,
    .sample_bytes = [](const Stream& stream) { return 12.0 * static_cast<double>(stream.count); },
    .tolerance = [](const Stream& stream) { return kTolerances.of(stream.dtype); }})};

}  // namespace
}  // namespace bench::kernels
