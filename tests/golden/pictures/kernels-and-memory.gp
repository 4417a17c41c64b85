set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0.028302 0 0.11042 0
0.19359 0.36658 0 0.040273 0
0.35888 0.70245 0 0.076452 0
0.52417 0.84467 0 0.030049 0
0.68946 0.87881 0 0.006768 0
0.85475 0.89313 0 0.0099961 0
EOD
$d1 << EOD
0.55847 0.86769 0 0.013542 0
0.55847 0.52122 0 0.026172 0
0.64112 0.85084 0 0.095213 0
0.64112 0.66113 0 0.10186 0
0.72376 0.82308 0 0.1159 0
0.72376 0.8293 0 0.024908 0
0.80641 0.8773 0 0.0153 0
0.80641 0.79544 0 0.15641 0
0.88905 0.8684 0 0.0080516 0
0.88905 0.85149 0 0.027675 0
EOD
$d2 << EOD
0.64112 0.6981 0 0.041307 0
0.64112 0.45723 0 0.08717 0
0.72376 0.70171 0 0.047791 0
0.72376 0.61229 0 0.10797 0
0.80641 0.72103 0 0.019406 0
0.80641 0.70376 0 0.033634 0
0.88905 0.71551 0 0.032616 0
0.88905 0.68972 0 0.060504 0
0.9717 0.72446 0 0.008089 0
0.9717 0.7178 0 0.024746 0
EOD
$d3 << EOD
0.61551 0.71913 0 0.006819 0
0.61551 0.6943 0 0.017937 0
0.75408 0.70332 0 0.19815 0
0.75408 0.7668 0 0.091939 0
0.87413 0.87444 0 0.027696 0
0.87413 0.87419 0 0.013474 0
0.78031 0.80639 0 0.15271 0
0.78031 0.78476 0 0.12742 0
0.6195 0.56245 0 0.315 0
0.6195 0.46786 0 0.42951 0
0.85257 0.88451 0 0.0082031 0
0.85257 0.79646 0 0.13771 0
0.87413 0.78659 0 0.18511 0
0.87413 0.79963 0 0.13378 0
0.78031 0.81915 0 0.1051 0
0.78031 0.84838 0 0.01431 0
0.6195 0.72336 0 0.017507 0
0.6195 0.67292 0 0.029254 0
0.85257 0.84022 0 0.071175 0
0.85257 0.8623 0 0.0078691 0
0.87413 0.84065 0 0.054353 0
0.87413 0.76725 0 0.13799 0
0.78031 0.79459 0 0.022193 0
0.78031 0.76494 0 0.032892 0
EOD
$d4 << EOD
0.86458 0.71179 0 0.038726 0
0.86458 0.71723 0 0.025137 0
0.93522 0.69478 0 0.056021 0
0.93522 0.65725 0 0.10163 0
0.95677 0.68347 0 0.063329 0
0.95677 0.72612 0 0.0014912 0
0.86295 0.7253 0 0.011107 0
0.86295 0.70324 0 0.033646 0
0.86458 0.7264 0 0.008162 0
0.86458 0.70824 0 0.034914 0
0.93522 0.71218 0 0.029633 0
0.93522 0.7237 0 0.0045486 0
0.95677 0.67281 0 0.10256 0
0.95677 0.69826 0 0.036625 0
0.86295 0.67586 0 0.081205 0
0.86295 0.64883 0 0.1296 0
0.86458 0.69287 0 0.042079 0
0.86458 0.70477 0 0.01144 0
0.93522 0.66831 0 0.092736 0
0.93522 0.68661 0 0.061874 0
0.95677 0.71094 0 0.0034598 0
0.95677 0.7096 0 0.0053602 0
0.86295 0.64414 0 0.019447 0
0.86295 0.64247 0 0.017162 0
EOD
$d5 << EOD
0.028302 0.043892
0.3622 0.72695
0.9717 0.72695

EOD
$d6 << EOD
0.028302 0.043892
0.44538 0.89713
0.9717 0.89713

EOD
$d7 << EOD
0.028302 0.083513
0.19359 0.38672
0.35888 0.74054
0.52417 0.8597
0.68946 0.8822
0.85475 0.89813
EOD
$d8 << EOD
0.55847 0.87446
0.64112 0.89845
0.72376 0.88102
0.80641 0.88495
0.88905 0.87242
EOD
$d9 << EOD
0.55847 0.53429
0.64112 0.71196
0.72376 0.84173
0.80641 0.87365
0.88905 0.86533
EOD
$d10 << EOD
0.64112 0.71875
0.72376 0.72543
0.80641 0.73074
0.88905 0.73182
0.9717 0.7285
EOD
$d11 << EOD
0.64112 0.50069
0.72376 0.66626
0.80641 0.72058
0.88905 0.71997
0.9717 0.73017
EOD
$d12 << EOD
0.61551 0.72254
0.75408 0.79876
0.87413 0.88829
0.78031 0.88274
0.6195 0.71995
0.85257 0.88862
0.87413 0.87905
0.78031 0.87169
0.6195 0.73212
0.85257 0.87581
0.87413 0.86783
0.78031 0.80568
EOD
$d13 << EOD
0.61551 0.70326
0.75408 0.81277
0.87413 0.88093
0.78031 0.84795
0.6195 0.71428
0.85257 0.86519
0.87413 0.86649
0.78031 0.85553
0.6195 0.68755
0.85257 0.86624
0.87413 0.83552
0.78031 0.78138
EOD
$d14 << EOD
0.86458 0.73115
0.93522 0.72268
0.95677 0.71501
0.86295 0.73085
0.86458 0.73048
0.93522 0.72699
0.95677 0.72409
0.86295 0.71646
0.86458 0.71391
0.93522 0.71468
0.95677 0.71267
0.86295 0.65384
EOD
$d15 << EOD
0.86458 0.72979
0.93522 0.70807
0.95677 0.72687
0.86295 0.72006
0.86458 0.72569
0.93522 0.72598
0.95677 0.71648
0.86295 0.71363
0.86458 0.71049
0.93522 0.71755
0.95677 0.71228
0.86295 0.65104
EOD
$d16 << EOD
0.13836 0.41592 0 0.094763 0
0.3467 0.82722 0 0.12995 0
0.55503 0.2319 0 0.088499 0
0.76336 0.13785 0 0.17948 0
0.90225 0.1069 0 0.057069 0
EOD
$d17 << EOD
0.13836 0.048919 0 0.023106 0
0.3467 0.084961 0 0.023292 0
0.55503 0.10622 0 0.016934 0
0.76336 0.10723 0 0.028498 0
0.90225 0.12358 0 0.018604 0
0.9717 0.1175 0 0.014013 0
EOD
$d18 << EOD
0.86163 0.080859 0 0.14334 0
EOD
$d19 << EOD
0.86163 0.078059 0 0.083994 0
0.9717 0.18644 0 0.036415 0
EOD
$d20 << EOD
0.86163 0.10417 0 0.031183 0
EOD
$d21 << EOD
0.86163 0.089324 0 0.038642 0
EOD
$d22 << EOD
0.90225 0.12277 0 0.029264 0
EOD
$d23 << EOD
0.90225 0.11103 0 0.027106 0
EOD
$d24 << EOD
0.028302 0.13861 0 0.30336 0
0.23663 0.38459 0 0.26712 0
0.44496 0.14809 0 0.0084565 0
0.6533 0.2494 0 0.057881 0
0.79219 0.13827 0 0.06598 0
EOD
$d25 << EOD
0.028302 0.022233 0 0.0069005 0
0.23663 0.048885 0 0.021385 0
0.44496 0.048924 0 0.03995 0
0.6533 0.091639 0 0.097634 0
0.79219 0.11162 0 0.066328 0
EOD
$d26 << EOD
0.13836 0.46087
0.3467 0.88983
0.55503 0.27258
0.76336 0.20915
0.90225 0.13239

EOD
$d27 << EOD
0.13836 0.46087
0.3467 0.88983
0.55503 0.27258
0.76336 0.20915
0.90225 0.13239
EOD
$d28 << EOD
0.13836 0.059359
0.3467 0.095881
0.55503 0.11436
0.76336 0.12064
0.90225 0.13256
0.9717 0.12431

EOD
$d29 << EOD
0.13836 0.059359
0.3467 0.095881
0.55503 0.11436
0.76336 0.12064
0.90225 0.13256
0.9717 0.12431
EOD
$d30 << EOD
0.86163 0.13464
EOD
$d31 << EOD
0.86163 0.11247
0.9717 0.20384

EOD
$d32 << EOD
0.86163 0.11247
0.9717 0.20384
EOD
$d33 << EOD
0.86163 0.11874
EOD
$d34 << EOD
0.86163 0.10691
EOD
$d35 << EOD
0.90225 0.1366
EOD
$d36 << EOD
0.90225 0.12384
EOD
$d37 << EOD
0.028302 0.24751
0.23663 0.49741
0.44496 0.15226
0.6533 0.27683
0.79219 0.16804

EOD
$d38 << EOD
0.028302 0.24751
0.23663 0.49741
0.44496 0.15226
0.6533 0.27683
0.79219 0.16804
EOD
$d39 << EOD
0.028302 0.02545
0.23663 0.05861
0.44496 0.065927
0.6533 0.1317
0.79219 0.14055

EOD
$d40 << EOD
0.028302 0.02545
0.23663 0.05861
0.44496 0.065927
0.6533 0.1317
0.79219 0.14055
EOD
set terminal pngcairo size 1600, 824 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'kernels: all on Intel(R) Xeon(R) Processor' at screen 0.50000, 0.96687 center font ',17'
set label 2 'conv2d/fp32 reaches 40 ± 20 % to 96 ± 23 % of its roofline,' at screen 0.50000, 0.93119 center font ',15'
set label 3 'least at backward-data in-channels:64/out-channels:64/height:56/width:56/batch:8 (limit: arithmetic)' at screen 0.50000, 0.89806 center font ',15'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 14:56' at screen 0.50000, 0.86493 center textcolor rgb '#555555' font ',13'
set label 5 'Warning: 95 % intervals wider than ±10 % at 101 of 102 points [larger --time-budget]. Other processes used the CPU during 13 of 102 points [idle machine].' at screen 0.01875, 0.10449 left textcolor rgb '#444444' font ',13'
set label 6 '✕ fma/tensor-cores/bf16/hot/elements:4194304/steps:1024/batch:1 unsupported: cpu: fma on tensor cores needs a CUDA device; the CPU has none' at screen 0.01875, 0.07900 left textcolor rgb '#444444' font ',13'
set label 7 '✕ launch/forward/fp32/hot/batch:1 unsupported: launch has no implementation on cpu' at screen 0.01875, 0.05352 left textcolor rgb '#444444' font ',13'
set label 8 '✕ implicit_gemm/forward/fp32/hot/in-channels:64/out-channels:64/height:56/width:56/batch:8 unsupported: conv2d has no implicit_gemm implementation on cpu' at screen 0.01875, 0.02803 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06656
set rmargin at screen 0.48438
set bmargin at screen 0.33447
set tmargin at screen 0.73495
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.25000, 0.80121 center font ',13'
set label 32 'Bars: 95 % intervals. Open marks: cold caches.' at screen 0.25000, 0.77573 center textcolor rgb '#555555' font ',11'
set xtics ('0.2' 0.0016961, '0.5' 0.11095, '1' 0.19359, '2' 0.27624, '5' 0.38549, '10' 0.46813, '20' 0.55078, '50' 0.66003, '100' 0.74267, '200' 0.82532, '500' 0.93457) scale 0.6 nomirror norotate font ',11'
set ytics ('10 G' 0.039257, '20 G' 0.20833, '50 G' 0.43183, '100 G' 0.6009, '200 G' 0.76997, '500 G' 0.99347) scale 0.6 nomirror font ',11'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.25546 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d5 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with points pointtype 5 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d9 using 1:2 with points pointtype 4 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d10 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with points pointtype 5 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d11 using 1:2 with points pointtype 4 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 9 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d13 using 1:2 with points pointtype 8 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d15 using 1:2 with points pointtype 9 pointsize 1.20 linecolor rgb 'white' notitle, \
  $d15 using 1:2 with points pointtype 8 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'roof of bf16: 168 GFLOP/s', \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 337 GFLOP/s', \
  keyentry with points pointtype 7 pointsize 1.20 linecolor rgb '#0072b2' title 'fma fp32', \
  keyentry with points pointtype 5 pointsize 1.20 linecolor rgb '#0072b2' title 'gemm fp32', \
  keyentry with points pointtype 5 pointsize 1.20 linecolor rgb '#c24a00' title 'gemm bf16', \
  keyentry with points pointtype 9 pointsize 1.20 linecolor rgb '#0072b2' title 'conv2d fp32', \
  keyentry with points pointtype 9 pointsize 1.20 linecolor rgb '#c24a00' title 'conv2d bf16'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.33447
set tmargin at screen 0.73495
set label 31 'What memory and caches deliver, read and written' at screen 0.75000, 0.80121 center font ',13'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.77573 center textcolor rgb '#555555' font ',11'
set xtics ('64 KiB' 0.028296, '256 KiB' 0.16718, '1 MiB' 0.30607, '4 MiB' 0.44496, '16 MiB' 0.58385, '64 MiB' 0.72274, '256 MiB' 0.86163) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '50' 0.25, '100' 0.5, '150' 0.75, '200' 1) scale 0.6 nomirror font ',11'
set xlabel 'bytes touched' offset 0, 0.3
set ylabel 'GB/s'
unset key
set key at screen 0.51875, 0.25546 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d16 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d17 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d18 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d19 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d20 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#00795a' notitle, \
  $d21 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#00795a' notitle, \
  $d22 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#a8437f' notitle, \
  $d23 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#a8437f' notitle, \
  $d24 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#8a6200' notitle, \
  $d25 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#8a6200' notitle, \
  $d26 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d27 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d28 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d29 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d30 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d31 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d32 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d33 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d34 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d35 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#a8437f' notitle, \
  $d36 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#a8437f' notitle, \
  $d37 using 1:2 with lines linewidth 1.8 linecolor rgb '#8a6200' notitle, \
  $d38 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  $d39 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  $d40 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'triad, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 1.20 dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'triad, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'copy, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 1.20 dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' title 'copy, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#00795a' title 'scale, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 1.20 dashtype (8, 6) linewidth 1.6 linecolor rgb '#00795a' title 'scale, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#a8437f' title 'add, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 1.20 dashtype (8, 6) linewidth 1.6 linecolor rgb '#a8437f' title 'add, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#8a6200' title 'read, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 1.20 dashtype (8, 6) linewidth 1.6 linecolor rgb '#8a6200' title 'read, cold caches'
unset label
unset multiplot
unset output
set terminal svg size 1600, 847 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'kernels: all on Intel(R) Xeon(R) Processor' at screen 0.50000, 0.96623 center font ',20'
set label 2 'conv2d/fp32 reaches 40 ± 20 % to 96 ± 23 % of its roofline,' at screen 0.50000, 0.92987 center font ',18'
set label 3 'least at backward-data in-channels:64/out-channels:64/height:56/width:56/batch:8 (limit: arithmetic)' at screen 0.50000, 0.89610 center font ',18'
set label 4 '2 cores · oneDNN 2.6.3 · 2026-11-23 14:56' at screen 0.50000, 0.86234 center textcolor rgb '#555555' font ',16'
set label 5 'Warning: 95 % intervals wider than ±10 % at 101 of 102 points [larger --time-budget]. Other processes used the CPU during 13 of 102 points [idle machine].' at screen 0.01875, 0.10649 left textcolor rgb '#444444' font ',16'
set label 6 '✕ fma/tensor-cores/bf16/hot/elements:4194304/steps:1024/batch:1 unsupported: cpu: fma on tensor cores needs a CUDA device; the CPU has none' at screen 0.01875, 0.08052 left textcolor rgb '#444444' font ',16'
set label 7 '✕ launch/forward/fp32/hot/batch:1 unsupported: launch has no implementation on cpu' at screen 0.01875, 0.05455 left textcolor rgb '#444444' font ',16'
set label 8 '✕ implicit_gemm/forward/fp32/hot/in-channels:64/out-channels:64/height:56/width:56/batch:8 unsupported: conv2d has no implicit_gemm implementation on cpu' at screen 0.01875, 0.02857 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.48438
set bmargin at screen 0.34026
set tmargin at screen 0.72987
set label 31 'Roofline: arithmetic against operations for each byte moved' at screen 0.25000, 0.79740 center font ',16'
set label 32 'Bars: 95 % intervals. Open marks: cold caches.' at screen 0.25000, 0.77143 center textcolor rgb '#555555' font ',14'
set xtics ('0.2' 0.0016961, '0.5' 0.11095, '1' 0.19359, '2' 0.27624, '5' 0.38549, '10' 0.46813, '20' 0.55078, '50' 0.66003, '100' 0.74267, '200' 0.82532, '500' 0.93457) scale 0.6 nomirror norotate font ',14'
set ytics ('10 G' 0.039257, '20 G' 0.20833, '50 G' 0.43183, '100 G' 0.6009, '200 G' 0.76997, '500 G' 0.99347) scale 0.6 nomirror font ',14'
set xlabel 'FLOP for each byte' offset 0, 0.3
set ylabel 'FLOP/s'
unset key
set key at screen 0.01875, 0.25974 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d0 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d3 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d4 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d5 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d6 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d9 using 1:2 with points pointtype 5 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d9 using 1:2 with points pointtype 4 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d10 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d11 using 1:2 with points pointtype 5 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d11 using 1:2 with points pointtype 4 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d12 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d13 using 1:2 with points pointtype 9 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d13 using 1:2 with points pointtype 8 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d14 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d15 using 1:2 with points pointtype 9 pointsize 0.75 linecolor rgb 'white' notitle, \
  $d15 using 1:2 with points pointtype 8 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with lines linewidth 1.8 linecolor rgb '#c24a00' title 'roof of bf16: 168 GFLOP/s', \
  keyentry with lines linewidth 1.8 linecolor rgb '#0072b2' title 'roof of fp32: 337 GFLOP/s', \
  keyentry with points pointtype 7 pointsize 0.75 linecolor rgb '#0072b2' title 'fma fp32', \
  keyentry with points pointtype 5 pointsize 0.75 linecolor rgb '#0072b2' title 'gemm fp32', \
  keyentry with points pointtype 5 pointsize 0.75 linecolor rgb '#c24a00' title 'gemm bf16', \
  keyentry with points pointtype 9 pointsize 0.75 linecolor rgb '#0072b2' title 'conv2d fp32', \
  keyentry with points pointtype 9 pointsize 0.75 linecolor rgb '#c24a00' title 'conv2d bf16'
unset label
set lmargin at screen 0.56563
set rmargin at screen 0.98438
set bmargin at screen 0.34026
set tmargin at screen 0.72987
set label 31 'What memory and caches deliver, read and written' at screen 0.75000, 0.79740 center font ',16'
set label 32 'Bars: 95 % intervals.' at screen 0.75000, 0.77143 center textcolor rgb '#555555' font ',14'
set xtics ('64 KiB' 0.028296, '256 KiB' 0.16718, '1 MiB' 0.30607, '4 MiB' 0.44496, '16 MiB' 0.58385, '64 MiB' 0.72274, '256 MiB' 0.86163) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '50' 0.25, '100' 0.5, '150' 0.75, '200' 1) scale 0.6 nomirror font ',14'
set xlabel 'bytes touched' offset 0, 0.3
set ylabel 'GB/s'
unset key
set key at screen 0.51875, 0.25974 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d16 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d17 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#0072b2' notitle, \
  $d18 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d19 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#c24a00' notitle, \
  $d20 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#00795a' notitle, \
  $d21 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#00795a' notitle, \
  $d22 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#a8437f' notitle, \
  $d23 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#a8437f' notitle, \
  $d24 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#8a6200' notitle, \
  $d25 using 1:2:3:($5==0?$4:NaN) with vectors heads size screen 0.0025, 90 linewidth 1.4 linecolor rgb '#8a6200' notitle, \
  $d26 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d27 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d28 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d29 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d30 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d31 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d32 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  $d33 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d34 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d35 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#a8437f' notitle, \
  $d36 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#a8437f' notitle, \
  $d37 using 1:2 with lines linewidth 1.8 linecolor rgb '#8a6200' notitle, \
  $d38 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  $d39 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  $d40 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#8a6200' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'triad, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 0.75 dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' title 'triad, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'copy, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 0.75 dashtype (8, 6) linewidth 1.6 linecolor rgb '#c24a00' title 'copy, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#00795a' title 'scale, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 0.75 dashtype (8, 6) linewidth 1.6 linecolor rgb '#00795a' title 'scale, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#a8437f' title 'add, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 0.75 dashtype (8, 6) linewidth 1.6 linecolor rgb '#a8437f' title 'add, cold caches', \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#8a6200' title 'read, hot caches', \
  keyentry with linespoints pointtype 5 pointsize 0.75 dashtype (8, 6) linewidth 1.6 linecolor rgb '#8a6200' title 'read, cold caches'
unset label
unset multiplot
unset output
