Pattern only                                                            tiny    
             2             1             1             0
pua                        3             3             4             0
(13I6)          (13I6)                              
     1     3     4     5
     1     3     2     1
