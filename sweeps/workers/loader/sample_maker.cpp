#include "sweeps/workers/loader/sample_maker.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "sweeps/workers/loader/collate.h"
#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/jpeg.h"
#include "sweeps/workers/loader/resize.h"
#include "sweeps/workers/loader/scale.h"

namespace bench::loader {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::nanoseconds(to - from).count();
}

}  // namespace

class SampleMaker::Impl {
 public:
  Impl(const Transform& transform, GiveUp give_up)
      : transform_(transform),
        decoder_(std::move(give_up)),
        collator_(transform),
        resized_(static_cast<std::size_t>(4 * transform.image_size * transform.image_size)) {}

  StageTimes make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample) {
    const auto start = Clock::now();
    const ImageSize image = decoder_.open(encoded, transform_.most_pixels);
    const Draw drawn = draw(image.width, image.height, transform_, seed);
    const int size = static_cast<int>(transform_.image_size);
    const int eighths = decoded_eighths(drawn.crop, size);
    const JpegDecoder::Decoded decoded = decoder_.decode(drawn.crop, eighths);
    const auto decoded_at = Clock::now();

    resizer_.resize(decoded.pixels, part_of(decoded, drawn.crop, eighths), size, drawn.flip, resized_.data());
    const auto resized_at = Clock::now();

    collator_.store(resized_.data(), sample);
    return {.read = 0,
            .decode = between(start, decoded_at),
            .augment = between(decoded_at, resized_at),
            .collate = between(resized_at, Clock::now())};
  }

  std::int64_t scratch_bytes() const {
    return decoder_.scratch_bytes() + resizer_.scratch_bytes() +
           static_cast<std::int64_t>(resized_.capacity());
  }

 private:
  static Resizer::Part part_of(const JpegDecoder::Decoded& decoded, const Box& crop, int eighths) {
    const double scale = eighths / 8.0;
    return {.left = crop.x * scale - decoded.left,
            .top = crop.y * scale - decoded.top,
            .right = (crop.x + crop.width) * scale - decoded.left,
            .bottom = (crop.y + crop.height) * scale - decoded.top};
  }

  Transform transform_;
  JpegDecoder decoder_;
  Resizer resizer_;
  Collator collator_;
  std::vector<std::uint8_t> resized_;
};

SampleMaker::SampleMaker(const Transform& transform, GiveUp give_up)
    : impl_(std::make_unique<Impl>(transform, std::move(give_up))) {}
SampleMaker::~SampleMaker() = default;

StageTimes SampleMaker::make(std::span<const std::byte> encoded, std::uint64_t seed, std::byte* sample) {
  return impl_->make(encoded, seed, sample);
}

std::int64_t SampleMaker::scratch_bytes() const {
  return impl_->scratch_bytes();
}

}  // namespace bench::loader
