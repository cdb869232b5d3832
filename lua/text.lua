-- Buckets of which used, mark and part are the whole state, kept as a text of a few numbers. Their algorithms have three
-- functions more, which call nothing of Redis:
--
--   read(text)  returns the stored used, mark and part, or nil if the text is not one that it writes
--   open(b)     brings the state forward to now
--   text(b)     returns what to store, at most 44 bytes: Redis keeps such a string in one piece with its header

local function load_text(b)
  local text = redis.call('GET', b.key)
  if not text then
    return
  end
  local used, mark, part = b.algorithm.read(text)
  -- Up to 10^9 units are out, and up to 2 * 10^9 more in advance.
  if not (used and mark and part and used < 8589934592 and mark < EXACT and part < EXACT) then
    unreadable = true
    return
  end
  b.stored, b.used, b.mark, b.part = true, used, mark, part
  b.algorithm.open(b)
  if b.used <= 0 then
    b.used, b.mark, b.part = 0, now, 0
  end
end

local function store_text(b, microseconds)
  redis.call('SET', b.key, b.algorithm.text(b), 'PX', ttl(microseconds))
end

-- Returns the microseconds since the mark. One that lies in the future is moved to now.
local function elapsed(b)
  if b.mark > now then -- the clock was set back, or is another caller's
    b.mark, b.ahead = now, b.mark
  end
  return now - b.mark
end
