// --data synthetic and synthetic:heavy: images that cost what photographs cost, kept in the user's cache
// folder where there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

// How large the images are: as photographs in a data set whose makers took care, nearly all alike; or each of
// a size of its own, log-normal, so that few of them take a worker many times as long as most.
enum class SyntheticSizes { alike, heavy };

// The folder with the images, which are made if they are not there. Only a complete set ever has that name;
// of two processes one makes it and the other waits. Without a cache folder they are made for this run alone,
// in a temporary one. Throws UsageError naming --data where neither can be written.
std::filesystem::path synthetic_folder(const ProgressCallback& progress, SyntheticSizes sizes,
                                       const Clock& clock);
std::filesystem::path synthetic_folder(const std::filesystem::path& cache, int images,
                                       const ProgressCallback& progress,
                                       SyntheticSizes sizes = SyntheticSizes::alike,
                                       const Clock& clock = steady_clock());
// Size of an image in parts of the mean one, with so many images: the log-normal distribution's own
// quantiles in a shuffled order, so that few images have its tail too.
double heavy_area(int image, int images);

struct SyntheticImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};
// Noise whose amplitude falls as one over the frequency, as in photographs, and shapes with edges before it.
// `area` times as many pixels as a photograph.
SyntheticImage synthetic_image(std::uint64_t seed, double area = 1);
// About 110 KB at 500 x 375.
std::vector<std::byte> encoded_jpeg(const SyntheticImage& picture, int quality);

}  // namespace bench::loader
