-- GCRA, and nothing more: takes one unit of KEYS[1], which holds when the bucket is as new.
-- ARGV: interval of a unit, tolerance, both in µs. Replies 0, or after how many µs to come again.
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
if arrival - now > tolerance then
	return arrival - now - tolerance
end
arrival = arrival + interval
redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
return 0
