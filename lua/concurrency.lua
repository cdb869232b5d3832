-- Concurrency (cc): count holders at once. A holder keeps its slots for one period, its lease, unless it renews or gives
-- back; a charge that costs n has n slots.
--
-- Kept is a sorted set. A member is a slot: the holder for the first, "i holder" for the i-th; and its score is when the
-- lease ends, in microseconds since 1970. A slot is taken as long as that is in the future. A holder that takes what it
-- has already takes nothing more, and starts its lease anew.
--
-- A clock that was set back makes leases last longer by that much.

function algorithms.cc()
  -- Returns a score that was read. Some compatible servers write a round one with an exponent, which not every Lua reads.
  local function score(b, text)
    local digit, digits, exponent = string.match(text, '^(%d)%.?(%d*)e%+(%d+)$')
    if digit and #digits <= tonumber(exponent) then
      text = digit .. digits .. string.rep('0', tonumber(exponent) - #digits)
    end
    return integer(b, text)
  end

  local function member(b, i)
    return i == 1 and b.extra or string.format('%d %s', i, b.extra)
  end

  -- Returns slots, each followed by its score, by their ranks: 0 is the one whose lease ends last.
  local function ranked(b, from, to)
    return redis.call('ZREVRANGE', b.key, string.format('%d', from), string.format('%d', to), 'WITHSCORES')
  end

  -- Finds which of the charge's slots are taken: looks for those, or through all that are taken, whichever are fewer.
  -- b.slots lists them, b.ends has by slot when its lease ends.
  local function find_own(b)
    local function note(slot, ends)
      b.own = b.own + 1
      b.slots[b.own], b.ends[slot] = slot, ends
    end
    if b.cost > b.used then
      local all = ranked(b, 0, b.used - 1)
      for j = 1, #all, 2 do
        local i, holder = string.match(all[j], '^(%d+) (.+)$')
        if all[j] == b.extra or holder == b.extra and tonumber(i) <= b.cost then
          note(all[j], score(b, all[j + 1]))
        end
      end
      return
    end
    for i = 1, b.cost do
      local slot = member(b, i)
      local found = redis.call('ZSCORE', b.key, slot)
      local ends = found and score(b, found) or now
      if ends > now then
        note(slot, ends)
      end
    end
  end

  local function lease(b)
    local ends, args = string.format('%d', now + b.period), {}
    for i = 1, b.cost do
      args[2 * i - 1], args[2 * i] = ends, member(b, i)
    end
    redis.call('ZADD', b.key, unpack(args)) -- Lua passes some thousands of arguments at most
  end

  return {
    renew = lease,

    -- mark is when the last lease ends, rest the same without those that the charge is about.
    load = function(b)
      b.stored, b.used, b.mark, b.own = false, 0, now, 0
      b.slots, b.ends, b.rest, b.leases = {}, {}, now, false
      local last = ranked(b, 0, 0)
      if #last == 0 then
        return
      end
      b.stored, b.mark = true, score(b, last[2])
      if b.mark <= now then
        return
      end
      b.used = redis.call('ZCOUNT', b.key, string.format('(%d', now), '+inf')
      if b.extra ~= '' then
        find_own(b)
      end
      local rank = 0
      while b.ends[last[1]] do
        rank = rank + 1
        last = ranked(b, rank, rank)
      end
      if last[1] then
        b.rest = score(b, last[2])
      end
    end,

    wait = function(b, n)
      if n == b.used then
        return b.mark - now
      end
      -- A slot of its own that comes back is no help, since the charge then asks for one more.
      local ended, ends = n, 0
      repeat
        local rank, needed = b.used - ended, n
        ends = score(b, ranked(b, rank, rank)[2])
        for _, own in pairs(b.ends) do
          if own <= ends then
            needed = needed + 1
          end
        end
        local enough = needed <= ended
        ended = needed
      until enough
      return ends - now
    end,

    take = function(b)
      b.leases = true
      b.mark = math.max(b.rest, now + b.period)
    end,

    give = function(b)
      b.lost = b.own == 0
      b.mark = b.rest
      return b.own
    end,

    store = function(b, microseconds)
      if b.leases then
        lease(b) -- first, since a server without memory refuses this only, and nothing once something was written
        redis.call('ZREMRANGEBYSCORE', b.key, '-inf', string.format('%d', now))
      else
        redis.call('ZREM', b.key, unpack(b.slots))
      end
      redis.call('PEXPIRE', b.key, ttl(microseconds))
    end,
  }
end
