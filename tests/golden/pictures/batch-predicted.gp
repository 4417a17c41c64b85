set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0 0.27349
1 0.27349

EOD
$d1 << EOD
0 0.76378
1 0.76378

EOD
$d2 << EOD
0.028302 0.11236
0.13312 0.18592
0.23795 0.23905
0.34277 0.27597
0.44759 0.29716
0.55241 0.30789
0.65723 0.31341
0.76205 0.31623
0.76205 0.23227
0.65723 0.2302
0.55241 0.22614
0.44759 0.21826
0.34277 0.20221
0.23795 0.1612
0.13312 0.089583
0.028302 0.043699

EOD
$d3 << EOD
0.028302 0.1148
0.13312 0.2256
0.23795 0.41959
0.34277 0.63304
0.44759 0.74435
0.55241 0.81876
0.65723 0.85489
0.76205 0.87279
0.86688 0.8819
0.86688 0.64776
0.76205 0.64107
0.65723 0.62792
0.55241 0.60116
0.44759 0.53218
0.34277 0.33879
0.23795 0.16575
0.13312 0.081488
0.028302 0.040555

EOD
$d4 << EOD
0.028302 0.07007
0.13312 0.12906
0.23795 0.1963
0.34277 0.23623
0.44759 0.25467
0.55241 0.26387
0.65723 0.2686
0.76205 0.27102

EOD
$d5 << EOD
0.028302 0.07007
0.13312 0.12906
0.23795 0.1963
0.34277 0.23623
0.44759 0.25467
0.55241 0.26387
0.65723 0.2686
0.76205 0.27102
EOD
$d6 << EOD
0.55241 0.26387
EOD
$d7 << EOD
0.86688 0.02
EOD
$d8 << EOD
0.028302 0.068234
0.13312 0.13559
0.23795 0.26371
0.34277 0.4631
0.44759 0.62939
0.55241 0.70157
0.65723 0.73267
0.76205 0.74801
0.86688 0.75582

EOD
$d9 << EOD
0.028302 0.068234
0.13312 0.13559
0.23795 0.26371
0.34277 0.4631
0.44759 0.62939
0.55241 0.70157
0.65723 0.73267
0.76205 0.74801
0.86688 0.75582
EOD
$d10 << EOD
0.65723 0.73267
EOD
$d11 << EOD
0.9717 0.02
EOD
$d12 << EOD
0.055556 0.0023802 0.012222 0.098889 0 0.0047604
0.16667 0.0023802 0.12333 0.21 0 0.0047604
0.27778 0.0023802 0.23444 0.32111 0 0.0047604
0.38889 0.0023802 0.34556 0.43222 0 0.0047604
0.5 0.0023802 0.45667 0.54333 0 0.0047604
0.61111 0.0023802 0.56778 0.65444 0 0.0047604
0.72222 0.0023802 0.67889 0.76556 0 0.0047604
0.83333 0.0023802 0.79 0.87667 0 0.0047604
EOD
$d13 << EOD
0.055556 0.0071406 0.012222 0.098889 0.0047604 0.0095207
0.16667 0.0071406 0.12333 0.21 0.0047604 0.0095207
0.27778 0.0071406 0.23444 0.32111 0.0047604 0.0095207
0.38889 0.0071406 0.34556 0.43222 0.0047604 0.0095207
0.5 0.0071406 0.45667 0.54333 0.0047604 0.0095207
0.61111 0.0071406 0.56778 0.65444 0.0047604 0.0095207
0.72222 0.0071406 0.67889 0.76556 0.0047604 0.0095207
0.83333 0.0071406 0.79 0.87667 0.0047604 0.0095207
EOD
$d14 << EOD
0.055556 0.011539 0.012222 0.098889 0.0095207 0.013558
0.16667 0.013558 0.12333 0.21 0.0095207 0.017596
0.27778 0.017636 0.23444 0.32111 0.0095207 0.025751
0.38889 0.026361 0.34556 0.43222 0.0095207 0.043202
0.5 0.043812 0.45667 0.54333 0.0095207 0.078103
0.61111 0.078714 0.56778 0.65444 0.0095207 0.14791
0.72222 0.14852 0.67889 0.76556 0.0095207 0.28751
0.83333 0.28812 0.79 0.87667 0.0095207 0.56673
EOD
$d15 << EOD
0.27778 0.025807 0.23444 0.32111 0.025751 0.025863
0.38889 0.043314 0.34556 0.43222 0.043202 0.043426
0.5 0.078328 0.45667 0.54333 0.078103 0.078552
0.61111 0.14836 0.56778 0.65444 0.14791 0.1488
0.72222 0.28841 0.67889 0.76556 0.28751 0.28931
0.83333 0.56852 0.79 0.87667 0.56673 0.57032
EOD
$d16 << EOD
0.055556 0.014197 0.012222 0.098889 0.013586 0.014807
0.16667 0.018262 0.12333 0.21 0.017652 0.018873
0.27778 0.026473 0.23444 0.32111 0.025863 0.027084
0.38889 0.044036 0.34556 0.43222 0.043426 0.044647
0.5 0.079162 0.45667 0.54333 0.078552 0.079773
0.61111 0.14941 0.56778 0.65444 0.1488 0.15002
0.72222 0.28992 0.67889 0.76556 0.28931 0.29053
0.83333 0.57093 0.79 0.87667 0.57032 0.57154
EOD
$d17 << EOD
0.055556 0.035314 0.012222 0.098889 0.014807 0.055821
0.16667 0.039542 0.12333 0.21 0.018873 0.060212
0.27778 0.048039 0.23444 0.32111 0.027084 0.068993
0.38889 0.065602 0.34556 0.43222 0.044647 0.086556
0.5 0.10073 0.45667 0.54333 0.079773 0.12168
0.61111 0.17098 0.56778 0.65444 0.15002 0.19193
0.72222 0.31148 0.67889 0.76556 0.29053 0.33244
0.83333 0.59249 0.79 0.87667 0.57154 0.61345
EOD
$d18 << EOD
0.0033333 0.055821
0.10778 0.055821

0.11444 0.060212
0.21889 0.060212

0.22556 0.068993
0.33 0.068993

0.33667 0.086556
0.44111 0.086556

0.44778 0.12168
0.55222 0.12168

0.55889 0.19193
0.66333 0.19193

0.67 0.33244
0.77444 0.33244

0.78111 0.61345
0.88556 0.61345

EOD
$d19 << EOD
0.94444 0.02
EOD
$d20 << EOD
0.055556 0.055821
0.16667 0.060212
0.27778 0.068993
0.38889 0.086556
0.5 0.12168
0.61111 0.19193
0.72222 0.33244
0.83333 0.61345
EOD
$d21 << EOD
0 0.78496
1 0.78496

EOD
$d22 << EOD
0.05 0.0035703 0.011 0.089 0 0.0071406
0.15 0.0035703 0.111 0.189 0 0.0071406
0.25 0.0035703 0.211 0.289 0 0.0071406
0.35 0.0035703 0.311 0.389 0 0.0071406
0.45 0.0035703 0.411 0.489 0 0.0071406
0.55 0.0035703 0.511 0.589 0 0.0071406
0.65 0.0035703 0.611 0.689 0 0.0071406
0.75 0.0035703 0.711 0.789 0 0.0071406
0.85 0.0035703 0.811 0.889 0 0.0071406
EOD
$d23 << EOD
0.05 0.0095207 0.011 0.089 0.0071406 0.011901
0.15 0.0095207 0.111 0.189 0.0071406 0.011901
0.25 0.0095207 0.211 0.289 0.0071406 0.011901
0.35 0.0095207 0.311 0.389 0.0071406 0.011901
0.45 0.0095207 0.411 0.489 0.0071406 0.011901
0.55 0.0095207 0.511 0.589 0.0071406 0.011901
0.65 0.0095207 0.611 0.689 0.0071406 0.011901
0.75 0.0095207 0.711 0.789 0.0071406 0.011901
0.85 0.0095207 0.811 0.889 0.0071406 0.011901
EOD
$d24 << EOD
0.05 0.012929 0.011 0.089 0.011901 0.013957
0.15 0.013978 0.111 0.189 0.011901 0.016055
0.25 0.016083 0.211 0.289 0.011901 0.020264
0.35 0.020301 0.311 0.389 0.011901 0.028701
0.45 0.02835 0.411 0.489 0.011901 0.044799
0.55 0.045574 0.511 0.589 0.011901 0.079248
0.65 0.079346 0.611 0.689 0.011901 0.14679
0.75 0.14689 0.711 0.789 0.011901 0.28188
0.85 0.28197 0.811 0.889 0.011901 0.55205
EOD
$d25 << EOD
0.25 0.02032 0.211 0.289 0.020264 0.020377
0.35 0.028813 0.311 0.389 0.028701 0.028925
0.45 0.045023 0.411 0.489 0.044799 0.045247
0.55 0.079697 0.511 0.589 0.079248 0.080145
0.65 0.14769 0.611 0.689 0.14679 0.14858
0.75 0.28367 0.711 0.789 0.28188 0.28546
0.85 0.55563 0.811 0.889 0.55205 0.55922
EOD
$d26 << EOD
0.05 0.014122 0.011 0.089 0.013985 0.014259
0.15 0.016257 0.111 0.189 0.016111 0.016403
0.25 0.020641 0.211 0.289 0.020377 0.020904
0.35 0.029417 0.311 0.389 0.028925 0.029908
0.45 0.047341 0.411 0.489 0.045247 0.049435
0.55 0.082037 0.511 0.589 0.080145 0.083929
0.65 0.15227 0.611 0.689 0.14858 0.15596
0.75 0.29274 0.711 0.789 0.28546 0.30002
0.85 0.57368 0.811 0.889 0.55922 0.58813
EOD
$d27 << EOD
0.05 0.03516 0.011 0.089 0.014259 0.056061
0.15 0.037357 0.111 0.189 0.016403 0.058312
0.25 0.041859 0.211 0.289 0.020904 0.062814
0.35 0.050863 0.311 0.389 0.029908 0.071818
0.45 0.06963 0.411 0.489 0.049435 0.089825
0.55 0.10488 0.511 0.589 0.083929 0.12584
0.65 0.17691 0.611 0.689 0.15596 0.19787
0.75 0.32097 0.711 0.789 0.30002 0.34192
0.85 0.60908 0.811 0.889 0.58813 0.63004
EOD
$d28 << EOD
0.003 0.056061
0.097 0.056061

0.103 0.058312
0.197 0.058312

0.203 0.062814
0.297 0.062814

0.303 0.071818
0.397 0.071818

0.403 0.089825
0.497 0.089825

0.503 0.12584
0.597 0.12584

0.603 0.19787
0.697 0.19787

0.703 0.34192
0.797 0.34192

0.803 0.63004
0.897 0.63004

EOD
$d29 << EOD
0.95 0.02
EOD
$d30 << EOD
0 0.78496
1 0.78496

EOD
set terminal pngcairo size 1600, 767 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'Predicted, batch: resnet50 training on Tesla T4' at screen 0.50000, 0.96441 center font ',17'
set label 2 'Predicted: use batch 64 in fp16: 290 (250 to 340) samples/s in 3.96 GiB (25 % of the cap, safe); larger batches bring 3.2 % at most' at screen 0.50000, 0.92608 center font ',15'
set label 3 'predicted for pytorch · 2026-11-29 02:28' at screen 0.50000, 0.89048 center textcolor rgb '#555555' font ',13'
set label 4 'Warning: small batches wait for the CPU, whose speed is assumed (20 to 110 µs an operation): give --host-launch to predict.' at screen 0.01875, 0.08488 left textcolor rgb '#444444' font ',13'
set label 5 '✕ train/fp32/batch:256 oom: needs 23.5 GiB (predicted), the memory cap is 15.7 GiB' at screen 0.01875, 0.05750 left textcolor rgb '#444444' font ',13'
set label 6 '✕ train/fp16/batch:512 oom: needs 24.1 GiB (predicted), the memory cap is 15.7 GiB' at screen 0.01875, 0.03012 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.06563
set rmargin at screen 0.31771
set bmargin at screen 0.33233
set tmargin at screen 0.72347
set label 31 'Throughput against batch' at screen 0.16667, 0.82203 center font ',13'
set label 32 'Band: 80 % interval of the prediction. Dashed: T∞;' at screen 0.16667, 0.79465 center textcolor rgb '#555555' font ',11'
set label 33 'ring: saturation batch. ✕: no value.' at screen 0.16667, 0.76864 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '2' 0.13312, '4' 0.23795, '8' 0.34277, '16' 0.44759, '32' 0.55241, '64' 0.65723, '128' 0.76205, '256' 0.86688, '512' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.24746 left top Left reverse samplen 2 maxrows 4 font ',13'
plot [0:1][0:1] $d0 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d2 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#00795a' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with points pointtype 6 pointsize 2.88 linewidth 2.2 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d9 using 1:2 with points pointtype 9 pointsize 1.20 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d10 using 1:2 with points pointtype 6 pointsize 2.88 linewidth 2.2 linecolor rgb '#00795a' notitle, \
  $d11 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'fp32, saturates at batch 32, T∞ 109', \
  keyentry with points pointtype -1 title 'samples/s', \
  keyentry with linespoints pointtype 9 pointsize 1.20 linewidth 1.8 linecolor rgb '#00795a' title 'fp16, saturates at batch 64, T∞ 306', \
  keyentry with points pointtype -1 title 'samples/s'
unset label
set lmargin at screen 0.39896
set rmargin at screen 0.65104
set bmargin at screen 0.33233
set tmargin at screen 0.72347
set label 31 'Memory, fp32' at screen 0.50000, 0.82203 center font ',13'
set label 32 'At the peak of a step: 1.03 GiB + 89.9 MiB × batch.' at screen 0.50000, 0.79465 center textcolor rgb '#555555' font ',11'
set label 33 'Fits to batch 167 by the line. ✕: no value.' at screen 0.50000, 0.76864 center textcolor rgb '#555555' font ',11'
set label 40 '1.12' at first 0.055556, 0.055821 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 41 '1.2' at first 0.16667, 0.060212 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 42 '1.38' at first 0.27778, 0.068993 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 43 '1.73' at first 0.38889, 0.086556 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 44 '2.43' at first 0.5, 0.12168 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 45 '3.84' at first 0.61111, 0.19193 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 46 '6.65' at first 0.72222, 0.33244 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set label 47 '12.3' at first 0.83333, 0.61345 center offset 0, 0.6 font ',11' textcolor rgb '#1b1f24'
set xtics ('1' 0.055556, '2' 0.16667, '4' 0.27778, '8' 0.38889, '16' 0.5, '32' 0.61111, '64' 0.72222, '128' 0.83333, '256' 0.94444) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '5' 0.25, '10' 0.5, '15' 0.75, '20' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'GiB'
unset key
set key at screen 0.35208, 0.24746 left top Left reverse samplen 2 maxrows 2 font ',13'
plot [0:1][0:1] $d12 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d13 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d14 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d15 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d16 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d17 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d18 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d19 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  $d21 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 15.7 GiB'
unset label
set lmargin at screen 0.73229
set rmargin at screen 0.98438
set bmargin at screen 0.33233
set tmargin at screen 0.72347
set label 31 'Memory, fp16' at screen 0.83333, 0.82203 center font ',13'
set label 32 'At the peak of a step: 1.08 GiB + 46.1 MiB × batch.' at screen 0.83333, 0.79465 center textcolor rgb '#555555' font ',11'
set label 33 'Fits to batch 324 by the line. ✕: no value.' at screen 0.83333, 0.76864 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.05, '4' 0.25, '16' 0.45, '64' 0.65, '256' 0.85) scale 0 nomirror norotate font ',11'
set ytics ('0' 0, '5' 0.25, '10' 0.5, '15' 0.75, '20' 1) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'GiB'
unset key
plot [0:1][0:1] $d22 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d23 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d24 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d25 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d26 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d27 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d28 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d29 using 1:2 with points pointtype 2 pointsize 1.32 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  $d30 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle
unset label
unset multiplot
unset output
set terminal svg size 1600, 789 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'Predicted, batch: resnet50 training on Tesla T4' at screen 0.50000, 0.96375 center font ',20'
set label 2 'Predicted: use batch 64 in fp16: 290 (250 to 340) samples/s in 3.96 GiB (25 % of the cap, safe); larger batches bring 3.2 % at most' at screen 0.50000, 0.92471 center font ',18'
set label 3 'predicted for pytorch · 2026-11-29 02:28' at screen 0.50000, 0.88847 center textcolor rgb '#555555' font ',16'
set label 4 'Warning: small batches wait for the CPU, whose speed is assumed (20 to 110 µs an operation): give --host-launch to predict.' at screen 0.01875, 0.08644 left textcolor rgb '#444444' font ',16'
set label 5 '✕ train/fp32/batch:256 oom: needs 23.5 GiB (predicted), the memory cap is 15.7 GiB' at screen 0.01875, 0.05856 left textcolor rgb '#444444' font ',16'
set label 6 '✕ train/fp16/batch:512 oom: needs 24.1 GiB (predicted), the memory cap is 15.7 GiB' at screen 0.01875, 0.03067 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.06563
set rmargin at screen 0.31771
set bmargin at screen 0.33815
set tmargin at screen 0.71838
set label 31 'Throughput against batch' at screen 0.16667, 0.81876 center font ',16'
set label 32 'Band: 80 % interval of the prediction. Dashed: T∞;' at screen 0.16667, 0.79087 center textcolor rgb '#555555' font ',14'
set label 33 'ring: saturation batch. ✕: no value.' at screen 0.16667, 0.76439 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '2' 0.13312, '4' 0.23795, '8' 0.34277, '16' 0.44759, '32' 0.55241, '64' 0.65723, '128' 0.76205, '256' 0.86688, '512' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('0' 0, '100' 0.25, '200' 0.5, '300' 0.75, '400' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'samples/s'
unset key
set key at screen 0.01875, 0.25171 left top Left reverse samplen 2 maxrows 4 font ',16'
plot [0:1][0:1] $d0 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d2 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#00795a' notitle, \
  $d4 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d5 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d6 using 1:2 with points pointtype 6 pointsize 1.80 linewidth 2.2 linecolor rgb '#0072b2' notitle, \
  $d7 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#0072b2' notitle, \
  $d8 using 1:2 with lines linewidth 1.8 linecolor rgb '#00795a' notitle, \
  $d9 using 1:2 with points pointtype 9 pointsize 0.75 linewidth 1.6 linecolor rgb '#00795a' notitle, \
  $d10 using 1:2 with points pointtype 6 pointsize 1.80 linewidth 2.2 linecolor rgb '#00795a' notitle, \
  $d11 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#00795a' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'fp32, saturates at batch 32, T∞ 109', \
  keyentry with points pointtype -1 title 'samples/s', \
  keyentry with linespoints pointtype 9 pointsize 0.75 linewidth 1.8 linecolor rgb '#00795a' title 'fp16, saturates at batch 64, T∞ 306', \
  keyentry with points pointtype -1 title 'samples/s'
unset label
set lmargin at screen 0.39896
set rmargin at screen 0.65104
set bmargin at screen 0.33815
set tmargin at screen 0.71838
set label 31 'Memory, fp32' at screen 0.50000, 0.81876 center font ',16'
set label 32 'At the peak of a step: 1.03 GiB + 89.9 MiB × batch.' at screen 0.50000, 0.79087 center textcolor rgb '#555555' font ',14'
set label 33 'Fits to batch 167 by the line. ✕: no value.' at screen 0.50000, 0.76439 center textcolor rgb '#555555' font ',14'
set label 40 '1.12' at first 0.055556, 0.055821 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 41 '1.2' at first 0.16667, 0.060212 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 42 '1.38' at first 0.27778, 0.068993 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 43 '1.73' at first 0.38889, 0.086556 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 44 '2.43' at first 0.5, 0.12168 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 45 '3.84' at first 0.61111, 0.19193 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 46 '6.65' at first 0.72222, 0.33244 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set label 47 '12.3' at first 0.83333, 0.61345 center offset 0, 0.6 font ',14' textcolor rgb '#1b1f24'
set xtics ('1' 0.055556, '2' 0.16667, '4' 0.27778, '8' 0.38889, '16' 0.5, '32' 0.61111, '64' 0.72222, '128' 0.83333, '256' 0.94444) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '5' 0.25, '10' 0.5, '15' 0.75, '20' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'GiB'
unset key
set key at screen 0.35208, 0.25171 left top Left reverse samplen 2 maxrows 2 font ',16'
plot [0:1][0:1] $d12 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d13 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d14 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d15 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d16 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d17 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d18 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d19 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  $d21 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle, \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#332288' title 'weights', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#5fa8d3' title 'gradients', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#b89b2e' title 'activations', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#cc6677' title 'input', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#117733' title 'workspace', \
  keyentry with boxes fillstyle solid 1 noborder linecolor rgb '#9aa0a6' title 'other', \
  keyentry with lines linewidth 1.8 linecolor rgb '#1b1f24' title 'fitted line', \
  keyentry with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' title 'cap 15.7 GiB'
unset label
set lmargin at screen 0.73229
set rmargin at screen 0.98438
set bmargin at screen 0.33815
set tmargin at screen 0.71838
set label 31 'Memory, fp16' at screen 0.83333, 0.81876 center font ',16'
set label 32 'At the peak of a step: 1.08 GiB + 46.1 MiB × batch.' at screen 0.83333, 0.79087 center textcolor rgb '#555555' font ',14'
set label 33 'Fits to batch 324 by the line. ✕: no value.' at screen 0.83333, 0.76439 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.05, '4' 0.25, '16' 0.45, '64' 0.65, '256' 0.85) scale 0 nomirror norotate font ',14'
set ytics ('0' 0, '5' 0.25, '10' 0.5, '15' 0.75, '20' 1) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'GiB'
unset key
plot [0:1][0:1] $d22 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#332288' notitle, \
  $d23 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#5fa8d3' notitle, \
  $d24 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#b89b2e' notitle, \
  $d25 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#cc6677' notitle, \
  $d26 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#117733' notitle, \
  $d27 using 1:2:3:4:5:6 with boxxyerror fillstyle solid 1 noborder linecolor rgb '#9aa0a6' notitle, \
  $d28 using 1:2 with lines linewidth 1.8 linecolor rgb '#1b1f24' notitle, \
  $d29 using 1:2 with points pointtype 2 pointsize 0.83 linewidth 2.4 linecolor rgb '#1b1f24' notitle, \
  $d30 using 1:2 with lines dashtype (8, 6) linewidth 1.6 linecolor rgb '#c4162a' notitle
unset label
unset multiplot
unset output
