-- Buckets and what is asked of them: what the scripts take, peek and refund share.
--
-- A charge is one key and six arguments:
--
--   KEYS[i]  the bucket's key
--   ARGV     algorithm  tb, fw, lb or sw, see below
--            count      units per period, 1 to 10^9 and at most period
--            period     microseconds, 1000 to 87600 hours
--            capacity   units, 1 to 10^9; capacity * period / count is at most 100 years
--            refill     of a tb: 0 greedy, 1 interval
--            cost       units, at least 0
--
-- An algorithm is a table of functions of one bucket's state, the time and the charge. They call nothing of Redis. A
-- script begins at its top each time that it is called, so that the tables are made only when they are needed.
--
--   read(text)     returns the stored used, mark and part, or nil if the text is not one that it writes
--   open(b)        brings the state forward to b.now
--   wait(b, n)     returns the microseconds until n of the used units have come back, 0 < n <= b.used
--   refundable(b)  returns how many of the used units a refund may give back; without the function, all
--   text(b)        returns what to store, at most 44 bytes: Redis keeps such a string in one piece with its header

local algorithms = {} -- by their codes, functions that return such a table
local made = {}

local function algorithm(code)
  if not made[code] then
    made[code] = algorithms[code]()
  end
  return made[code]
end

-- The one reading of the clock of a call, in microseconds since 1970, or nil when the server does not know the time:
-- some compatible servers answer 0.
local function clock()
  local time = redis.call('TIME')
  local seconds, micros = tonumber(time[1]), tonumber(time[2])
  if seconds and micros and seconds > 0 and micros >= 0 then
    local now = seconds * 1000000 + micros
    if now < EXACT then
      return now
    end
  end
  return nil
end

local function no_time()
  return redis.error_reply('ERR ratelimit: the server does not know the time')
end

-- Returns the microseconds since the mark. One that lies in the future is moved to now.
local function elapsed(b)
  if b.mark > b.now then -- the server's clock was set back
    b.mark, b.ahead = b.now, true
  end
  return b.now - b.mark
end

-- A bucket with its charge, as it stands at the time now. Its state is
--
--   used  units taken that have not come back; 0 is as new
--   mark  microseconds since 1970; what of, the algorithm says
--   part  a remainder; what of, the algorithm says
--
-- and never configuration, so that a changed limit holds from the next call and keeps what was used.
-- The second result is an error reply when there is a text that cannot be read.
local function bucket(i, now)
  local at = 6 * i
  local b = {
    key = KEYS[i],
    algorithm = algorithm(ARGV[at - 5]),
    count = tonumber(ARGV[at - 4]),
    period = tonumber(ARGV[at - 3]),
    capacity = tonumber(ARGV[at - 2]),
    interval = ARGV[at - 1] == '1',
    cost = tonumber(ARGV[at]),
    now = now,
    used = 0,
    mark = now,
    part = 0,
    stored = false, -- whether the key exists
    ahead = false, -- whether the stored state is one that only the future, or a lower capacity, explains
  }
  local text = redis.call('GET', b.key)
  if not text then
    return b
  end
  local used, mark, part = b.algorithm.read(text)
  if not (used and mark and part and used <= 1000000000 and mark < EXACT and part < EXACT) then
    return b, redis.error_reply('ERR ratelimit: unreadable state')
  end
  b.stored, b.used, b.mark, b.part = true, used, mark, part
  b.algorithm.open(b)
  if b.used <= 0 then
    b.used, b.mark, b.part = 0, now, 0
  end
  return b
end

-- The microseconds after which the charge would be admitted: 0 now, -1 never.
local function retry(b)
  if b.cost > b.capacity then
    return -1
  end
  local lacking = b.used + b.cost - b.capacity
  if b.cost == 0 or lacking <= 0 then
    return 0
  end
  return b.algorithm.wait(b, lacking)
end

-- The microseconds until the bucket is as new.
local function reset(b)
  if b.used == 0 then
    return 0
  end
  return b.algorithm.wait(b, b.used)
end

-- Redis counts a time to live in whole milliseconds from the millisecond that it is in. One more makes up for that,
-- and one more lets extend see, as exactly, that a time to live is still long enough. Redis writes a number that it is
-- handed with 17 digits.
local function ttl(microseconds)
  return divup(microseconds, 1000) + 2
end

local function store(b, microseconds)
  redis.call('SET', b.key, b.algorithm.text(b), 'PX', ttl(microseconds))
end

-- Gives a key that lost its time to live one (PTTL -1), and a longer one to a key whose limit has become slower since
-- it was written. Any other stays as it is.
local function extend(b, microseconds)
  local left = redis.call('PTTL', b.key)
  if left == -1 or microseconds > 0 and left <= divup(microseconds, 1000) then
    redis.call('PEXPIRE', b.key, ttl(microseconds))
  end
end

-- Appends the reply to one charge: retry and reset in microseconds, and the units that are left.
local function answer(reply, b, wait, microseconds)
  local n = #reply
  reply[n + 1] = wait
  reply[n + 2] = b.used < b.capacity and b.capacity - b.used or 0
  reply[n + 3] = microseconds
end
