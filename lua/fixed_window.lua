-- Fixed window (fw), the counter with an expiry of Redis's documentation of INCR: count units in a window of one
-- period, which starts at the first admitted charge. mark is the start of the window, part is 0. What was taken in a
-- window that is over does not come back.

function algorithms.fw()
  return {
    load = load_text,
    store = store_text,

    give = function(b, at)
      return at < b.mark and 0 or b.cost
    end,

    open = function(b, text)
      local used, mark = string.match(text, '^(%d+) (%d+)$')
      if not used then
        return true
      end
      used, mark = used + 0, mark + 0
      if used >= MOST or mark >= EXACT then
        return true
      end
      b.used, b.mark = used, past(b, mark)
      if now - b.mark >= b.period then
        b.used = 0
      end
    end,

    wait = function(b)
      return b.period - (now - b.mark)
    end,

    text = function(b)
      return string.format('%d %d', b.used, b.mark)
    end,
  }
end
