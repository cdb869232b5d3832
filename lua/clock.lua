-- The one reading of the clock of a call, in microseconds since 1970. Some compatible servers do not know the time and
-- answer 0.

local time = redis.call('TIME')
local seconds, micros = tonumber(time[1]), tonumber(time[2])
local now = seconds and micros and seconds > 0 and micros >= 0 and seconds * 1000000 + micros
if not now or now >= EXACT then
  return redis.error_reply('ERR ratelimit: the server does not know the time')
end
