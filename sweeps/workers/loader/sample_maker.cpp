#include "sweeps/workers/loader/sample_maker.h"

#include <utility>

#include "sweeps/workers/loader/crop.h"

namespace bench::loader {

SampleMaker::SampleMaker(const Transform& transform, const Clock& clock, CancelToken cancel)
    : transform_(transform),
      clock_(clock),
      decoder_(std::move(cancel)),
      collator_(transform),
      resized_(static_cast<std::size_t>(4 * transform.image_size * transform.image_size)) {}

StageTimes SampleMaker::make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample) {
  const Clock::time_point start = clock_.now();
  const ImageSize image = decoder_.open(encoded, transform_.most_pixels);
  const CropAndFlip chosen = random_crop_and_flip(image.width, image.height, transform_, seed);
  const int size = static_cast<int>(transform_.image_size);
  const int eighths = decoded_eighths(chosen.crop, size);
  const JpegDecoder::Decoded decoded = decoder_.decode(chosen.crop, eighths);
  const double decoded_ns = clock_.since_ns(start);

  // The crop within the decoded pixels, which are reduced and begin at (left, top) of the reduced image.
  const Box& crop = chosen.crop;
  const double scale = eighths / 8.0;
  resizer_.resize(decoded.pixels,
                  {.left = crop.x * scale - decoded.left,
                   .top = crop.y * scale - decoded.top,
                   .right = (crop.x + crop.width) * scale - decoded.left,
                   .bottom = (crop.y + crop.height) * scale - decoded.top},
                  size, chosen.flip, resized_.data());
  const double resized_ns = clock_.since_ns(start);

  collator_.store(resized_.data(), sample);
  return {.decode = decoded_ns,
          .augment = resized_ns - decoded_ns,
          .collate = clock_.since_ns(start) - resized_ns};
}

std::int64_t SampleMaker::scratch_bytes() const {
  return decoder_.scratch_bytes() + resizer_.scratch_bytes() + static_cast<std::int64_t>(resized_.capacity());
}

}  // namespace bench::loader
