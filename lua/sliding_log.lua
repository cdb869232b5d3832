-- Sliding log (sl): keeps when units were taken, and admits count in any span of one period, exactly. A unit counts while
-- less than a period has passed.
--
-- Kept is a list of running totals with the times of the entries between them, in microseconds since 1970:
--
--   total, time, total, time, total, ...
--
-- An entry is what was taken at one time: the total after it less the total before it. So a call is one entry whatever
-- it costs, and what a span holds is one subtraction. Entries are numbered from 1, and total 0 is what came before the
-- first. All are in the order of time; of an entry from the future, which a clock that was set back leaves behind, the
-- time is now.
--
-- Nothing looks at more entries than it takes to find one by bisection. What is written is a cut at each end and the
-- newest entry: b.first and b.before are the first and the last of the entries that stay as they are, base is the total
-- before them, and after them comes one that ends at the total base + used and has the time mark.
--
-- Were units to come back from the midst of the log, all totals after them would change. The oldest do so instead, by a
-- higher total 0. Those that stay are later than those that should, so that no span ever holds more than count of what was
-- not given back.

function algorithms.sl()
  local function element(b, index)
    return integer(b, redis.call('LINDEX', b.key, index))
  end

  local function total(b, i)
    return element(b, string.format('%d', 2 * i))
  end

  local function time(b, i)
    return element(b, string.format('%d', 2 * i - 1))
  end

  -- Of a row of entries that far is true of from some entry on, from near to far: returns the last of which it is not
  -- true and the first of which it is. It is not called for near and far themselves, and first where the answer is likely
  -- to be, next to near.
  local function edge(near, far, like_far)
    local way, step, left = near < far and 1 or -1, 1, math.abs(far - near)
    while left > 1 do
      step = math.min(step, math.floor(left / 2))
      local i = near + way * step
      if like_far(i) then
        far, left = i, step
      else
        near, left = i, left - step
      end
      step = 2 * step
    end
    return near, far
  end

  -- Whether a time is that of the newest entry. Units taken within a tick share an entry, so that no log grows far beyond
  -- a million entries: a tick is a microsecond, or a millionth of a period for more than a million units.
  local function newest(b, at)
    local tick = b.count > 1000000 and divup(b.period, 1000000) or 1
    return b.mark - b.mark % tick == at - at % tick
  end

  return {
    load = function(b)
      local length = redis.call('LLEN', b.key)
      b.stored, b.ahead = false, false
      b.used, b.mark = 0, now
      b.entries, b.first, b.before, b.base = 0, 1, 0, 0
      if length == 0 then
        return
      end
      local oldest, newest, ends = element(b, '1'), (length - 1) / 2, element(b, '-1')
      b.base, b.mark = element(b, '0'), element(b, '-2')
      if length % 2 == 0 or b.base >= ends or oldest > b.mark then
        unreadable = true
        return
      end
      b.stored, b.entries, b.before = true, newest, newest - 1
      local out = now - b.period -- an entry of this time does not count
      if b.mark <= out then
        b.first, b.before, b.base, b.mark = newest + 1, newest, ends, now
      elseif oldest <= out then
        local last
        last, b.first = edge(1, newest, function(i) return time(b, i) > out end)
        b.base = total(b, last)
      end
      b.used = ends - b.base
      if b.mark > now then
        local after = edge(newest, b.first - 1, function(i) return time(b, i) <= now end)
        b.before, b.mark, b.ahead = after - 1, now, b.mark
      end
    end,

    wait = function(b, n)
      local at = b.mark
      if n < b.used then
        local _, i = edge(b.first - 1, b.before + 1, function(i) return total(b, i) >= b.base + n end)
        if i <= b.before then
          at = time(b, i)
        end
      end
      return at + b.period - now
    end,

    take = function(b)
      if b.used > 0 and not newest(b, now) then
        b.before = b.before + 1
      end
      b.mark = now
    end,

    -- The newest units come back if they are those that were taken, which leaves the log as it was before them. For any
    -- others it is the oldest.
    give = function(b, at)
      local rest = b.cost
      if b.used > 0 and newest(b, at) then
        local units = b.base + b.used - total(b, b.before)
        rest = b.cost - units
        if rest >= 0 and units < b.used then
          b.mark, b.before = time(b, b.before), b.before - 1
        end
      elseif at <= now - b.period then
        return 0
      end
      if rest > 0 then
        b.base, b.raised = b.base + rest, true
        local _, i = edge(b.first - 1, b.before + 1, function(i) return total(b, i) > b.base end)
        b.first = i
      end
      return b.cost
    end,

    store = function(b, microseconds)
      local mark, ends = string.format('%d', b.mark), string.format('%d', b.base + b.used)
      if b.first > 1 or b.before < b.entries then
        redis.call('LTRIM', b.key, string.format('%d', 2 * (b.first - 1)), string.format('%d', 2 * b.before))
      elseif b.entries == 0 then
        redis.call('RPUSH', b.key, '0')
      end
      if b.raised then
        redis.call('LSET', b.key, '0', string.format('%d', b.base))
      end
      redis.call('RPUSH', b.key, mark, ends)
      redis.call('PEXPIRE', b.key, ttl(microseconds))
    end,
  }
end
