-- Buckets of which used, mark and part are the whole state, kept as a text of a few numbers. Their algorithms have two
-- functions more, which call nothing of Redis:
--
--   open(b, text)  reads what is stored and brings it forward to now, or returns true if it is not a text that it writes
--   text(b, reset) returns what to store, at most 44 bytes: Redis keeps such a string in one piece with its header;
--                  reset is the microseconds until the bucket is as new
--
-- Where a text is all digits, + 0 makes a number of it, for less than tonumber does.

local MOST = 8589934592 -- up to 10^9 units are out, and up to 2 * 10^9 more in advance

local function load_text(b)
  local text = redis.call('GET', b.key)
  b.stored, b.ahead = text, false
  if text and b.algorithm.open(b, text) then
    unreadable = true
  elseif not text or b.used <= 0 then
    b.used, b.mark, b.part = 0, now, 0
  end
end

local function store_text(b, microseconds)
  redis.call('SET', b.key, b.algorithm.text(b, microseconds), 'PX', ttl(microseconds))
end

-- Returns a mark that was read, or now if that lies in the future.
local function past(b, mark)
  if mark > now then -- the clock was set back, or is another caller's
    b.ahead = mark
    return now
  end
  return mark
end
