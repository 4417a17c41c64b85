set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.083333 0.44258 0 0.11753 0
0.91667 0.45144 0 0.051673 0
EOD
$d1 << EOD
0.083333 0.48777
0.91667 0.4737

EOD
$d2 << EOD
0.91667 0.4737
EOD
$d3 << EOD
0.083333 0.48777
EOD
$d4 << EOD
0.083333 0.48777
0.91667 0.97553

EOD
$d5 << EOD
0.083333 0.39675 0 0.10536 0
0.91667 0.88339 0 0.10112 0
EOD
$d6 << EOD
0.083333 0.45559
0.91667 0.93824

EOD
$d7 << EOD
0.91667 0.93824
EOD
$d8 << EOD
0.083333 0.45559
EOD
$d9 << EOD
0.083333 0.45559
0.91667 0.48699

EOD
set terminal pngcairo size 1600, 671 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'cards: resnet18-2-ranks training on AMD EPYC' at screen 0.50000, 0.95931 center font ',17'
set label 2 'One rank pays: with more each further one gives less than half of what the first gives' at screen 0.50000, 0.91550 center font ',15'
set label 3 '1 core · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.87481 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: 95 % intervals wider than ±10 % at 1 of 2 points [larger --time-budget]. Other processes used the CPU during both points [idle machine].' at screen 0.01875, 0.03443 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.22340
set tmargin at screen 0.71520
set label 31 'Throughput by ranks' at screen 0.25000, 0.79657 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.76528 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.083333, '2' 0.91667) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '10' 0.16667, '20' 0.33333, '30' 0.5, '40' 0.66667, '50' 0.83333, '60' 1) scale 0.6 nomirror font ',11'
set xlabel 'ranks' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.12638 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d3 using 1:2 with points pointtype 6 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'batch 2 each', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'batch 2 each, perfect scaling'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.22340
set tmargin at screen 0.71520
set label 31 'A step of the slowest rank' at screen 0.75000, 0.79657 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.76528 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.083333, '2' 0.91667) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '50' 0.33333, '100' 0.66667, '150' 1) scale 0.6 nomirror font ',11'
set xlabel 'ranks' offset 0, 0.3
set ylabel 'ms'
unset key
set key at screen 0.51875, 0.12638 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d5 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with points pointtype 7 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d8 using 1:2 with points pointtype 6 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'batch 2 each', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'batch 2 each, without waiting'
unset label
unset multiplot
unset output
set terminal svg size 1600, 687 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'cards: resnet18-2-ranks training on AMD EPYC' at screen 0.50000, 0.95837 center font ',20'
set label 2 'One rank pays: with more each further one gives less than half of what the first gives' at screen 0.50000, 0.91354 center font ',18'
set label 3 '1 core · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.87191 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: 95 % intervals wider than ±10 % at 1 of 2 points [larger --time-budget]. Other processes used the CPU during both points [idle machine].' at screen 0.01875, 0.03523 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.22824
set tmargin at screen 0.70859
set label 31 'Throughput by ranks' at screen 0.25000, 0.79185 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.75983 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.083333, '2' 0.91667) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '10' 0.16667, '20' 0.33333, '30' 0.5, '40' 0.66667, '50' 0.83333, '60' 1) scale 0.6 nomirror font ',14'
set xlabel 'ranks' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.12897 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d3 using 1:2 with points pointtype 6 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'batch 2 each', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'batch 2 each, perfect scaling'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.22824
set tmargin at screen 0.70859
set label 31 'A step of the slowest rank' at screen 0.75000, 0.79185 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.75983 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.083333, '2' 0.91667) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '50' 0.33333, '100' 0.66667, '150' 1) scale 0.6 nomirror font ',14'
set xlabel 'ranks' offset 0, 0.3
set ylabel 'ms'
unset key
set key at screen 0.51875, 0.12897 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d5 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d8 using 1:2 with points pointtype 6 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'batch 2 each', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'batch 2 each, without waiting'
unset label
unset multiplot
unset output
