// Maps in another size.
#include <cmath>

#include <fmt/format.h>

#include "kernels/networks/onnx/lower/lowering.h"
#include "kernels/operations/resize/resize.h"

namespace bench::kernels::onnx {
namespace {

Resize::Kind kind_of(const std::string& mode) {
  if (mode == "nearest") {
    return Resize::Kind::nearest;
  }
  if (mode == "linear" || mode == "bilinear") {
    return Resize::Kind::linear;
  }
  if (mode == "cubic") {
    return Resize::Kind::cubic;
  }
  throw Refused(fmt::format("its mode is '{}'; nearest, linear and cubic are accepted", mode));
}

Coordinates coordinates_of(const std::string& name) {
  if (name == "half_pixel" || name == "half_pixel_symmetric") {  // the same where no part of a pixel is left
    return Coordinates::half_pixel;
  }
  if (name == "pytorch_half_pixel") {
    return Coordinates::pytorch_half_pixel;
  }
  if (name == "align_corners") {
    return Coordinates::align_corners;
  }
  if (name == "asymmetric") {
    return Coordinates::asymmetric;
  }
  throw Refused(fmt::format(
      "its coordinate_transformation_mode is '{}'; half_pixel, half_pixel_symmetric, pytorch_half_pixel, "
      "align_corners and asymmetric are accepted",
      name));
}

Resize::Rounding rounding_of(const std::string& name) {
  if (name == "floor") {
    return Resize::Rounding::floor;
  }
  if (name == "ceil") {
    return Resize::Rounding::ceil;
  }
  if (name == "round_prefer_ceil") {
    return Resize::Rounding::half_up;
  }
  if (name == "round_prefer_floor") {
    return Resize::Rounding::half_down;
  }
  throw Refused(fmt::format(
      "its nearest_mode is '{}'; floor, ceil, round_prefer_floor and round_prefer_ceil are accepted", name));
}

// The numbers for rows and columns of a list for all dimensions, or for the last two.
std::vector<double> last_two(const Lowering& node, const Constant& list, double otherwise) {
  const std::int64_t count = list.elements();
  const auto axes = integers_of(node.node, "axes");
  std::vector<double> both{otherwise, otherwise};
  if (axes && axes->size() != static_cast<std::size_t>(count)) {
    throw Refused("sizes of other dimensions");
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t axis =
        axes ? axis_of((*axes)[static_cast<std::size_t>(i)], node.rank(0)) : static_cast<std::size_t>(i);
    const Number number = list.number(i);
    const auto d = axis + 4 - node.rank(0);
    if (node.rank(0) < 3 || axis >= node.rank(0)) {
      throw Refused("sizes of other dimensions");
    }
    const bool pixel = axis >= 2;
    const Extent& extent = node.shape(0)[axis];
    const bool unchanged =
        otherwise == 0 ? (extent.per_sample || to_whole(number.fixed) == extent.size) : number.fixed == 1;
    if (!pixel && !unchanged) {
      throw Refused("it changes the number of channels or samples");
    }
    if (pixel) {
      both[d - 2] = number.fixed;
    }
  }
  return both;
}

// In fp32, as factors are: 10 · 0.7 is 7, though the factor nearest to 0.7 lies below it.
std::int64_t scaled(std::int64_t size, double factor) {
  return to_whole(std::floor(static_cast<float>(size) * static_cast<float>(factor)));
}

// Of any rank, as the masks of detectors: all elements are alike, and so are those of the result.
void resize_uniform(Lowering& node, const Constant* scales, const Constant* sizes) {
  Extents dims = extents_of(node.shape(0));
  const Constant& list = sizes != nullptr ? *sizes : *scales;
  const auto axes = integers_of(node.node, "axes");
  if (list.elements() != static_cast<std::int64_t>(axes ? axes->size() : dims.size())) {
    throw Refused("sizes of other dimensions");
  }
  for (std::int64_t i = 0; i < list.elements(); ++i) {
    const auto place = static_cast<std::size_t>(i);
    Extent& extent = dims[axes ? axis_of((*axes)[place], dims.size()) : place];
    if (!extent.per_sample) {
      extent.size = sizes != nullptr ? to_whole(list.value(i)) : scaled(extent.size, list.value(i));
    }
  }
  elements_of(dims);
  node.set(Constant::uniform(node.in(0).type, dims, node.in(0).constant->value(0)));
}

void resize(Lowering& node, const Constant* scales, const Constant* sizes, ResizeOptions options) {
  const Shape shape = node.shape(0);
  if (node.in(0).is_known() && node.in(0).constant->is_uniform() && (scales != nullptr || sizes != nullptr)) {
    return resize_uniform(node, scales, sizes);
  }
  const bool signal = shape.rank() == 3;
  const Shape as_maps = signal ? Shape{shape[0], shape[1], 1, shape[2]} : shape;
  if (!as_maps.is_maps()) {
    throw Refused(fmt::format("it needs maps, not {}", shape.text()));
  }
  options.height = as_maps.height();
  options.width = as_maps.width();
  if (sizes != nullptr) {
    const auto both = last_two(node, *sizes, 0);
    options.height = both[0] > 0 ? to_whole(both[0]) : options.height;
    options.width = both[1] > 0 ? to_whole(both[1]) : options.width;
  } else if (scales != nullptr) {
    const auto both = last_two(node, *scales, 1);
    options.height_scale = both[0];
    options.width_scale = both[1];
    options.height = scaled(as_maps.height(), both[0]);
    options.width = scaled(as_maps.width(), both[1]);
    const auto exact = [](std::int64_t size, double scale, std::int64_t result) {
      return static_cast<double>(size) * scale == static_cast<double>(result);
    };
    if (exact(as_maps.height(), both[0], options.height)) {
      options.height_scale.reset();
    }
    if (exact(as_maps.width(), both[1], options.width)) {
      options.width_scale.reset();
    }
    if ((options.height_scale || options.width_scale) &&
        text_of(node.node, "coordinate_transformation_mode", "") == "half_pixel_symmetric") {
      throw Refused("a resize by factors that leave a part of a pixel");
    }
  } else {
    throw Refused("it has neither sizes nor factors");
  }
  if (options.height < 1 || options.width < 1 || options.height > (1 << 20) || options.width > (1 << 20)) {
    throw Refused(fmt::format("its result would be {} x {} pixels; 1 x 1 to 1048576 x 1048576 are accepted",
                              options.height, options.width));
  }
  const Layers::Value in = signal ? node.all.reshaped(node.elements(0), as_maps) : node.layer(0);
  if (options.height == as_maps.height() && options.width == as_maps.width()) {
    return node.same(0);
  }
  const Layers::Value made = node.append({in}, options);
  const Shape& maps = node.all.graph[made].shape;
  node.set(made, signal ? Shape{maps[0], maps[1], maps[3]} : maps);
}

void lower_resize(Lowering& node) {
  ResizeOptions options;
  options.kind = kind_of(text_of(node.node, "mode", "nearest"));
  options.cubic = number_of(node.node, "cubic_coeff_a", -0.75F);
  if (integer_of(node.node, "antialias", 0) != 0) {
    throw Refused("a resize that smooths");
  }
  if (integer_of(node.node, "exclude_outside", 0) != 0 && options.kind == Resize::Kind::cubic) {
    throw Refused("a resize that leaves out what is outside");
  }
  if (text_of(node.node, "keep_aspect_ratio_policy", "stretch") != "stretch") {
    throw Refused("a resize that keeps proportions");
  }
  if (node.all.opset() < 11) {
    options.coordinates = Coordinates::asymmetric;
    options.rounding = Resize::Rounding::floor;
    return resize(node, &node.known(1, "its factors"), nullptr, options);
  }
  options.coordinates = coordinates_of(text_of(node.node, "coordinate_transformation_mode", "half_pixel"));
  options.rounding = rounding_of(text_of(node.node, "nearest_mode", "round_prefer_floor"));
  const Constant* const sizes = node.has(3) ? &node.known(3, "its sizes") : nullptr;
  const Constant* const scales = sizes == nullptr && node.has(2) ? &node.known(2, "its factors") : nullptr;
  resize(node, scales, sizes, options);
}

void lower_upsample(Lowering& node) {
  ResizeOptions options;
  options.kind = kind_of(text_of(node.node, "mode", "nearest"));
  options.coordinates = Coordinates::asymmetric;
  options.rounding = Resize::Rounding::floor;
  if (node.has(1)) {
    return resize(node, &node.known(1, "its factors"), nullptr, options);
  }
  Constant scales{.type = ElementType::f32, .dims = {}, .values = {}};
  if (const Attribute* const given = node.node.find("scales")) {
    scales.values.assign(given->floats.begin(), given->floats.end());
  } else {
    scales.values = {1, 1, number_of(node.node, "height_scale", 1), number_of(node.node, "width_scale", 1)};
  }
  scales.dims = {static_cast<std::int64_t>(scales.values.size())};
  resize(node, &scales, nullptr, options);
}

const Registration<Lowered> BENCH_REGISTERED{
    {"Resize", lower_resize},
    {"Upsample", lower_upsample},
};

}  // namespace
}  // namespace bench::kernels::onnx
