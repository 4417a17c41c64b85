// The style sheet of a page: for a phone first, in light and dark, and on paper.
#pragma once

namespace bench {

// Without the charts': plots::chart_style() has their colours and lines.
inline constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--rule:#d0d7de;--card:#f6f8fa;--link:#0550ae;--warn:#8a4600;--grid:#e3e7eb}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ec;--soft:#a3abb4;--rule:#3a4149;--card:#1d2127;--link:#79b8ff;--warn:#ffb46b;--grid:#2c3238}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:16px}
h1{font-size:1.5em;line-height:1.25;margin:.4em 0}h2{font-size:1.25em;line-height:1.3;margin:2em 0 .3em;padding-top:.6em;border-top:1px solid var(--rule)}
h3{font-size:1em;margin:1.4em 0 .3em}
h1,h2,h3,li,p,td,th,dd,summary{overflow-wrap:anywhere}
p{margin:.5em 0}a{color:var(--link)}
.o{white-space:nowrap}
.soft,figcaption,small{color:var(--soft)}
ol.answer{background:var(--card);border:1px solid var(--rule);border-radius:8px;margin:.6em 0;padding:.7em 1em .7em 2.4em}
ol.answer li{margin:.45em 0}ol.answer li:first-child{font-weight:600}
ol.answer small{display:block;font-weight:400;font-size:.85em}
ul{padding-left:1.3em}
.predicted{display:inline-block;border:1px solid var(--warn);color:var(--warn);border-radius:4px;padding:0 .4em;font-size:.8em;font-weight:600}
.warn{color:var(--warn)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,340px),1fr));gap:20px 28px;margin:1em 0}
figure{margin:0;min-width:0;max-width:540px}
figure h3{margin:0 0 .2em;font-size:.95em}
figure>svg{display:block;width:100%;height:auto}
figcaption{font-size:.85em}
.legend{list-style:none;margin:.3em 0;padding:0;display:flex;flex-wrap:wrap;gap:.1em 1em;font-size:.85em}
.legend li{display:flex;align-items:center;gap:.4em;min-width:0}
details{margin:.5em 0}summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}
th,td{padding:.2em .7em .2em 0;text-align:right;white-space:nowrap;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:600}.l{text-align:left}td.l{white-space:normal;min-width:4em}
dl{display:grid;grid-template-columns:minmax(7em,max-content) 1fr;gap:.15em 1em;margin:.4em 0;font-size:.9em}
dt{color:var(--soft)}dd{margin:0;min-width:0}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--soft:#444;--rule:#bbb;--card:#fff;--link:#000;--warn:#6b3600;--grid:#ddd}
body{font-size:10.5pt}main{max-width:none;padding:0}.charts{grid-template-columns:1fr 1fr}
figure,ol.answer,tr{break-inside:avoid}h2,h3{break-after:avoid}details:not([open]),#data{display:none}}
)";

}  // namespace bench
