// The style sheet of a report: for a phone first, in light and dark, and on paper.
#pragma once

namespace bench::report {

// c0 to c5 are the colours of series (Okabe and Ito's, darkened or lightened to a contrast of 3 with the
// page), c6 to c12 those of memory categories (Paul Tol's muted ones, likewise).
inline constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--soft:#57606a;--rule:#d0d7de;--card:#f6f8fa;--link:#0550ae;--warn:#8a4600;--grid:#e3e7eb;--cap:#c4162a;
--c0:#0072b2;--c1:#c24a00;--c2:#00795a;--c3:#a8437f;--c4:#8a6200;--c5:#57606a;
--c6:#332288;--c7:#5fa8d3;--c8:#2f9484;--c9:#b89b2e;--c10:#cc6677;--c11:#117733;--c12:#9aa0a6}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--fg:#e6e9ec;--soft:#a3abb4;--rule:#3a4149;--card:#1d2127;--link:#79b8ff;--warn:#ffb46b;--grid:#2c3238;--cap:#ff7b86;
--c0:#58b3ec;--c1:#ff8a4c;--c2:#3fd0a2;--c3:#e38fc0;--c4:#e9bd4a;--c5:#b4bcc4;
--c6:#9a8fe8;--c7:#88ccee;--c8:#4fc3b3;--c9:#ddcc77;--c10:#e58a99;--c11:#55b878;--c12:#80878e}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:16px}
h1{font-size:1.5em;line-height:1.25;margin:.4em 0}h2{font-size:1.25em;line-height:1.3;margin:2em 0 .3em;padding-top:.6em;border-top:1px solid var(--rule)}
h3{font-size:1em;margin:1.4em 0 .3em}
h1,h2,h3,li,p,td,th,dd,summary{overflow-wrap:anywhere}
p{margin:.5em 0}a{color:var(--link)}
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
svg text{font:12px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--fg)}
svg .x{text-anchor:middle}svg .e{text-anchor:end}
svg .k{flex:none}.k{width:24px;height:12px;flex:none}
.g{stroke:var(--grid)}.a{stroke:var(--soft)}.v{stroke:var(--cap);stroke-width:1.6;stroke-dasharray:7 4;fill:none}
.w{stroke:var(--soft);stroke-width:1.4;stroke-dasharray:4 3;fill:none}.n{stroke:var(--fg);stroke-width:1.3}
.s{fill:none;stroke:var(--c);stroke-width:1.8}.d{stroke-dasharray:6 4}.i{fill:none;stroke:var(--c);stroke-width:1.6}
.b{fill:var(--c);opacity:.18}.m{fill:var(--c)}.o{fill:var(--bg);stroke:var(--c);stroke-width:1.7}.f{fill:var(--c);stroke:var(--bg);stroke-width:.6}
.c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}
.c6{--c:var(--c6)}.c7{--c:var(--c7)}.c8{--c:var(--c8)}.c9{--c:var(--c9)}.c10{--c:var(--c10)}.c11{--c:var(--c11)}.c12{--c:var(--c12)}
details{margin:.5em 0}summary{cursor:pointer;color:var(--link)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-size:.88em;font-variant-numeric:tabular-nums}
th,td{padding:.2em .7em .2em 0;text-align:right;white-space:nowrap;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:600}.l{text-align:left}td.l{white-space:normal;min-width:4em}
dl{display:grid;grid-template-columns:minmax(7em,max-content) 1fr;gap:.15em 1em;margin:.4em 0;font-size:.9em}
dt{color:var(--soft)}dd{margin:0;min-width:0}
@media print{:root{color-scheme:light;--bg:#fff;--fg:#000;--soft:#444;--rule:#bbb;--card:#fff;--link:#000;--warn:#6b3600;--grid:#ddd;--cap:#c4162a;
--c0:#0072b2;--c1:#c24a00;--c2:#00795a;--c3:#a8437f;--c4:#8a6200;--c5:#57606a;
--c6:#332288;--c7:#5fa8d3;--c8:#2f9484;--c9:#b89b2e;--c10:#cc6677;--c11:#117733;--c12:#9aa0a6}
body{font-size:10.5pt}main{max-width:none;padding:0}.charts{grid-template-columns:1fr 1fr}
figure,ol.answer,tr{break-inside:avoid}h2,h3{break-after:avoid}details:not([open]),#data{display:none}}
)";

}  // namespace bench::report
