! oneMKL's functions by the names that a Fortran compiler gives them: a convection problem on a line, with
! two right-hand sides; the residual is printed and judged.
program mkl_test
  implicit none
  integer, parameter :: n = 200, nrhs = 2
  integer(kind=8) :: pt(64)
  integer :: iparm(64), ia(n + 1), ja(3 * n), perm(1), error, i, k, column
  double precision :: a(3 * n), b(n, nrhs), x(n, nrhs), worst, total
  external :: pardiso, pardisoinit

  k = 0
  do i = 1, n
    ia(i) = k + 1
    do column = max(1, i - 1), min(n, i + 1)
      k = k + 1
      ja(k) = column
      if (column == i) a(k) = 3d0
      if (column == i - 1) a(k) = -1.5d0
      if (column == i + 1) a(k) = -0.5d0
    end do
  end do
  ia(n + 1) = k + 1
  do i = 1, n
    b(i, 1) = 1d0
    b(i, 2) = dble(i)
  end do

  call pardisoinit(pt, 11, iparm)
  call pardiso(pt, 1, 1, 11, 13, n, a, ia, ja, perm, nrhs, iparm, 0, b, x, error)
  if (error /= 0) stop 1
  worst = 0d0
  do column = 1, nrhs
    do i = 1, n
      total = -b(i, column)
      do k = ia(i), ia(i + 1) - 1
        total = total + a(k) * x(ja(k), column)
      end do
      worst = max(worst, abs(total) / maxval(abs(b(:, column))))
    end do
  end do
  call pardiso(pt, 1, 1, 11, -1, n, a, ia, ja, perm, nrhs, iparm, 0, b, x, error)
  if (error /= 0) stop 2
  print '(a, es8.1)', 'residual', worst
  if (worst > 1d-13) stop 3
end program mkl_test
