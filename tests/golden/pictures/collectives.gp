set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0 0 0.66089 2
0.9717 0 0 0.65589 2
EOD
$d1 << EOD
0.020302 0.025
0.028302 0
0.036302 0.025

0.9637 0.025
0.9717 0
0.9797 0.025

EOD
$d2 << EOD
0.028302 0 0 0.44569 2
0.9717 0.83234 0 0.13936 0
EOD
$d3 << EOD
0.020302 0.025
0.028302 0
0.036302 0.025

EOD
$d4 << EOD
0.028302 0.1589
0.9717 0.32797

EOD
$d5 << EOD
0.028302 0.1589
0.9717 0.32797
EOD
$d6 << EOD
0.028302 0.16503
0.9717 0.90202

EOD
$d7 << EOD
0.028302 0.16503
0.9717 0.90202
EOD
$d8 << EOD
0.028302 0 0 0.59913 2
0.9717 0.74214 0 0.25786 1
EOD
$d9 << EOD
0.020302 0.025
0.028302 0
0.036302 0.025

0.9637 0.975
0.9717 1
0.9797 0.975

EOD
$d10 << EOD
0.028302 0 0 0.23405 2
0.9717 0.58404 0 0.069767 0
EOD
$d11 << EOD
0.020302 0.025
0.028302 0
0.036302 0.025

EOD
$d12 << EOD
0.028302 0.096753
0.9717 0.90631

EOD
$d13 << EOD
0.028302 0.096753
0.9717 0.90631
EOD
$d14 << EOD
0.028302 0.093686
0.9717 0.61892

EOD
$d15 << EOD
0.028302 0.093686
0.9717 0.61892
EOD
set terminal pngcairo size 1600, 671 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'collectives: 2-ranks on AMD EPYC' at screen 0.50000, 0.95931 center font ',17'
set label 2 'All ranks are on one host: no network was crossed' at screen 0.50000, 0.91550 center font ',15'
set label 3 '1 core · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.87481 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: 95 % intervals wider than ±10 % at all 4 points [larger --time-budget]. Other processes used the CPU during all 4 points [idle machine].' at screen 0.01875, 0.03443 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.22340
set tmargin at screen 0.71520
set label 31 'Bus bandwidth between ranks' at screen 0.25000, 0.79657 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.76528 center textcolor rgb '#555555' font ',11'
set xtics ('4 KiB' 0.028302, '8 KiB' 0.14623, '16 KiB' 0.26415, '32 KiB' 0.38208, '64 KiB' 0.5, '128 KiB' 0.61792, '256 KiB' 0.73585, '512 KiB' 0.85377, '1 MiB' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('1 G' 0.21811, '2 G' 0.44138, '5 G' 0.73652, '10 G' 0.95979) scale 0.6 nomirror font ',11'
set xlabel 'bytes' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.01875, 0.12638 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d7 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'all-reduce, 2 ranks', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'send-receive, 2 ranks'
unset label
set lmargin at screen 0.57237
set rmargin at screen 0.98438
set bmargin at screen 0.22340
set tmargin at screen 0.71520
set label 31 'Time of the slowest rank' at screen 0.75000, 0.79657 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.76528 center textcolor rgb '#555555' font ',11'
set xtics ('4 KiB' 0.028302, '8 KiB' 0.14623, '16 KiB' 0.26415, '32 KiB' 0.38208, '64 KiB' 0.5, '128 KiB' 0.61792, '256 KiB' 0.73585, '512 KiB' 0.85377, '1 MiB' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('10 µs' 0.21105, '100 µs' 0.58236, '1 ms' 0.95366) scale 0.6 nomirror font ',11'
set xlabel 'bytes' offset 0, 0.3
set ylabel 'time'
unset key
plot [0:1][0:1] $d8 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d10 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d10 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d15 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle
unset label
unset multiplot
unset output
set terminal svg size 1600, 687 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'collectives: 2-ranks on AMD EPYC' at screen 0.50000, 0.95837 center font ',20'
set label 2 'All ranks are on one host: no network was crossed' at screen 0.50000, 0.91354 center font ',18'
set label 3 '1 core · oneDNN 2.6.3 · 2026-11-29 02:27' at screen 0.50000, 0.87191 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: 95 % intervals wider than ±10 % at all 4 points [larger --time-budget]. Other processes used the CPU during all 4 points [idle machine].' at screen 0.01875, 0.03523 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.22824
set tmargin at screen 0.70859
set label 31 'Bus bandwidth between ranks' at screen 0.25000, 0.79185 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.75983 center textcolor rgb '#555555' font ',14'
set xtics ('4 KiB' 0.028302, '8 KiB' 0.14623, '16 KiB' 0.26415, '32 KiB' 0.38208, '64 KiB' 0.5, '128 KiB' 0.61792, '256 KiB' 0.73585, '512 KiB' 0.85377, '1 MiB' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('1 G' 0.21811, '2 G' 0.44138, '5 G' 0.73652, '10 G' 0.95979) scale 0.6 nomirror font ',14'
set xlabel 'bytes' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.01875, 0.12897 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d7 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'all-reduce, 2 ranks', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'send-receive, 2 ranks'
unset label
set lmargin at screen 0.57125
set rmargin at screen 0.98438
set bmargin at screen 0.22824
set tmargin at screen 0.70859
set label 31 'Time of the slowest rank' at screen 0.75000, 0.79185 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.75983 center textcolor rgb '#555555' font ',14'
set xtics ('4 KiB' 0.028302, '8 KiB' 0.14623, '16 KiB' 0.26415, '32 KiB' 0.38208, '64 KiB' 0.5, '128 KiB' 0.61792, '256 KiB' 0.73585, '512 KiB' 0.85377, '1 MiB' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('10 µs' 0.21105, '100 µs' 0.58236, '1 ms' 0.95366) scale 0.6 nomirror font ',14'
set xlabel 'bytes' offset 0, 0.3
set ylabel 'time'
unset key
plot [0:1][0:1] $d8 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d10 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d10 using 1:2:3:($5==2?$4:NaN) with vectors head size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d15 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle
unset label
unset multiplot
unset output
