-- The weather, road works and alerts of a world. Alerts are written from the weather itself, so the
-- two never disagree.
local dates = require("lib.dates")
local places = require("lib.places")

local seeding = {}

seeding.DAYS = 10

-- Sky, chance of rain in percent, rain in tenths of a millimetre.
local skies = {
  { "clear", 5, 0 }, { "sunny intervals", 15, 2 }, { "cloudy", 30, 6 }, { "fog", 20, 3 },
  { "showers", 65, 48 }, { "light rain", 75, 34 }, { "rain", 90, 121 },
}
local regions = { "coast", "vale", "hills" }
local winds = { "N", "NE", "E", "SE", "S", "SW", "W", "NW" }

-- Gusts or rain from which a region has an alert: level -> limit.
local GUST = { yellow = 65, amber = 85 }       -- km/h
local RAIN = { yellow = 240, amber = 400 }     -- tenths of a millimetre a day
local FROST = -4                               -- degrees

local function day_of(r, base, region)
  local sky = r:pick(skies)
  local wind = 6 + r:below(26) + (region == "coast" and 6 or 0)
  local low = base + r:below(5) - (region == "hills" and 3 or 0)
  return { sky = sky[1], rain_chance = math.min(100, sky[2] + r:below(11)),
    rain = sky[3] * (70 + r:below(61)) // 100, wind = wind, gust = wind * (130 + r:below(50)) // 100,
    wind_from = r:pick(winds), low = low, high = low + 5 + r:below(6) }
end

-- One region has a storm of one or two days, another a day of heavy rain, in every world.
local function disturb(r, days)
  local stormy, wet = r:pick(regions), r:pick({ "vale", "hills" })
  local from = 2 + r:below(4)
  for i = from, from + r:below(2) do
    local day = days[stormy][i]
    day.sky, day.wind = "storm", 48 + r:below(24)
    day.gust = day.wind + 22 + r:below(24)
    day.rain, day.rain_chance = 90 + r:below(120), 85 + r:below(16)
  end
  local day = days[wet][2 + r:below(5)]
  if day.sky ~= "storm" then day.sky = "heavy rain" end
  day.rain, day.rain_chance = 250 + r:below(220), 95
end

local function level_of(value, limits)
  return value >= limits.amber and "amber" or value >= limits.yellow and "yellow" or nil
end

local function alerts_of(w, days, now)
  local number = 0
  local function alert(region, kind, level, from, to, text)
    number = number + 1
    w:put("alerts", string.format("al-%02d", number), { region = region, kind = kind,
      level = level, from = dates.day(now + (from - 1) * dates.DAY),
      to = dates.day(now + (to - 1) * dates.DAY), text = text })
  end
  for _, region in ipairs(regions) do
    for i, day in ipairs(days[region]) do
      local wind = level_of(day.gust, GUST)
      if wind then
        alert(region, "wind", wind, i, i, "Gusts up to " .. day.gust
          .. " km/h. Secure loose materials and keep high-sided vehicles off exposed roads.")
      end
      local rain = level_of(day.rain, RAIN)
      if rain then
        alert(region, "rain", rain, i, i, string.format("About %d mm of rain in a day. Low roads "
          .. "and yards may flood.", day.rain // 10))
      end
      if day.low <= FROST then
        alert(region, "ice", "yellow", i, i, "Frost down to " .. day.low
          .. " degrees. Untreated roads may be slippery in the morning.")
      end
    end
  end
end

local works = { "resurfacing", "a burst main", "bridge repairs", "felling beside the road",
  "new drains" }

function seeding.seed(w, r)
  local now = w:now()
  local days = {}
  w:put("start", dates.iso(now))
  for _, region in ipairs(regions) do
    local list, base = {}, r:below(12)
    for i = 1, seeding.DAYS do list[i] = day_of(r, base, region) end
    days[region] = list
  end
  disturb(r, days)
  for _, region in ipairs(regions) do
    for i, day in ipairs(days[region]) do
      w:put("weather", region, dates.day(now + (i - 1) * dates.DAY), day)
    end
  end
  alerts_of(w, days, now)
  local roads = {}
  for i, road in ipairs(places.roads) do roads[i] = road end
  for i = 1, 3 do
    local at = r:below(#roads) + 1
    local road = roads[at]
    table.remove(roads, at)
    w:put("works", road[1] .. "-" .. road[2], { minutes = 4 + r:below(14), reason = r:pick(works),
      closed = i == 1 })
  end
end

return seeding
