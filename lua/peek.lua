-- Peek: what take would decide about the charges, at one instant. Writes nothing.
--
-- KEYS, ARGV  the charges, see bucket.lua
-- Reply       three integers a charge, as those of take; remaining and reset are of the bucket as it stands

local now = clock()
if not now then
  return no_time()
end

local reply = {}
for i = 1, #KEYS do
  local b = bucket(i, now)
  answer(reply, b, retry(b), reset(b))
  if b.unreadable then
    return unreadable()
  end
end
return reply
