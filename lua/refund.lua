-- Refund: gives the cost of each charge back to its bucket. A bucket that is as new, or in a later window than the one it
-- was taken in, has nothing to be given back, and none holds more than its capacity afterwards. Of a cc it gives back what
-- the holder holds.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       how many charges are of a holder that has lost its lease; or an error, before anything was written

local buckets, lost = buckets_of_keys(true), 0
for i = 1, #KEYS do
  local b = buckets[i]
  if b.cost > 0 then
    local give = b.algorithm.give
    local at = math.min(tonumber(b.extra) or now, now) -- of a fw, sw or sl; and the clock may have been set back
    b.used = b.used - math.min(b.used, give and give(b, at) or b.cost)
  end
  if unreadable then
    return redis.error_reply(UNREADABLE)
  end
  if b.lost then
    lost = lost + 1
  end
end

for i = 1, #KEYS do
  local b = buckets[i]
  if b.cost > 0 and not b.lost then
    if b.used > 0 then
      b.algorithm.store(b, reset(b))
    elseif b.stored then
      redis.call('DEL', b.key)
    end
  end
end
return lost
