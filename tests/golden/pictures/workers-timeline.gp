set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.059925 0.24296 0 0.044226 0
0.35955 0.41216 0 0.2139 0
0.65918 0.15573 0 0.84427 1
EOD
$d1 << EOD
0.65118 0.975
0.65918 1
0.66718 0.975

EOD
$d2 << EOD
0.059925 0.27376
0.35955 0.50574
0.65918 0.33826
EOD
$d3 << EOD
0.059925 0.34568
0.35955 0.57695
0.65918 0.5134
0.83444 0.50547
0.9588 0.49785

EOD
$d4 << EOD
0.059925 0.30893 0 0.07792 0
0.35955 0.52603 0 0.28901 0
0.65918 0.19936 0 0.80064 1
EOD
$d5 << EOD
0.059925 0.35218
0.35955 0.6506
0.65918 0.43515
EOD
$d6 << EOD
0.059925 0.44469
0.35955 0.74221
0.65918 0.66046
0.83444 0.65025
0.9588 0.64045

EOD
$d7 << EOD
0.083677 0.83333 0 0.16735 0.71333 0.95333
0.25419 0.83333 0.17052 0.33787 0.71333 0.95333
0.42509 0.83333 0.34141 0.50876 0.71333 0.95333
0.59665 0.83333 0.51297 0.68033 0.71333 0.95333
0.9241 0.83333 0.84819 1 0.71333 0.95333
EOD
$d8 << EOD
0.0096642 0.5 0.0096338 0.0096945 0.38 0.62
0.17059 0.5 0.17057 0.17061 0.38 0.62
0.34153 0.5 0.3415 0.34156 0.38 0.62
0.51313 0.5 0.51308 0.51318 0.38 0.62
0.84838 0.5 0.84827 0.84849 0.38 0.62
EOD
$d9 << EOD
0.010032 0.5 0.009719 0.010344 0.38 0.62
0.17091 0.5 0.17062 0.17119 0.38 0.62
0.34193 0.5 0.34158 0.34227 0.38 0.62
0.51357 0.5 0.51318 0.51396 0.38 0.62
0.84895 0.5 0.84859 0.84931 0.38 0.62
EOD
$d10 << EOD
0.057493 0.16667 0 0.11499 0.046667 0.28667
0.18729 0.16667 0.11535 0.25923 0.046667 0.28667
0.32665 0.16667 0.25957 0.39373 0.046667 0.28667
0.48139 0.16667 0.394 0.56877 0.046667 0.28667
0.75371 0.16667 0.56919 0.93823 0.046667 0.28667
0.96934 0.16667 0.93868 1 0.046667 0.28667
EOD
set terminal pngcairo size 1600, 1051 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'workers: 5ms on AMD EPYC' at screen 0.50000, 0.97402 center font ',17'
set label 2 'Simulated: Take 1 worker, prefetch 8 (simulated; 2 was asked for): they hold 2.28 MiB of host memory (8 batches of 192' at screen 0.50000, 0.94605 center font ',15'
set label 3 'KiB, and 795 KiB of each worker’s own); whether pinning pays is for `bench --sweep transfer` to say, on the device' at screen 0.50000, 0.92008 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 00:08' at screen 0.50000, 0.89410 center textcolor rgb '#555555' font ',13'
set label 5 'Warning: 95 % intervals wider than ±10 % at all 8 points [larger --time-budget]. Other processes used the CPU during 1 of 8 points [idle machine].' at screen 0.01875, 0.02198 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.47821
set tmargin at screen 0.79220
set label 31 'Throughput against workers' at screen 0.25000, 0.84415 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.82417 center textcolor rgb '#555555' font ',11'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '200' 0.2, '400' 0.4, '600' 0.6, '800' 0.8, '1000' 1) scale 0.6 nomirror font ',11'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.41627 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
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
plot [0:1][0:1] $d4 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08981
set rmargin at screen 0.98438
set bmargin at screen 0.14253
set tmargin at screen 0.34234
set label 31 'A few steps with 1 worker, measured' at screen 0.50000, 0.37431 center font ',13'
set xtics ('0' 0, '1' 0.033471, '2' 0.066942, '3' 0.10041, '4' 0.13388, '5' 0.16735, '6' 0.20082, '7' 0.2343, '8' 0.26777, '9' 0.30124, '10' 0.33471, '11' 0.36818, '12' 0.40165, '13' 0.43512, '14' 0.46859, '15' 0.50206, '16' 0.53553, '17' 0.569, '18' 0.60247, '19' 0.63595, '20' 0.66942, '21' 0.70289, '22' 0.73636, '23' 0.76983, '24' 0.8033, '25' 0.83677, '26' 0.87024, '27' 0.90371, '28' 0.93718, '29' 0.97065) scale 0.6 nomirror norotate font ',11'
set ytics ('computing' 0.83333, 'consumer' 0.5, 'worker 0' 0.16667) scale 0 nomirror font ',11'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.08059 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#a8437f' notitle, \
  $d10 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
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
set label 1 'workers: 5ms on AMD EPYC' at screen 0.50000, 0.97340 center font ',20'
set label 2 'Simulated: Take 1 worker, prefetch 8 (simulated; 2 was asked for): they hold 2.28 MiB of host memory (8 batches of 192' at screen 0.50000, 0.94474 center font ',18'
set label 3 'KiB, and 795 KiB of each worker’s own); whether pinning pays is for `bench --sweep transfer` to say, on the device' at screen 0.50000, 0.91814 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 00:08' at screen 0.50000, 0.89153 center textcolor rgb '#555555' font ',16'
set label 5 'Warning: 95 % intervals wider than ±10 % at all 8 points [larger --time-budget]. Other processes used the CPU during 1 of 8 points [idle machine].' at screen 0.01875, 0.02251 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.48019
set tmargin at screen 0.78716
set label 31 'Throughput against workers' at screen 0.25000, 0.84037 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.81991 center textcolor rgb '#555555' font ',14'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '200' 0.2, '400' 0.4, '600' 0.6, '800' 0.8, '1000' 1) scale 0.6 nomirror font ',14'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.41674 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
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
plot [0:1][0:1] $d4 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08812
set rmargin at screen 0.98438
set bmargin at screen 0.14567
set tmargin at screen 0.34102
set label 31 'A few steps with 1 worker, measured' at screen 0.50000, 0.37377 center font ',16'
set xtics ('0' 0, '1' 0.033471, '2' 0.066942, '3' 0.10041, '4' 0.13388, '5' 0.16735, '6' 0.20082, '7' 0.2343, '8' 0.26777, '9' 0.30124, '10' 0.33471, '11' 0.36818, '12' 0.40165, '13' 0.43512, '14' 0.46859, '15' 0.50206, '16' 0.53553, '17' 0.569, '18' 0.60247, '19' 0.63595, '20' 0.66942, '21' 0.70289, '22' 0.73636, '23' 0.76983, '24' 0.8033, '25' 0.83677, '26' 0.87024, '27' 0.90371, '28' 0.93718, '29' 0.97065) scale 0.6 nomirror norotate font ',14'
set ytics ('computing' 0.83333, 'consumer' 0.5, 'worker 0' 0.16667) scale 0 nomirror font ',14'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.08223 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d7 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d8 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#a8437f' notitle, \
  $d10 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#00795a' title 'computes', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#c24a00' title 'waits for a batch', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#a8437f' title 'copies', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'makes a batch'
unset label
unset multiplot
unset output
