-- Lua scripts that Valkey or Redis runs atomically, in one round trip; every key expires.
--
-- A line `--- name` begins a script. Times are those of the service, so that servers with different clocks agree.
-- Durations are in milliseconds.

--- take_limit
-- Count one event (GCRA, as in `RateLimits`); return the milliseconds to wait, or 0, as text.
--
-- KEYS: time at which the full burst is available. ARGV: interval between events, burst in events.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local even = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now))
local wait = even + interval - burst * interval - now
if wait > 0.001 then return string.format('%.3f', wait) end
even = even + interval
redis.call('SET', KEYS[1], string.format('%.3f', even), 'PX', math.ceil(even - now) + 1)
return '0'

--- take_lease
-- Take a lease: {0, 0} granted, {1, ms} cooldown, {2, 0} all leases are held, {3, ms} the gap is not over.
--
-- KEYS: held leases, cooldown, gap. ARGV: token of the lease, requests at once (0 for no limit), gap, time until a lease
-- expires.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local at_once, gap, hold = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local rests = redis.call('PTTL', KEYS[2])
if rests > 0 then return {1, rests} end
if at_once > 0 then
    redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
    if redis.call('ZCARD', KEYS[1]) >= at_once then return {2, 0} end
end
local next = redis.call('PTTL', KEYS[3])
if gap > 0 and next > 0 then return {3, next} end
if at_once > 0 then
    redis.call('ZADD', KEYS[1], now + hold, ARGV[1])
    redis.call('PEXPIRE', KEYS[1], hold)
end
if gap > 0 then redis.call('SET', KEYS[3], 1, 'PX', gap) end
return {0, 0}

--- renew_leases
-- Renew leases. KEYS: held leases of each host. ARGV: time until a lease expires, then one token for each key.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local hold = tonumber(ARGV[1])
for i, key in ipairs(KEYS) do
    redis.call('ZADD', key, now + hold, ARGV[i + 1])
    redis.call('PEXPIRE', key, hold)
end

--- start_host_cooldown
-- Start a cooldown of a host, unless a longer one runs. KEYS: cooldown. ARGV: its duration.
local ms = tonumber(ARGV[1])
if redis.call('PTTL', KEYS[1]) < ms then redis.call('SET', KEYS[1], 1, 'PX', ms) end

--- begin_work
-- Claim work: {0} granted, {1} another server does it, {2, value} it is done.
--
-- A granted claim deletes an old result. KEYS: claim, result. ARGV: token of the claim, time until it expires, 1 if an
-- existing result may be returned.
if ARGV[3] == '1' then
    local landed = redis.call('GET', KEYS[2])
    if landed then return {2, landed} end
end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
    redis.call('DEL', KEYS[2])
    return {0}
end
return {1}

--- renew_claims
-- Renew claims, also those that the service has lost.
--
-- KEYS: claims. ARGV: time until a claim expires, then one token for each key.
for i, key in ipairs(KEYS) do
    local owner = redis.call('GET', key)
    if not owner or owner == ARGV[i + 1] then redis.call('SET', key, ARGV[i + 1], 'PX', ARGV[1]) end
end

--- complete_work
-- Publish the result, unless another server has taken over.
--
-- The claim is deleted first: if there is no memory for the value, another server does the work. KEYS: claim, result.
-- ARGV: token of the claim, value, time until the result expires.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])

--- give_up_work
-- End a claim without a result. KEYS: claim. ARGV: token of the claim.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end

--- set_engine_cooldown
-- Store the cooldown of an engine.
--
-- KEYS: cooldown. ARGV: reason, step, number of faults, time left, time for which it is stored after its end.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local left = tonumber(ARGV[4])
redis.call('HSET', KEYS[1], 'reason', ARGV[1], 'step', ARGV[2], 'faults', ARGV[3],
    'until', string.format('%.0f', now + left))
redis.call('PEXPIRE', KEYS[1], math.max(left, 0) + tonumber(ARGV[5]))

--- get_engine_cooldown
-- Return the cooldown of an engine: {reason, step, faults, ms left}, or {} if there is none. KEYS: cooldown.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local row = redis.call('HMGET', KEYS[1], 'reason', 'step', 'faults', 'until')
if not row[1] then return {} end
return {row[1], row[2], row[3], string.format('%.0f', row[4] - now)}

--- register
-- Register this server; return the number of servers, and 1 if this one was unknown.
--
-- KEYS: servers. ARGV: name of this server, time after which a server without a heartbeat is removed.
local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local forget = tonumber(ARGV[2])
local new = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - forget)
redis.call('PEXPIRE', KEYS[1], forget)
return {redis.call('ZCARD', KEYS[1]), new}
