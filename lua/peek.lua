-- Peek: what take would decide about the charges, at one instant. Writes nothing.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       as that of take to one call; remaining and reset are of the bucket as it stands

local buckets, reply, n = buckets_of_keys(), { 0, 0, 0, 0 }, 0 -- made to measure for one charge
for i = 1, #KEYS do
  local b = buckets[i]
  b.retry = retry(b)
  n = answer(reply, n, b, reset(b))
  if unreadable then
    return redis.error_reply(UNREADABLE)
  end
end
reply[n + 1] = now
return reply
