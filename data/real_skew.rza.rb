Skew-symmetric, strictly lower triangle                                 tiny    
             3             1             1             1
rza                        3             3             2             0
(13I6)          (13I6)          (1P5E16.8)          
     1     2     3     3
     2     3
 -1.00000000E+00  2.50000000E-01
