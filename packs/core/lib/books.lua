-- The invoices of the company and what was paid on them: the same on every server of a world, so
-- they follow from the day on which the world begins and not from a server's own draws.
local company = require("lib.company")
local dates = require("lib.dates")

local books = {}

books.INVOICES = 18

-- Numbers below n, the same for the same day.
local function draws(now)
  local state = now // 86400 * 7919 % 2147483648
  return function(n)
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 256 % n
  end
end

-- One to three lines, and their sum.
local function lines_of(below)
  local lines, net, first = {}, 0, below(#company.products)
  for i = 1, 1 + below(3) do
    local line = { product = company.products[(first + 3 * i) % #company.products + 1],
      quantity = 1 + below(5), unit = 500 * (30 + below(150)) }
    lines[i] = line
    net = net + line.quantity * line.unit
  end
  return lines, net
end

-- What is paid on an invoice: older ones are, but for one that is late and two paid in part.
local function settle(below, bill, i, now)
  if i > books.INVOICES - 6 or i == books.INVOICES - 8 then
    bill.status = bill.due < dates.day(now) and "overdue" or "open"
    return
  end
  bill.status = i % 7 == 3 and "part paid" or "paid"
  bill.payment = { amount = i % 7 == 3 and bill.total // 200 * 100 or bill.total,
    day = dates.day(dates.work(bill.issued + (20 + below(9)) * dates.DAY, 1)),
    method = below(3) == 0 and "card" or "transfer" }
end

-- Invoices, oldest first: { number, client (its place in company.clients), issued (seconds), date,
-- due, lines = { { product, quantity, unit } }, net, tax, total, status, payment? = { amount, day,
-- method } }. Amounts are whole cents.
function books.invoices(now)
  local below = draws(now)
  local number = 300 + below(300)
  local out = {}
  for i = 1, books.INVOICES do
    number = number + 1 + below(6)
    local lines, net = lines_of(below)
    local issued = dates.work(now, 5 * (i - books.INVOICES) - 2 - below(4))
    local bill = { number = "INV-" .. number, client = 1 + below(#company.clients),
      issued = issued, date = dates.day(issued), due = dates.day(issued + 30 * dates.DAY),
      lines = lines, net = net, tax = net // 5, total = net + net // 5 }
    settle(below, bill, i, now)
    out[i] = bill
  end
  return out
end

return books
