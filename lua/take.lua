-- Take: decides calls, one after the other, at one instant. Each charges every bucket of its own, or none if one of them
-- refuses, and sees what those before it took.
--
-- KEYS        the buckets, in the order of the calls
-- ARGV        the caller's time, see bucket.lua, and then by kinds of calls, which are those of equal charges:
--               asks     "charges asks": how many charges each call has, and how many asks there are of this kind, of which
--                        each has buckets of its own and is of one call, or, with a number more an ask, "1 3 50 1 7", of as
--                        many calls as that says. Of 0 it is that of a call that a limit on another server refuses.
--               charges  as many texts as that, see bucket.lua
-- Reply       for each ask, of one call or none: three integers a charge
--               retry      0 it is admitted, -1 it never can be, above 0 the microseconds after which it would be;
--                          below -1 it is admitted and has to wait for its turn, for -1 - retry microseconds
--               remaining  units left after the call
--               reset      microseconds until the bucket is as new
--             of several calls: how many of them are admitted, which are the first, and then four integers a charge, after
--             all calls: those three, of which retry is that of the calls that are refused, 0 if there are none, and
--               part       of a tb or lb that is greedy: the progress to the next unit, in 1/period of a unit;
--                          of one that is not: the microseconds since its mark
--             of one that cannot be decided, where there are several: the text of an error, before anything of it was
--             written; an error reply among others is more than some clients can read;
--             and the time of the decision, in microseconds since 1970: at the end, or, if the caller told its, which may
--             have to be a later one, after each ask. If there is but one ask, its error is the reply
--
-- A refused call changes nothing, with two exceptions: a key gets the time to live that it lacks, and a state from the
-- future, which a server's clock that was set back leaves behind, is moved to the present, with all that was
-- taken in advance. Otherwise nothing would come back until the clock is where it was.

local began = now

-- Returns how many of the calls, which ask for more than there is, a bucket admits, and notes when it admits the next.
local function admit(b, calls)
  if calls > 1 then
    local free = b.capacity - b.used
    return free > 0 and (free - free % b.cost) / b.cost or 0
  end
  b.retry = retry(b)
  return (b.retry > 0 or b.retry == -1) and 0 or calls
end

-- Decides an ask and adds the answer to the reply. Returns an error if it cannot.
local function decide(buckets, calls)
  now, late, unreadable = began, false, false
  load_all(buckets)
  local admitted, asked = calls, calls > 1 and calls or 1
  for i = 1, #buckets do
    local b = buckets[i]
    b.retry = 0
    if b.cost > 0 and b.used - b.own + b.cost * asked > b.capacity then
      local most = admit(b, calls)
      admitted = most < admitted and most or admitted
    end
  end
  if admitted > 0 then
    for i = 1, #buckets do
      local b = buckets[i]
      if b.cost > 0 then
        if b.algorithm.take then
          b.algorithm.take(b)
        end
        b.used = b.used - b.own + b.cost * admitted
      end
    end
  end
  if calls > 1 and admitted < calls then
    for i = 1, #buckets do
      buckets[i].retry = retry(buckets[i])
    end
  end
  if unreadable then
    return redis.error_reply(UNREADABLE)
  end

  local m = n
  if calls > 1 then
    m = m + 1
    reply[m] = admitted
  end
  for i = 1, #buckets do
    local b = buckets[i]
    local rest = reset(b)
    m = answer(reply, m, b, rest)
    if calls > 1 then
      m = m + 1
      reply[m] = b.interval and now - b.mark or b.part
    end
    if admitted > 0 then
      if b.cost > 0 then
        b.algorithm.store(b, rest)
      end
    elseif b.ahead then
      b.trusts = true
      b.algorithm.load(b)
      b.trusts = nil -- before what may fail: the next ask has the same b
      b.algorithm.store(b, reset(b))
    elseif b.stored then
      extend(b, rest)
    end
  end
  n = m
end

-- Adds an error to the reply, in place of what there may be of the answer.
local function fail(err)
  for i = #reply, n + 1, -1 do
    reply[i] = nil
  end
  n = n + 1
  reply[n] = type(err) == 'table' and err.err or err -- a text before Redis 7.0
end

-- Decides all asks that the plain way has not. A function, since in miniredis, after an error, the text itself has other
-- locals than its functions.
local function decide_all()
  if failed then
    if n == 0 and decided == #KEYS then
      return redis.error_reply(failed)
    end
    fail(failed)
  end
  local key, at = 0, 2
  while key < #KEYS do
    local charges, asks, counts = string.match(ARGV[at], '^(%d+) (%d+)(.*)$')
    local buckets = {}
    for i = 1, charges + 0 do
      buckets[i] = bucket(ARGV[at + i])
    end
    at = at + 1 + #buckets
    local alone = #buckets == #KEYS
    for _ = 1, asks + 0 do
      local calls = 1
      if counts ~= '' then
        calls, counts = string.match(counts, '^ (%d+)(.*)$')
        calls = calls + 0
      end
      for i = 1, #buckets do
        key = key + 1
        buckets[i].key = KEYS[key]
      end
      if alone then
        local err = decide(buckets, calls)
        if err then
          return err
        end
      elseif key > decided then
        local _, err = pcall(decide, buckets, calls)
        if err then
          fail(err)
        end
      end
      if told then
        n = n + 1
        reply[n] = now
      end
    end
  end
  if not told then
    reply[n + 1] = now
  end
  return reply
end

return decide_all()
