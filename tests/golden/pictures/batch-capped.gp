set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0.22935 0 0.046015 0
0.18553 0.20977 0 0.32014 0
0.34277 0.29451 0 0.26983 0
0.5 0.51349 0 0.022324 0
0.65723 0.28329 0 0.71671 1
EOD
$d1 << EOD
0.64923 0.975
0.65723 1
0.66523 0.975

EOD
$d2 << EOD
0.028302 0.2513
0.18553 0.33341
0.34277 0.40768
0.5 0.52453
0.65723 0.57026

EOD
$d3 << EOD
0.028302 0.2513
0.18553 0.33341
0.34277 0.40768
0.5 0.52453
0.65723 0.57026
EOD
$d4 << EOD
0.81447 0.02
0.9717 0.02
EOD
$d5 << EOD
0.071429 0.089184 0.015714 0.12714 0 0.17837
0.21429 0.089184 0.15857 0.27 0 0.17837
0.35714 0.089184 0.30143 0.41286 0 0.17837
0.5 0.089184 0.44429 0.55571 0 0.17837
0.64286 0.089184 0.58714 0.69857 0 0.17837
EOD
$d6 << EOD
0.071429 0.26755 0.015714 0.12714 0.17837 0.35674
0.21429 0.26755 0.15857 0.27 0.17837 0.35674
0.35714 0.26755 0.30143 0.41286 0.17837 0.35674
0.5 0.26755 0.44429 0.55571 0.17837 0.35674
0.64286 0.26755 0.58714 0.69857 0.17837 0.35674
EOD
$d7 << EOD
0.071429 0.35997 0.015714 0.12714 0.35674 0.3632
0.21429 0.36313 0.15857 0.27 0.35674 0.36952
0.35714 0.36945 0.30143 0.41286 0.35674 0.38216
0.5 0.38209 0.44429 0.55571 0.35674 0.40744
0.64286 0.40737 0.58714 0.69857 0.35674 0.45801
EOD
$d8 << EOD
0.071429 0.3633 0.015714 0.12714 0.3632 0.36339
0.21429 0.36971 0.15857 0.27 0.36952 0.3699
0.35714 0.38254 0.30143 0.41286 0.38216 0.38291
0.5 0.40819 0.44429 0.55571 0.40744 0.40895
0.64286 0.45951 0.58714 0.69857 0.45801 0.46101
EOD
$d9 << EOD
0.071429 0.45355 0.015714 0.12714 0.36339 0.5437
0.21429 0.53221 0.15857 0.27 0.3699 0.69452
0.35714 0.54523 0.30143 0.41286 0.38291 0.70754
0.5 0.57126 0.44429 0.55571 0.40895 0.73357
0.64286 0.62332 0.58714 0.69857 0.46101 0.78563
EOD
$d10 << EOD
0.071429 0.5497 0.015714 0.12714 0.5437 0.5557
0.21429 0.69953 0.15857 0.27 0.69452 0.70453
0.35714 0.71304 0.30143 0.41286 0.70754 0.71855
0.5 0.73892 0.44429 0.55571 0.73357 0.74427
0.64286 0.79076 0.58714 0.69857 0.78563 0.79589
EOD
$d11 << EOD
0.0042857 0.5437
0.13857 0.5437

0.14714 0.69452
0.28143 0.69452

0.29 0.70754
0.42429 0.70754

0.43286 0.73357
0.56714 0.73357

0.57571 0.78563
0.71 0.78563

EOD
$d12 << EOD
0.78571 0.02
0.92857 0.02
EOD
$d13 << EOD
0.071429 0.5557
0.21429 0.70453
0.35714 0.71855
0.5 0.74427
0.64286 0.79589
EOD
set terminal pngcairo size 1600, 776 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'batch: resnet18 training on AMD EPYC' at screen 0.50000, 0.96482 center font ',17'
set label 2 'Cannot tell which batch from 2 on is best: the machine was busy; batch 16 was fastest in fp32, 57 (28 to 115) samples/s' at screen 0.50000, 0.92693 center font ',15'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.89175 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at 4 of 5 points; 2 points (train/fp32/batch:32, train/fp32/batch:64) were left out [larger' at screen 0.01875, 0.05683 left textcolor rgb '#444444' font ',13'
set label 5 '--time-budget]. Other processes used the CPU during all 5 points [idle machine].' at screen 0.01875, 0.02977 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.30142
set tmargin at screen 0.72668
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.82410 center font ',13'
set label 32 'Bars: 95 % intervals. ✕: no value.' at screen 0.25000, 0.79704 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '2' 0.18553, '4' 0.34277, '8' 0.5, '16' 0.65723, '32' 0.81447, '64' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '20' 0.2, '40' 0.4, '60' 0.6, '80' 0.8, '100' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.30142
set tmargin at screen 0.72668
set label 31 'Memory, fp32' at screen 0.75000, 0.82410 center font ',13'
set label 32 'At the peak of a step: 170 MiB + 1.63 MiB × batch from batch 2 on.' at screen 0.75000, 0.79704 center textcolor rgb '#555555' font ',11'
set label 33 'Fits to batch 141 by plan. ✕: no value.' at screen 0.75000, 0.77133 center textcolor rgb '#555555' font ',11'
set label 40 '139' at first 0.071429, 0.5557 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '176' at first 0.21429, 0.70453 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 42 '180' at first 0.35714, 0.71855 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 43 '186' at first 0.5, 0.74427 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 44 '199' at first 0.64286, 0.79589 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('1' 0.071429, '2' 0.21429, '4' 0.35714, '8' 0.5, '16' 0.64286, '32' 0.78571, '64' 0.92857) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '50' 0.2, '100' 0.4, '150' 0.6, '200' 0.8, '250' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.21753 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d10 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d11 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d12 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 400 MiB, above the picture'
unset label
unset multiplot
unset output
set terminal svg size 1600, 797 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'batch: resnet18 training on AMD EPYC' at screen 0.50000, 0.96412 center font ',20'
set label 2 'Cannot tell which batch from 2 on is best: the machine was busy; batch 16 was fastest in fp32, 57 (28 to 115) samples/s' at screen 0.50000, 0.92547 center font ',18'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.88959 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: fewer than 3 rounds or 95 % intervals wider than ±10 % at 4 of 5 points; 2 points (train/fp32/batch:32, train/fp32/batch:64) were left out [larger' at screen 0.01875, 0.05797 left textcolor rgb '#444444' font ',16'
set label 5 '--time-budget]. Other processes used the CPU during all 5 points [idle machine].' at screen 0.01875, 0.03036 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.30715
set tmargin at screen 0.72120
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.82058 center font ',16'
set label 32 'Bars: 95 % intervals. ✕: no value.' at screen 0.25000, 0.79297 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '2' 0.18553, '4' 0.34277, '8' 0.5, '16' 0.65723, '32' 0.81447, '64' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '20' 0.2, '40' 0.4, '60' 0.6, '80' 0.8, '100' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.30715
set tmargin at screen 0.72120
set label 31 'Memory, fp32' at screen 0.75000, 0.82058 center font ',16'
set label 32 'At the peak of a step: 170 MiB + 1.63 MiB × batch from batch 2 on.' at screen 0.75000, 0.79297 center textcolor rgb '#555555' font ',14'
set label 33 'Fits to batch 141 by plan. ✕: no value.' at screen 0.75000, 0.76675 center textcolor rgb '#555555' font ',14'
set label 40 '139' at first 0.071429, 0.5557 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '176' at first 0.21429, 0.70453 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 42 '180' at first 0.35714, 0.71855 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 43 '186' at first 0.5, 0.74427 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 44 '199' at first 0.64286, 0.79589 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('1' 0.071429, '2' 0.21429, '4' 0.35714, '8' 0.5, '16' 0.64286, '32' 0.78571, '64' 0.92857) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '50' 0.2, '100' 0.4, '150' 0.6, '200' 0.8, '250' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.22158 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d10 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d11 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d12 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 400 MiB, above the picture'
unset label
unset multiplot
unset output
