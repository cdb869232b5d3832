-- The plain way of take, which decides most calls: those of greedy token buckets and of leaky buckets that wait for no turn,
-- by the server's time, with numbers that are exact as they are, and merged ones if all of them are admitted. It makes none
-- of the functions and tables that the other ways need.
--
-- It goes from the front for as long as all is plain. What is not ends it before anything was written for that ask, and
-- take.lua decides that one, by the algorithms, and all behind it. So what is here is there, too: the answers, the states
-- and the times to live are the same.
--
-- The level of a bucket is what is out, in 1/period of a unit. It falls by count each microsecond, and rises by the price of
-- a call. Rounded up to whole units it is what is used, to whole microseconds the time until it has drained; what that adds
-- is the part of a tb, or that of an lb.

-- Returns how long the reply has become, and of how many keys it is. What it needs is in its locals, which are quick.
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
        most = math.min(capacity * period, EXACT - period), -- the highest level, with room to round it up
        price = cost * period,
        level = 0,
        retry = 0,
      }
    end
    for _ = 1, asks + 0 do
      local calls, refused = 1, false
      if counts ~= '' then
        calls, counts = match(counts, '^ (%d+)(.*)$')
        refused = calls == '0' -- elsewhere
        calls = refused and 1 or calls + 0
      end
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
        b.level, b.retry = level, 0
        level = level + b.price * calls
        if level > b.most then
          local over = level - b.capacity * period
          if calls > 1 or over > b.level or level > EXACT - period then
            return n, decided
          end
          b.retry, refused = (over + -over % count) / count, true
        end
      end
      local m = n
      if calls > 1 then
        m = m + 1
        reply[m] = calls
      end
      for c = 1, #buckets do -- write, of which nothing fails but the first
        local b = buckets[c]
        local level = refused and b.level or b.level + b.price * calls
        local part, rest = -level % b.period, -level % b.count
        local used, reset = (level + part) / b.period, (level + rest) / b.count
        local lasts = (reset + -reset % 1000) / 1000
        if refused then
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
          if call('SET', KEYS[decided + c], text, 'PX', format('%d', lasts + 2)).err then
            return n, decided
          end
        end
        reply[m + 1], reply[m + 2], reply[m + 3] = b.retry, used < b.capacity and b.capacity - used or 0, reset
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
local n, decided = 0, 0 -- how much of it there is, and of how many keys
if not told then
  n, decided = decide_plain(now, reply)
end
if decided == #KEYS then
  reply[n + 1] = now
  return reply
end
