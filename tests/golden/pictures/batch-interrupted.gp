set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.03288 0.34313
0.5 0.55344
0.96712 0.97052

EOD
$d1 << EOD
0.03288 0.34313
0.5 0.55344
0.96712 0.97052
EOD
$d2 << EOD
0.16667 0.11148 0.036667 0.29667 0 0.22296
0.5 0.11148 0.37 0.63 0 0.22296
0.83333 0.11148 0.70333 0.96333 0 0.22296
EOD
$d3 << EOD
0.16667 0.33444 0.036667 0.29667 0.22296 0.44592
0.5 0.33444 0.37 0.63 0.22296 0.44592
0.83333 0.33444 0.70333 0.96333 0.22296 0.44592
EOD
$d4 << EOD
0.16667 0.44996 0.036667 0.29667 0.44592 0.454
0.5 0.45391 0.37 0.63 0.44592 0.4619
0.83333 0.46181 0.70333 0.96333 0.44592 0.4777
EOD
$d5 << EOD
0.16667 0.45412 0.036667 0.29667 0.454 0.45424
0.5 0.46214 0.37 0.63 0.4619 0.46237
0.83333 0.47817 0.70333 0.96333 0.4777 0.47864
EOD
$d6 << EOD
0.16667 0.56693 0.036667 0.29667 0.45424 0.67963
0.5 0.66526 0.37 0.63 0.46237 0.86816
0.83333 0.68153 0.70333 0.96333 0.47864 0.88443
EOD
$d7 << EOD
0.16667 0.68731 0.036667 0.29667 0.67963 0.69498
0.5 0.87443 0.37 0.63 0.86816 0.8807
0.83333 0.89139 0.70333 0.96333 0.88443 0.89836
EOD
$d8 << EOD
0.01 0.67963
0.32333 0.67963

0.34333 0.86816
0.65667 0.86816

0.67667 0.88443
0.99 0.88443

EOD
$d9 << EOD
0.16667 0.69498
0.5 0.8807
0.83333 0.89836
EOD
set terminal pngcairo size 1600, 755 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'batch: resnet18 training on AMD EPYC' at screen 0.50000, 0.96384 center font ',17'
set label 2 'Cannot tell which batch is best: the machine was busy; batch 4 was fastest in fp32, 48.5 ± ? samples/s' at screen 0.50000, 0.92490 center font ',15'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.88874 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: fewer than 3 rounds at all 3 points [larger --time-budget]. Other processes used the CPU during all 3 points [idle machine].' at screen 0.01875, 0.03060 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.28199
set tmargin at screen 0.71907
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.81921 center font ',13'
set xtics ('1' 0.03288, '2' 0.5, '4' 0.96712) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '10' 0.2, '20' 0.4, '30' 0.6, '40' 0.8, '50' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.28199
set tmargin at screen 0.71907
set label 31 'Memory, fp32' at screen 0.75000, 0.81921 center font ',13'
set label 32 'At the peak of a step: 170 MiB + 1.63 MiB × batch from batch 2 on.' at screen 0.75000, 0.79139 center textcolor rgb '#555555' font ',11'
set label 33 'Fits to batch 10901 by plan.' at screen 0.75000, 0.76497 center textcolor rgb '#555555' font ',11'
set label 40 '139' at first 0.16667, 0.69498 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '176' at first 0.5, 0.8807 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 42 '180' at first 0.83333, 0.89836 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('1' 0.16667, '2' 0.5, '4' 0.83333) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '50' 0.25, '100' 0.5, '150' 0.75, '200' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.19576 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d2 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d3 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 17.5 GiB, above the picture'
unset label
unset multiplot
unset output
set terminal svg size 1600, 753 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'batch: resnet18 training on AMD EPYC' at screen 0.50000, 0.96202 center font ',20'
set label 2 'Cannot tell which batch is best: the machine was busy; batch 4 was fastest in fp32, 48.5 ± ? samples/s' at screen 0.50000, 0.92112 center font ',18'
set label 3 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.88313 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: fewer than 3 rounds at all 3 points [larger --time-budget]. Other processes used the CPU during all 3 points [idle machine].' at screen 0.01875, 0.03214 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.29588
set tmargin at screen 0.73413
set label 31 'Throughput against batch, fp32' at screen 0.25000, 0.81009 center font ',16'
set xtics ('1' 0.03288, '2' 0.5, '4' 0.96712) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '10' 0.2, '20' 0.4, '30' 0.6, '40' 0.8, '50' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
plot [0:1][0:1] $d0 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.29588
set tmargin at screen 0.73413
set label 31 'Memory, fp32' at screen 0.75000, 0.81009 center font ',16'
set label 32 'At the peak of a step: 170 MiB + 1.63 MiB × batch from batch 2 on. Fits to batch 10901 by plan.' at screen 0.75000, 0.78088 center textcolor rgb '#555555' font ',14'
set label 40 '139' at first 0.16667, 0.69498 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '176' at first 0.5, 0.8807 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 42 '180' at first 0.83333, 0.89836 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('1' 0.16667, '2' 0.5, '4' 0.83333) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '50' 0.25, '100' 0.5, '150' 0.75, '200' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'MiB'
unset key
set key at screen 0.51875, 0.20531 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d2 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d3 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 17.5 GiB, above the picture'
unset label
unset multiplot
unset output
