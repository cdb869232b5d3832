-- Token bucket (tb), e.g. RFC 2697 section 3: holds up to capacity tokens, starts full, a call takes its cost in
-- tokens. Refilled when it is looked at.
--
--   greedy    count tokens come back each period, continuously. mark is when the bucket was last looked at, part the
--             progress to the next token, in 1/period of a token.
--   interval  count tokens come back at once after each full period. mark is the start of the period, part is 0.
--
-- It keeps the tokens that are out, not those that are left: with another capacity they would be another number. A call
-- that waits for its turn takes tokens in advance, so that more are out than there are: the bucket is in debt.
-- More tokens out than that explains, after capacity was lowered, are no more than that: no one waits longer than it
-- takes to fill. A refund keeps what anybody who waits could have taken.

-- Returns the microseconds until n units have come back, count of them each period, of which part has already done so.
local function refill_wait(b, n)
  local product = b.period * n
  if product < EXACT then
    return divup(product - b.part, b.count)
  end
  local whole, rest = muldiv(b.period, n, b.count)
  return whole + divup(rest - b.part, b.count)
end

local LONGEST = 315360000000000 -- 87600 hours, the longest that anybody waits

-- Reads how long the caller would wait, and what was left of the delay of one that gives up.
local function hear(b)
  if b.extra ~= '0' then
    local wait, delay = string.match(b.extra, '^(%d+) ?(%d*)$')
    b.patience, b.delay = tonumber(wait), tonumber(delay)
  end
end

-- Returns the most units that can be out: the capacity, and what calls that wait as long as this one could have taken
-- in advance, 10^9 or less. State does not say how long they would have waited.
local function most_out(b)
  local patience = b.trusts and LONGEST or b.patience
  if patience == 0 then
    return b.capacity
  end
  if b.interval then
    return b.capacity + math.min((patience - patience % b.period) / b.period * b.count, 1000000000) + b.count
  end
  local back = muldiv(patience, b.count, b.period)
  return b.capacity + math.min(back, 1000000000) + 1
end

-- Returns how many units of the cost a refund gives back. A call that gives up waiting, with delay left, gives back what
-- nobody behind it has been told to wait for: if all came back, those that come next would overtake them, and more calls
-- would go on in one period than should.
local function give_turn(b)
  if not b.delay then
    return b.cost
  end
  local within, rest
  if b.interval then
    local passed = now - b.mark + b.delay
    within = (passed - passed % b.period) / b.period * b.count
  else
    within, rest = muldiv(b.delay, b.count, b.period)
    if rest + b.part >= b.period then
      within = within + 1
    end
  end
  local behind = math.max(0, b.used - b.capacity - within)
  return math.max(0, b.cost - behind)
end

function algorithms.tb()
  return {
    load = load_text,
    store = store_text,
    give = give_turn,
    hear = hear,

    open = function(b, text)
      local used, mark, part = string.match(text, '^(%d+) (%d+) (%d+)$')
      if not used then
        return true
      end
      used, mark, part = used + 0, mark + 0, part + 0
      if used >= MOST or mark >= EXACT or part >= EXACT then
        return true
      end
      local period, passed = b.period, now - past(b, mark)
      if used > b.capacity then
        local most = most_out(b)
        if used > most then
          used, part = most, 0
        end
      end
      if b.interval then
        local spent = passed % period
        b.used = used - (passed - spent) / period * b.count -- inexact only where it is far below zero
        b.mark, b.part = now - spent, 0
        return
      end
      local back, progress = muldiv(passed, b.count, period)
      progress = progress + (part < period and part or period - 1) -- the period may have become shorter
      if progress >= period then
        back, progress = back + 1, progress - period
      end
      b.used, b.mark, b.part = used - back, now, progress
    end,

    wait = function(b, n)
      if b.interval then
        return divup(n, b.count) * b.period - (now - b.mark)
      end
      return refill_wait(b, n)
    end,

    text = function(b)
      return string.format('%d %d %d', b.used, b.mark, b.part)
    end,
  }
end
