-- Leaky bucket (lb), as the generic cell rate algorithm of ITU-T I.371: holds up to capacity units and starts empty, a
-- call pours its cost in, count units drain each period, continuously.
--
-- It is a greedy token bucket that is kept as one time: mark is the theoretical arrival time, at which the bucket will
-- have drained, rounded up to a microsecond, and part what was added for that, in 1/count of a microsecond. With another
-- limit the bucket drains at the same time as before, and holds what drains until then.
--
-- It may hold more than its capacity: calls wait for their turn, the capacity was lowered, or the clock was set back,
-- which a single time cannot tell apart. It drains all the same. So a clock that was set back looks like calls that
-- filled the bucket, and locks out for as long as the step, never longer.

function algorithms.lb()
  return {
    load = load_text,
    store = store_text,
    give = give_turn,
    hear = hear,

    -- From here on mark is now, and part the progress to the next unit in 1/period of a unit, as in a token bucket.
    open = function(b, text)
      local mark, part = string.match(text, '^%d+$'), 0
      if not mark then
        mark, part = string.match(text, '^(%d+) (%d+)$')
      end
      if not mark then
        return true
      end
      mark, part = mark + 0, part + 0
      if mark >= EXACT or part >= EXACT then
        return true
      end
      local due = mark - now
      if due <= 0 then
        b.used = 0
        return
      end
      local used, rest = muldiv(due, b.count, b.period)
      part = (part < b.count and part or b.count - 1) - rest -- the count may have become lower
      if part < 0 then
        used, part = used + 1, part + b.period
      end
      b.used, b.mark, b.part = used, now, part
    end,

    wait = refill_wait,

    text = function(b, microseconds) -- until it has drained
      local product = b.period * b.used
      local drained = microseconds * b.count
      local part
      if drained < EXACT then -- and so is product
        part = drained - product + b.part
      else
        local _, rest = muldiv(b.period, b.used, b.count)
        part = divup(rest - b.part, b.count) * b.count - rest + b.part
      end
      if part == 0 then
        return string.format('%d', now + microseconds)
      end
      return string.format('%d %d', now + microseconds, part)
    end,
  }
end
