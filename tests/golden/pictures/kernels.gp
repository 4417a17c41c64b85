set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.18553 0.27221 0 0.22884 0
0.18553 0 0 0.27961 2
0.34277 0.71423 0 0.10081 0
0.34277 0.38387 0 0.27481 0
0.5 0.79502 0 0.064466 0
0.5 0.41401 0 0.55769 0
0.65723 0.54095 0 0.29811 0
0.65723 0.69376 0 0.16649 0
0.81447 0.72394 0 0.11825 0
0.81447 0.62769 0 0.32093 0
EOD
$d1 << EOD
0.17753 0.025
0.18553 0
0.19353 0.025

EOD
$d2 << EOD
0.028302 0.82317
0.9717 0.82317

EOD
$d3 << EOD
0.18553 0.38659
0.34277 0.76462
0.5 0.83885
0.65723 0.75258
0.81447 0.79441
EOD
$d4 << EOD
0.18553 0.18367
0.34277 0.59669
0.5 0.81166
0.65723 0.7714
0.81447 0.81807
EOD
set terminal pngcairo size 1600, 698 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'kernels: gemm on AMD EPYC' at screen 0.50000, 0.96089 center font ',17'
set label 2 'fp32 arithmetic peaks at 153 (136 to 161) GFLOP/s, pooled over 7 points within noise (best:' at screen 0.50000, 0.91877 center font ',15'
set label 3 'gemm/forward/fp32/hot/inner:512/columns:512/batch:512)' at screen 0.50000, 0.87966 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.84054 center textcolor rgb '#555555' font ',13'
set label 5 'Warning: 95 % intervals wider than ±10 % at all 10 points [larger --time-budget]. Other processes used the CPU during all 10 points [idle machine].' at screen 0.01875, 0.03309 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06656
set rmargin at screen 0.98438
set bmargin at screen 0.21433
set tmargin at screen 0.68711
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.50000, 0.76533 center font ',13'
set label 32 'Bars: 95 % intervals. Open marks: cold caches.' at screen 0.50000, 0.73524 center textcolor rgb '#555555' font ',11'
set xtics ('10' 0.013662, '20' 0.17089, '50' 0.37875, '100' 0.53598, '200' 0.69321, '500' 0.90106) scale 0.6 nomirror norotate font ',11'
set ytics ('20 G' 0.044499, '50 G' 0.3956, '100 G' 0.6612, '200 G' 0.9268) scale 0.6 nomirror font ',11'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.12106 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 7 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d4 using 1:2 with points pointtype 6 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 153 GFLOP/s', \
  keyentry with points pointtype 7 pointsize 1.20 linecolor rgb '#0072b2' title 'gemm fp32'
unset label
unset multiplot
unset output
set terminal svg size 1600, 715 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'kernels: gemm on AMD EPYC' at screen 0.50000, 0.96000 center font ',20'
set label 2 'fp32 arithmetic peaks at 153 (136 to 161) GFLOP/s, pooled over 7 points within noise (best:' at screen 0.50000, 0.91692 center font ',18'
set label 3 'gemm/forward/fp32/hot/inner:512/columns:512/batch:512)' at screen 0.50000, 0.87692 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.83692 center textcolor rgb '#555555' font ',16'
set label 5 'Warning: 95 % intervals wider than ±10 % at all 10 points [larger --time-budget]. Other processes used the CPU during all 10 points [idle machine].' at screen 0.01875, 0.03385 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.98438
set bmargin at screen 0.21846
set tmargin at screen 0.68000
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.50000, 0.76000 center font ',16'
set label 32 'Bars: 95 % intervals. Open marks: cold caches.' at screen 0.50000, 0.72923 center textcolor rgb '#555555' font ',14'
set xtics ('10' 0.013662, '20' 0.17089, '50' 0.37875, '100' 0.53598, '200' 0.69321, '500' 0.90106) scale 0.6 nomirror norotate font ',14'
set ytics ('20 G' 0.044499, '50 G' 0.3956, '100 G' 0.6612, '200 G' 0.9268) scale 0.6 nomirror font ',14'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.12308 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d4 using 1:2 with points pointtype 6 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 153 GFLOP/s', \
  keyentry with points pointtype 7 pointsize 0.75 linecolor rgb '#0072b2' title 'gemm fp32'
unset label
unset multiplot
unset output
