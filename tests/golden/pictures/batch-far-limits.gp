set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0.32684 0 0.10666 0
0.26415 0.40285 0 0.32857 0
0.5 0.49261 0 0.27828 0
0.73585 0.62115 0 0.18519 0
0.9717 0.72801 0 0.15437 0
EOD
$d1 << EOD
0.028302 0.65236
0.051887 0.69593
0.075472 0.74217
0.099057 0.79122
0.12264 0.84322
0.14623 0.89831
0.16981 0.95661

EOD
$d2 << EOD
0.028302 0.37637
0.26415 0.54282
0.5 0.61565
0.73585 0.70772
0.9717 0.80146
EOD
$d3 << EOD
0.73585 0.70772
EOD
$d4 << EOD
0.1 0.37145 0.022 0.178 0 0.74289
0.3 0.37145 0.222 0.378 0 0.74289
0.5 0.37145 0.422 0.578 0 0.74289
0.7 0.37145 0.622 0.778 0 0.74289
0.9 0.37145 0.822 0.978 0 0.74289
EOD
$d5 << EOD
0.1 0.81789 0.022 0.178 0.74289 0.89289
0.3 0.81789 0.222 0.378 0.74289 0.89289
0.5 0.81789 0.422 0.578 0.74289 0.89289
0.7 0.81789 0.622 0.778 0.74289 0.89289
0.9 0.81789 0.822 0.978 0.74289 0.89289
EOD
$d6 << EOD
0.1 0.89289
0.3 0.89289
0.5 0.89289
0.7 0.89289
0.9 0.89289
EOD
set terminal pngcairo size 1600, 713 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'batch: resnet18 inference on AMD EPYC' at screen 0.50000, 0.96171 center font ',17'
set label 2 'Use batch 16 in fp32: 400 (360 to 440) samples/s in 53.6 MiB; batches from 2 on differ by 32 % at most, within noise' at screen 0.50000, 0.92048 center font ',15'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:25' at screen 0.50000, 0.88219 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: 95 % intervals wider than ±10 % at all 5 points [larger --time-budget]. Other processes used the CPU during all 5 points [idle machine].' at screen 0.01875, 0.03240 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.23969
set tmargin at screen 0.70252
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.80856 center font ',13'
set label 32 'Bars: 95 % intervals. Curve: fitted; ring: saturation batch.' at screen 0.25000, 0.77910 center textcolor rgb '#555555' font ',11'
set label 33 'Saturates at batch 8 or beyond, T∞ about 5000 samples/s (above the picture), t0 2.87 ms.' at screen 0.25000, 0.75112 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '2' 0.26415, '4' 0.5, '8' 0.73585, '16' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '100' 0.2, '200' 0.4, '300' 0.6, '400' 0.8, '500' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 6 pointsize 2.88 linewidth 2.2 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.23969
set tmargin at screen 0.70252
set label 31 'Memory, fp32' at screen 0.75000, 0.80856 center font ',13'
set label 32 'At the peak of a step. Fits to batch 51506 by the line.' at screen 0.75000, 0.77910 center textcolor rgb '#555555' font ',11'
set label 40 '53.6' at first 0.1, 0.89289 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '53.6' at first 0.3, 0.89289 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 42 '53.6' at first 0.5, 0.89289 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 43 '53.6' at first 0.7, 0.89289 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 44 '53.6' at first 0.9, 0.89289 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('1' 0.1, '2' 0.3, '4' 0.5, '8' 0.7, '16' 0.9) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '10' 0.16667, '20' 0.33333, '30' 0.5, '40' 0.66667, '50' 0.83333, '60' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.14839 left top Left reverse samplen 2 maxrows 2 font ',13'
plot [0:1][0:1] $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 40.0 GiB, above the picture'
unset label
unset multiplot
unset output
set terminal svg size 1600, 731 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'batch: resnet18 inference on AMD EPYC' at screen 0.50000, 0.96088 center font ',20'
set label 2 'Use batch 16 in fp32: 400 (360 to 440) samples/s in 53.6 MiB; batches from 2 on differ by 32 % at most, within noise' at screen 0.50000, 0.91874 center font ',18'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:25' at screen 0.50000, 0.87962 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: 95 % intervals wider than ±10 % at all 5 points [larger --time-budget]. Other processes used the CPU during all 5 points [idle machine].' at screen 0.01875, 0.03311 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.24460
set tmargin at screen 0.69603
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.80438 center font ',16'
set label 32 'Bars: 95 % intervals. Curve: fitted; ring: saturation batch.' at screen 0.25000, 0.77428 center textcolor rgb '#555555' font ',14'
set label 33 'Saturates at batch 8 or beyond, T∞ about 5000 samples/s (above the picture), t0 2.87 ms.' at screen 0.25000, 0.74569 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '2' 0.26415, '4' 0.5, '8' 0.73585, '16' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '100' 0.2, '200' 0.4, '300' 0.6, '400' 0.8, '500' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 6 pointsize 1.80 linewidth 2.2 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.24460
set tmargin at screen 0.69603
set label 31 'Memory, fp32' at screen 0.75000, 0.80438 center font ',16'
set label 32 'At the peak of a step. Fits to batch 51506 by the line.' at screen 0.75000, 0.77428 center textcolor rgb '#555555' font ',14'
set label 40 '53.6' at first 0.1, 0.89289 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '53.6' at first 0.3, 0.89289 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 42 '53.6' at first 0.5, 0.89289 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 43 '53.6' at first 0.7, 0.89289 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 44 '53.6' at first 0.9, 0.89289 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('1' 0.1, '2' 0.3, '4' 0.5, '8' 0.7, '16' 0.9) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '10' 0.16667, '20' 0.33333, '30' 0.5, '40' 0.66667, '50' 0.83333, '60' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.15130 left top Left reverse samplen 2 maxrows 2 font ',16'
plot [0:1][0:1] $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 40.0 GiB, above the picture'
unset label
unset multiplot
unset output
