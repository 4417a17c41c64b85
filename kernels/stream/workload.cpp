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

Stream single(Stream stream) {
  stream.rows = 1;
  stream.dtype = Dtype::fp32;
  return stream;
}

double tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
    case Dtype::tf32:
      return 1e-5;
    case Dtype::fp16:
      return 1e-3;
    case Dtype::bf16:
      return 8e-3;
  }
  return 0;
}

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
    .single = single,
    .sample_bytes = [](const Stream& stream) { return 12.0 * static_cast<double>(stream.count); },
    .tolerance = tolerance})};

}  // namespace
}  // namespace bench::kernels
