-- Token bucket (tb), e.g. RFC 2697 section 3: holds up to capacity tokens, starts full, a call takes its cost in
-- tokens. Refilled when it is looked at.
--
--   greedy    count tokens come back each period, continuously. mark is when the bucket was last looked at, part the
--             progress to the next token, in 1/period of a token.
--   interval  count tokens come back at once after each full period. mark is the start of the period, part is 0.
--
-- It keeps the tokens that are out, not those that are left: with another capacity they would be another number.
-- More tokens out than there are, after capacity was lowered, are as many as there are: the bucket is empty, and no
-- one waits longer than it takes to fill.

-- Returns the microseconds until n units have come back, count of them each period, of which part has already done so.
local function refill_wait(b, n)
  local whole, rest = muldiv(b.period, n, b.count)
  return whole + divup(rest - b.part, b.count)
end

function algorithms.tb()
  return {
    read = function(text)
      local used, mark, part = string.match(text, '^(%d+) (%d+) (%d+)$')
      return tonumber(used), tonumber(mark), tonumber(part)
    end,

    open = function(b)
      local period = b.period
      local passed = elapsed(b)
      if b.used > b.capacity then
        b.used, b.part = b.capacity, 0
      end
      if b.interval then
        local spent = fmod(passed, period)
        b.used = b.used - (passed - spent) / period * b.count -- inexact only where it is far below zero
        b.mark, b.part = b.now - spent, 0
        return
      end
      local back, part = muldiv(passed, b.count, period)
      part = part + (b.part < period and b.part or period - 1) -- the period may have become shorter
      if part >= period then
        back, part = back + 1, part - period
      end
      b.used, b.mark, b.part = b.used - back, b.now, part
    end,

    wait = function(b, n)
      if b.interval then
        return divup(n, b.count) * b.period - (b.now - b.mark)
      end
      return refill_wait(b, n)
    end,

    text = function(b)
      return string.format('%d %d %d', b.used, b.mark, b.part)
    end,
  }
end
