-- Exact arithmetic.
--
-- A number of Lua 5.1 is a double, which holds integers exactly below 2^53. All numbers of these scripts are integers,
-- times are microseconds, and each function says in which range it is exact. Neither .. nor tostring, which keep 14 digits,
-- are used on numbers. The operator % goes through a rounded quotient, a - floor(a / b) * b, and is exact all the same: below
-- 2^53, a quotient that is not whole is further from the next integer than it is rounded by.

-- muldiv returns the quotient and the remainder of a * b / c.
-- 0 <= a, b < 2^53, 0 < c < 2^49, quotient < 2^53.
local function muldiv(a, b, c)
  local product = a * b
  if product < EXACT then
    local rest = product % c
    return (product - rest) / c, rest
  end
  -- With a = whole * c + part, what is left is part * b / c: long multiplication by the octal digits of b, divided
  -- on the way. A step stays below 8c + 7c < 2^53.
  local part = a % c
  local whole = (a - part) / c * b
  local quotient, rest, unit = 0, 0, 1073741824 -- 8^10, the unit of the first of eleven digits, or more
  while b >= unit * 8 do
    unit = unit * 8
  end
  repeat
    local lower = b % unit
    local step = rest * 8 + part * ((b - lower) / unit)
    rest = step % c
    quotient = quotient * 8 + (step - rest) / c
    b, unit = lower, unit / 8
  until unit < 1
  return whole + quotient, rest
end

-- divup returns a / b, rounded up. -2^53 < a < 2^53, 0 < b.
local function divup(a, b)
  local rest = a % b -- 0 or above, whatever the sign of a
  local quotient = (a - rest) / b
  if rest > 0 then
    return quotient + 1
  end
  return quotient
end
