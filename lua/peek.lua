-- Peek: what take would decide about the charges, at one instant. Writes nothing.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       as that of take; remaining and reset are of the bucket as it stands

local buckets, reply = load_all(), { 0, 0, 0, 0 } -- made to measure for one charge
for i = 1, #KEYS do
  local b = buckets[i]
  b.retry = retry(b)
  answer(reply, i, b, reset(b))
  if b.unreadable then
    return redis.error_reply(UNREADABLE)
  end
end
reply[3 * #KEYS + 1] = now
return reply
