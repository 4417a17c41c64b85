#!/usr/bin/env bash
# A report in headless Chromium: it loads nothing, runs no script, and no text of a picture lies on another, on a desktop
# and on a phone. Skipped (exit code 77) where there is no Chromium: tools/packages-browser.txt names the package.
#
#   tests/report/browser_test.sh BENCH SOURCE_FOLDER [FOLDER FOR SCREENSHOTS]
set -euo pipefail

bench=$1
reference=$2/results/reference/intel-xeon-2-cores
screenshots=${3:-}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [[ -z $browser ]]; then
  echo "skipped: no Chromium here; tools/setup.sh tools/packages-browser.txt installs one"
  exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
browse() {
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$scratch/profile" \
    --virtual-time-budget=5000 "$@" 2> "$scratch/browser.log"
}

results=("$reference/"{batch-resnet50,memory-resnet18,transfer-resnet18,workers-20ms,kernels-all}-cpu.json)
"$bench" report "${results[@]}" -o "$scratch/report.html" > /dev/null
[[ $(stat -c %s "$scratch/report.html") -le 300000 ]] || fail "more than 300 kB"

# Names that would run a script, if they were markup; and what would be asked of the net.
hostile='<script>document.title="script"</script><img src="http://127.0.0.1:9/x.png" onerror="document.title=1">'
python3 - "$hostile" < "${results[0]}" > "$scratch/hostile.json" 3<&0 <<'PYTHON'
import json, os, sys
result = json.load(os.fdopen(3))
result["context"]["device"]["name"] = result["sweep"]["workload"] = sys.argv[1]
for finding in result["findings"]:
    finding["claim"] = sys.argv[1]
for point in result["benchmarks"]:
    point["name"] += sys.argv[1]
json.dump(result, sys.stdout)
PYTHON
"$bench" report "$scratch/hostile.json" "${results[3]}" -o "$scratch/hostile.html" > /dev/null
for page in report hostile; do
  browse --log-net-log="$scratch/$page.net" --dump-dom "file://$scratch/$page.html" > "$scratch/$page.dom"
  grep -q '<title>[25] results of bench' "$scratch/$page.dom" || fail "$page: another title"
  ! grep -q '<script\|<img' "$scratch/$page.dom" || fail "$page: a script or image is in the page"
  ! grep -o '"url":"https\?://[^"]*' "$scratch/$page.net" | grep -v 'clients2.google\|update.googleapis\|accounts.google' || fail "$page: something was asked of the net"
done

# A copy that measures itself: texts of a picture that touch, and whether the page is wider than its window.
probe='<script>onload=()=>{const bad=[];document.querySelectorAll("details").forEach(d=>d.open=false);
document.querySelectorAll("figure>svg").forEach(s=>{const t=[...s.querySelectorAll("text")].map(e=>[e.textContent,e.getBoundingClientRect()]);
const b=s.getBoundingClientRect();
t.forEach(([n,r],i)=>{if(r.left<b.left-1||r.right>b.right+1||r.bottom>b.bottom+1)bad.push("beyond the picture: "+n);
t.slice(i+1).forEach(([m,q])=>{if(r.left<q.right-1&&q.left<r.right-1&&r.top<q.bottom-3&&q.top<r.bottom-3)bad.push(n+" on "+m+" in "+s.getAttribute("aria-label"))})})});
const d=document.documentElement;if(d.scrollWidth>d.clientWidth)bad.push("wider than the window: "+d.scrollWidth+" > "+d.clientWidth);
parent.postMessage(bad.length?bad.join("\n"):"nothing touches: "+document.querySelectorAll("figure>svg").length+" pictures","*")}</script>'
for sweep in batch kernels; do
  "$bench" --sweep $sweep --device t4 --no-plot --out "$scratch" > /dev/null 2>&1
done
"$bench" report "$scratch/"*-predicted.json -o "$scratch/predicted.html" > /dev/null
for case in report:390 report:1280 predicted:390; do
  width=${case#*:}
  sed -e '/Content-Security-Policy/d' "$scratch/${case%:*}.html" > "$scratch/probe.html"
  echo "$probe" >> "$scratch/probe.html"
  echo "<body><iframe src=probe.html width=$width height=900></iframe><pre></pre><script>onmessage=e=>document.querySelector('pre').textContent=e.data</script>" > "$scratch/outer.html"
  browse --allow-file-access-from-files --window-size=1400,1000 --dump-dom "file://$scratch/outer.html" > "$scratch/outer.dom"
  grep -q '<pre>nothing touches: [1-9][0-9]* pictures</pre>' "$scratch/outer.dom" || fail "$case pixels: $(cat "$scratch/outer.dom")"
done

if [[ -n $screenshots ]]; then
  mkdir -p "$screenshots"
  browse --window-size=1280,6000 --screenshot="$screenshots/desktop.png" "file://$scratch/report.html"
  browse --window-size=1280,6000 --force-dark-mode --blink-settings=preferredColorScheme=0 --screenshot="$screenshots/dark.png" "file://$scratch/report.html"
  echo "<body style='margin:0'><iframe style='border:0' src=report.html width=390 height=12000></iframe>" > "$scratch/phone.html"
  browse --allow-file-access-from-files --window-size=390,12000 --screenshot="$screenshots/phone.png" "file://$scratch/phone.html"
  browse --no-pdf-header-footer --print-to-pdf="$screenshots/print.pdf" "file://$scratch/report.html"
  cp "$scratch/report.html" "$screenshots/"
fi
echo "ok"
