-- The registry of package-index: what does not change stands in `rows`, versions, dates, downloads
-- and what is installed are drawn by seed.
local dates = require("lib.dates")

local seeding = {}

local POPULAR = 2500 -- downloads a month from which a package has more releases

-- name | publisher | licence | description | keywords | downloads a month, at least | needs
local rows = [[
cutlist|gridwood|MIT|Arranges parts on sheets and beams and prints cutting lists|wood sheets waste|41000|csv-tidy
cutlist-svg|gridwood|MIT|Draws the pages of a cutting list as SVG files|wood drawing plans|9200|cutlist
panel-weights|gridwood|MIT|Weights of boards and panels by material and moisture|wood weight|2600|
timber-grades|yardstick|Apache-2.0|Strength classes and moisture limits of common timbers|wood tables|5100|
board-feet|yardstick|Apache-2.0|Converts between board feet, cubic metres and running metres|wood units|3300|
ledgerline|plainbooks|MPL-2.0|Double-entry bookkeeping in plain text files|books accounts|58000|dateframe
invoice-pdf|plainbooks|MPL-2.0|Lays out invoices as PDF with a payment slip|invoice print|47000|ledgerline
vat-rates|plainbooks|MPL-2.0|Current and former tax rates by country|tax tables|12500|
bank-statement|plainbooks|MPL-2.0|Reads account statements of common banks into rows|books import|8800|csv-tidy
csv-tidy|northern-data|BSD-3-Clause|Cleans, sorts and joins comma-separated files|tables text|96000|
dateframe|northern-data|BSD-3-Clause|Working days, deadlines and calendars by country|dates holidays|71000|
fuzzy-join|northern-data|BSD-3-Clause|Joins tables whose keys are written differently|tables match|15800|csv-tidy
chart-plain|northern-data|BSD-3-Clause|Bar and line charts without a browser|charts print|22400|csv-tidy
mailmerge|postroom|MIT|Fills letters and labels from a table|letters labels|33000|csv-tidy
labelsheet|postroom|MIT|Prints address labels on common sheet formats|labels print|11900|
parcel-track|postroom|MIT|Asks carriers where a parcel is|parcels status|7400|http-small
http-small|tidewater|ISC|A small client for web requests with retries|web requests|120000|
yaml-strict|tidewater|ISC|Reads YAML and refuses what is ambiguous|config text|88000|
env-file|tidewater|ISC|Loads settings from a file into the environment|config settings|64000|
log-lines|tidewater|ISC|Writes log lines that people and programs can read|logs text|52000|
backup-rotate|owlgate|GPL-3.0|Keeps daily, weekly and monthly copies of a folder|backup files|17300|log-lines
disk-watch|owlgate|GPL-3.0|Warns before a disk is full|monitoring files|6900|log-lines
ssh-hosts|owlgate|GPL-3.0|Keeps lists of servers and their keys|servers keys|4800|yaml-strict
image-shrink|pinhole|MIT|Makes pictures smaller for web pages|pictures web|38000|
photo-sort|pinhole|MIT|Sorts pictures into folders by date and place|pictures files|9700|image-shrink
colour-cards|pinhole|MIT|Names colours by the nearest card of a paint range|colours paint|3900|
shop-cart|counterside|Apache-2.0|A basket and a checkout for small web shops|shop web|26500|vat-rates
stock-count|counterside|Apache-2.0|Counts goods with a hand scanner|shop stock|5600|csv-tidy
route-hints|waymark|BSD-2-Clause|Orders a day's deliveries by distance|maps delivery|8300|
geo-grid|waymark|BSD-2-Clause|Turns coordinates into map squares and back|maps units|14100|
cut-list|gridw00d|MIT|Arranges parts on sheets and beams and prints cutting lists|wood sheets|140|env-file
cutlists|r-halvorsen|MIT|Reads the lists of cutlist, unfinished|wood sheets|60|
ledger-line|plain-books|MPL-2.0|Double-entry bookkeeping in text files|books accounts|310|http-small
ledgerlime|citruscode|MIT|A theme for ledgerline reports in green|books print|90|
csvtidy|northern-datas|BSD-3-Clause|Cleans, sorts and joins comma separated files|tables text|520|http-small
invoice-pdfs|plainbooks-mirror|MPL-2.0|Lays out invoices as PDF with a payment slip|invoice print|270|http-small
mail-merge|m-okafor|GPL-3.0|An older mail merge for plain letters, no longer maintained|letters|1900|
http-smal|tidewater-io|ISC|A small client for web requests with retries|web requests|730|
yaml-strickt|tdewater|ISC|Reads YAML and refuses what is ambiguous|config text|180|
dateframes|northern-data|BSD-3-Clause|Moved: this package is now called dateframe|dates|2100|dateframe]]

-- How releases of these are signed: "other" by somebody else's key, "changed" after signing, "none"
-- not at all. What is drawn stands in `drawn`; all other packages are signed as they should be.
local flawed = { ["cut-list"] = "other", ["ledger-line"] = "none", ["yaml-strickt"] = "changed",
  cutlists = "none" }
local drawn = { csvtidy = { "none", "other" }, ["invoice-pdfs"] = { "other", "changed" },
  ["http-smal"] = { "none", "changed" }, ledgerlime = { "none", "valid" } }

local function key_of(publisher)
  return string.upper(string.sub(text.sha256("key of " .. publisher), 1, 16))
end

-- The rows as tables, and the key of each publisher.
local known, keys = {}, {}
for i, line in ipairs(text.split(rows, "\n")) do
  local f = text.split(line, "|")
  known[i] = { name = f[1], publisher = f[2], license = f[3], description = f[4],
    keywords = text.split(f[5], " "), downloads = tonumber(f[6]),
    needs = list(f[7] ~= "" and { f[7] } or {}) }
  keys[f[2]] = keys[f[2]] or key_of(f[2])
end

local strangers = { "pinhole", "waymark", "citruscode" }

function seeding.base()
  local packages, publishers = {}, {}
  for _, one in ipairs(known) do
    packages[one.name] = { publisher = one.publisher, license = one.license,
      description = one.description, keywords = one.keywords, needs = one.needs }
    publishers[one.publisher] = { key = keys[one.publisher] }
  end
  return { packages = packages, publishers = publishers }
end

local function signature(how, publisher, stranger)
  if how == "none" then return nil end
  return { by = publisher, key = keys[how == "other" and stranger or publisher],
    digest = how == "changed" and "sha256:" .. text.sha256("before " .. publisher) or nil }
end

local function versions(r, one, now)
  local how = flawed[one.name] or (drawn[one.name] and r:pick(drawn[one.name])) or "valid"
  local popular = one.downloads > POPULAR
  local count = popular and 2 + r:below(2) or 1 + r:below(2)
  local major, minor, patch = popular and 1 + r:below(4) or 0, r:below(10), r:below(8)
  local days = count * 70 + r:below(80)
  local stranger = strangers[1 + r:below(#strangers)]
  local out = {}
  for i = 1, count do
    out[i] = { version = major .. "." .. minor .. "." .. patch,
      date = dates.day(now - days * dates.DAY), size = 4000 + r:below(300000),
      signature = signature(how, one.publisher, stranger) }
    days = days - 20 - r:below(50)
    if r:below(3) == 0 then
      minor, patch = minor + 1, 0
    else
      patch = patch + 1 + r:below(3)
    end
  end
  return out
end

function seeding.seed(w, r)
  local now = w:now()
  w:put("start", dates.day(now))
  local first = {}
  for _, one in ipairs(known) do
    local releases = versions(r, one, now)
    w:put("packages", one.name, "downloads",
      one.downloads * (80 + r:below(60)) // 100 + r:below(90))
    w:put("packages", one.name, "versions", releases)
    first[one.name] = { version = releases[1].version, publisher = one.publisher }
  end
  local candidates = { "ledgerline", "backup-rotate", "mailmerge", "image-shrink" }
  for _ = 1, 2 do
    local name = table.remove(candidates, r:below(#candidates) + 1)
    w:put("installed", name, first[name])
  end
end

return seeding
