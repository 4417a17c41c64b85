#include "sweeps/workers/loader/sample_maker.h"

#include <utility>

#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/thread_use.h"

namespace bench::loader {
namespace {

// The crop within the decoded pixels, which are reduced and begin at (left, top) of the reduced image.
Resizer::Part part_of(const JpegDecoder::Decoded& decoded, const Box& crop, int eighths) {
  const double scale = eighths / 8.0;
  return {.left = crop.x * scale - decoded.left,
          .top = crop.y * scale - decoded.top,
          .right = (crop.x + crop.width) * scale - decoded.left,
          .bottom = (crop.y + crop.height) * scale - decoded.top};
}

}  // namespace

SampleMaker::SampleMaker(const Transform& transform, CancelToken cancel)
    : transform_(transform),
      decoder_(std::move(cancel)),
      collator_(transform),
      resized_(static_cast<std::size_t>(4 * transform.image_size * transform.image_size)) {}

StageTimes SampleMaker::make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample) {
  const std::int64_t start = now_ns();
  const ImageSize image = decoder_.open(encoded, transform_.most_pixels);
  const Draw drawn = draw(image.width, image.height, transform_, seed);
  const int size = static_cast<int>(transform_.image_size);
  const int eighths = decoded_eighths(drawn.crop, size);
  const JpegDecoder::Decoded decoded = decoder_.decode(drawn.crop, eighths);
  const std::int64_t decoded_at = now_ns();

  resizer_.resize(decoded.pixels, part_of(decoded, drawn.crop, eighths), size, drawn.flip, resized_.data());
  const std::int64_t resized_at = now_ns();

  collator_.store(resized_.data(), sample);
  return {.read = 0,
          .decode = decoded_at - start,
          .augment = resized_at - decoded_at,
          .collate = now_ns() - resized_at};
}

std::int64_t SampleMaker::scratch_bytes() const {
  return decoder_.scratch_bytes() + resizer_.scratch_bytes() + static_cast<std::int64_t>(resized_.capacity());
}

}  // namespace bench::loader
