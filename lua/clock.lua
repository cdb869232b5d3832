-- The one reading of the clock of a call, in microseconds since 1970: the server's, unless the call brings its caller's
-- time, see bucket.lua. Some compatible servers do not know the time and answer 0.

local EXACT = 9007199254740992 -- 2^53, see arithmetic.lua

local told = ARGV[1]
if told == '' then
  told = nil
end
local now
if told then
  now = string.match(told, '^%d+$') and tonumber(told)
else
  local time = redis.call('TIME')
  local seconds, micros = tonumber(time[1]), tonumber(time[2])
  now = seconds and micros and seconds > 0 and micros >= 0 and seconds * 1000000 + micros
end
if not now or now == 0 or now >= EXACT then
  return redis.error_reply('ERR ratelimit: the ' .. (told and 'caller' or 'server') .. ' does not know the time')
end
