#include "plots/svg.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/text/escape.h"
#include "bench/text/lines.h"
#include "plots/drawing.h"

namespace bench::plots {
namespace {

// In units of the picture, which are CSS pixels on a phone: the picture is as wide as its screen.
constexpr double kWidth = 400;
constexpr double kHeight = 250;
constexpr double kLeft = 46;
constexpr double kRight = 390;
constexpr double kTop = 26;
constexpr double kBottom = 212;
constexpr double kLetter = 6.4;      // mean width of a digit at the style sheet's 12 px
constexpr double kWideLetter = 7.4;  // of a letter, such as m

double width_of(const std::string& text) {
  return kLetter * static_cast<double>(columns(text));
}

// A circle, square, triangle or diamond around a place; its look is that of the group it is in.
std::string mark(double x, double y, std::size_t shape) {
  switch (shape % 4) {
    case 1:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}h6.6v6.6h-6.6z"/>)", x - 3.3, y - 3.3);
    case 2:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}l4.4 7.4h-8.8z"/>)", x, y - 4.9);
    case 3:
      return fmt::format(R"(<path d="M{:.1f} {:.1f}l4.4 4.4-4.4 4.4-4.4-4.4z"/>)", x, y - 4.4);
    default:
      return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.6"/>)", x, y);
  }
}

std::string cross(double x, double y) {
  return fmt::format("M{:.1f} {:.1f}l7 7m0-7l-7 7", x - 3.5, y - 3.5);
}

// The class of a look in chart_style().
const char* class_of(Look look) {
  switch (look) {
    case Look::dashed:
      return "s d";
    case Look::thin:
      return "s t";
    case Look::level:
      return "v";
    case Look::interval:
      return "i";
    case Look::band:
      return "b";
    case Look::bar:
      return "f";
    case Look::block:
    case Look::mark:
      return "m";
    case Look::open:
      return "o";
    case Look::ring:
    case Look::cross:
      return "r";
    case Look::text:
      return "x";
    case Look::line:
      break;
  }
  return "s";
}

class Writer {
 public:
  explicit Writer(const Drawing& drawing) : drawing_(drawing) {
    double widest = 0;
    for (const Label& label : drawing.y_labels) {
      widest = std::max(widest, kWideLetter * static_cast<double>(columns(label.text)));
    }
    left_ = std::clamp(widest + 2, kLeft, kWidth / 3);
  }

  std::string text() const {
    std::string svg = y_axis() + x_axis();
    for (const Layer& layer : drawing_.layers) {
      svg += written(layer);
    }
    return svg;
  }

 private:
  double across(double share) const { return left_ + (kRight - left_) * share; }
  static double up(double share) { return kBottom - (kBottom - kTop) * share; }

  static std::string group(std::string_view look, const std::string& content) {
    return content.empty() ? "" : fmt::format(R"(<g class="{}">{}</g>)", look, content);
  }

  std::string y_axis() const {
    std::string grid;
    std::string texts;
    for (const Label& label : drawing_.y_labels) {
      grid += fmt::format("M{:.0f} {:.1f}H{}", left_, up(label.at), kRight);
      texts += fmt::format(R"(<text x="{:.0f}" y="{:.1f}">{}</text>)", left_ - 5, up(label.at) + 4,
                           xml_text(label.text));
    }
    return fmt::format(R"(<path class="g" d="{}"/>{}<text x="2" y="14">{}</text>)", grid, group("e", texts),
                       xml_text(drawing_.y_title));
  }

  std::string x_label(const Label& label) const {
    const double at = across(label.at);
    if (drawing_.tilted) {
      return fmt::format(
          R"svg(<text class="e" transform="rotate(-20 {0:.1f} {1})" x="{0:.1f}" y="{1}">{2}</text>)svg",
          at + 6, kBottom + 13, xml_text(label.text));
    }
    const double x = std::min(at, kWidth - width_of(label.text) / 2 - 2);  // whole within the picture
    return fmt::format(R"(<text x="{:.1f}" y="{}">{}</text>)", x, kBottom + 17, xml_text(label.text));
  }

  std::string x_axis() const {
    std::string line = fmt::format("M{:.0f} {}H{}", left_, kBottom, kRight);
    std::string texts;
    for (const Label& label : drawing_.x_labels) {
      line += drawing_.ticks ? fmt::format("M{:.1f} {}v4", across(label.at), kBottom) : "";
      texts += x_label(label);
    }
    texts += fmt::format(R"(<text x="{}" y="{}">{}</text>)", (kLeft + kRight) / 2, kHeight - 6,
                         xml_text(drawing_.x_title));
    return fmt::format(R"(<path class="a" d="{}"/>{})", line, group("x", texts));
  }

  // Marks and texts are a group, everything else is one path.
  std::string written(const Layer& layer) const {
    const std::string look = fmt::format("{} c{}", class_of(layer.look), layer.colour);
    std::string content;
    for (std::size_t i = 0; i < layer.paths.size(); ++i) {
      const Path& path = layer.paths[i];
      const double x = across(path.front().x);
      const double y = up(path.front().y);
      switch (layer.look) {
        case Look::mark:
        case Look::open:
          content += mark(x, y, layer.shape);
          break;
        case Look::ring:
          content += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="7"/>)", x, y);
          break;
        case Look::text:
          content +=
              fmt::format(R"(<text x="{:.1f}" y="{:.1f}">{}</text>)", x, y - 4, xml_text(layer.texts.at(i)));
          break;
        case Look::cross:
          content += cross(x, y);
          break;
        case Look::interval:
          content += fmt::format("M{:.1f} {:.1f}V{:.1f}", x, y, up(path.back().y));
          break;
        case Look::bar:
        case Look::block: {
          const double width = across(path.back().x) - x;
          content +=
              fmt::format("M{:.1f} {:.1f}h{:.1f}V{:.1f}h-{:.1f}z", x, up(path.back().y), width, y, width);
          break;
        }
        default:
          content += line(path) + (layer.look == Look::band ? "z" : "");
      }
    }
    const bool grouped = layer.look == Look::mark || layer.look == Look::open || layer.look == Look::ring ||
                         layer.look == Look::text;
    return grouped ? group(look, content) : fmt::format(R"(<path class="{}" d="{}"/>)", look, content);
  }

  std::string line(const Path& path) const {
    std::string text;
    for (const Place& place : path) {
      text += fmt::format("{}{:.1f} {:.1f}", text.empty() ? "M" : "L", across(place.x), up(place.y));
    }
    return text;
  }

  const Drawing& drawing_;
  double left_;
};

std::string swatch(const LegendEntry& entry) {
  std::string content;
  for (const Look look : entry.looks) {
    const std::string of = fmt::format("{} c{}", class_of(look), entry.colour);
    content += look == Look::mark  ? fmt::format(R"(<g class="{}">{}</g>)", of, mark(12, 6, entry.shape))
               : look == Look::bar ? fmt::format(R"(<path class="{}" d="M6 0h12v12h-12z"/>)", of)
                                   : fmt::format(R"(<path class="{}" d="M1 6H23"/>)", of);
  }
  return fmt::format(R"(<svg class="k" viewBox="0 0 24 12" aria-hidden="true">{}</svg>)", content);
}

std::string colours(bool dark) {
  std::string text;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    text += fmt::format("--c{}:{};", i, dark ? kColours.at(i).dark : kColours.at(i).light);
  }
  return text;
}

}  // namespace

SvgChart chart_svg(const Chart& chart) {
  const Drawing drawing = drawing_of(chart, (kRight - kLeft) / kLetter);
  SvgChart written{.svg = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>)",
                                      kWidth, kHeight,
                                      xml_text(chart.predicted ? "Predicted: " + chart.title : chart.title),
                                      Writer(drawing).text())};
  for (const LegendEntry& entry : drawing.legend) {
    written.legend.push_back({swatch(entry), entry.text});
  }
  return written;
}

std::string chart_style() {
  std::string style = fmt::format(
      ":root{{{}}}\n@media(prefers-color-scheme:dark){{:root{{{}}}}}\n@media print{{:root{{{}}}}}\n",
      colours(false), colours(true), colours(false));
  style += R"(svg text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--fg)}
svg .x{text-anchor:middle}svg .e{text-anchor:end}
svg .k{flex:none}.k{width:24px;height:12px;flex:none}
.g{stroke:var(--grid)}.a{stroke:var(--soft)}
.s{fill:none;stroke:var(--c);stroke-width:1.8}.d{stroke-dasharray:6 4}.t{stroke-width:1.2}.i{fill:none;stroke:var(--c);stroke-width:1.6}
.v{fill:none;stroke:var(--c);stroke-width:1.5;stroke-dasharray:7 4}.r{fill:none;stroke:var(--c);stroke-width:2}
.b{fill:var(--c);opacity:.18}.m{fill:var(--c)}.o{fill:var(--bg);stroke:var(--c);stroke-width:1.7}.f{fill:var(--c);stroke:var(--bg);stroke-width:.6}
)";
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    style += fmt::format(".c{}{{--c:var(--c{})}}", i, i);
  }
  return style + "\n";
}

}  // namespace bench::plots
