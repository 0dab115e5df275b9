Pattern only, lower triangle                                            tiny    
             2             1             1             0
psa                        3             3             3             0
(13I6)          (13I6)                              
     1     3     4     4
     1     2     3
