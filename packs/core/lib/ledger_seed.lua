-- The seeded tables of sql-ledger: eight customers, six suppliers, eighteen invoices with their
-- lines, and what was paid on them.
local bank = require("lib.bank")
local company = require("lib.company")
local dates = require("lib.dates")

local seeding = {}

local INVOICES = 18

local function key(name, kind) return { name = name, type = kind, key = true } end
local function col(name, kind) return { name = name, type = kind, not_null = true } end
local function to(name, kind, target)
  return { name = name, type = kind, not_null = true, references = target }
end

local columns = {
  customers = { key("id", "INTEGER"), col("name", "TEXT"), col("contact", "TEXT"),
    col("email", "TEXT"), { name = "city", type = "TEXT" }, col("credit_limit_cents", "INTEGER") },
  suppliers = { key("id", "INTEGER"), col("name", "TEXT"), col("goods", "TEXT"),
    col("email", "TEXT"), col("account", "TEXT"), col("terms_days", "INTEGER") },
  invoices = { key("number", "TEXT"), to("customer_id", "INTEGER", "customers.id"),
    col("issued", "TEXT"), col("due", "TEXT"), col("net_cents", "INTEGER"),
    col("tax_cents", "INTEGER"), col("total_cents", "INTEGER"), col("status", "TEXT") },
  invoice_lines = { key("id", "INTEGER"), to("invoice", "TEXT", "invoices.number"),
    col("product", "TEXT"), col("quantity", "INTEGER"), col("unit_cents", "INTEGER") },
  payments = { key("id", "INTEGER"), to("invoice", "TEXT", "invoices.number"),
    col("paid_on", "TEXT"), col("amount_cents", "INTEGER"), { name = "method", type = "TEXT" } },
}

local towns = { "Northquay", "Hollowmere", "Saltby", "Fenwick Cross", "Oxley Bridge", "Tarnside" }

local function customers(r)
  local rows = {}
  for i, c in ipairs(company.clients) do
    rows[i] = { i, c.name, c.contact, company.address(c), r:pick(towns), 50000 * (4 + r:below(36)) }
  end
  return rows
end

local function suppliers(r)
  local rows = {}
  for i, s in ipairs(company.suppliers) do
    rows[i] = { i, s.name, s.goods, company.address(s), bank.accounts[s.name],
      r:pick({ 14, 30, 30, 45 }) }
  end
  return rows
end

-- Adds one to three lines of an invoice; returns their sum.
local function lines_of(r, number, lines)
  local net = 0
  for _, product in ipairs(company.draw(r, company.products, 1 + r:below(3))) do
    local quantity, price = 1 + r:below(5), 500 * (30 + r:below(150))
    lines[#lines + 1] = { #lines + 1, number, product, quantity, price }
    net = net + quantity * price
  end
  return net
end

-- Older invoices are paid, but for a few that are late or paid in part.
local function settle(r, invoice, i, now, payments)
  local total, due = invoice[7], invoice[4]
  local function pay(cents, day)
    payments[#payments + 1] = { #payments + 1, invoice[1], day, cents,
      r:pick({ "transfer", "transfer", "card" }) }
  end
  if i > INVOICES - 6 or i == INVOICES - 8 then
    return due < dates.day(now) and "overdue" or "open"
  end
  if i % 7 == 3 then
    pay(total // 200 * 100, due)
    return "part paid"
  end
  pay(total, due)
  return "paid"
end

local function invoices(r, now)
  local bills, lines, payments = {}, {}, {}
  local number = 300 + r:below(300)
  for i = 1, INVOICES do
    local issued = dates.work(now, 5 * (i - INVOICES) - 2 - r:below(4))
    number = number + 1 + r:below(6)
    local id = "INV-" .. number
    local net = lines_of(r, id, lines)
    local bill = { id, 1 + r:below(#company.clients), dates.day(issued),
      dates.day(issued + 30 * dates.DAY), net, net // 5, net + net // 5 }
    bill[8] = settle(r, bill, i, now, payments)
    bills[i] = bill
  end
  return bills, lines, payments
end

function seeding.seed(w, r)
  local rows = { customers = customers(r), suppliers = suppliers(r) }
  rows.invoices, rows.invoice_lines, rows.payments = invoices(r, w:now())
  for name, list_ in pairs(rows) do
    w:put("tables", name, { columns = columns[name], rows = list_ })
  end
  w:put("start", dates.iso(w:now()))
end

return seeding
