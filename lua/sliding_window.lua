-- Sliding window (sw), the counter that weighs two windows: windows of one period follow each other from 1970 on, and
-- of the previous one there counts the share that a window that ends now would still overlap. Admits while
--
--   previous * (period - elapsed) + (current + cost) * period <= count * period
--
-- Kept are used, the units of the current window, mark, the time of the last change, and part, those of the previous
-- window. With another period, mark says which of the new windows the units are in: the one that it lies in.

function algorithms.sw()
  -- The units that the previous window still counts for, rounded up.
  local function weight(b)
    local whole, rest = muldiv(b.period - now % b.period, b.part, b.period)
    if rest > 0 then
      return whole + 1
    end
    return whole
  end

  return {
    load = load_text,
    store = store_text,

    -- Units come back to the window that they were taken in. Of the previous one that is fewer of the used ones: those
    -- that it still counts for.
    give = function(b, at)
      local start, weighted = now - now % b.period, weight(b)
      if at >= start then
        return math.min(b.cost, b.used - weighted)
      end
      if at >= start - b.period then
        b.part = math.max(0, b.part - b.cost)
      end
      return weighted - weight(b)
    end,

    -- From here on used is that of both windows.
    open = function(b, text)
      local used, mark, part = string.match(text, '^(%d+) (%d+) (%d+)$')
      if not used then
        return true
      end
      used, mark, part = used + 0, mark + 0, part + 0
      if used >= MOST or mark >= EXACT or part > 1000000000 then
        return true
      end
      local start = now - now % b.period
      mark = past(b, mark)
      b.used, b.part = used, part
      if mark < start then
        b.used, b.part = 0, mark >= start - b.period and b.used or 0
      end
      b.mark, b.used = now, b.used + weight(b)
    end,

    wait = function(b, n)
      local ends = b.period - now % b.period
      local current, keep = b.used - weight(b), b.used - n
      if keep >= current then
        return ends - muldiv(b.period, keep - current, b.part)
      end
      return ends + b.period - muldiv(b.period, keep, current)
    end,

    text = function(b)
      return string.format('%d %d %d', b.used - weight(b), b.mark, b.part)
    end,
  }
end
