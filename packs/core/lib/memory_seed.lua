-- The seeded memories of notes-memory, by topic:
--   preferences  mail-tone, meeting-hours, units, file-names, quote-format (pinned), lunch
--   contacts     key-client, second-client, client-phone-times, haulier, it-contact, finance-contact
--   suppliers    supplier-timber (pinned), supplier-fixings, supplier-finishes, supplier-blades
--   tasks        receipts, friday-report (pinned), timber-check, monthly-backup, open-offers
--   projects     running-project, last-complaint, fair
-- Details are drawn by seed; they agree with lib/company.lua and the other servers.
local company = require("lib.company")
local dates = require("lib.dates")
local template = require("lib.template")

local seeding = {}

-- { key, topic, working days ago, text, pinned? }
local memories = {
  { "mail-tone", "preferences", 61, "Mails to clients are {tone}: first name only after they use mine, no exclamation marks." },
  { "meeting-hours", "preferences", 48, "No meetings before {early}:30 and none on Friday after {late}:00." },
  { "units", "preferences", 75, "Lengths in millimetres, money with two decimals, dates as year-month-day." },
  { "file-names", "preferences", 33, "File names in lower case with hyphens, the date in front only for minutes." },
  { "quote-format", "preferences", 27, "A quote has one page and is valid for {valid} days. Transport stands on a line of its own.", true },
  { "lunch", "preferences", 19, "Lunch at half past twelve, {dish} on Wednesdays." },
  { "key-client", "contacts", 30, "{client_name} of {client_company} ({client_address}) decides alone and prefers {way}." },
  { "second-client", "contacts", 22, "{second_name}, {second_company}: send offers to {second_address}, their committee meets every {weekday}." },
  { "client-phone-times", "contacts", 14, "{client_name} is best reached between {early}:00 and {noon}:00." },
  { "haulier", "contacts", 41, "Imran Qureshi of Southgate Haulage needs two days of notice; bay {bay} suits the long lorry." },
  { "it-contact", "contacts", 52, "Owen Price answers fastest in the channel it-help. He never asks for a password." },
  { "finance-contact", "contacts", 37, "Tobias Lindqvist pays on Thursdays; a changed bank account needs a call to a number we already have." },
  { "supplier-timber", "suppliers", 12, "Norrby Timber, larch boards: Elsa Norrby, elsa.norrby@norrbytimber.example, customer number {timber_number}, {timber_days} working days to deliver, at least {timber_packs} packs.", true },
  { "supplier-fixings", "suppliers", 26, "Castell Fixings, screws and brackets: huw.castell@castellfixings.example, customer number {fixings_number}, free delivery above {fixings_free}." },
  { "supplier-finishes", "suppliers", 44, "Beeswax Finishes, oil and wax: Tilda Krol, order by {finishes_hour}:00 for the next day." },
  { "supplier-blades", "suppliers", 58, "Ironbark Tools sharpens saw blades within {blades_days} days; Kirsty Doyle collects them." },
  { "receipts", "tasks", 16, "Every month until the 25th: pictures of the receipts to Ruth Feldman." },
  { "friday-report", "tasks", 9, "Every Friday by {report_hour}:00: orders, delays and complaints of the week in five lines to Maren Oduya.", true },
  { "timber-check", "tasks", 6, "First Monday of the month: ask Callum Reyes how many packs of larch are left; reorder below {reorder}." },
  { "monthly-backup", "tasks", 29, "Last working day: copy the quotes folder to the archive, then tell Owen Price." },
  { "open-offers", "tasks", 4, "Call clients whose offer is older than {age} days; {second_company} first." },
  { "running-project", "projects", 8, "{product} for {client_company}: {count} pieces, {status}. Next step is the {step}." },
  { "last-complaint", "projects", 11, "{third_company} reported {fault}; repaired by Daniel Mensah, follow up after {weeks} weeks." },
  { "fair", "projects", 20, "Garden Trade Fair: stand shared with {supplier_company}, bring the {product}." },
}

local function draw(r)
  local clients, others = company.draw(r, company.clients, 3), company.draw(r, company.suppliers, 1)
  local count = 3 + r:below(17)
  local v = {
    tone = r:pick({ "short and friendly", "polite and plain", "warm but brief" }),
    early = 8 + r:below(2), noon = 10 + r:below(3), late = 13 + r:below(3), valid = 10 * (2 + r:below(4)),
    dish = r:pick({ "soup", "salad", "pancakes" }), way = r:pick({ "the phone", "short mails", "a visit" }),
    weekday = r:pick({ "Tuesday", "Wednesday", "Thursday" }), bay = 1 + r:below(6),
    timber_number = "AF-" .. 1000 + r:below(9000), timber_days = 5 + r:below(10),
    timber_packs = 3 + r:below(6), fixings_number = 20000 + r:below(70000),
    fixings_free = 50 * (2 + r:below(8)) .. ".00", finishes_hour = 11 + r:below(5),
    blades_days = 3 + r:below(6), report_hour = 12 + r:below(4), reorder = 6 + r:below(12),
    age = 7 + r:below(15), product = r:pick(company.products), count = count,
    status = r:pick({ "planned", "cutting", "assembly" }), weeks = 2 + r:below(5),
    step = r:pick({ "drawing", "site visit", "oil order", "delivery date" }),
    fault = r:pick({ "a split slat", "a wobbling leg", "a missing bracket" }),
    supplier_company = others[1].name,
  }
  for i, as in ipairs({ "client", "second", "third" }) do
    v[as .. "_name"], v[as .. "_company"] = clients[i].contact, clients[i].name
    v[as .. "_address"] = company.address(clients[i])
  end
  return v
end

function seeding.seed(w, r)
  local now = w:now()
  local user = company.user(now)
  local values = draw(r)
  w:put("user", { name = user.name, address = user.address })
  w:put("start", dates.iso(now))
  for _, m in ipairs(memories) do
    local time = dates.work(now, -m[3] - r:below(3)) + (9 + r:below(8)) * dates.HOUR + 60 * r:below(60)
    w:put("memories", m[1], { topic = m[2], text = template.fill(m[4], values),
      created = dates.iso(time), updated = dates.iso(time), pinned = m[5] or false })
  end
end

return seeding
