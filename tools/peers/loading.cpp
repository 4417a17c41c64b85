#include "tools/peers/loading.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/synthetic.h"
#include "tools/peers/contestant.h"

namespace bench::peers {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t since(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

std::size_t whole_rounds(std::size_t batches, std::size_t workers) {
  return (batches + workers - 1) / workers * workers;
}

// The way most programs use libjpeg: all rows, to red, green, blue.
class BareDecoder {
 public:
  BareDecoder() {
    info_.err = jpeg_std_error(&errors_);  // a bad file ends the program: the files are the synthetic ones
    jpeg_create_decompress(&info_);
  }
  BareDecoder(const BareDecoder&) = delete;
  BareDecoder& operator=(const BareDecoder&) = delete;
  ~BareDecoder() { jpeg_destroy_decompress(&info_); }

  void decode(std::span<const std::byte> encoded) {
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info_);
    const std::size_t stride = std::size_t{3} * info_.output_width;
    pixels_.resize(std::max(pixels_.size(), stride * info_.output_height));
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = &pixels_[stride * info_.output_scanline];
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
  }

 private:
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::vector<std::uint8_t> pixels_;
};

}  // namespace

void serve_pool(const std::string& data, std::int64_t batch, int workers) {
  const auto images = loader::open_data(data, {});
  const loader::Transform transform{.layout = loader::ImageLayout::nchw};  // as PyTorch's
  loader::PoolSettings settings{.workers = workers, .batch = batch};
  const Memory memory;
  const auto slots = static_cast<std::size_t>(loader::WorkerPool::slots_for(settings));
  std::vector<std::vector<loader::CacheLine>> staging(slots,
                                                      loader::cache_lines(batch * transform.sample_bytes()));
  std::vector<std::byte*> pointers;
  for (auto& one : staging) {
    pointers.push_back(reinterpret_cast<std::byte*>(one.data()));
  }
  serve_turns(memory, {{"workers", workers}, {"batch", batch}}, [&](std::size_t steps) {
    ++settings.seed;
    loader::BadFiles bad;
    loader::WorkerPool pool(*images, transform, settings, steady_clock(), pointers, bad);
    const auto take = [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        pool.give_back(pool.next());
      }
    };
    take(slots);
    const std::size_t timed = whole_rounds(steps, static_cast<std::size_t>(std::max(1, workers)));
    const auto start = Clock::now();
    take(timed);
    return std::vector<std::int64_t>{since(start) / static_cast<std::int64_t>(timed)};
  });
}

void serve_bare_decoding(const std::string& data, std::int64_t batch, int threads) {
  const auto images = loader::open_data(data, {});
  const Memory memory;
  std::vector<std::vector<std::byte>> encoded(static_cast<std::size_t>(images->size()));
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    images->read(static_cast<std::int64_t>(i), encoded[i]);
  }
  serve_turns(memory, {{"threads", threads}, {"batch", batch}}, [&](std::size_t steps) {
    const std::size_t count = steps * static_cast<std::size_t>(batch);
    std::atomic<std::size_t> next = 0;
    const auto start = Clock::now();
    {
      std::vector<std::jthread> decoding;
      for (int i = 0; i < threads; ++i) {
        decoding.emplace_back([&] {
          BareDecoder decoder;
          for (std::size_t image = next++; image < count; image = next++) {
            decoder.decode(encoded[image % encoded.size()]);
          }
        });
      }
    }
    return std::vector<std::int64_t>{since(start) / static_cast<std::int64_t>(steps)};
  });
}

}  // namespace bench::peers

namespace {

int run(std::span<char* const> arguments) {
  const std::vector<std::string> words(arguments.begin(), arguments.end());
  if (words.size() == 2 && words[1] == "folder") {
    using bench::loader::SyntheticSizes;
    std::puts(bench::loader::synthetic_folder({}, SyntheticSizes::alike, bench::steady_clock()).c_str());
  } else if (words.size() == 5 && words[1] == "pool") {
    bench::peers::serve_pool(words[2], std::stoll(words[3]), std::stoi(words[4]));
  } else if (words.size() == 5 && words[1] == "bare") {
    bench::peers::serve_bare_decoding(words[2], std::stoll(words[3]), std::stoi(words[4]));
  } else if (words.size() == 6 && words[1] == "samples") {
    bench::peers::write_samples(words[2], std::stoll(words[3]), words[4], std::stoull(words[5]));
  } else {
    std::fputs(
        "usage: peers_loading folder | pool DATA BATCH WORKERS | bare DATA BATCH THREADS | samples DATA SIZE "
        "FILE "
        "SEED\n",
        stderr);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::span<char* const>(argv, static_cast<std::size_t>(argc)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_loading: %s\n", error.what());
    return 1;
  }
}
