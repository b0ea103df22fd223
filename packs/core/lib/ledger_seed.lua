-- The seeded tables of sql-ledger: eight customers, six suppliers, eighteen invoices with their
-- lines, and what was paid on them.
local bank = require("lib.bank")
local books = require("lib.books")
local company = require("lib.company")
local dates = require("lib.dates")

local seeding = {}

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

-- Invoices, their lines and payments as rows.
local function invoices(now)
  local bills, lines, payments = {}, {}, {}
  for i, bill in ipairs(books.invoices(now)) do
    bills[i] = { bill.number, bill.client, bill.date, bill.due, bill.net, bill.tax, bill.total,
      bill.status }
    for _, line in ipairs(bill.lines) do
      lines[#lines + 1] = { #lines + 1, bill.number, line.product, line.quantity, line.unit }
    end
    local paid = bill.payment
    if paid then
      payments[#payments + 1] = { #payments + 1, bill.number, paid.day, paid.amount, paid.method }
    end
  end
  return bills, lines, payments
end

function seeding.seed(w, r)
  local rows = { customers = customers(r), suppliers = suppliers(r) }
  rows.invoices, rows.invoice_lines, rows.payments = invoices(w:now())
  for name, list_ in pairs(rows) do
    w:put("tables", name, { columns = columns[name], rows = list_ })
  end
  w:put("start", dates.iso(w:now()))
end

return seeding
