#include "plots/gnuplot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/text/lines.h"
#include "bench/text/quote.h"
#include "plots/drawing.h"

namespace bench::plots {
namespace {

constexpr double kPageWidth = 1600;  // pixels
constexpr std::size_t kMostNotes = 6;
constexpr std::size_t kMostNoteLines = 2;
constexpr std::size_t kMostAnswerLines = 6;  // of one that is too long for a headline
constexpr std::size_t kMostCaptionLines = 3;

// A format's sizes. Letters are measured in points in a PNG and in pixels in an SVG, whose lines and marks
// come out larger.
struct Format {
  const char* terminal;
  const char* file;
  int font;       // the usual size
  double line;    // pixels from one line of text to the next
  double letter;  // mean width of one at the usual size
  double dot;     // size of a mark
};
constexpr std::array kFormats{Format{"pngcairo", "picture.png", 13, 21, 9.3, 1.2},
                              Format{"svg", "picture.svg", 16, 22, 9.0, 0.75}};

// Within single quotes nothing is expanded; a quote itself would end them, or begin a text that goes on over
// the next lines.
std::string quoted(const std::string& text, std::size_t longest = 300) {
  std::string out = "'";
  for (const char c : printable(text, longest)) {
    out += c == '\'' ? std::string("’") : std::string(1, c);
  }
  return out + "'";
}

// Lines of at most so many letters, broken between words.
std::vector<std::string> wrapped(const std::string& text, std::size_t most) {
  std::vector<std::string> lines;
  std::istringstream all(text.empty() ? "" : wrap(text, most, 0));
  for (std::string line; std::getline(all, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Of lines that are too many the first ones, ending in an ellipsis.
std::vector<std::string> cut(std::vector<std::string> lines, std::size_t most) {
  if (lines.size() > most) {
    lines.resize(most);
    lines.back() += " …";
  }
  return lines;
}

// In two lines, broken where a clause ends, if both are short enough; else in lines of about one length: two
// short ones read better than a long one and a word.
std::vector<std::string> balanced(const std::string& text, std::size_t most) {
  if (columns(text) > most) {
    std::size_t best = std::string::npos;
    // From the middle; a sentence ends better than a part of one.
    const auto far = [&](std::size_t at) {
      const std::size_t middle = text.size() / 2;
      const bool within = text[at] == ',' || text[at] == ':';
      return (at > middle ? at - middle : middle - at) + (within ? text.size() / 4 : 0);
    };
    for (std::size_t at = text.find_first_of(".;,:"); at != std::string::npos;
         at = text.find_first_of(".;,:", at + 1)) {
      const bool ends = text.compare(at + 1, 1, " ") == 0;
      if (ends && (best == std::string::npos || far(at) < far(best))) {
        best = at;
      }
    }
    if (best != std::string::npos) {
      std::vector<std::string> lines{text.substr(0, best + 1), text.substr(best + 2)};
      if (columns(lines[0]) <= most && columns(lines[1]) <= most) {
        return lines;
      }
    }
  }
  const std::size_t lines = wrapped(text, most).size();
  for (std::size_t width = columns(text) / std::max<std::size_t>(lines, 1); width < most; ++width) {
    if (std::vector<std::string> all = wrapped(text, width); all.size() <= lines) {
      return all;
    }
  }
  return wrapped(text, most);
}

std::string rgb(std::size_t colour) {
  return fmt::format("rgb '{}'", kColours.at(std::min(colour, kColours.size() - 1)).light);
}

// gnuplot's numbers of a filled mark; the open one has one less.
int mark_of(std::size_t shape) {
  constexpr std::array kMarks{7, 5, 9, 13};
  return kMarks.at(shape % kMarks.size());
}

// A chart with its layers as data, once for both formats.
struct Panel {
  const Chart* chart = nullptr;
  Drawing drawing{};
  std::size_t first_block = 0;  // the data of its first layer
};

std::string number(double value) {
  return fmt::format("{:.5g}", value);
}

// Which ends of an interval have a bar across: not those that the frame cuts off.
constexpr std::array kEnds{"heads", "backhead", "head", "nohead"};
std::size_t ends_of(const Path& interval) {
  return (interval.back().y < 1 ? 0U : 1U) + (interval.front().y > 0 ? 0U : 2U);
}

// The data of a layer: a row a place, paths apart by an empty line; bars and intervals as gnuplot's plotting
// styles want them.
std::string data_of(const Layer& layer) {
  std::string text;
  for (const Path& path : layer.paths) {
    const Place& a = path.front();
    const Place& b = path.back();
    if (layer.look == Look::bar || layer.look == Look::block) {
      text += fmt::format("{} {} {} {} {} {}\n", number((a.x + b.x) / 2), number((a.y + b.y) / 2),
                          number(a.x), number(b.x), number(a.y), number(b.y));
    } else if (layer.look == Look::interval) {
      text += fmt::format("{} {} 0 {} {}\n", number(a.x), number(a.y), number(b.y - a.y), ends_of(path));
    } else {
      for (const Place& place : path) {
        text += fmt::format("{} {}\n", number(place.x), number(place.y));
      }
      text += path.size() > 1 ? "\n" : "";
    }
  }
  return text;
}

std::string style_of(Look look, std::size_t colour, std::size_t shape, const Format& format) {
  const std::string own = "linecolor " + rgb(colour);
  const auto points = [&](int type, double size, double width) {
    return fmt::format("with points pointtype {} pointsize {:.2f} linewidth {} {}", type, size * format.dot,
                       width, own);
  };
  switch (look) {
    case Look::line:
      return "with lines linewidth 1.8 " + own;
    case Look::dashed:
    case Look::level:
      return "with lines dashtype (8, 6) linewidth 1.6 " + own;
    case Look::thin:
      return "with lines linewidth 1.2 " + own;
    case Look::interval:
      return "size screen 0.0025, 90 linewidth 1.4 " + own;
    case Look::band:
      return "with filledcurves closed fillstyle transparent solid 0.16 noborder " + own;
    case Look::bar:
      return "with boxxyerror fillstyle solid 1 noborder " + own;
    case Look::block:
      return fmt::format("with boxxyerror fillstyle solid 1 border {} linewidth 0.5 {}", rgb(colour), own);
    case Look::mark:
      return points(mark_of(shape), 1, 1.6);
    case Look::open:
      return points(mark_of(shape) - 1, 1, 1.6);
    case Look::ring:
      return points(6, 2.4, 2.2);
    case Look::cross:
      return points(2, 1.1, 2.4);
    case Look::text:
      break;
  }
  return "";
}

// The parts of a plot command, one a layer. A hollow mark hides what runs through it.
std::vector<std::string> plots_of(const Panel& panel, const Format& format) {
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < panel.drawing.layers.size(); ++i) {
    const Layer& layer = panel.drawing.layers[i];
    if (layer.look == Look::text) {
      continue;
    }
    const std::string data = fmt::format("$d{}", panel.first_block + i);
    if (layer.look == Look::interval) {
      for (std::size_t ends = 0; ends < kEnds.size(); ++ends) {
        if (std::ranges::count(layer.paths, ends, ends_of) > 0) {
          plots.push_back(fmt::format("{} using 1:2:3:($5=={}?$4:NaN) with vectors {} {} notitle", data, ends,
                                      kEnds.at(ends),
                                      style_of(layer.look, layer.colour, layer.shape, format)));
        }
      }
      continue;
    }
    const bool six = layer.look == Look::bar || layer.look == Look::block;
    const std::string from = fmt::format("{} using {} ", data, six ? "1:2:3:4:5:6" : "1:2");
    if (layer.look == Look::open) {
      plots.push_back(fmt::format("{}with points pointtype {} pointsize {:.2f} linecolor rgb 'white' notitle",
                                  from, mark_of(layer.shape), format.dot));
    }
    plots.push_back(from + style_of(layer.look, layer.colour, layer.shape, format) + " notitle");
  }
  return plots;
}

// An entry of the key: its line or bar and its mark in one, then lines of text.
std::vector<std::string> key_of(const LegendEntry& entry, std::size_t letters, const Format& format) {
  const bool marked = std::ranges::count(entry.looks, Look::mark) > 0;
  const auto line = std::ranges::find_if(entry.looks, [](Look look) { return look != Look::mark; });
  std::string style = line == entry.looks.end() ? "" : style_of(*line, entry.colour, entry.shape, format);
  if (marked) {
    const std::string points = fmt::format("pointtype {} pointsize {:.2f}", mark_of(entry.shape), format.dot);
    style = style.empty()
                ? fmt::format("with points {} linecolor {}", points, rgb(entry.colour))
                : "with linespoints " + points + style.substr(std::string_view("with lines").size());
  } else if (line != entry.looks.end() && *line == Look::bar) {
    style = fmt::format("with boxes fillstyle solid 1 noborder linecolor {}", rgb(entry.colour));
  }
  std::vector<std::string> parts;
  for (const std::string& text : wrapped(entry.text, letters)) {
    parts.push_back(fmt::format("keyentry {} title {}", parts.empty() ? style : "with points pointtype -1",
                                quoted(text)));
  }
  return parts;
}

// A row of panels: how many there are side by side, and how high.
struct Row {
  std::vector<const Panel*> panels{};
  double plot_height = 0;  // of the frames
  std::size_t caption_lines = 0;
  // The key below each panel, and how many panels it spans; empty where an earlier one says the same.
  std::vector<std::vector<std::string>> keys{};
  std::vector<std::size_t> spans{};
  std::vector<std::size_t> key_rows{};
};

bool same_entry(const LegendEntry& a, const LegendEntry& b) {
  return a.text == b.text && a.colour == b.colour && a.looks == b.looks;
}

bool same_legend(const Panel& a, const Panel& b) {
  return std::ranges::equal(a.drawing.legend, b.drawing.legend, same_entry);
}

// Charts of the same kind of bars have one legend, with what any of them shows.
void share_legends(std::vector<Panel>& panels) {
  const auto stacked = [](const Panel& panel) {
    const auto* const bars = std::get_if<Bars>(&panel.chart->content);
    return bars != nullptr && bars->stacked && !panel.chart->wide;
  };
  std::vector<LegendEntry> all;
  for (const Panel& panel : panels) {
    for (const LegendEntry& entry : stacked(panel) ? panel.drawing.legend : std::vector<LegendEntry>{}) {
      if (std::ranges::none_of(all, [&](const LegendEntry& one) { return same_entry(one, entry); })) {
        all.push_back(entry);
      }
    }
  }
  // Bars by their colours, which are in the order of the stack; then lines.
  std::ranges::stable_sort(all, {}, [](const LegendEntry& entry) {
    return entry.looks.front() == Look::bar ? entry.colour : kColours.size();
  });
  for (Panel& panel : panels) {
    if (stacked(panel)) {
      panel.drawing.legend = all;
    }
  }
}

std::size_t across_of(std::size_t panels) {
  return panels <= 3 ? std::max<std::size_t>(panels, 1) : panels == 4 ? 2 : panels <= 6 ? 3 : 4;
}

// What lies left and right of a frame.
constexpr double kLeftOfFrame = 105;
constexpr double kRightOfFrame = 25;

double letters_across(std::size_t across, const Format& format) {
  return (kPageWidth / static_cast<double>(across) - kLeftOfFrame - kRightOfFrame) / format.letter;
}

std::vector<std::string> caption_lines(const Chart& chart, std::size_t across, const Format& format) {
  constexpr double kSmaller = 1.15;  // letters of a caption
  return cut(
      balanced(
          caption_of(chart),
          static_cast<std::size_t>(kSmaller * kPageWidth / static_cast<double>(across) / format.letter) - 6),
      kMostCaptionLines);
}

class Page {
 public:
  Page(const Picture& picture, const std::vector<Panel>& panels, const Format& format)
      : picture_(picture), format_(format) {
    const auto wide = std::ranges::count_if(panels, [](const Panel& panel) { return panel.chart->wide; });
    across_ = across_of(panels.size() - static_cast<std::size_t>(wide));
    std::vector<const Panel*> next;
    for (const Panel& panel : panels) {
      if (!panel.chart->wide) {
        next.push_back(&panel);
      }
      if (next.size() == across_) {
        add_row(std::exchange(next, {}), across_);
      }
    }
    if (!next.empty()) {
      add_row(next, across_);
    }
    for (const Panel& panel : panels) {
      if (panel.chart->wide) {
        add_row({&panel}, 1);
      }
    }
    answer_ = balanced(picture.answer, kAnswer);
    cut_answer_ = answer_.size() > 2;
    answer_ = cut(std::move(answer_), 2);
    add_notes();
  }

  std::string text() {
    double height = (head() + static_cast<double>(notes_.size()) + 1.5) * format_.line;
    for (const Row& row : rows_) {
      height += height_of(row);
    }
    height = std::ceil(height);
    std::string script = fmt::format(
        "set terminal {} size {:.0f}, {:.0f} font 'DejaVu Sans,{}' noenhanced background rgb 'white'\n"
        "set output '{}'\nset multiplot\n",
        format_.terminal, kPageWidth, height, format_.font, format_.file);
    script += heading(height);
    double top = height - head() * format_.line;
    for (const Row& row : rows_) {
      script += written(row, top, height);
      top -= height_of(row);
    }
    if (rows_.empty()) {
      script += "unset border\nunset tics\nplot [0:1][0:1] NaN notitle\n";
    }
    return script + "unset multiplot\nunset output\n";
  }

 private:
  static constexpr std::size_t kAnswer = 135;  // letters of a line of the answer
  static constexpr std::size_t kNote = 165;

  void add_row(std::vector<const Panel*> panels, std::size_t across) {
    Row row;
    row.plot_height = across == 1 && panels.front()->chart->wide ? 210
                      : across <= 2                              ? 330
                      : across == 3                              ? 300
                                                                 : 190;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      const Panel& panel = *panels[i];
      row.caption_lines = std::max(row.caption_lines, caption_lines(*panel.chart, across, format_).size());
      const bool said =
          std::ranges::any_of(keyed_, [&](const Panel* earlier) { return same_legend(*earlier, panel); });
      std::size_t span = 1;
      while (i + span < panels.size() && same_legend(panel, *panels[i + span])) {
        ++span;
      }
      row.spans.push_back(span);
      row.key_rows.push_back(0);
      row.keys.emplace_back();
      if (said || panel.drawing.legend.empty()) {
        continue;
      }
      keyed_.push_back(&panel);
      set_key(panel, across, row);
    }
    row.panels = std::move(panels);
    rows_.push_back(std::move(row));
  }

  // Side by side where the entries are short, else below each other.
  void set_key(const Panel& panel, std::size_t across, Row& row) const {
    const double width = static_cast<double>(row.spans.back()) * kPageWidth / static_cast<double>(across);
    const auto letters = static_cast<std::size_t>((width - 130) / format_.letter);
    std::size_t longest = 1;
    for (const LegendEntry& entry : panel.drawing.legend) {
      longest = std::max(longest, std::min(columns(entry.text), letters));
      std::ranges::move(key_of(entry, letters, format_), std::back_inserter(row.keys.back()));
    }
    const auto beside = std::max<std::size_t>(
        static_cast<std::size_t>((width - 40) / (static_cast<double>(longest) * format_.letter + 70)), 1);
    row.key_rows.back() = (row.keys.back().size() + beside - 1) / beside;
  }

  double head() const {
    return 3.3 + 1.3 * static_cast<double>(answer_.size() + (picture_.circumstances.empty() ? 0 : 1));
  }
  double height_of(const Row& row) const {
    std::size_t keys = 0;
    for (const std::size_t rows : row.key_rows) {
      keys = std::max(keys, rows);
    }
    // Title and caption; labels and title of the axis; the key.
    return row.plot_height + format_.line * (static_cast<double>(row.caption_lines + keys) + 5.8);
  }

  void add_notes() {
    std::vector<std::string> notes = picture_.notes;
    if (cut_answer_) {
      notes.insert(notes.begin(), picture_.answer);
    }
    for (std::size_t i = 0; i < notes.size(); ++i) {
      if (i + 1 == kMostNotes && notes.size() > kMostNotes) {
        notes_.push_back(fmt::format("… and {} more notes in the result file", notes.size() - i));
        return;
      }
      const bool is_answer = i == 0 && cut_answer_;  // which is nowhere else in the picture
      std::ranges::move(cut(wrapped(notes[i], kNote), is_answer ? kMostAnswerLines : kMostNoteLines),
                        std::back_inserter(notes_));
    }
  }

  std::string label(int id, const std::string& text, double x, double y, const char* how, int font) const {
    return fmt::format("set label {} {} at screen {:.5f}, {:.5f} {} font ',{}'\n", id, quoted(text, 1000), x,
                       y, how, font);
  }
  int small() const { return format_.font - 2; }

  // The title, the answer and the notes: labels of the first plot.
  std::string heading(double height) const {
    const auto from_top = [&](double lines) { return 1 - lines * format_.line / height; };
    std::string script = label(1, picture_.title, 0.5, from_top(1.3), "center", format_.font + 4);
    int id = 2;
    double at = 2.7;
    for (const std::string& line : answer_) {
      script += label(id++, line, 0.5, from_top(at), "center", format_.font + 2);
      at += 1.3;
    }
    script += label(id++, picture_.circumstances, 0.5, from_top(at), "center textcolor rgb '#555555'",
                    format_.font);
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      const double y = (static_cast<double>(notes_.size() - i) + 0.1) * format_.line / height;
      script += label(id++, notes_[i], 30 / kPageWidth, y, "left textcolor rgb '#444444'", format_.font);
    }
    return script;
  }

  std::string written(const Row& row, double top, double height) const {
    std::string script;
    const bool wide = row.panels.front()->chart->wide;
    const double width = kPageWidth / static_cast<double>(wide ? 1 : across_);
    const double frame_top = top - format_.line * (2.2 + static_cast<double>(row.caption_lines));
    for (std::size_t i = 0; i < row.panels.size(); ++i) {
      const Panel& panel = *row.panels[i];
      double widest = 0;
      for (const Label& one : panel.drawing.y_labels) {
        widest = std::max(widest, format_.letter * static_cast<double>(columns(one.text)));
      }
      const double outer = width * static_cast<double>(i);
      const double left = outer + std::max(kLeftOfFrame, widest + 60);
      const double right = outer + width - kRightOfFrame;
      script += fmt::format(
          "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n"
          "set tmargin at screen {:.5f}\n",
          left / kPageWidth, right / kPageWidth, (frame_top - row.plot_height) / height, frame_top / height);
      const double middle = (outer + width / 2) / kPageWidth;
      script +=
          label(31, panel.chart->title, middle, (top - 0.6 * format_.line) / height, "center", format_.font);
      int id = 32;
      double line = 1.6;
      for (const std::string& text : caption_lines(*panel.chart, wide ? 1 : across_, format_)) {
        script += label(id++, text, middle, (top - line * format_.line) / height,
                        "center textcolor rgb '#555555'", small());
        line += 0.95;
      }
      script += texts(panel.drawing) + axes(panel.drawing);
      std::vector<std::string> plots = plots_of(panel, format_);
      script += "unset key\n";
      if (!row.keys[i].empty()) {
        script += fmt::format(
            "set key at screen {:.5f}, {:.5f} left top Left reverse samplen 2 maxrows {} font ',{}'\n",
            (outer + 30) / kPageWidth, (frame_top - row.plot_height - 3.1 * format_.line) / height,
            row.key_rows[i], format_.font);
        plots.insert(plots.end(), row.keys[i].begin(), row.keys[i].end());
      }
      script += fmt::format("plot [0:1][0:1] {}\nunset label\n",
                            plots.empty() ? "NaN notitle" : fmt::format("{}", fmt::join(plots, ", \\\n  ")));
    }
    return script;
  }

  // Numbers above bars, names of regions.
  std::string texts(const Drawing& drawing) const {
    std::string script;
    int id = 40;
    for (const Layer& layer : drawing.layers) {
      for (std::size_t i = 0; i < layer.texts.size(); ++i) {
        const Place& place = layer.paths[i].front();
        script += fmt::format(
            "set label {} {} at first {}, {} center offset 0, 0.6 font ',{}' textcolor {}\n", id++,
            quoted(layer.texts[i], 60), number(place.x), number(place.y), small(), rgb(layer.colour));
      }
    }
    return script;
  }

  std::string axes(const Drawing& drawing) const {
    const auto tics = [](const std::vector<Label>& labels) {
      std::vector<std::string> all;
      for (const Label& one : labels) {
        all.push_back(fmt::format("{} {}", quoted(one.text, 60), number(one.at)));
      }
      return fmt::format("{}", fmt::join(all, ", "));
    };
    return fmt::format(
        "set xtics ({}) scale {} nomirror {} font ',{}'\nset ytics ({}) scale {} nomirror font ',{}'\n"
        "set xlabel {} offset 0, 0.3\nset ylabel {}\n",
        tics(drawing.x_labels), drawing.ticks ? "0.6" : "0",
        drawing.tilted ? "rotate by 15 right" : "norotate", small(), tics(drawing.y_labels),
        drawing.y_title.empty() ? "0" : "0.6", small(), quoted(drawing.x_title), quoted(drawing.y_title));
  }

  const Picture& picture_;
  const Format& format_;
  std::size_t across_ = 1;
  std::vector<Row> rows_;
  std::vector<const Panel*> keyed_;  // panels that have a key
  std::vector<std::string> answer_;
  bool cut_answer_ = false;
  std::vector<std::string> notes_;
};

std::vector<Panel> panels_of(const Picture& picture, const Format& format) {
  const auto narrow = std::ranges::count(picture.charts, false, &Chart::wide);
  const std::size_t across = across_of(static_cast<std::size_t>(narrow));
  std::vector<Panel> panels;
  std::size_t block = 0;
  for (const Chart& chart : picture.charts) {
    Panel& panel = panels.emplace_back(
        Panel{.chart = &chart,
              .drawing = drawing_of(chart, letters_across(chart.wide ? 1 : across, format)),
              .first_block = block});
    block += panel.drawing.layers.size();
  }
  share_legends(panels);
  return panels;
}

}  // namespace

std::string gnuplot_script(const Picture& picture) {
  const std::vector<Panel> panels = panels_of(picture, kFormats.front());
  std::string script =
      "set encoding utf8\nset border 3 linecolor rgb '#606060'\nset tics out textcolor rgb '#202020'\n"
      "set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1\n";
  for (const Panel& panel : panels) {
    for (std::size_t i = 0; i < panel.drawing.layers.size(); ++i) {
      script += fmt::format("$d{} << EOD\n{}EOD\n", panel.first_block + i, data_of(panel.drawing.layers[i]));
    }
  }
  for (const Format& format : kFormats) {
    script += Page(picture, panels, format).text();
  }
  return script;
}

}  // namespace bench::plots
