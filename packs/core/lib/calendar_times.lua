-- Times as calendar writes and reads them: "2026-03-09T14:00:00Z", always UTC.
local dates = require("lib.dates")

local times = {}

-- Patterns for input schemas: short, since models read them; `parse` is strict.
times.MOMENT = "^[0-9-]{10}[T ][0-9:]{5,8}Z?$"
times.DAY_OR_MOMENT = "^[0-9-]{10}([T ][0-9:]{5,8}Z?)?$"

-- Days since 1970 of a civil date, by counting in eras of 400 years that begin on 1 March.
local function days(year, month, day)
  local y = month <= 2 and year - 1 or year
  local era = y // 400
  local yoe = y - era * 400
  local mp = month > 2 and month - 3 or month + 9
  local doy = (153 * mp + 2) // 5 + day - 1
  return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
end

-- Seconds since 1970, and whether a time of day was given; nil if there is no such day or time.
function times.parse(s)
  local y, m, d, h, min = re.match(s,
    "^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::[0-9]{2})?Z?)?$")
  if not y or tonumber(m) < 1 or tonumber(m) > 12 then return nil end
  local t = days(tonumber(y), tonumber(m), tonumber(d)) * dates.DAY
  if dates.day(t) ~= string.sub(s, 1, 10) then return nil end
  if not h then return t, false end
  if tonumber(h) > 23 or tonumber(min) > 59 then return nil end
  return t + tonumber(h) * dates.HOUR + tonumber(min) * 60, true
end

-- "Mon 2026-03-09"
function times.short_day(t)
  return string.sub(dates.long(t), 1, 3) .. " " .. dates.day(t)
end

-- "14:05"
function times.clock(t)
  return string.sub(dates.iso(t), 12, 16)
end

return times
