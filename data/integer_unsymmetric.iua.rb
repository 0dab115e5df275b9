Integers                                                                tiny    
             3             1             1             1
iua                        2             2             3             0
(13I6)          (13I6)          (8I10)              
     1     3     4
     1     2     2
         1       -20         3
