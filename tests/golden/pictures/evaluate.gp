set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0.12376 0 0.073552 0
0.26415 0.10022 0 0.32558 0
0.5 0.28088 0 0.048566 0
0.73585 0.15168 0 0.74712 0
0.9717 0.30605 0 0.69395 1
EOD
$d1 << EOD
0.9637 0.975
0.9717 1
0.9797 0.975

EOD
$d2 << EOD
0.028302 0.12376 0 0.073552 0
0.26415 0.10022 0 0.32558 0
0.5 0.28088 0 0.048566 0
0.73585 0.15168 0 0.74712 0
0.9717 0.30605 0 0.69395 1
EOD
$d3 << EOD
0.9637 0.975
0.9717 1
0.9797 0.975

EOD
$d4 << EOD
0.028302 0.15627
0.26415 0.20634
0.5 0.3042
0.73585 0.36221
0.9717 0.57852

EOD
$d5 << EOD
0.028302 0.15627
0.26415 0.20634
0.5 0.3042
0.73585 0.36221
0.9717 0.57852
EOD
$d6 << EOD
0.5 0.3042
EOD
$d7 << EOD
0.028302 0.15627
0.26415 0.20634
0.5 0.3042
0.73585 0.36221
0.9717 0.57852

EOD
$d8 << EOD
0.028302 0.15627
0.26415 0.20634
0.5 0.3042
0.73585 0.36221
0.9717 0.57852
EOD
$d9 << EOD
0.5 0.3042
EOD
$d10 << EOD
0 0.9717
1 0.9717

EOD
$d11 << EOD
0 0.9717
1 0.9717

EOD
$d12 << EOD
0.028302 0.028302
0.09832 0.071635
0.16834 0.075634
0.23836 0.082085
0.30837 0.094463
0.9717 0.9717

EOD
$d13 << EOD
0.028302 0.028302
0.09832 0.071635
0.16834 0.075634
0.23836 0.082085
0.30837 0.094463
EOD
$d14 << EOD
0.9717 0.9717
EOD
$d15 << EOD
0.9717 0.9717
EOD
$d16 << EOD
0.25 0.42614 0.055 0.445 0 0.85227
EOD
$d17 << EOD
0.75 0.42614 0.555 0.945 0 0.85227
EOD
$d18 << EOD
0.25 0.78695 0 0.13607 0
0.75 0.78695 0 0.13607 0
EOD
$d19 << EOD
0.25 0.92302
0.75 0.92302
EOD
set terminal pngcairo size 1600, 683 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'resnet18 training: AMD EPYC, AMD EPYC #2' at screen 0.50000, 0.96003 center font ',17'
set label 2 'AMD EPYC and AMD EPYC #2 are about equally fast in fp32: AMD EPYC is 1.00× (0.85–1.17×) AMD EPYC #2, at batch 4;' at screen 0.50000, 0.91698 center font ',15'
set label 3 'too few rounds on AMD EPYC and AMD EPYC #2 to be sure of their batches [larger --time-budget].' at screen 0.50000, 0.87701 center font ',15'
set label 4 '' at screen 0.50000, 0.83704 center textcolor rgb '#555555' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.31771
set bmargin at screen 0.25022
set tmargin at screen 0.68946
set label 31 'Throughput in fp32' at screen 0.16667, 0.80015 center font ',13'
set label 32 'Bars: 95 % intervals. Ring: saturation batch.' at screen 0.16667, 0.76940 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '2' 0.26415, '4' 0.5, '8' 0.73585, '16' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '50' 0.33333, '100' 0.66667, '150' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.15490 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with points pointtype 6 pointsize 2.88 linewidth 2.2 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d8 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2 with points pointtype 6 pointsize 2.88 linewidth 2.2 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'AMD EPYC', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'AMD EPYC #2'
unset label
set lmargin at screen 0.41152
set rmargin at screen 0.65104
set bmargin at screen 0.25022
set tmargin at screen 0.68946
set label 31 'Memory in fp32' at screen 0.50000, 0.80015 center font ',13'
set label 32 'Dashed: what a device holds.' at screen 0.50000, 0.76940 center textcolor rgb '#555555' font ',11'
set label 33 'Open mark: the largest batch that fits.' at screen 0.50000, 0.74019 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '4' 0.16834, '16' 0.30837, '64' 0.44841, '256' 0.58845, '1024' 0.72848, '4096' 0.86852) scale 0.6 nomirror norotate font ',11'
set ytics ('128 MiB' 0.013054, '512 MiB' 0.26832, '2 GiB' 0.52358, '8 GiB' 0.77885) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'memory'
unset key
set key at screen 0.35208, 0.15490 left top Left reverse samplen 2 maxrows 3 font ',13'
plot [0:1][0:1] $d10 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d11 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 7 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d14 using 1:2 with points pointtype 6 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d15 using 1:2 with points pointtype 5 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d15 using 1:2 with points pointtype 4 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'AMD EPYC holds 22.8 GiB: batch 11375', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'AMD EPYC #2 holds 22.8 GiB: batch 11375', \
  keyentry with points pointtype -1 title '(line of AMD EPYC)'
unset label
set lmargin at screen 0.73229
set rmargin at screen 0.98438
set bmargin at screen 0.25022
set tmargin at screen 0.68946
set label 31 'Cost of a million samples' at screen 0.83333, 0.80015 center font ',13'
set label 32 'In fp32, at the saturation batch.' at screen 0.83333, 0.76940 center textcolor rgb '#555555' font ',11'
set label 40 '2.13' at first 0.25, 0.92302 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '2.13' at first 0.75, 0.92302 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('AMD EPYC' 0.25, 'AMD EPYC #2' 0.75) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '0.5' 0.2, '1' 0.4, '1.5' 0.6, '2' 0.8, '2.5' 1) scale 0.6 nomirror font ',11'
set xlabel '' offset 0, 0.3
set ylabel 'currency of --price'
unset key
plot [0:1][0:1] $d16 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  $d17 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d18 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#1b1f24' notitle
unset label
unset multiplot
unset output
set terminal svg size 1600, 701 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'resnet18 training: AMD EPYC, AMD EPYC #2' at screen 0.50000, 0.95920 center font ',20'
set label 2 'AMD EPYC and AMD EPYC #2 are about equally fast in fp32: AMD EPYC is 1.00× (0.85–1.17×) AMD EPYC #2, at batch 4;' at screen 0.50000, 0.91526 center font ',18'
set label 3 'too few rounds on AMD EPYC and AMD EPYC #2 to be sure of their batches [larger --time-budget].' at screen 0.50000, 0.87447 center font ',18'
set label 4 '' at screen 0.50000, 0.83367 center textcolor rgb '#555555' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.31771
set bmargin at screen 0.25506
set tmargin at screen 0.68302
set label 31 'Throughput in fp32' at screen 0.16667, 0.79601 center font ',16'
set label 32 'Bars: 95 % intervals. Ring: saturation batch.' at screen 0.16667, 0.76462 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '2' 0.26415, '4' 0.5, '8' 0.73585, '16' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '50' 0.33333, '100' 0.66667, '150' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.15777 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d0 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.2 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d2 using 1:2:3:($5==1?$4:NaN) with vectors backhead size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2 with lines linewidth 1.2 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with points pointtype 6 pointsize 1.80 linewidth 2.2 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d8 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d9 using 1:2 with points pointtype 6 pointsize 1.80 linewidth 2.2 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'AMD EPYC', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'AMD EPYC #2'
unset label
set lmargin at screen 0.41021
set rmargin at screen 0.65104
set bmargin at screen 0.25506
set tmargin at screen 0.68302
set label 31 'Memory in fp32' at screen 0.50000, 0.79601 center font ',16'
set label 32 'Dashed: what a device holds.' at screen 0.50000, 0.76462 center textcolor rgb '#555555' font ',14'
set label 33 'Open mark: the largest batch that fits.' at screen 0.50000, 0.73481 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '4' 0.16834, '16' 0.30837, '64' 0.44841, '256' 0.58845, '1024' 0.72848, '4096' 0.86852) scale 0.6 nomirror norotate font ',14'
set ytics ('128 MiB' 0.013054, '512 MiB' 0.26832, '2 GiB' 0.52358, '8 GiB' 0.77885) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'memory'
unset key
set key at screen 0.35208, 0.15777 left top Left reverse samplen 2 maxrows 3 font ',16'
plot [0:1][0:1] $d10 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d11 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 7 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d14 using 1:2 with points pointtype 6 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d15 using 1:2 with points pointtype 5 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d15 using 1:2 with points pointtype 4 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'AMD EPYC holds 22.8 GiB: batch 11375', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'AMD EPYC #2 holds 22.8 GiB: batch 11375', \
  keyentry with points pointtype -1 title '(line of AMD EPYC)'
unset label
set lmargin at screen 0.73229
set rmargin at screen 0.98438
set bmargin at screen 0.25506
set tmargin at screen 0.68302
set label 31 'Cost of a million samples' at screen 0.83333, 0.79601 center font ',16'
set label 32 'In fp32, at the saturation batch.' at screen 0.83333, 0.76462 center textcolor rgb '#555555' font ',14'
set label 40 '2.13' at first 0.25, 0.92302 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '2.13' at first 0.75, 0.92302 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('AMD EPYC' 0.25, 'AMD EPYC #2' 0.75) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '0.5' 0.2, '1' 0.4, '1.5' 0.6, '2' 0.8, '2.5' 1) scale 0.6 nomirror font ',14'
set xlabel '' offset 0, 0.3
set ylabel 'currency of --price'
unset key
plot [0:1][0:1] $d16 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#0072b2' notitle, \
  $d17 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#c24a00' notitle, \
  $d18 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#1b1f24' notitle
unset label
unset multiplot
unset output
