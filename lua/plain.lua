-- The plain way of take, which decides most calls: those of greedy token buckets and of leaky buckets that wait for no turn,
-- by the server's time, with numbers that are exact as they are. It makes none of the functions and tables that the other
-- ways need.
--
-- It goes from the front for as long as all is plain. What is not ends it before anything was written for that ask, be it the
-- charge, what is stored or what a command says, and take.lua decides that one, by the algorithms, and all behind it. So what
-- is here is there, too: the answers, the states and the times to live are the same.
--
-- The level of a bucket is what is out, in 1/period of a unit. It falls by count each microsecond, and rises by the price of
-- a call. Rounded up to whole units it is what is used, to whole microseconds the time until it has drained; what that adds
-- is the part of a tb, or that of an lb.

-- Returns how long the reply has become, and how many keys are done with; and an error if that is what there is to say of the
-- last of them, as something was written before. What it needs is in its locals, which are quick.
local function decide_plain(now, reply)
  local call, match, format = redis.pcall, string.match, string.format -- an error is for take.lua to meet again
  local n, decided, at = 0, 0, 2
  while decided < #KEYS do
    local charges, asks, counts = match(ARGV[at], '^(%d+) (%d+)(.*)$')
    local buckets = {}
    for c = 1, charges + 0 do
      local code, count, period, capacity, cost = match(ARGV[at + c], '^([tl]b) (%d+) (%d+) (%d+) 0 ([1-9]%d*) 0$')
      if not code then
        return n, decided
      end
      buckets[c] = {
        leaky = code == 'lb',
        count = count + 0,
        period = period + 0,
        capacity = capacity + 0,
        full = capacity * period,
        most = math.min(capacity * period, EXACT - period), -- the highest level, with room to round it up
        price = cost * period,
        level = 0,
      }
    end
    for _ = 1, asks + 0 do
      local calls = 1
      if counts ~= '' then
        calls, counts = match(counts, '^ (%d+)(.*)$')
        calls = calls + 0
      end
      local asked, admitted = calls > 0 and calls or 1, calls
      for c = 1, #buckets do -- read
        local b = buckets[c]
        local count, period, level = b.count, b.period, 0
        local text = call('GET', KEYS[decided + c])
        if text then
          if text.err then
            return n, decided
          end
          if b.leaky then
            local mark, part = match(text, '^(%d+) (%d+)$')
            mark, part = (mark or match(text, '^%d+$') or EXACT) + 0, (part or 0) + 0
            if mark >= EXACT or part >= count then
              return n, decided
            end
            level = (mark - now) * count - part
          else
            local used, mark, part = match(text, '^(%d+) (%d+) (%d+)$')
            if not used then
              return n, decided
            end
            local out, passed = used * period, now - mark
            if out > b.most or passed < 0 or part + 0 >= period then
              return n, decided
            end
            level = out - passed * count - part
          end
          if level < 0 then
            level = 0
          end
        end
        b.level = level
        if level + b.price * asked > b.most then
          local exact = EXACT - period - b.price
          if level > exact or b.full > exact or b.price > b.full then
            return n, decided
          end
          local free = b.full - level
          free = free > 0 and (free - free % b.price) / b.price or 0
          admitted = free < admitted and free or admitted
        end
      end
      local m = n
      if calls > 1 then
        m = m + 1
        reply[m] = admitted
      end
      for c = 1, #buckets do -- write
        local b = buckets[c]
        local count, level, retry = b.count, b.level + b.price * admitted, 0
        if admitted < asked then
          local over = level + b.price - b.full
          retry = over > 0 and (over + -over % count) / count or 0
        end
        local part, rest = -level % b.period, -level % count
        local used, reset = (level + part) / b.period, (level + rest) / count
        local lasts = (reset + -reset % 1000) / 1000
        if admitted == 0 then
          local left = call('PTTL', KEYS[decided + c]) -- see extend, in bucket.lua
          if type(left) ~= 'number' or left <= lasts and left ~= -2 then
            return n, decided
          end
        else
          local text
          if not b.leaky then
            text = format('%d %d %d', used, now, part)
          elseif rest > 0 then
            text = format('%d %d', now + reset, rest)
          else
            text = format('%d', now + reset)
          end
          local err = call('SET', KEYS[decided + c], text, 'PX', format('%d', lasts + 2)).err
          if err and c == 1 then
            return n, decided
          elseif err then
            return n, decided + #buckets, err
          end
        end
        reply[m + 1], reply[m + 2], reply[m + 3] = retry, used < b.capacity and b.capacity - used or 0, reset
        m = m + 3
        if calls > 1 then
          m = m + 1
          reply[m] = part
        end
      end
      n, decided = m, decided + #buckets
    end
    at = at + 1 + #buckets
  end
  return n, decided
end

local reply = { 0, 0, 0, 0 } -- made to measure for one call with one charge
local n, decided, failed = 0, 0, nil -- see decide_plain
if not told then
  n, decided, failed = decide_plain(now, reply)
end
if decided == #KEYS and not failed then
  reply[n + 1] = now
  return reply
end
