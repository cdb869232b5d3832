-- Take: charges every bucket, or none if one of them refuses, at one instant.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       three integers a charge, and the time of the decision, in microseconds since 1970:
--               retry      0 it is admitted, -1 it never can be, above 0 the microseconds after which it would be;
--                          below -1 it is admitted and has to wait for its turn, for -1 - retry microseconds
--               remaining  units left after the call
--               reset      microseconds until the bucket is as new
--             or an error, before anything was written
--
-- A refused call changes nothing, with two exceptions: a key gets the time to live that it lacks, and a state from the
-- future, which a server's clock that was set back leaves behind, is moved to the present, with all that was
-- taken in advance. Otherwise nothing would come back until the clock is where it was.

local buckets, refused = load_all(), ARGV[7 * #KEYS + 1] == 'refused'
for i = 1, #KEYS do
  local b = buckets[i]
  b.retry = retry(b)
  if b.unreadable then
    return redis.error_reply(UNREADABLE)
  end
  if b.ahead then
    b.moved = bucket(i, true)
  end
  refused = refused or b.retry > 0 or b.retry == -1
end

local reply = { 0, 0, 0, 0 } -- made to measure for one charge
for i = 1, #KEYS do
  local b = buckets[i]
  local takes = not refused and b.cost > 0
  if takes then
    if b.algorithm.take then
      b.algorithm.take(b)
    end
    b.used = b.used - b.own + b.cost
  end
  local rest = reset(b)
  if takes then
    b.algorithm.store(b, rest)
  elseif refused and b.ahead then
    b.algorithm.store(b.moved, reset(b.moved))
  elseif refused and b.stored then
    extend(b, rest)
  end
  answer(reply, i, b, rest)
end
reply[3 * #KEYS + 1] = now
return reply
