set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.10167 0.13155 0.036667 0.16667 0 0.26309
0.435 0.21371 0.37 0.5 0 0.42742
0.76833 0.23987 0.70333 0.83333 0 0.47974
EOD
$d1 << EOD
0.23167 0.13985 0.16667 0.29667 0 0.2797
0.565 0.23994 0.5 0.63 0 0.47989
0.89833 0.23997 0.83333 0.96333 0 0.47993
EOD
$d2 << EOD
0.10167 0.12374 0 0.66629 0
0.435 0.25469 0 0.3986 0
0.76833 0.20893 0 0.59619 0
0.23167 0.10564 0 0.7652 0
0.565 0.13848 0 0.86133 0
0.89833 0.083424 0 0.87646 0
EOD
$d3 << EOD
0.10167 0.79002
0.23167 0.87085
0.435 0.65329
0.565 0.99981
0.76833 0.80512
0.89833 0.95988
EOD
$d4 << EOD
0 0.21309
1 0.21309

EOD
$d5 << EOD
0.73585 0
0.73585 1

EOD
$d6 << EOD
0.028302 0.14862
0.10692 0.34723
0.26415 0.49256
0.42138 0.68032
0.73585 0.89395
0.81447 0.853

EOD
$d7 << EOD
0.028302 0.14862
0.10692 0.34723
0.26415 0.49256
0.42138 0.68032
0.73585 0.89395
0.81447 0.853
EOD
$d8 << EOD
0.028302 0.079368
0.10692 0.22826
0.34277 0.5088
0.42138 0.66346
0.57862 0.92063
0.73585 0.8511
0.89308 0.90226
0.9717 0.79991

EOD
$d9 << EOD
0.028302 0.079368
0.10692 0.22826
0.34277 0.5088
0.42138 0.66346
0.57862 0.92063
0.73585 0.8511
EOD
$d10 << EOD
0.89308 0.90226
0.9717 0.79991
EOD
$d11 << EOD
0.028302 0.11582
0.10692 0.24236
0.18553 0.21444
0.26415 0.39061
0.34277 0.46553
0.42138 0.59072
0.5 0.61641
0.65723 0.63694
0.81447 0.48535
0.89308 0.636

EOD
$d12 << EOD
0.028302 0.11582
0.10692 0.24236
0.18553 0.21444
0.26415 0.39061
0.34277 0.46553
0.42138 0.59072
0.5 0.61641
0.65723 0.63694
0.81447 0.48535
0.89308 0.636
EOD
$d13 << EOD
0.028302 0.22045
0.19983 0.46129
0.37136 0.64617
0.45712 0.74379
0.54288 0.84807
0.62864 0.94697
0.71441 0.87731
0.88593 0.92304
0.9717 0.88786

EOD
$d14 << EOD
0.028302 0.22045
0.19983 0.46129
0.37136 0.64617
0.45712 0.74379
0.54288 0.84807
0.62864 0.94697
0.71441 0.87731
0.88593 0.92304
0.9717 0.88786
EOD
$d15 << EOD
0.028302 0.15891
0.11407 0.40469
0.19983 0.49957
0.28559 0.58985
0.37136 0.5826
0.45712 0.70654
0.54288 0.88722
0.80017 0.9717
0.9717 0.8171

EOD
$d16 << EOD
0.028302 0.15891
0.11407 0.40469
0.19983 0.49957
0.28559 0.58985
0.37136 0.5826
0.45712 0.70654
0.54288 0.88722
0.80017 0.9717
0.9717 0.8171
EOD
$d17 << EOD
0.028302 0.028302
0.11407 0.11736
0.28559 0.4247
0.45712 0.50115
0.54288 0.40917
0.62864 0.51404
0.71441 0.40822
0.80017 0.53706
0.88593 0.45366
0.9717 0.50196

EOD
$d18 << EOD
0.028302 0.028302
0.11407 0.11736
0.28559 0.4247
0.54288 0.40917
0.62864 0.51404
0.71441 0.40822
0.80017 0.53706
EOD
$d19 << EOD
0.45712 0.50115
0.88593 0.45366
0.9717 0.50196
EOD
$d20 << EOD
0.11407 0.71256
0.19983 0.80636
0.28559 0.797
0.37136 0.88289
0.45712 0.91898
0.54288 0.88178
0.62864 0.85367
0.71441 0.86362
0.80017 0.10769
0.9717 0.22771

EOD
$d21 << EOD
0.11407 0.71256
0.19983 0.80636
0.28559 0.797
0.37136 0.88289
0.45712 0.91898
0.54288 0.88178
0.62864 0.85367
0.71441 0.86362
EOD
$d22 << EOD
0.80017 0.10769
0.9717 0.22771
EOD
$d23 << EOD
0.19983 0.7834
0.28559 0.82836
0.37136 0.85629
0.54288 0.94308
0.71441 0.9165
0.80017 0.028302
0.88593 0.9717
0.9717 0.30698

EOD
$d24 << EOD
0.19983 0.7834
0.28559 0.82836
0.37136 0.85629
0.54288 0.94308
0.71441 0.9165
0.88593 0.9717
EOD
$d25 << EOD
0.80017 0.028302
0.9717 0.30698
EOD
$d26 << EOD
0.028302 0.58096
0.11407 0.63073
0.19983 0.69012
0.28559 0.72846
0.37136 0.78166
0.45712 0.79985
0.54288 0.78978
0.80017 0.79375
0.88593 0.77722
0.9717 0.72189

EOD
$d27 << EOD
0.028302 0.58096
0.11407 0.63073
0.19983 0.69012
0.28559 0.72846
0.37136 0.78166
0.45712 0.79985
0.54288 0.78978
EOD
$d28 << EOD
0.80017 0.79375
0.88593 0.77722
0.9717 0.72189
EOD
set terminal pngcairo size 1600, 1381 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'transfer: resnet18 on AMD EPYC' at screen 0.50000, 0.98023 center font ',17'
set label 2 'Don’t pin: a step of resnet18 infer in fp32, batch 8 takes pageable 105 ms (49.5 ms to 316 ms), staged 171 ms (102' at screen 0.50000, 0.95894 center font ',15'
set label 3 'ms to 261 ms), pinned 192 ms (83.6 ms to 322 ms), of which 85.2 ms is computing; staged memory costs 65.7 ms a step …' at screen 0.50000, 0.93917 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 00:08' at screen 0.50000, 0.91941 center textcolor rgb '#555555' font ',13'
set label 5 'Don’t pin: a step of resnet18 infer in fp32, batch 8 takes pageable 105 ms (49.5 ms to 316 ms), staged 171 ms (102 ms to 261 ms), pinned 192 ms (83.6 ms to 322 ms),' at screen 0.01875, 0.07755 left textcolor rgb '#444444' font ',13'
set label 6 'of which 85.2 ms is computing; staged memory costs 65.7 ms a step (62 %), which lies within the intervals, and the whole copy from pageable memory takes 36.9 µs at' at screen 0.01875, 0.06235 left textcolor rgb '#444444' font ',13'
set label 7 'most, and pinned memory does not differ from it measurably; staging locks only its ring, 1.50 MiB; pinned instead, 8 workers with 2 batches of 384 KiB ready lock' at screen 0.01875, 0.04714 left textcolor rgb '#444444' font ',13'
set label 8 '6.00 MiB of the host’s memory, which takes no longer than ordinary memory does' at screen 0.01875, 0.03193 left textcolor rgb '#444444' font ',13'
set label 9 'Warning: fewer than 3 rounds at all 87 points; 83 points were left out [larger --time-budget]. Other processes used the CPU during 14 of 87 points [idle machine].' at screen 0.01875, 0.01673 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.60290
set tmargin at screen 0.84185
set label 31 'A step of resnet18 fp32, batch 8' at screen 0.25000, 0.88139 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.86618 center textcolor rgb '#555555' font ',11'
set label 40 '105' at first 0.10167, 0.79002 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '112' at first 0.23167, 0.87085 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 42 '171' at first 0.435, 0.65329 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 43 '192' at first 0.565, 0.99981 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 44 '192' at first 0.76833, 0.80512 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 45 '192' at first 0.89833, 0.95988 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('pageable' 0.16667, 'staged' 0.5, 'pinned' 0.83333) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',11'
set xlabel 'host memory' offset 0, 0.3
set ylabel 'ms'
unset key
set key at screen 0.01875, 0.55576 left top Left reverse samplen 2 maxrows 2 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#1b1f24' notitle, \
  $d4 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'copy, then compute', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#c24a00' title 'overlapped with the next copy', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#1b1f24' title 'computing alone: 85.2 ms'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.60290
set tmargin at screen 0.84185
set label 31 'Bandwidth of copies to the device' at screen 0.75000, 0.88139 center font ',13'
set label 32 'Open marks carry a flag that others lack.' at screen 0.75000, 0.86618 center textcolor rgb '#555555' font ',11'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.18553, '16 KiB' 0.34277, '64 KiB' 0.5, '256 KiB' 0.65723, '1 MiB' 0.81447, '4 MiB' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('2 G' 0.014536, '5 G' 0.41248, '10 G' 0.71351) scale 0.6 nomirror font ',11'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.51875, 0.55576 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d5 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#57606a' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d10 using 1:2 with points pointtype 5 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d10 using 1:2 with points pointtype 4 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d12 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 224 ns, 14.9 GB/s', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 306 ns, 13.7 GB/s', \
  keyentry with linespoints pointtype 9 pointsize 1.20 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 118 ns, 8.12 GB/s', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#57606a' title 'pinned is faster from 512 KiB on'
unset label
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.19971
set tmargin at screen 0.43867
set label 31 'Bandwidth of copies to the host' at screen 0.25000, 0.47820 center font ',13'
set label 32 'Open marks carry a flag that others lack.' at screen 0.25000, 0.46300 center textcolor rgb '#555555' font ',11'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.19983, '16 KiB' 0.37136, '64 KiB' 0.54288, '256 KiB' 0.71441, '1 MiB' 0.88593) scale 0.6 nomirror norotate font ',11'
set ytics ('2 G' 0.12035, '5 G' 0.4957, '10 G' 0.77965) scale 0.6 nomirror font ',11'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.01875, 0.15257 left top Left reverse samplen 2 maxrows 3 font ',13'
plot [0:1][0:1] $d13 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d15 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d16 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d17 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d18 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d19 using 1:2 with points pointtype 9 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d19 using 1:2 with points pointtype 8 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 238 ns, 14.5 GB/s', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 288 ns, 9.92 GB/s', \
  keyentry with linespoints pointtype 9 pointsize 1.20 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 472 ns, 4.97 GB/s'
unset label
set lmargin at screen 0.56656
set rmargin at screen 0.98438
set bmargin at screen 0.19971
set tmargin at screen 0.43867
set label 31 'Bandwidth of copies both ways at once' at screen 0.75000, 0.47820 center font ',13'
set label 32 'Open marks carry a flag that others lack.' at screen 0.75000, 0.46300 center textcolor rgb '#555555' font ',11'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.19983, '16 KiB' 0.37136, '64 KiB' 0.54288, '256 KiB' 0.71441, '1 MiB' 0.88593) scale 0.6 nomirror norotate font ',11'
set ytics ('100 M' 0.05117, '1 G' 0.45937, '10 G' 0.86757) scale 0.6 nomirror font ',11'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.51875, 0.15257 left top Left reverse samplen 2 maxrows 3 font ',13'
plot [0:1][0:1] $d20 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d21 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d22 using 1:2 with points pointtype 7 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d22 using 1:2 with points pointtype 6 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d23 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d24 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d25 using 1:2 with points pointtype 5 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d25 using 1:2 with points pointtype 4 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d26 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d27 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d28 using 1:2 with points pointtype 9 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d28 using 1:2 with points pointtype 8 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 596 ns, 200 MB/s each way', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 906 ns, 7.92 GB/s each way', \
  keyentry with linespoints pointtype 9 pointsize 1.20 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 505 ns, 1.73 GB/s each way'
unset label
unset multiplot
unset output
set terminal svg size 1600, 1415 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'transfer: resnet18 on AMD EPYC' at screen 0.50000, 0.97979 center font ',20'
set label 2 'Don’t pin: a step of resnet18 infer in fp32, batch 8 takes pageable 105 ms (49.5 ms to 316 ms), staged 171 ms (102' at screen 0.50000, 0.95802 center font ',18'
set label 3 'ms to 261 ms), pinned 192 ms (83.6 ms to 322 ms), of which 85.2 ms is computing; staged memory costs 65.7 ms a step …' at screen 0.50000, 0.93781 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 00:08' at screen 0.50000, 0.91760 center textcolor rgb '#555555' font ',16'
set label 5 'Don’t pin: a step of resnet18 infer in fp32, batch 8 takes pageable 105 ms (49.5 ms to 316 ms), staged 171 ms (102 ms to 261 ms), pinned 192 ms (83.6 ms to 322 ms),' at screen 0.01875, 0.07929 left textcolor rgb '#444444' font ',16'
set label 6 'of which 85.2 ms is computing; staged memory costs 65.7 ms a step (62 %), which lies within the intervals, and the whole copy from pageable memory takes 36.9 µs at' at screen 0.01875, 0.06375 left textcolor rgb '#444444' font ',16'
set label 7 'most, and pinned memory does not differ from it measurably; staging locks only its ring, 1.50 MiB; pinned instead, 8 workers with 2 batches of 384 KiB ready lock' at screen 0.01875, 0.04820 left textcolor rgb '#444444' font ',16'
set label 8 '6.00 MiB of the host’s memory, which takes no longer than ordinary memory does' at screen 0.01875, 0.03265 left textcolor rgb '#444444' font ',16'
set label 9 'Warning: fewer than 3 rounds at all 87 points; 83 points were left out [larger --time-budget]. Other processes used the CPU during 14 of 87 points [idle machine].' at screen 0.01875, 0.01710 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.60509
set tmargin at screen 0.83830
set label 31 'A step of resnet18 fp32, batch 8' at screen 0.25000, 0.87873 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.25000, 0.86318 center textcolor rgb '#555555' font ',14'
set label 40 '105' at first 0.10167, 0.79002 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '112' at first 0.23167, 0.87085 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 42 '171' at first 0.435, 0.65329 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 43 '192' at first 0.565, 0.99981 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 44 '192' at first 0.76833, 0.80512 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 45 '192' at first 0.89833, 0.95988 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('pageable' 0.16667, 'staged' 0.5, 'pinned' 0.83333) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',14'
set xlabel 'host memory' offset 0, 0.3
set ylabel 'ms'
unset key
set key at screen 0.01875, 0.55689 left top Left reverse samplen 2 maxrows 2 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#1b1f24' notitle, \
  $d4 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#1b1f24' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#0072b2' title 'copy, then compute', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#c24a00' title 'overlapped with the next copy', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#1b1f24' title 'computing alone: 85.2 ms'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.60509
set tmargin at screen 0.83830
set label 31 'Bandwidth of copies to the device' at screen 0.75000, 0.87873 center font ',16'
set label 32 'Open marks carry a flag that others lack.' at screen 0.75000, 0.86318 center textcolor rgb '#555555' font ',14'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.18553, '16 KiB' 0.34277, '64 KiB' 0.5, '256 KiB' 0.65723, '1 MiB' 0.81447, '4 MiB' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('2 G' 0.014536, '5 G' 0.41248, '10 G' 0.71351) scale 0.6 nomirror font ',14'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.51875, 0.55689 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d5 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#57606a' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d10 using 1:2 with points pointtype 5 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d10 using 1:2 with points pointtype 4 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d12 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 224 ns, 14.9 GB/s', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 306 ns, 13.7 GB/s', \
  keyentry with linespoints pointtype 9 pointsize 0.75 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 118 ns, 8.12 GB/s', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#57606a' title 'pinned is faster from 512 KiB on'
unset label
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.20396
set tmargin at screen 0.43717
set label 31 'Bandwidth of copies to the host' at screen 0.25000, 0.47760 center font ',16'
set label 32 'Open marks carry a flag that others lack.' at screen 0.25000, 0.46205 center textcolor rgb '#555555' font ',14'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.19983, '16 KiB' 0.37136, '64 KiB' 0.54288, '256 KiB' 0.71441, '1 MiB' 0.88593) scale 0.6 nomirror norotate font ',14'
set ytics ('2 G' 0.12035, '5 G' 0.4957, '10 G' 0.77965) scale 0.6 nomirror font ',14'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.01875, 0.15576 left top Left reverse samplen 2 maxrows 3 font ',16'
plot [0:1][0:1] $d13 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d15 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d16 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d17 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d18 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d19 using 1:2 with points pointtype 9 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d19 using 1:2 with points pointtype 8 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 238 ns, 14.5 GB/s', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 288 ns, 9.92 GB/s', \
  keyentry with linespoints pointtype 9 pointsize 0.75 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 472 ns, 4.97 GB/s'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.20396
set tmargin at screen 0.43717
set label 31 'Bandwidth of copies both ways at once' at screen 0.75000, 0.47760 center font ',16'
set label 32 'Open marks carry a flag that others lack.' at screen 0.75000, 0.46205 center textcolor rgb '#555555' font ',14'
set xtics ('1 KiB' 0.028302, '4 KiB' 0.19983, '16 KiB' 0.37136, '64 KiB' 0.54288, '256 KiB' 0.71441, '1 MiB' 0.88593) scale 0.6 nomirror norotate font ',14'
set ytics ('100 M' 0.05117, '1 G' 0.45937, '10 G' 0.86757) scale 0.6 nomirror font ',14'
set xlabel 'bytes of a copy' offset 0, 0.3
set ylabel 'B/s'
unset key
set key at screen 0.51875, 0.15576 left top Left reverse samplen 2 maxrows 3 font ',16'
plot [0:1][0:1] $d20 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d21 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d22 using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d22 using 1:2 with points pointtype 6 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d23 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d24 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d25 using 1:2 with points pointtype 5 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d25 using 1:2 with points pointtype 4 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d26 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d27 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d28 using 1:2 with points pointtype 9 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d28 using 1:2 with points pointtype 8 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'pinned: latency 596 ns, 200 MB/s each way', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'pageable: latency 906 ns, 7.92 GB/s each way', \
  keyentry with linespoints pointtype 9 pointsize 0.75 linewidth 1.8 linecolor rgb '#00795a' title 'staged: latency 505 ns, 1.73 GB/s each way'
unset label
unset multiplot
unset output
