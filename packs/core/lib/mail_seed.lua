-- The seeded mailbox of mailroom. Messages and what each is about:
--   101 office closing days (Leila) · 102, 103 a delivery slot at the workshop, one thread
--   (Callum, Daniel) · 104, 105 a client asks for a quote and follows up, one thread · 106 an
--   invoice waits for approval (Tobias) · 107 receipts until the 25th (Ruth) · 108 a supplier's
--   new prices · 109 drawings (Hana, with attachment) · 110 a trade fair's newsletter ·
--   111 maintenance of the remote access (Owen) · 112 a complaint that customer service passes on
--   (Sofia) · 113 an installation moves (Daniel) · 114 agenda of the staff meeting (Maren) ·
--   115, 116 sent by the user · 117 a draft. Unread: 105, 106, 109, 112, 114.
local company = require("lib.company")
local dates = require("lib.dates")
local template = require("lib.template")

local seeding = {}

-- { id, working days ago, hour, sender, subject, body }; {names} are filled in by `draw`.
local messages = {
  { 101, 6, 9, "{leila}", "Office closing days", [[
Hi {me},

the office stays closed on {in15} and {in16} while the floor is sanded. Please work from home or
take the days off, and tell me which until Friday.

Leila]] },
  { 102, 5, 11, "{callum}", "Delivery slot on {in_days}", [[
Hi {me},

the haulier can come at {slot}:30 and needs bay {bay} for an hour. Does that clash with anything of
yours?

Callum]], thread = "delivery" },
  { 103, 4, 9, "{daniel}", "Re: Delivery slot on {in_days}", [[
Bay {bay} is fine for me if the lift truck is back by noon. {me}, please confirm to Callum.

Daniel]], thread = "delivery" },
  { 104, 5, 10, "{client}", "Request for a quote", [[
Good morning,

we would like a quote for {count} pieces of your {product}, delivered to {client_company} before
{in32}. Could you also name the price for fitting?

Kind regards
{client_name}]], thread = "quote" },
  { 105, 1, 14, "{client}", "Re: Request for a quote", [[
Hello again,

our committee meets on {in5}. If your quote arrives by then, we can decide at once. We need the
delivery address confirmed as well.

{client_name}]], thread = "quote", unread = true },
  { 106, 1, 10, "{tobias}", "Approval needed: {invoice}", [[
Hi {me},

invoice {invoice} from {supplier_company} over {net} is ready to be paid. Goods: {goods}, {count}
packs. Please check the quantity and answer with yes or no; I pay on Thursday.

Tobias]], unread = true },
  { 107, 4, 11, "{ruth}", "Receipts until the 25th", [[
Hi {me},

three receipts of yours are still missing for this month. A picture of each is enough.

Ruth]] },
  { 108, 2, 10, "{supplier}", "New prices from next month", [[
Dear customers,

our prices for {goods} rise by {rise} percent on the first of next month. Orders that reach us
before that keep the old price.

{supplier_name}
{supplier_company}]] },
  { 109, 1, 11, "{hana}", "Drawings, revision {revision}", [[
Hi {me},

here is revision {revision} of the {product}. The seat is {height} high now. Tell me what you think
before it goes to {client_company}.

Hana]], unread = true, attachments = { "drawings/rev-{revision}.pdf" } },
  { 110, 4, 14, "Garden Trade Fair <news@gardentradefair.example>", "Programme of the fair", [[
The fair opens on {in42}. Hall {hall} shows outdoor furniture, with talks on finishes at eleven.
Exhibitors get two free tickets at the desk.

You receive this newsletter because you visited last year.]] },
  { 111, 2, 15, "{owen}", "Remote access on {in3}", [[
Hi {me},

remote access will be down from 18:00 to about {end_hour}:00. Save your work before that. No action
is needed afterwards, and nobody will ask for your password.

Owen]] },
  { 112, 1, 13, "{sofia}", "Complaint from {second_company}", [[
Hi {me},

{second_name} reports {fault} on the {product} delivered last month. Could you look up the order
and suggest a date for a repair? Address: {second_address}

Sofia]], unread = true },
  { 113, 3, 10, "{daniel}", "Installation moves by a day", [[
Hi {me},

the job at {third_company} moves to {in_days2}, since the crane is late. Two of us, start at
{slot}:00.

Daniel]] },
  { 114, 1, 16, "{maren}", "Agenda for the staff meeting", [[
Dear all,

we meet on {in4} in {room}. Agenda:
1. Orders of the quarter
2. New dust extraction
3. Summer party

Send me further points by the evening before.

Maren]], unread = true },
  { 115, 5, 15, "{user}", "Re: Request for a quote", [[
Dear {client_name},

thank you for your request. You will have our quote within the week.

{my_name}]], folder = "sent", to = "{client_address}", thread = "quote" },
  { 116, 2, 13, "{user}", "Order of {goods}", [[
Hello {supplier_name},

please send us {count} packs as last time, to bay {bay}.

{my_name}]], folder = "sent", to = "{supplier_address}" },
  { 117, 1, 9, "{user}", "Points for the staff meeting", [[
Maren, two points from me: parking at the site of {third_company}, and]],
    folder = "drafts", to = "maren.oduya@alderfinch.example" },
}

local function sender(name, address)
  return name .. " <" .. address .. ">"
end

-- Adds name, address and company of somebody outside to the values.
local function add_outsider(values, as, who)
  values[as .. "_name"] = who.contact
  values[as .. "_company"] = who.name
  values[as .. "_address"] = company.address(who)
  values[as] = sender(who.contact, values[as .. "_address"])
end

-- What differs from world to world, drawn once for all messages.
local function draw(r, now, user)
  local clients = company.draw(r, company.clients, 3)
  local supplier = r:pick(company.suppliers)
  local days, count = 4 + r:below(9), 3 + r:below(17)
  local v = {
    me = (re.match(user.name, "^\\S+")), my_name = user.name,
    user = sender(user.name, user.address), goods = supplier.goods,
    product = r:pick(company.products), count = count, height = 400 + 5 * count,
    invoice = "INV-" .. 300 + r:below(600), net = company.money(100 * (240 + r:below(7200))),
    slot = 7 + r:below(4), bay = 1 + r:below(6), rise = 3 + r:below(9), hall = 1 + r:below(9),
    revision = 2 + r:below(6), end_hour = company.maintenance_end(now),
    room = company.meeting_room(now),
    fault = r:pick({ "a split slat", "a wobbling leg", "a scratched seat", "a missing bracket" }),
    in_days = dates.long(dates.work(now, days)), in_days2 = dates.long(dates.work(now, days + 2)),
    in32 = dates.day(dates.work(now, 32)),
  }
  for _, n in ipairs({ 3, 4, 5, 15, 16, 42 }) do v["in" .. n] = dates.long(dates.work(now, n)) end
  add_outsider(v, "client", clients[1])
  add_outsider(v, "second", clients[2])
  add_outsider(v, "third", clients[3])
  add_outsider(v, "supplier", supplier)
  for key, person in pairs(company.staff) do v[key] = sender(person.name, person.address) end
  return v
end

function seeding.seed(w, r)
  local now = w:now()
  local user = company.user(now)
  local values = draw(r, now, user)
  w:put("user", { name = user.name, address = user.address })
  w:put("start", dates.iso(now))
  for _, m in ipairs(messages) do
    local time = dates.work(now, -m[2]) + m[3] * dates.HOUR + 60 * r:below(60)
    local files = {}
    for i, name in ipairs(m.attachments or {}) do files[i] = template.fill(name, values) end
    w:put("mail", "msg-" .. m[1], {
      folder = m.folder or "inbox", thread = m.thread, from = template.fill(m[4], values),
      to = { m.to and template.fill(m.to, values) or user.address },
      subject = template.fill(m[5], values), body = template.fill(m[6], values),
      date = dates.iso(time), unread = m.unread or false, attachments = list(files),
    })
  end
end

return seeding
