Rectangular, 2 x 4                                                      tiny    
             3             1             1             1
rra                        2             4             2             0
(13I6)          (13I6)          (5F10.4)            
     1     2     2     2     3
     2     1
    1.5000   -2.0000
