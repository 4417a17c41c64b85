// Our loader among its contestants: the pool, bare decoding, and what its pixels are compared by.
#pragma once

#include <cstdint>
#include <string>

namespace bench::peers {

// A step is a batch of a running pool. A turn starts the pool, takes what its workers make ahead, and then as
// many batches as asked for, rounded up to whole rounds of the workers; it answers with the mean time of one.
void serve_pool(const std::string& data, std::int64_t batch, int workers);

// A step is as many images, decoded in full by `threads` threads from memory, and nothing else.
void serve_bare_decoding(const std::string& data, std::int64_t batch, int threads);

// Writes one sample per image as bytes, red, green, blue, to the file, and a JSON line of each to standard
// output: the image, the crop, the flip, and in how many eighths of its size it was decoded.
void write_samples(const std::string& data, std::int64_t size, const std::string& file, std::uint64_t seed);

}  // namespace bench::peers
