set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.35955 0.32311 0 0.53684 0
EOD
$d1 << EOD
0.35955 0.52739
0.65918 0.54818
EOD
$d2 << EOD
0.059925 0.6158
0.35955 0.53314
0.65918 0.54574
0.83444 0.54574
0.9588 0.54574

EOD
$d3 << EOD
0.35955 0.83825 0 0.16175 1
EOD
$d4 << EOD
0.35955 0.99062
0.65918 1
EOD
$d5 << EOD
0.059925 0.91724
0.35955 1
0.65918 1
0.83444 1
0.9588 1

EOD
$d6 << EOD
0.12709 0.83333 0 0.25419 0.71333 0.95333
0.3856 0.83333 0.2544 0.51681 0.71333 0.95333
0.63267 0.83333 0.51701 0.74833 0.71333 0.95333
0.87426 0.83333 0.74853 1 0.71333 0.95333
EOD
$d7 << EOD
0.00054218 0.5 0.00053966 0.0005447 0.38 0.62
0.25443 0.5 0.25443 0.25444 0.38 0.62
0.51705 0.5 0.51705 0.51706 0.38 0.62
0.74855 0.5 0.74854 0.74855 0.38 0.62
EOD
$d8 << EOD
0.00057121 0.5 0.00054924 0.00059319 0.38 0.62
0.25447 0.5 0.25444 0.25449 0.38 0.62
0.51708 0.5 0.51706 0.51711 0.38 0.62
0.74858 0.5 0.74856 0.7486 0.38 0.62
EOD
$d9 << EOD
0.0099591 0.16667 0.00062007 0.019298 0.046667 0.28667
0.26587 0.16667 0.25452 0.27722 0.046667 0.28667
0.5226 0.16667 0.51715 0.52805 0.046667 0.28667
0.75444 0.16667 0.74864 0.76024 0.046667 0.28667
EOD
set terminal pngcairo size 1600, 1051 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'workers: resnet18 on AMD EPYC' at screen 0.50000, 0.97402 center font ',17'
set label 2 'Use 1 worker (1 to 2 are within noise; simulation chose) (from the measured counts;' at screen 0.50000, 0.94605 center font ',15'
set label 3 '0, 4, 8 not measured): accelerator utilisation (AU) 0.99 ± 0.18, 1.56 MiB of host memory' at screen 0.50000, 0.92008 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.89410 center textcolor rgb '#555555' font ',13'
set label 5 'Warning: fewer than 3 rounds at all 3 points; 7 points were left out [larger --time-budget]. Other processes used the CPU during all 3 points [idle machine].' at screen 0.01875, 0.02198 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.47821
set tmargin at screen 0.79220
set label 31 'Throughput against workers' at screen 0.25000, 0.84415 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.82417 center textcolor rgb '#555555' font ',11'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '20' 0.25, '40' 0.5, '60' 0.75, '80' 1) scale 0.6 nomirror font ',11'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.41627 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  keyentry with points pointtype 7 pointsize 1.20 linecolor rgb '#0072b2' title 'measured', \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'simulated'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.47821
set tmargin at screen 0.79220
set label 31 'Accelerator utilisation (AU) against workers' at screen 0.75000, 0.84415 center font ',13'
set label 32 'Bars: 95 % intervals. AU 1: a step takes as long as with ready data.' at screen 0.75000, 0.82417 center textcolor rgb '#555555' font ',11'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1) scale 0.6 nomirror font ',11'
set xlabel 'workers' offset 0, 0.3
set ylabel 'AU'
unset key
plot [0:1][0:1] $d3 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08981
set rmargin at screen 0.98438
set bmargin at screen 0.14253
set tmargin at screen 0.34234
set label 31 'A few steps with 1 worker, measured' at screen 0.50000, 0.37431 center font ',13'
set xtics ('0' 0, '40' 0.0516, '80' 0.1032, '120' 0.1548, '160' 0.2064, '200' 0.258, '240' 0.3096, '280' 0.3612, '320' 0.4128, '360' 0.4644, '400' 0.516, '440' 0.5676, '480' 0.6192, '520' 0.6708, '560' 0.7224, '600' 0.774, '640' 0.8256, '680' 0.8772, '720' 0.9288, '760' 0.9804) scale 0.6 nomirror norotate font ',11'
set ytics ('computing' 0.83333, 'consumer' 0.5, 'worker 0' 0.16667) scale 0 nomirror font ',11'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.08059 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#a8437f' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#00795a' title 'computes', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#c24a00' title 'waits for a batch', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#a8437f' title 'copies', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'makes a batch'
unset label
unset multiplot
unset output
set terminal svg size 1600, 1075 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'workers: resnet18 on AMD EPYC' at screen 0.50000, 0.97340 center font ',20'
set label 2 'Use 1 worker (1 to 2 are within noise; simulation chose) (from the measured counts;' at screen 0.50000, 0.94474 center font ',18'
set label 3 '0, 4, 8 not measured): accelerator utilisation (AU) 0.99 ± 0.18, 1.56 MiB of host memory' at screen 0.50000, 0.91814 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 02:26' at screen 0.50000, 0.89153 center textcolor rgb '#555555' font ',16'
set label 5 'Warning: fewer than 3 rounds at all 3 points; 7 points were left out [larger --time-budget]. Other processes used the CPU during all 3 points [idle machine].' at screen 0.01875, 0.02251 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.48019
set tmargin at screen 0.78716
set label 31 'Throughput against workers' at screen 0.25000, 0.84037 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.81991 center textcolor rgb '#555555' font ',14'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '20' 0.25, '40' 0.5, '60' 0.75, '80' 1) scale 0.6 nomirror font ',14'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.41674 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  keyentry with points pointtype 7 pointsize 0.75 linecolor rgb '#0072b2' title 'measured', \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'simulated'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.48019
set tmargin at screen 0.78716
set label 31 'Accelerator utilisation (AU) against workers' at screen 0.75000, 0.84037 center font ',16'
set label 32 'Bars: 95 % intervals. AU 1: a step takes as long as with ready data.' at screen 0.75000, 0.81991 center textcolor rgb '#555555' font ',14'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1) scale 0.6 nomirror font ',14'
set xlabel 'workers' offset 0, 0.3
set ylabel 'AU'
unset key
plot [0:1][0:1] $d3 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08812
set rmargin at screen 0.98438
set bmargin at screen 0.14567
set tmargin at screen 0.34102
set label 31 'A few steps with 1 worker, measured' at screen 0.50000, 0.37377 center font ',16'
set xtics ('0' 0, '40' 0.0516, '80' 0.1032, '120' 0.1548, '160' 0.2064, '200' 0.258, '240' 0.3096, '280' 0.3612, '320' 0.4128, '360' 0.4644, '400' 0.516, '440' 0.5676, '480' 0.6192, '520' 0.6708, '560' 0.7224, '600' 0.774, '640' 0.8256, '680' 0.8772, '720' 0.9288, '760' 0.9804) scale 0.6 nomirror norotate font ',14'
set ytics ('computing' 0.83333, 'consumer' 0.5, 'worker 0' 0.16667) scale 0 nomirror font ',14'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.08223 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d6 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#a8437f' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#00795a' title 'computes', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#c24a00' title 'waits for a batch', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#a8437f' title 'copies', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'makes a batch'
unset label
unset multiplot
unset output
