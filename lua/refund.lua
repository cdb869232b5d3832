-- Refund: gives the cost of each charge back to its bucket. A bucket that is as new, or in a later window, has nothing
-- to be given back, and none holds more than its capacity afterwards.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       OK, or an error, before anything was written

local now = clock()
if not now then
  return no_time()
end

local buckets = {}
for i = 1, #KEYS do
  local b, unreadable = bucket(i, now)
  if unreadable then
    return unreadable
  end
  buckets[i] = b
end

for i = 1, #KEYS do
  local b = buckets[i]
  if b.cost > 0 then
    local refundable = b.algorithm.refundable and b.algorithm.refundable(b) or b.used
    b.used = b.used - math.min(b.cost, refundable)
    if b.used > 0 then
      store(b, reset(b))
    elseif b.stored then
      redis.call('DEL', b.key)
    end
  end
end
return redis.status_reply('OK')
