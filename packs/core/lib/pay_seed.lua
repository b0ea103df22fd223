-- The seeded accounts, payees and movements of payments. Amounts are whole cents here.
local bank = require("lib.bank")
local books = require("lib.books")
local company = require("lib.company")
local dates = require("lib.dates")

local seeding = {}

local others = {
  { name = "Harbour Energy", email = "billing@harbourenergy.example" },
  { name = "Lindgate Insurance", email = "policies@lindgate.example" },
  { name = "Regional Tax Office", email = "collection@taxoffice.example" },
}

local function payees(w, r, now)
  local number = 100
  local function add(name, email)
    number = number + 1
    w:put("payees", "payee-" .. number, { name = name, account = bank.accounts[name],
      email = email, added = dates.day(now - (90 + r:below(900)) * dates.DAY) })
  end
  for _, s in ipairs(company.suppliers) do add(s.name, company.address(s)) end
  for _, o in ipairs(others) do add(o.name, o.email) end
end

-- What clients paid last, oldest first.
local function incoming(w, now)
  local paid = {}
  for _, bill in ipairs(books.invoices(now)) do
    if bill.payment then paid[#paid + 1] = bill end
  end
  for i = 1, 6 do
    local bill = paid[#paid - 6 + i]
    local client = company.clients[bill.client].name
    w:put("incoming", "in-" .. 200 + i, { from = client, account = bank.accounts[client],
      amount = bill.payment.amount, reference = bill.number, date = bill.payment.day,
      refunded = 0 })
  end
end

-- What the company paid before, oldest first.
local function earlier(w, r, now)
  local names = company.draw(r, company.suppliers, 4)
  for i, s in ipairs(names) do
    w:put("transfers", "trf-" .. 100 + i, { kind = "transfer", from = "operating", payee = s.name,
      account = bank.accounts[s.name], amount = 100 * (90 + r:below(1900)) + r:below(100),
      reference = "RE-" .. 4000 + r:below(5000), date = dates.day(dates.work(now, 3 * i - 15)) })
  end
end

function seeding.seed(w, r)
  local now = w:now()
  w:put("accounts", "operating", { number = bank.own.operating, currency = bank.currency,
    balance = 100 * (24000 + r:below(30000)) + r:below(100) })
  w:put("accounts", "reserve", { number = bank.own.reserve, currency = bank.currency,
    balance = 100 * (60000 + r:below(60000)) + r:below(100) })
  w:put("limits", { single = 1000000, daily = 2000000 })
  payees(w, r, now)
  incoming(w, now)
  earlier(w, r, now)
end

return seeding
