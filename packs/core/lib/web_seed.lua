-- The worlds of web-fetch: shared pages (built once) and the few that differ by seed.
local build = require("lib.web_build")
local dates = require("lib.dates")
local template = require("lib.template")
local english = require("lib.web_pages_en")
local firm = require("lib.web_pages_firm")
local region = require("lib.web_pages_region")
local talk = require("lib.web_pages_talk")
local trade = require("lib.web_pages_trade")
local world = require("lib.web_pages_world")

local seeding = {}

local NOTICES = "https://www.northquay.example/notices/this-week"
local PRICES = "https://suppliers.timbertrade.example/prices/today"
local TIDES = "https://harbourpost.example/tides/tomorrow"

-- address, type, text
local assets = {
  { "https://suppliers.timbertrade.example/files/moisture-table.csv", "text/csv", [[
wood,air dry,kiln dry
oak,18,9
larch,17,10
spruce,16,10
beech,18,8
chestnut,17,9
]] },
  { "https://suppliers.timbertrade.example/files/order-form.txt", "text/plain", [[
ORDER FORM

Company:
Delivery address:
Item, length, quantity:
Wanted by:
Signature:
]] },
  { "https://www.northquay.example/files/market-plan.svg", "image/svg+xml", [[
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 40">
  <rect x="2" y="2" width="56" height="36" fill="none" stroke="black"/>
  <text x="8" y="22">Market</text>
</svg>
]] },
  { "https://www.northquay.example/files/fees.csv", "text/csv", [[
service,fee
ferry card,12
parking permit,38
market pitch,21
reading room,0
]] },
  { "https://docs.fieldkit.example/files/sample-survey.csv", "text/csv", [[
time,point,value,unit
08:00,A1,12.4,mm
08:10,A2,11.9,mm
08:20,A3,12.8,mm
]] },
  { "https://trailmarks.example/files/packing-list.txt", "text/plain", [[
Packing list for a day walk

paper map
whistle
spare socks
two litres of water
lamp
]] },
}

local notices = [[
Notices of the council office for the week from {today}. The weekly market moves to {market}
because of road works that last {works} days. Water will be turned off on {water_day} from {from}
until noon in {street}. The public meeting about {topic} starts at {meeting}:30. Lost property can
be collected until Friday: this week {umbrellas} umbrellas and one {thing}.]]

local prices = [[
Asking prices of this morning, for one cubic metre at the yard gate and without tax: oak boards
{oak} crowns, larch boards {larch} crowns, spruce beams {spruce} crowns, ash planks {ash} crowns,
birch plywood {birch} crowns. Compared with last week, {wood} is {change} by {percent} percent. Kiln
places are {kilns} at the moment, and lorries need about {days} days. The list is collected by
telephone from {companies} companies and is not an offer.]]

local tides = [[
High water tomorrow, {tomorrow}: {hour1}:{minute1} and {hour2}:{minute2}. Low water is {level} than
usual by {centimetres} centimetres. Wind from the {wind}, force {force}, easing in the evening. The
harbour master asks small boats to keep clear of the {place} while divers work there. Bathing water
has {degrees} degrees. Times are calculated for the pilot pier and may differ by some minutes
further up the estuary.]]

function seeding.base()
  local sites = {}
  for _, part in ipairs({ english, trade, world, firm, region, talk }) do
    for _, site in ipairs(part) do sites[#sites + 1] = site end
  end
  local base = build.web(sites, { ["www.northquay.example"] = { NOTICES },
    ["suppliers.timbertrade.example"] = { PRICES }, ["harbourpost.example"] = { TIDES } })
  base.assets = {}
  for _, asset in ipairs(assets) do base.assets[asset[1]] = { type = asset[2], text = asset[3] } end
  return base
end

local function draw(r, now)
  local v = {
    today = dates.long(now), tomorrow = dates.long(now + dates.DAY),
    water_day = dates.long(now + (2 + r:below(4)) * dates.DAY), works = 2 + r:below(8),
    from = 8 + r:below(3), meeting = 17 + r:below(3), umbrellas = 2 + r:below(9),
    market = r:pick({ "Customs Street", "the fish hall", "Pier Two", "Market Cross" }),
    street = r:pick({ "Tar Lane", "Anchor Lane", "Mission Street", "Hide Yard" }),
    topic = r:pick({ "the bathing jetty", "the tram shelter", "street lamps", "the skate park" }),
    thing = r:pick({ "accordion", "bicycle helmet", "garden gnome", "left boot" }),
    wood = r:pick({ "larch", "oak", "ash" }), change = r:pick({ "dearer", "cheaper" }),
    kilns = r:pick({ "scarce", "easy to find" }), percent = 1 + r:below(9), days = 2 + r:below(8),
    companies = 9 + r:below(20), hour1 = r:below(6), hour2 = 12 + r:below(6),
    minute1 = 10 + r:below(50), minute2 = 10 + r:below(50), level = r:pick({ "lower", "higher" }),
    centimetres = 5 + r:below(40), force = 2 + r:below(5), degrees = 9 + r:below(12),
    wind = r:pick({ "north", "south-west", "west", "east" }),
    place = r:pick({ "swing bridge", "outer mole", "east slipway", "north buoy" }),
  }
  for _, wood in ipairs({ "oak", "larch", "spruce", "ash", "birch" }) do
    v[wood] = 190 + 15 * r:below(70)
  end
  return v
end

function seeding.seed(w, r)
  local values = draw(r, w:now())
  local function write(url, title, body, links)
    body = re.sub(template.fill(body, values), "\n", " ")
    w:put("pages", url, { title = title, body = body, links = links })
  end
  write(NOTICES, "Notices of this week | Northquay Town Council", notices,
    { "https://www.northquay.example/" })
  write(PRICES, "Timber prices of today", prices, { "https://suppliers.timbertrade.example/" })
  write(TIDES, "Tides and weather for tomorrow", tides,
    { "https://harbourpost.example/", NOTICES })
end

return seeding
