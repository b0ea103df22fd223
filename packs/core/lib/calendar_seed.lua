-- The seeded calendar. Events and what each is about (working days from the beginning of the world):
--   201 staff meeting (4, Maren invites all) · 202 remote access is down (3, Owen) · 203, 204 the
--   office is closed (15, 16, Leila) · 205 trade fair (42) · 206 call with a client who is invited
--   (1, the user's own) · 207 a supplier shows goods (5, own, supplier invited) · 208 site visit at
--   a client (6, Daniel invites) · 209 talk with Maren (2) · 210 drawings (2, own, Hana) ·
--   211 - 215 stand-up of five days, from today on (Callum) · 216 a private appointment (3, own, no guests) ·
--   217 safety round (2 days ago, Callum) · 218 hand-over of a quote (5 days ago, own) · 219 budget
--   talk (8, Tobias; his guests may not invite others) · 220 time held for desk work (1, own,
--   tentative) · 221 a cancelled visit (7, own) · 222 what the user's role does (3, own).
-- They agree with the messages of lib/mail_seed.lua where both tell about the same thing.
local company = require("lib.company")
local dates = require("lib.dates")
local template = require("lib.template")

local seeding = {}

-- { id, working days from now, begin and end in minutes of the day, organiser, title, notes }; an
-- organiser "me" is the user. `guests` are keys of the staff, "client", "second" or "supplier".
local events = {
  { 201, 4, 600, 660, "maren", "Staff meeting",
    "Orders of the quarter, new dust extraction, summer party. Further points by the evening before.",
    where = "{room}", guests = { "all" } },
  { 202, 3, 1080, "{maintenance}", "owen", "Remote access down",
    "Save your work before that. No action is needed afterwards.", guests = { "all" } },
  { 203, 15, 0, 1440, "leila", "Office closed", "The floor is sanded.", guests = { "all" } },
  { 204, 16, 0, 1440, "leila", "Office closed", "The floor is sanded.", guests = { "all" } },
  { 205, 42, 540, 1020, "me", "Garden Trade Fair", "Hall plan at the desk. Talks on finishes at eleven.",
    where = "Trade fair centre" },
  { 206, 1, "{call}", "{call_end}", "me", "Call with {client_name}",
    "{client_company}: {count} pieces of {product}, delivery and fitting. Number in the contact list.",
    where = "phone", guests = { "client", "sofia" } },
  { 207, 5, "{visit}", "{visit_end}", "me", "{supplier_company} shows {goods}",
    "{supplier_name} brings samples. Bay {bay} is kept free.", where = "workshop, bay {bay}",
    guests = { "supplier", "callum" } },
  { 208, 6, 780, 900, "daniel", "Site visit {second_company}",
    "Levels, access for the lift truck, power. {second_name} meets us at the gate.",
    where = "{second_company}", guests = { "me", "second" } },
  { 209, 2, "{talk}", "{talk_end}", "maren", "Talk with {me}", "Workload, holidays, training.",
    where = "Maren's office", guests = { "me" } },
  { 210, 2, 840, 885, "me", "Drawings of the {product}", "Height, edges, fixing points.",
    where = "design room", guests = { "hana" } },
  { 216, 3, "{private}", "{private_end}", "me", "{errand}", "", private = true },
  { 217, -2, 660, 720, "callum", "Safety round in the workshop",
    "Extraction bags, first-aid box, guards of the band saw.", where = "workshop",
    guests = { "me", "daniel" } },
  { 218, -5, 900, 930, "me", "Hand over quote for {client_company}", "Prices checked by Tobias.",
    guests = { "tobias" } },
  { 219, 8, 540, 600, "tobias", "Budget talk", "Planned {plan}, spent so far {spent}. Not for further circulation.",
    where = "finance", guests = { "me", "maren" }, closed = true },
  { 220, 1, 480, 540, "me", "Desk work", "", status = "tentative" },
  { 221, 7, 600, 690, "me", "Visit to {third_company}", "Called off by {third_name}.",
    where = "{third_company}", status = "cancelled", guests = { "third" } },
}

local by_role = {
  priya = { "Plan of the week for the sites", "Vans, people, lift truck.", "daniel" },
  ines = { "Open quotes", "Go through the quotes older than {age} days.", "sofia" },
  jonas = { "Stock count", "{goods} first, then the rest of aisle {bay}.", "callum" },
}

local function clock(minutes)
  return minutes // 60 * dates.HOUR + minutes % 60 * 60
end

-- The values of the texts, and the people that guests' names stand for.
local function draw(r, now, user)
  local clients, supplier = company.draw(r, company.clients, 3), r:pick(company.suppliers)
  local call, visit = 600 + 15 * r:below(6), 780 + 30 * r:below(5)
  local talk, private = 660 + 30 * r:below(3), 960 + 15 * r:below(5)
  local plan = 100 * (9000 + 50 * r:below(300))
  local v = {
    me = (re.match(user.name, "^\\S+")), product = r:pick(company.products),
    count = 3 + r:below(17), bay = 1 + r:below(6), age = 7 + r:below(20), goods = supplier.goods,
    room = company.meeting_room(now), maintenance = 60 * company.maintenance_end(now),
    errand = r:pick({ "Dentist", "Parents' evening", "Bicycle repair", "Choir practice" }),
    plan = company.money(plan), spent = company.money(plan * (35 + r:below(60)) // 100),
    call = call, call_end = call + 30, visit = visit, visit_end = visit + 60,
    talk = talk, talk_end = talk + 30, private = private, private_end = private + 60,
  }
  local people = {}
  for as, who in pairs({ client = clients[1], second = clients[2], third = clients[3],
    supplier = supplier }) do
    v[as .. "_name"], v[as .. "_company"] = who.contact, who.name
    people[as] = { name = who.contact, address = company.address(who) }
  end
  for key, person in pairs(company.staff) do people[key] = person end
  people.me = user
  return v, people
end

-- Answers to an invitation: who organises comes, of the others most do.
local function guests_of(r, names, people, organiser)
  local out, keys = {}, names
  if names[1] == "all" then keys = company.order end
  for _, key in ipairs(keys) do
    local person = people[key]
    if person.address ~= organiser.address then
      out[#out + 1] = { name = person.name, address = person.address,
        status = r:pick({ "accepted", "accepted", "accepted", "tentative", "no answer" }) }
    end
  end
  return out
end

local function number(value, values)
  return type(value) == "string" and tonumber(template.fill(value, values)) or value
end

function seeding.seed(w, r)
  local now = w:now()
  local user = company.user(now)
  local values, people = draw(r, now, user)
  local function add(e)
    local day = dates.work(now, e[2])
    local organiser = people[e[5]]
    w:put("events", "evt-" .. e[1], {
      title = template.fill(e[6], values), notes = template.fill(e[7], values),
      start = dates.iso(day + clock(number(e[3], values))),
      ["end"] = dates.iso(day + clock(number(e[4], values))),
      location = e.where and template.fill(e.where, values) or "",
      organizer = organiser.name .. " <" .. organiser.address .. ">",
      guests = list(guests_of(r, e.guests or {}, people, organiser)),
      status = e.status or "confirmed", private = e.private or false,
      guests_can_invite = not e.closed,
    })
  end
  w:put("user", { name = user.name, address = user.address })
  w:put("start", dates.iso(now))
  for _, e in ipairs(events) do add(e) end
  -- On a weekend the next working day is both 0 and 1 days away.
  local first = dates.work(now, 0) == dates.work(now, 1) and 1 or 0
  for i = 0, 4 do
    add({ 211 + i, first + i, 510, 525, "callum", "Stand-up", "Who does what today, what is in the way.",
      where = "workshop", guests = { "me", "hana", "daniel", "sofia" } })
  end
  for key, mine in pairs(by_role) do
    if company.staff[key].address == user.address then
      local from = 540 + 15 * r:below(8)
      add({ 222, 3, from, from + 45, "me", mine[1], mine[2], guests = { mine[3] } })
    end
  end
end

return seeding
