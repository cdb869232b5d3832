-- The plain way of take, which decides most calls: those of greedy token buckets and of leaky buckets that wait for no
-- turn, by the server's time, none of them merged, with numbers that are exact as they are. It makes no functions or tables
-- that only others need, and calls none.
--
-- It goes from the front as far as all is plain. What is not ends it before anything was written for that ask, and take.lua
-- decides that one, by the algorithms, and all behind it. So what is here is there, too: the answers, the states and the
-- times to live are the same.
--
-- Of either algorithm the level is what is out, in 1/period of a unit. It falls by count each microsecond, and in those
-- parts a call's cost is its price. Rounded up to whole units it is used, to microseconds the time until it has drained;
-- what that adds are the part of a tb and the part of an lb.

local reply = { 0, 0, 0, 0 } -- made to measure for one call with one charge

-- Returns of how many keys the asks have been decided and are in the reply.
local function decide_plain()
  local call, match, format = redis.pcall, string.match, string.format -- an error is for take.lua to meet again
  local decided, at = 0, 2
  while decided < #KEYS do
    local charges, asks = match(ARGV[at], '^(%d+) (%d+)$')
    if not asks then
      return decided
    end
    local buckets = {}
    for c = 1, charges + 0 do
      local code, count, period, capacity, cost = match(ARGV[at + c], '^([tl]b) (%d+) (%d+) (%d+) 0 ([1-9]%d*) 0$')
      if not code then
        return decided
      end
      buckets[c] = {
        leaky = code == 'lb',
        count = count + 0,
        period = period + 0,
        capacity = capacity + 0,
        most = math.min(capacity * period, EXACT - period), -- the highest level, as far as there is room for a remainder
        price = cost * period,
        level = 0,
        retry = 0,
      }
    end
    for _ = 1, asks + 0 do
      local refused = false
      for c = 1, #buckets do
        local b = buckets[c]
        local count, period, level = b.count, b.period, 0
        local text = call('GET', KEYS[decided + c])
        if text then
          if text.err then
            return decided
          end
          if b.leaky then
            local mark, part = match(text, '^(%d+) (%d+)$')
            mark, part = (mark or match(text, '^%d+$') or EXACT) + 0, (part or 0) + 0
            if mark >= EXACT or part >= count then
              return decided
            end
            level = (mark - now) * count - part
          else
            local used, mark, part = match(text, '^(%d+) (%d+) (%d+)$')
            if not used then
              return decided
            end
            local out, passed = used * period, now - mark
            if out > b.most or passed < 0 or part + 0 >= period then
              return decided
            end
            level = out - passed * count - part
          end
          if level < 0 then
            level = 0
          end
        end
        b.level, b.retry = level, 0
        if level + b.price > b.most then
          local over = level + b.price - b.capacity * period
          if over > level or level + b.price > EXACT - period then
            return decided
          end
          b.retry, refused = (over + -over % count) / count, true
        end
      end
      for c = 1, #buckets do
        local b = buckets[c]
        local level = refused and b.level or b.level + b.price
        local part, rest = -level % b.period, -level % b.count
        local used, reset = (level + part) / b.period, (level + rest) / b.count
        local lasts = (reset + -reset % 1000) / 1000
        if refused then
          local left = call('PTTL', KEYS[decided + c])
          if type(left) ~= 'number' or left <= lasts and left ~= -2 then
            return decided
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
            return decided
          end
        end
        local n = 3 * (decided + c)
        reply[n - 2], reply[n - 1], reply[n] = b.retry, used < b.capacity and b.capacity - used or 0, reset
      end
      decided = decided + #buckets
    end
    at = at + 1 + #buckets
  end
  return decided
end

local decided = told and 0 or decide_plain()
if decided == #KEYS then
  reply[3 * decided + 1] = now
  return reply
end
