#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/clock.h"
#include "bench/stats/random.h"
#include "sweeps/workers/loader/crop.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/jpeg.h"
#include "sweeps/workers/loader/sample_maker.h"
#include "tools/peers/loading.h"

namespace bench::peers {

void write_samples(const std::string& data, std::int64_t size, const std::string& file, std::uint64_t seed) {
  const auto images = loader::open_data(data, {});
  const loader::Transform transform{.image_size = size, .element = loader::Element::uint8};
  loader::SampleMaker maker(transform, steady_clock());
  loader::JpegDecoder decoder;
  std::vector<std::byte> encoded;
  std::vector<std::byte> sample(static_cast<std::size_t>(transform.sample_bytes()));
  std::ofstream out(file, std::ios::binary);
  for (std::int64_t i = 0; i < images->size(); ++i) {
    images->read(i, encoded);
    const std::uint64_t of_image = stream_seed(seed, static_cast<std::uint64_t>(i));
    maker.make(encoded, of_image, sample.data());
    out.write(reinterpret_cast<const char*>(sample.data()), static_cast<std::streamsize>(sample.size()));
    const loader::ImageSize pixels = decoder.open(encoded, transform.most_pixels);
    const loader::CropAndFlip drawn =
        loader::random_crop_and_flip(pixels.width, pixels.height, transform, of_image);
    const loader::Box& crop = drawn.crop;
    std::cout << nlohmann::json{{"name", images->name(i)},
                                {"crop", {crop.x, crop.y, crop.width, crop.height}},
                                {"flip", drawn.flip},
                                {"eighths", loader::decoded_eighths(crop, static_cast<int>(size))}}
              << '\n';
  }
  if (!out.flush()) {
    throw std::runtime_error("cannot write " + file);
  }
}

}  // namespace bench::peers
