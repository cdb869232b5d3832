-- Renew: starts leases anew, each independently of the others: charges may name the same bucket. A lease that has ended
-- stays lost, even if its slots are free.
--
-- KEYS, ARGV  charges of cc, see bucket.lua
-- Reply       an integer a charge: 1 its holder still held all that it asks for, and does so for another period, 0 not;
--             or an error, before anything was written

local buckets, held = buckets_of_keys(), {}
for i = 1, #KEYS do
  local b = buckets[i]
  if unreadable then
    return redis.error_reply(UNREADABLE)
  end
  held[i] = b.own == b.cost and 1 or 0
end

for i = 1, #KEYS do
  local b = buckets[i]
  if held[i] == 1 and b.cost > 0 then
    b.algorithm.renew(b)
    extend(b, b.period) -- other leases may last longer
  end
end
return held
