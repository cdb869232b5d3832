-- Buckets and what is asked of them: what all scripts share.
--
-- KEYS has the keys of buckets, and ARGV, of which all but take.lua have nothing else:
--
--   ARGV[1]      the caller's time, in microseconds since 1970, or nothing for the server's
--   ARGV[1 + i]  the charge of the bucket of KEYS[i], seven words in one text, each followed by a space but the last:
--
--            algorithm  tb, fw, lb, sw, sl or cc, see below
--            count      units per period, 1 to 10^9 and at most period; of a cc holders at once, 1 to 10^9
--            period     microseconds, 1000 to 87600 hours; of a cc the lease
--            capacity   units, 1 to 10^9; capacity * period / count is at most 100 years
--            refill     of a tb: 0 greedy, 1 interval
--            cost       units, at least 0; of a cc that can be admitted at most 1000
--            extra      of a tb or lb: how long the caller would wait for its turn, in microseconds, and, where a call
--                       that waits gives up, what was left of its delay: "wait" or "wait delay";
--                       of a cc: the holder, 1 to 128 printable ASCII characters without spaces, or nothing to look only;
--                       of a fw, sw or sl: when what a refund gives back was taken, in microseconds since 1970, as the
--                       reply to the take said, or nothing for just now
--
-- An algorithm is a table of functions of one bucket's state, the time and the charge. A script begins at its top each
-- time that it is called, so that the tables are made only when they are needed.
--
--   hear(b)                 reads extra; without the function, there is nothing to read
--   load(b)                 reads the stored state and brings it forward to now
--   wait(b, n)              returns the microseconds until n of the used units have come back; n is b.used, or from 1 to
--                           b.used - b.own
--   take(b)                 prepares for the cost to be added to used; without the function, nothing is to be prepared
--   give(b, at)             prepares for units to come back that were taken at that time, and returns how many of the
--                           used ones do, or more than there are; without the function, the cost
--   store(b, microseconds)  stores the state, to live for that long
--
-- What they need of a key they read in load, give, and wait for a part of what is used, all of which come before anything
-- is written: a state that cannot be read is found out in time.

-- By their codes, functions that return such a table, for which there is room at once.
local algorithms = { tb = false, fw = false, lb = false, sw = false, sl = false, cc = false }
local made = {}

local UNREADABLE = 'ERR ratelimit: unreadable state'
local unreadable = false -- whether something is stored that its algorithm does not write; then no bucket is to be believed

-- Returns a bucket for a charge, which may serve several calls one after the other, each with a key of its own. Its state is
--
--   used  units taken that have not come back; 0 is as new
--   mark  microseconds since 1970; what of, the algorithm says
--   part  a remainder; what of, the algorithm says
--
-- or more than that, and never configuration, so that a changed limit holds from the next call and keeps what was used.
local function bucket(charge)
  local code, count, period, capacity, refill, cost, extra =
    string.match(charge, '^(%l+) (%d+) (%d+) (%d+) (%d) (%d+) (.*)$')
  made[code] = made[code] or algorithms[code]()
  local b = { -- Lua makes room for what is named here, and would have to make more for anything else
    key = nil,
    algorithm = made[code],
    count = count + 0,
    period = period + 0,
    capacity = capacity + 0,
    interval = refill == '1',
    cost = cost + 0,
    extra = extra,
    patience = 0, -- microseconds that the caller would wait for its turn
    used = 0,
    mark = 0,
    part = 0,
    own = 0, -- how many of the used units the charge asks for again, and need not be taken
    stored = false, -- whether the key exists
    ahead = false, -- the time of a stored state that only the future explains
    retry = 0, -- when the charge would be admitted, see retry
  }
  if b.algorithm.hear then
    b.algorithm.hear(b)
  end
  return b
end

local late = false -- whether the buckets know a later time than the caller

-- Loads the buckets of a call.
--
-- Callers' clocks differ, and calls overtake each other, so that a call may come with an earlier time than one that was
-- decided before it. It is decided at the time of that one, the latest that its buckets know. Taken to the present, as
-- from the future of a server's clock that was set back, they would get once more what has come back since, each time
-- that the callers take turns.
local function load_all(buckets)
  local latest = now
  for i = 1, #buckets do
    local b = buckets[i]
    b.algorithm.load(b)
    if told and b.ahead and b.ahead > latest then
      latest = b.ahead
    end
  end
  if latest > now then
    now, late = latest, true
    load_all(buckets)
  end
end

-- Returns the buckets of all keys, where each has a charge of its own. With trusts, a tb has what anybody can have taken
-- in advance, however long that one would wait: what is stored without being taken from keeps the turns of those who were
-- told them.
local function buckets_of_keys(trusts)
  local buckets = {}
  for i = 1, #KEYS do
    local b = bucket(ARGV[1 + i])
    b.key = KEYS[i]
    b.trusts = trusts
    buckets[i] = b
  end
  load_all(buckets)
  return buckets
end

-- Returns an integer that was read of the state.
local function integer(b, text)
  local n = text and string.match(text, '^%d+$') and tonumber(text)
  if n and n < EXACT then
    return n
  end
  unreadable = true
  return 0
end

-- When the charge would be admitted: 0 now, -1 never, otherwise after that many microseconds. A caller that waits for
-- its turn is admitted now if that is soon enough, and pays at once: -1 - n that it has to wait for n microseconds.
local function retry(b)
  if b.cost > b.capacity then
    return -1
  end
  local lacking = b.used - b.own + b.cost - b.capacity
  if b.cost == 0 or lacking <= 0 then
    return 0
  end
  local wait = b.algorithm.wait(b, lacking)
  if wait > b.patience then
    return wait - b.patience
  end
  return -1 - wait
end

-- The microseconds until the bucket is as new.
local function reset(b)
  if b.used == 0 then
    return 0
  end
  return b.algorithm.wait(b, b.used)
end

-- Redis counts a time to live in whole milliseconds from the millisecond that it is in. One more makes up for that,
-- and one more lets extend see, as exactly, that a time to live is still long enough. What Redis is handed is a text:
-- it would write a number with 17 digits, which is as right and takes longer.
local function ttl(microseconds)
  return string.format('%d', divup(microseconds, 1000) + 2)
end

-- Gives a key that lost its time to live one (PTTL -1), and a longer one to a key whose limit has become slower since
-- it was written. Any other stays as it is. So does that of a late call: the state stands still until the callers' time
-- has reached it, unless the key expires before, which is by the server's clock.
local function extend(b, microseconds)
  local left = redis.call('PTTL', b.key)
  if left == -1 or microseconds > 0 and not late and left <= divup(microseconds, 1000) then
    redis.call('PEXPIRE', b.key, ttl(microseconds))
  end
end

-- Adds the reply to a charge after the first n of it, and returns n + 3: when the charge would be admitted, the units that
-- are left, and the microseconds until the bucket is as new.
local function answer(reply, n, b, microseconds)
  reply[n + 1] = b.retry
  reply[n + 2] = b.used < b.capacity and b.capacity - b.used or 0
  reply[n + 3] = microseconds
  return n + 3
end
