set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0 1
1 1

EOD
$d1 << EOD
0.059925 0.44444
0.35955 0.8
0.65918 1
0.83444 1
0.9588 1

EOD
$d2 << EOD
0.059925 0.43955 0 0.010557 0
0.35955 0.78428 0 0.034254 0
0.65918 1 0 2.2204e-16 1
0.83444 1 0 0 1
0.9588 1 0 0 1
EOD
$d3 << EOD
0.059925 0.44444
0.35955 0.8
0.65918 1
0.83444 1
0.9588 1

EOD
$d4 << EOD
0.071429 0.875 0 0.14286 0.785 0.965
0.21429 0.875 0.14286 0.28571 0.785 0.965
0.35714 0.875 0.28571 0.42857 0.785 0.965
0.5 0.875 0.42857 0.57143 0.785 0.965
0.64286 0.875 0.57143 0.71429 0.785 0.965
0.78571 0.875 0.71429 0.85714 0.785 0.965
0.92857 0.875 0.85714 1 0.785 0.965
EOD
$d5 << EOD
0.019271 0.125 0 0.038542 0.035 0.215
0.090771 0.375 0 0.18154 0.285 0.465
0.23549 0.125 0.14286 0.32812 0.035 0.215
0.37842 0.375 0.28571 0.47112 0.285 0.465
0.51942 0.125 0.42857 0.61027 0.035 0.215
0.66221 0.375 0.57143 0.75298 0.285 0.465
0.8032 0.125 0.71429 0.89212 0.035 0.215
0.92857 0.375 0.85714 1 0.285 0.465
EOD
set terminal pngcairo size 1600, 1030 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'workers: simulated-samples inference on AMD EPYC' at screen 0.50000, 0.97350 center font ',17'
set label 2 'Simulated: use 2 workers for t4 (400 samples/s): accelerator utilisation (AU) 1.00,' at screen 0.50000, 0.94495 center font ',15'
set label 3 'and this host loads at most 1143 (1120 to 1169) samples/s' at screen 0.50000, 0.91845 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 08:07' at screen 0.50000, 0.89194 center textcolor rgb '#555555' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.46757
set tmargin at screen 0.78796
set label 31 'Throughput against workers' at screen 0.25000, 0.84097 center font ',13'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',11'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.40437 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'simulated', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'required: t4 (400 samples/s)'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.46757
set tmargin at screen 0.78796
set label 31 'Accelerator utilisation (AU) against workers' at screen 0.75000, 0.84097 center font ',13'
set label 32 'Bars: 95 % intervals. AU 1: a step takes as long as with ready data.' at screen 0.75000, 0.82058 center textcolor rgb '#555555' font ',11'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1) scale 0.6 nomirror font ',11'
set xlabel 'workers' offset 0, 0.3
set ylabel 'AU'
unset key
plot [0:1][0:1] $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08981
set rmargin at screen 0.98438
set bmargin at screen 0.12505
set tmargin at screen 0.32893
set label 31 'A few steps with 2 workers, simulated' at screen 0.50000, 0.36155 center font ',13'
set xtics ('0' 0, '10' 0.035714, '20' 0.071429, '30' 0.10714, '40' 0.14286, '50' 0.17857, '60' 0.21429, '70' 0.25, '80' 0.28571, '90' 0.32143, '100' 0.35714, '110' 0.39286, '120' 0.42857, '130' 0.46429, '140' 0.5, '150' 0.53571, '160' 0.57143, '170' 0.60714, '180' 0.64286, '190' 0.67857, '200' 0.71429, '210' 0.75, '220' 0.78571, '230' 0.82143, '240' 0.85714, '250' 0.89286, '260' 0.92857, '270' 0.96429, '280' 1) scale 0.6 nomirror norotate font ',11'
set ytics ('computing' 0.875, 'consumer' 0.625, 'worker 0' 0.375, 'worker 1' 0.125) scale 0 nomirror font ',11'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.06184 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#00795a' title 'computes', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'makes a batch'
unset label
unset multiplot
unset output
set terminal svg size 1600, 1053 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'workers: simulated-samples inference on AMD EPYC' at screen 0.50000, 0.97284 center font ',20'
set label 2 'Simulated: use 2 workers for t4 (400 samples/s): accelerator utilisation (AU) 1.00,' at screen 0.50000, 0.94359 center font ',18'
set label 3 'and this host loads at most 1143 (1120 to 1169) samples/s' at screen 0.50000, 0.91643 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-29 08:07' at screen 0.50000, 0.88927 center textcolor rgb '#555555' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.46933
set tmargin at screen 0.78272
set label 31 'Throughput against workers' at screen 0.25000, 0.83704 center font ',16'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',14'
set xlabel 'workers' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.40456 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'simulated', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'required: t4 (400 samples/s)'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.46933
set tmargin at screen 0.78272
set label 31 'Accelerator utilisation (AU) against workers' at screen 0.75000, 0.83704 center font ',16'
set label 32 'Bars: 95 % intervals. AU 1: a step takes as long as with ready data.' at screen 0.75000, 0.81614 center textcolor rgb '#555555' font ',14'
set xtics ('0' 0.059925, '1' 0.35955, '2' 0.65918, '4' 0.9588) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1) scale 0.6 nomirror font ',14'
set xlabel 'workers' offset 0, 0.3
set ylabel 'AU'
unset key
plot [0:1][0:1] $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle
unset label
set lmargin at screen 0.08812
set rmargin at screen 0.98438
set bmargin at screen 0.12783
set tmargin at screen 0.32726
set label 31 'A few steps with 2 workers, simulated' at screen 0.50000, 0.36068 center font ',16'
set xtics ('0' 0, '10' 0.035714, '20' 0.071429, '30' 0.10714, '40' 0.14286, '50' 0.17857, '60' 0.21429, '70' 0.25, '80' 0.28571, '90' 0.32143, '100' 0.35714, '110' 0.39286, '120' 0.42857, '130' 0.46429, '140' 0.5, '150' 0.53571, '160' 0.57143, '170' 0.60714, '180' 0.64286, '190' 0.67857, '200' 0.71429, '210' 0.75, '220' 0.78571, '230' 0.82143, '240' 0.85714, '250' 0.89286, '260' 0.92857, '270' 0.96429, '280' 1) scale 0.6 nomirror norotate font ',14'
set ytics ('computing' 0.875, 'consumer' 0.625, 'worker 0' 0.375, 'worker 1' 0.125) scale 0 nomirror font ',14'
set xlabel 'ms' offset 0, 0.3
set ylabel ''
unset key
set key at screen 0.01875, 0.06306 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d4 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#00795a' notitle, \
  $d5 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#00795a' title 'computes', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'makes a batch'
unset label
unset multiplot
unset output
