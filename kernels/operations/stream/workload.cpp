// The workload `stream`: what memory delivers. A sample is one row of each array.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/operations/stream/stream.h"
#include "kernels/workloads/kernel_points.h"
#include "kernels/workloads/operation_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::array kKinds{std::pair{"triad", Stream::Kind::triad}, std::pair{"copy", Stream::Kind::copy},
                            std::pair{"scale", Stream::Kind::scale}, std::pair{"add", Stream::Kind::add},
                            std::pair{"read", Stream::Kind::read}};

const WholeOption kArrayElements{"elements", 16 * kMi, 1, std::int64_t{1} << 36,
                                 "elements of a sample's row in each array"};

Stream read_stream(const WorkloadSpec& spec) {
  Stream stream;
  for (const auto& [mode, kind] : kKinds) {
    if (spec.mode == mode) {
      stream.kind = kind;
    }
  }
  stream.rows = spec.batch;
  stream.count = kArrayElements.read(spec);
  stream.dtype = spec.dtype;
  return stream;
}

// Arrays from what a core's own cache holds to what no cache holds, in elements.
std::vector<std::int64_t> array_sizes(const std::string& mode, std::int64_t largest) {
  constexpr std::int64_t kSmallest = 16 * 1024;  // 64 KiB
  std::vector<std::int64_t> sizes;
  if (mode == "triad" || mode == "read") {
    for (std::int64_t elements = kSmallest; elements < largest; elements *= 8) {
      sizes.push_back(elements);
    }
  }
  sizes.push_back(largest);
  return sizes;
}

// The roof's arrays are larger on a card with much memory: its bandwidth still grows with them.
std::int64_t largest_array(const Device& device, bool sets_roof) {
  constexpr std::int64_t kMuchMemory = 40'000'000'000;
  if (!needs_large_work(device)) {
    return 32 * kMi;  // 128 MiB in fp32
  }
  return sets_roof && device.info().memory_bytes >= kMuchMemory ? 512 * kMi : 128 * kMi;
}

// Elements of a roof's arrays where the host's last cache is so large that those of largest_array() say
// nothing of memory; else 0. They touch twice the cache, within a quarter of the memory and 1 GiB an array.
std::int64_t beyond_last_cache(const Device& device, bool is_triad) {
  constexpr std::int64_t kUnit = 32 * kMi;
  constexpr std::int64_t kMost = 256 * kMi;
  const auto& details = device.info().details;
  const auto cache = details.find("l3_bytes");
  if (needs_large_work(device) || cache == details.end()) {
    return 0;
  }
  const std::int64_t element_bytes = 4 * (is_triad ? 3 : 2);  // fp32, in all arrays together
  const std::int64_t least = 2 * std::strtoll(cache->second.c_str(), nullptr, 10) / element_bytes;
  const std::int64_t elements = (least + kUnit - 1) / kUnit * kUnit;
  const bool fits = elements <= std::min(kMost, device.info().memory_bytes / 4 / element_bytes);
  return fits && elements > largest_array(device, true) ? elements : 0;
}

// Only cold points measure memory: the largest cold triad and copy are the roof.
std::vector<KernelPoint> stream_points(const KernelRequest& request, const Device& device) {
  KernelPoints points(request);
  for (const std::string& mode : request.modes) {
    const bool is_roof = mode == "triad" || mode == "copy";
    const std::int64_t largest = largest_array(device, is_roof);
    const std::int64_t beyond = is_roof ? beyond_last_cache(device, mode == "triad") : 0;
    for (const std::int64_t elements : array_sizes(mode, largest)) {
      const bool sets_roof = elements == largest && is_roof && beyond == 0;
      for (const Dtype dtype : given_dtypes_or(request, {Dtype::fp32})) {
        for (const std::int64_t rows : batches_or(request, {1})) {
          points.add(mode, dtype, rows, {{"elements", elements}}, {});
          points.add(mode, dtype, rows, {{"elements", elements}}, {.cold = true, .is_reference = sets_roof});
        }
      }
    }
    for (const Dtype dtype : beyond == 0 ? std::vector<Dtype>{} : given_dtypes_or(request, {Dtype::fp32})) {
      for (const std::int64_t rows : batches_or(request, {1})) {
        points.add(mode, dtype, rows, {{"elements", beyond}}, {.cold = true, .is_reference = true});
      }
    }
  }
  return std::move(points).take();
}

// A function of each element.
NetworkTerms stream_terms(const Stream& stream) {
  const std::int64_t arrays = 1 + (stream.has_src1() ? 1 : 0) + (stream.kind == Stream::Kind::read ? 0 : 1);
  NetworkTerms terms;
  terms.per_sample.bytes[static_cast<std::size_t>(Traffic::elementwise)] =
      static_cast<double>(arrays * stream.count * bytes_of(stream.dtype));
  terms.per_step.launches = 1;
  return terms;
}

// The reference would take three times the arrays' bytes on the host: it does 1 Mi elements of larger ones.
constexpr std::int64_t kWhole = 32 * kMi;
constexpr std::int64_t kPiece = kMi;
std::int64_t row_length(const Stream& stream) {
  const bool cuts = stream.kind != Stream::Kind::read && stream.count > kWhole && stream.count % kPiece == 0;
  return cuts ? kPiece : stream.count;
}

std::int64_t stream_rows(const Stream& stream) {
  return stream.rows * (stream.count / row_length(stream));
}

ReferenceRow<Stream> stream_row(const Stream& stream, std::int64_t row) {
  ReferenceRow<Stream> reference{.spec = single_row(stream)};
  reference.spec.count = row_length(stream);
  const std::int64_t pieces = stream.count / reference.spec.count;  // of a sample
  const std::int64_t before = row % pieces * reference.spec.count;
  reference.excerpt = {.first_sample = row / pieces, .skipped = {{Slot::src, before}, {Slot::src1, before}}};
  return reference;
}

constexpr Tolerances kStreamTolerances{.fp32 = 1e-5, .tf32 = 1e-5, .fp16 = 1e-3, .bf16 = 8e-3};

std::vector<std::string> stream_modes() {
  std::vector<std::string> names;
  for (const auto& [mode, kind] : kKinds) {
    names.emplace_back(mode);
  }
  return names;
}

const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(OperationType<Stream>{
    .name = "stream",
    .description = "what memory delivers: copy, scale, add, triad and read-only",
    .modes = stream_modes(),
    .options = declare(kArrayElements),
    .describe = read_stream,
    .single = single_row<Stream>,
    .sample_bytes = [](const Stream& stream) { return 12.0 * static_cast<double>(stream.count); },
    .tolerance = [](const Stream& stream) { return kStreamTolerances.of(stream.dtype); },
    .rows = stream_rows,
    .row = stream_row,
    .eager_terms = stream_terms,
    .kernel_points = stream_points})};

}  // namespace
}  // namespace bench::kernels
