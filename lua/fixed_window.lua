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

    read = function(text)
      local used, mark = string.match(text, '^(%d+) (%d+)$')
      return tonumber(used), tonumber(mark), 0
    end,

    open = function(b)
      if elapsed(b) >= b.period then
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
