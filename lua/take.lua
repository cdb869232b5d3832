-- Take: charges every bucket, or none if one of them refuses, at one instant.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       three integers a charge:
--               retry      microseconds after which the charge would be admitted: 0 it is, -1 it never can be
--               remaining  units left after the call
--               reset      microseconds until the bucket is as new
--             or an error, before anything was written
--
-- A refused call changes nothing, with two exceptions: a key gets the time to live that it lacks, and a state from the
-- future, which a clock that was set back leaves behind, is moved to the present, as is a leaky bucket that holds more
-- than its capacity. Otherwise nothing would come back until the clock is where it was.

local now = clock()
if not now then
  return no_time()
end

local buckets, waits, refused = {}, {}, false
for i = 1, #KEYS do
  local b, unreadable = bucket(i, now)
  if unreadable then
    return unreadable
  end
  buckets[i], waits[i] = b, retry(b)
  refused = refused or waits[i] ~= 0
end

local reply = {}
for i = 1, #KEYS do
  local b = buckets[i]
  if not refused then
    b.used = b.used + b.cost
  end
  local rest = reset(b)
  if refused and b.ahead or not refused and b.cost > 0 then
    store(b, rest)
  elseif refused and b.stored then
    extend(b, rest)
  end
  answer(reply, b, waits[i], rest)
end
return reply
