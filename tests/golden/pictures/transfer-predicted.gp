set encoding utf8
set border 3 linecolor rgb '#606060'
set tics out textcolor rgb '#202020'
set grid ytics linecolor rgb '#e4e4e4' linewidth 1 linetype 1
$d0 << EOD
0.028302 0.7375
0.5 0.78078
0.9717 0.97656
0.9717 0.88132
0.5 0.6847
0.028302 0.59879

EOD
$d1 << EOD
0.028302 0.65025
0.5 0.73037
0.9717 0.92894

EOD
$d2 << EOD
0.028302 0.65025
0.5 0.73037
0.9717 0.92894
EOD
$d3 << EOD
0.028302 0.028302
0.5 0.24759
0.9717 0.46688

EOD
$d4 << EOD
0.028302 0.028302
0.5 0.24759
0.9717 0.46688
EOD
set terminal pngcairo size 1600, 698 font 'DejaVu Sans,13' noenhanced background rgb 'white'
set output 'picture.png'
set multiplot
set label 1 'Predicted, transfer: resnet18 training on Tesla T4' at screen 0.50000, 0.96089 center font ',17'
set label 2 'Predicted: moving a batch of 64 (36.8 MiB) takes at least 2.45 ms, 1.3 % of a step of 196 ms (125 ms to 307 ms);' at screen 0.50000, 0.91877 center font ',15'
set label 3 'overlapped it may cost nothing' at screen 0.50000, 0.87966 center font ',15'
set label 4 'predicted for pytorch · 2026-11-30 09:44' at screen 0.50000, 0.84054 center textcolor rgb '#555555' font ',13'
set label 5 'Warning: small batches wait for the CPU, whose speed is assumed (20 to 110 µs an operation): give --host-launch to predict.' at screen 0.01875, 0.03309 left textcolor rgb '#444444' font ',13'
set lmargin at screen 0.07238
set rmargin at screen 0.98438
set bmargin at screen 0.21433
set tmargin at screen 0.68711
set label 31 'A step, and the copy of its batch' at screen 0.50000, 0.76533 center font ',13'
set label 32 'Band: 80 % interval of the prediction.' at screen 0.50000, 0.73524 center textcolor rgb '#555555' font ',11'
set xtics ('1' 0.028302, '2' 0.18553, '4' 0.34277, '8' 0.5, '16' 0.65723, '32' 0.81447, '64' 0.9717) scale 0.6 nomirror norotate font ',11'
set ytics ('100 µs' 0.12973, '1 ms' 0.37255, '10 ms' 0.61538, '100 ms' 0.8582) scale 0.6 nomirror font ',11'
set xlabel 'batch' offset 0, 0.3
set ylabel 'time'
unset key
set key at screen 0.01875, 0.12106 left top Left reverse samplen 2 maxrows 1 font ',13'
plot [0:1][0:1] $d0 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 1.20 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with points pointtype 5 pointsize 1.20 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 1.20 linewidth 1.8 linecolor rgb '#0072b2' title 'step', \
  keyentry with linespoints pointtype 5 pointsize 1.20 linewidth 1.8 linecolor rgb '#c24a00' title 'copy of the batch, at least'
unset label
unset multiplot
unset output
set terminal svg size 1600, 715 font 'DejaVu Sans,16' noenhanced background rgb 'white'
set output 'picture.svg'
set multiplot
set label 1 'Predicted, transfer: resnet18 training on Tesla T4' at screen 0.50000, 0.96000 center font ',20'
set label 2 'Predicted: moving a batch of 64 (36.8 MiB) takes at least 2.45 ms, 1.3 % of a step of 196 ms (125 ms to 307 ms);' at screen 0.50000, 0.91692 center font ',18'
set label 3 'overlapped it may cost nothing' at screen 0.50000, 0.87692 center font ',18'
set label 4 'predicted for pytorch · 2026-11-30 09:44' at screen 0.50000, 0.83692 center textcolor rgb '#555555' font ',16'
set label 5 'Warning: small batches wait for the CPU, whose speed is assumed (20 to 110 µs an operation): give --host-launch to predict.' at screen 0.01875, 0.03385 left textcolor rgb '#444444' font ',16'
set lmargin at screen 0.07125
set rmargin at screen 0.98438
set bmargin at screen 0.21846
set tmargin at screen 0.68000
set label 31 'A step, and the copy of its batch' at screen 0.50000, 0.76000 center font ',16'
set label 32 'Band: 80 % interval of the prediction.' at screen 0.50000, 0.72923 center textcolor rgb '#555555' font ',14'
set xtics ('1' 0.028302, '2' 0.18553, '4' 0.34277, '8' 0.5, '16' 0.65723, '32' 0.81447, '64' 0.9717) scale 0.6 nomirror norotate font ',14'
set ytics ('100 µs' 0.12973, '1 ms' 0.37255, '10 ms' 0.61538, '100 ms' 0.8582) scale 0.6 nomirror font ',14'
set xlabel 'batch' offset 0, 0.3
set ylabel 'time'
unset key
set key at screen 0.01875, 0.12308 left top Left reverse samplen 2 maxrows 1 font ',16'
plot [0:1][0:1] $d0 using 1:2 with filledcurves closed fillstyle transparent solid 0.16 noborder linecolor rgb '#0072b2' notitle, \
  $d1 using 1:2 with lines linewidth 1.8 linecolor rgb '#0072b2' notitle, \
  $d2 using 1:2 with points pointtype 7 pointsize 0.75 linewidth 1.6 linecolor rgb '#0072b2' notitle, \
  $d3 using 1:2 with lines linewidth 1.8 linecolor rgb '#c24a00' notitle, \
  $d4 using 1:2 with points pointtype 5 pointsize 0.75 linewidth 1.6 linecolor rgb '#c24a00' notitle, \
  keyentry with linespoints pointtype 7 pointsize 0.75 linewidth 1.8 linecolor rgb '#0072b2' title 'step', \
  keyentry with linespoints pointtype 5 pointsize 0.75 linewidth 1.8 linecolor rgb '#c24a00' title 'copy of the batch, at least'
unset label
unset multiplot
unset output
