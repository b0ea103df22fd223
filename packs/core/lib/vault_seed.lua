-- The seeded secrets of secrets-vault. Values are drawn, belong to nothing that exists, and follow
-- no vendor's format.
local company = require("lib.company")
local dates = require("lib.dates")

local seeding = {}

-- name, label, owner (a key of company.staff), kind of value, what it is for
local secrets = {
  { "analytics/read-key", "internal", "ines", "key", "reads the visitor numbers of the web shop" },
  { "backup/passphrase", "restricted", "owen", "words", "opens the nightly backups" },
  { "bank/statement-token", "restricted", "tobias", "key", "fetches statements from the bank" },
  { "door-alarm/code", "internal", "callum", "digits", "arms the alarm of the workshop" },
  { "mail-relay/password", "confidential", "owen", "words", "sends mail from the printers" },
  { "parcel-service/api-key", "internal", "sofia", "key", "prints parcel labels" },
  { "payroll/export-key", "restricted", "leila", "key", "exports the monthly payroll" },
  { "showroom-wifi/password", "internal", "sofia", "words", "network for visitors" },
  { "supplier-portal/login", "confidential", "jonas", "words", "orders timber and fixings" },
  { "web-shop/webhook-key", "confidential", "hana", "key", "signs orders of the web shop" },
}

local words = { "heron", "pebble", "cobalt", "thimble", "saffron", "juniper", "lantern", "walnut",
  "harbour", "meadow", "copper", "finch", "willow", "anvil", "kettle", "bramble" }
local letters = "abcdefghjkmnpqrstuvwxyz23456789"

local makers = {}

-- `below(n)` gives 0 .. n-1.
function makers.key(below)
  local out = {}
  for i = 1, 28 do
    local at = below(#letters) + 1
    out[i] = string.sub(letters, at, at)
  end
  return "af_" .. table.concat(out)
end

function makers.words(below)
  local out = {}
  for i = 1, 4 do out[i] = words[below(#words) + 1] end
  return table.concat(out, "-") .. "-" .. 10 + below(90)
end

function makers.digits(below)
  return string.format("%06d", below(1000000))
end

function seeding.value(kind, below)
  return (makers[kind] or makers.key)(below)
end

function seeding.seed(w, r)
  local now = w:now()
  local function below(n) return r:below(n) end
  local user = company.user(now)
  w:put("user", { name = user.name, address = user.address })
  w:put("policy", { inside_only = { "restricted" }, reason_for = { "restricted" } })
  for _, s in ipairs(secrets) do
    w:put("secrets", s[1], { label = s[2], owner = company.staff[s[3]].address, kind = s[4],
      purpose = s[5], value = seeding.value(s[4], below), version = 1 + r:below(6),
      rotated = dates.day(dates.work(now, -5 - r:below(200))) })
  end
end

return seeding
