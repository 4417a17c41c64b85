set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.35881 0.59348
0.78319 0.9717
0.9717 0.9717

EOD
$d1 << EOD
0.028302 0.29892
0.21681 0.46693
0.92435 0.46693

EOD
$d2 << EOD
0.35881 0.028302
0.73583 0.24039
EOD
$d3 << EOD
0.54732 0.32905
0.92435 0.72356
EOD
set terminal pngcairo size 1600, 692 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'Predicted, kernels: gemm on Tesla T4' at screen 0.50000, 0.96055 center font ',17'
set label 2 'Predicted: gemm/fp32 reaches 16.4 % to 39.3 % of its roofline, least at inner:256/columns:256/batch:256' at screen 0.50000, 0.91806 center font ',15'
set label 3 'predicted for pytorch · 2026-11-30 09:44' at screen 0.50000, 0.87861 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: no table of fp16 products on compute capability 7.5: they were measured on a100-80gb, a100-pcie-40gb, a100-pcie-80gb, b200, h100-sxm, h200, rtxpro6000, t4,' at screen 0.01875, 0.06373 left textcolor rgb '#444444' font ',13'
set label 5 'v100-pcie-32gb, and large ones elsewhere.' at screen 0.01875, 0.03338 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.98438
set bmargin at screen 0.24697
set tmargin at screen 0.72384
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.50000, 0.80275 center font ',13'
set label 32 'Roofs are of the data sheet.' at screen 0.50000, 0.77240 center textcolor rgb '#555555' font ',11'
set xtics ('20' 0.15275, '50' 0.40195, '100' 0.59046, '200' 0.77897) scale 0.6 nomirror norotate font ',11'
set ytics ('2 T' 0.1279, '5 T' 0.35, '10 T' 0.518, '20 T' 0.68601, '50 T' 0.90811) scale 0.6 nomirror font ',11'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.15289 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#00795a' title 'roof of fp16: 65.0 TFLOP/s', \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 8.10 TFLOP/s', \
  keyentry with points pointtype 7 pointsize 1.20 linecolor rgb '#0072b2' title 'gemm fp32', \
  keyentry with points pointtype 7 pointsize 1.20 linecolor rgb '#00795a' title 'gemm fp16'
unset label
unset multiplot
unset output
set terminal svg size 1600, 709 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'Predicted, kernels: gemm on Tesla T4' at screen 0.50000, 0.95966 center font ',20'
set label 2 'Predicted: gemm/fp32 reaches 16.4 % to 39.3 % of its roofline, least at inner:256/columns:256/batch:256' at screen 0.50000, 0.91622 center font ',18'
set label 3 'predicted for pytorch · 2026-11-30 09:44' at screen 0.50000, 0.87588 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: no table of fp16 products on compute capability 7.5: they were measured on a100-80gb, a100-pcie-40gb, a100-pcie-80gb, b200, h100-sxm, h200, rtxpro6000, t4,' at screen 0.01875, 0.06516 left textcolor rgb '#444444' font ',16'
set label 5 'v100-pcie-32gb, and large ones elsewhere.' at screen 0.01875, 0.03413 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.98438
set bmargin at screen 0.25219
set tmargin at screen 0.71763
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.50000, 0.79831 center font ',16'
set label 32 'Roofs are of the data sheet.' at screen 0.50000, 0.76728 center textcolor rgb '#555555' font ',14'
set xtics ('20' 0.15275, '50' 0.40195, '100' 0.59046, '200' 0.77897) scale 0.6 nomirror norotate font ',14'
set ytics ('2 T' 0.1279, '5 T' 0.35, '10 T' 0.518, '20 T' 0.68601, '50 T' 0.90811) scale 0.6 nomirror font ',14'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.15599 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#00795a' title 'roof of fp16: 65.0 TFLOP/s', \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 8.10 TFLOP/s', \
  keyentry with points pointtype 7 pointsize 0.75 linecolor rgb '#0072b2' title 'gemm fp32', \
  keyentry with points pointtype 7 pointsize 0.75 linecolor rgb '#00795a' title 'gemm fp16'
unset label
unset multiplot
unset output
