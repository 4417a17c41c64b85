// The yardstick: ResNet-50's 53 convolutions alone, each as oneDNN itself would like it (format any, direct
// algorithm), with bias and nothing fused. They run in the network's order, each with weights of its own, so
// that weights are as cold as in the network; activations pass from one to the next as raw memory, with no
// reorder, batch norm, ReLU, sum or pooling in between. Less cannot be done with these convolutions.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/backends/onednn/primitives.h"
#include "tools/peers/contestant.h"

namespace {

namespace onednn = bench::kernels::onednn;
using dnnl::memory;
using Tag = memory::format_tag;

struct Shape {
  std::int64_t in = 0, out = 0, size = 0, kernel = 0, stride = 0;  // size: height and width of the input
  enum class Place { inside, first_of_block, projection } place = Place::inside;
};

// ResNet-50 v1.5: the stride sits in the block's 3×3.
std::vector<Shape> resnet50(std::int64_t image) {
  std::vector<Shape> shapes{{3, 64, image, 7, 2}};
  std::int64_t size = (image / 2 + 1) / 2;  // after the stem and its pooling
  std::int64_t channels = 64;
  std::int64_t width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    for (int block = 0; block < blocks; ++block) {
      const std::int64_t stride = block == 0 && width != 64 ? 2 : 1;
      shapes.push_back({channels, width, size, 1, 1, Shape::Place::first_of_block});
      shapes.push_back({width, width, size, 3, stride});
      if (block == 0) {
        shapes.push_back({channels, 4 * width, size, 1, stride, Shape::Place::projection});
      }
      size = (size + stride - 1) / stride;
      shapes.push_back({width, 4 * width, size, 1, 1});
      channels = 4 * width;
    }
    width *= 2;
  }
  return shapes;
}

struct Convolution {
  dnnl::convolution_forward primitive;
  memory src, weights, bias, dst;
  Shape::Place place{};
};

class Chain {
 public:
  Chain(std::int64_t batch, memory::data_type type, std::int64_t image) : stream_(engine_) {
    std::size_t largest = 0;
    for (const Shape& shape : resnet50(image)) {
      const std::int64_t out = (shape.size + 2 * (shape.kernel / 2) - shape.kernel) / shape.stride + 1;
      const memory::dims pads{shape.kernel / 2, shape.kernel / 2};
      const auto description = onednn::convolution_forward(
          {.algorithm = dnnl::algorithm::convolution_direct,
           .src = {{batch, shape.in, shape.size, shape.size}, type, Tag::any},
           .weights = {{shape.out, shape.in, shape.kernel, shape.kernel}, type, Tag::any},
           .bias = memory::desc({shape.out}, memory::data_type::f32, Tag::any),
           .dst = {{batch, shape.out, out, out}, type, Tag::any},
           .strides = {shape.stride, shape.stride},
           .dilates = {0, 0},
           .pad_begin = pads,
           .pad_end = pads},
          dnnl::prop_kind::forward_inference, {});
      Convolution convolution;
      convolution.primitive = dnnl::convolution_forward(description);
      convolution.src = memory(description.src_desc(), engine_, DNNL_MEMORY_NONE);
      convolution.dst = memory(description.dst_desc(), engine_, DNNL_MEMORY_NONE);
      convolution.weights = memory(description.weights_desc(), engine_);
      convolution.bias = memory(description.bias_desc(), engine_);
      convolution.place = shape.place;
      // Keeps the activations' size about 1 through the chain: neither infinite nor denormal, which is slow.
      const auto fan_in = static_cast<double>(shape.in * shape.kernel * shape.kernel);
      fill(convolution.weights,
           memory::desc({shape.out, shape.in, shape.kernel, shape.kernel}, memory::data_type::f32, Tag::oihw),
           std::sqrt(3 / fan_in));
      fill(convolution.bias, memory::desc({shape.out}, memory::data_type::f32, Tag::a), 0.1);
      largest = std::max({largest, description.src_desc().get_size(), description.dst_desc().get_size()});
      chain_.push_back(std::move(convolution));
    }
    // One holds a block's input, the others take turns.
    const auto elements = static_cast<std::int64_t>(largest / memory::data_type_size(type) + 1);
    const memory::desc flat({elements}, type, Tag::a);
    for (int i = 0; i < 3; ++i) {
      buffers_.emplace_back(flat, engine_);
      fill(buffers_.back(), memory::desc({elements}, memory::data_type::f32, Tag::a), 1);
    }
    bind();
  }

  std::int64_t step() {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      chain_[i].primitive.execute(stream_, arguments_[i]);
    }
    stream_.wait();
    return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  }

  std::size_t size() const { return chain_.size(); }

 private:
  // Uniform in [-scale, scale), reordered into the form the memory has.
  void fill(memory& destination, const memory::desc& plain, double scale) {
    memory source(plain, engine_);
    auto* const values = static_cast<float*>(source.get_data_handle());
    const std::size_t count = plain.get_size() / sizeof(float);
    for (std::size_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
      values[i] = static_cast<float>((static_cast<double>(state_ >> 40U) / (1 << 23) - 1) * scale);
    }
    dnnl::reorder(source, destination).execute(stream_, source, destination);
    stream_.wait();
  }

  // Which of the buffers each convolution reads and writes.
  void bind() {
    std::size_t block_input = 0;
    std::size_t current = 0;
    for (Convolution& convolution : chain_) {
      if (convolution.place == Shape::Place::first_of_block) {
        block_input = current;
      }
      const bool projection = convolution.place == Shape::Place::projection;
      // The block's input lives until its projection has read it, the running activation until the next.
      std::size_t target = 0;
      while (target == current || target == block_input) {
        ++target;
      }
      convolution.src.set_data_handle(buffers_[projection ? block_input : current].get_data_handle());
      convolution.dst.set_data_handle(buffers_[target].get_data_handle());
      arguments_.push_back({{DNNL_ARG_SRC, convolution.src},
                            {DNNL_ARG_WEIGHTS, convolution.weights},
                            {DNNL_ARG_BIAS, convolution.bias},
                            {DNNL_ARG_DST, convolution.dst}});
      if (!projection) {
        current = target;
      }
    }
  }

  const dnnl::engine& engine_ = onednn::engine();
  dnnl::stream stream_;
  std::vector<Convolution> chain_;
  std::vector<memory> buffers_;
  std::vector<std::unordered_map<int, memory>> arguments_;
  std::uint64_t state_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: peers_bare fp32|bf16 BATCH WARM_UP_STEPS\n", stderr);
    return 2;
  }
  try {
    const bool narrow = std::string(argv[1]) == "bf16";
    const bench::peers::Memory memory;
    Chain chain(std::stoll(argv[2]), narrow ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32,
                224);
    bench::peers::serve(memory, {{"convolutions", chain.size()}}, std::stoi(argv[3]),
                        [&] { return chain.step(); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_bare: %s\n", error.what());
    return 1;
  }
  return 0;
}
