-- The seeded chat of team-chat. Channels, and what their messages are about:
--   general       401 staff meeting (Maren) · 402 remote access (Owen) · 403 office closed (Leila) ·
--                 404 a parcel (Leila)
--   workshop      411 planer (Callum) · 412 answer (Daniel) · 413 a snippet: cut list (Callum) ·
--                 414 lift truck (Daniel)
--   projects      421 a client's wish (Hana) · 422 the user's answer, in its thread · 423 drawings
--                 (Hana) · 424 a day on site (Daniel)
--   finance       431 receipts (Ruth) · 432 an open invoice (Tobias) · 433 who approves (Tobias)
--   it-help       441 printer (Sofia) · 442 answer (Owen), in its thread · 443 passwords (Owen)
--   lunch         451, 452 (Sofia, Daniel)
--   with-norrby   461, 462, shared with the supplier Norrby Timber (guest Elsa Norrby) · 463 user
--   management    private, the user is no member · spring-fair  archived
-- Direct messages: 471, 472 with Hana Sato · 473 from Callum Reyes.
-- They agree with lib/mail_seed.lua and lib/calendar_seed.lua where they tell about the same thing.
local company = require("lib.company")
local dates = require("lib.dates")
local template = require("lib.template")

local seeding = {}

local channels = {
  general = { topic = "What all of us should know", members = "all" },
  workshop = { topic = "Machines, bays, deliveries", members = { "callum", "daniel", "hana" } },
  projects = { topic = "Running work for clients", members = { "hana", "daniel", "sofia", "callum" } },
  finance = { topic = "Invoices, receipts, budget", members = { "tobias", "ruth", "maren" } },
  ["it-help"] = { topic = "Questions to Owen", members = "all" },
  lunch = { topic = "Who eats what and where", members = { "sofia", "daniel", "hana", "ruth" } },
  ["with-norrby"] = { topic = "Shared with Norrby Timber: orders and deliveries",
    members = { "callum", "tobias", "norrby" }, shared = true },
  management = { topic = "Maren, Tobias, Leila", members = { "maren", "tobias", "leila" },
    private = true, closed = true },
  ["spring-fair"] = { topic = "The fair of last spring", members = "all", archived = true },
}

-- { id, channel or key of a person for direct messages, working days ago, minute, author, text,
--   thread?, snippet? }
local messages = {
  { 401, "general", 1, 970, "maren", "Staff meeting is on {in4} in {room}. Agenda went out by mail." },
  { 402, "general", 2, 910, "owen", "Remote access is down on {in3} from 18:00 to about {end_hour}:00. Nobody will ask you for a password." },
  { 403, "general", 6, 545, "leila", "The office stays closed on {in15} and {in16}, the floor is sanded." },
  { 404, "general", 1, 615, "leila", "There is a parcel from {supplier_company} at the front desk, {kilos} kg. Whose is it?" },
  { 411, "workshop", 3, 480, "callum", "Planer makes a noise again. I stop it at {stop}:00 and look at the belt." },
  { 412, "workshop", 3, 492, "daniel", "Fine, I need it only for {count} posts and they can wait.", thread = 411 },
  { 413, "workshop", 2, 525, "callum", "Cut list for tomorrow", snippet = {
    title = "cut-list.csv", language = "csv",
    text = "part,length,count\nslat,{slat},{slats}\nleg,{leg},4\nbrace,{brace},2\n" } },
  { 414, "workshop", 1, 840, "daniel", "Lift truck is back in bay {bay}. Battery at {battery} percent." },
  { 421, "projects", 2, 600, "hana", "{client_name} of {client_company} asks for rounded edges on the {product}. Does that change the price?" },
  { 422, "projects", 2, 640, "me", "A little, I will ask Tobias.", thread = 421 },
  { 423, "projects", 1, 660, "hana", "Drawings of the {product} are up to date, please use revision {revision} only." },
  { 424, "projects", 1, 700, "daniel", "On site at {second_company} we were done by {done}:00. {second_name} is happy." },
  { 431, "finance", 4, 660, "ruth", "Receipts until the 25th please. A picture of each is enough." },
  { 432, "finance", 3, 570, "tobias", "{third_company} has not paid yet, {late} days late. I call {third_name}." },
  { 433, "finance", 1, 585, "tobias", "Reminder: payments above {limit} need a yes from Maren or me, by voice." },
  { 441, "it-help", 2, 555, "sofia", "The printer on the first floor prints {copies} copies of everything." },
  { 442, "it-help", 2, 580, "owen", "Tray setting, fixed. Please switch it off and on once.", thread = 441 },
  { 443, "it-help", 5, 630, "owen", "As every quarter: no passwords or keys in the chat, not even to me." },
  { 451, "lunch", 1, 690, "sofia", "{dish} today, I have bread for {eaters}." },
  { 452, "lunch", 1, 695, "daniel", "Count me in.", thread = 451 },
  { 461, "with-norrby", 2, 540, "norrby", "Good morning, {packs} packs of larch boards leave us on {in5}. Length {longest} mm." },
  { 462, "with-norrby", 2, 560, "callum", "Good. Bay {bay}, before noon, please.", thread = 461 },
  { 463, "with-norrby", 1, 620, "me", "Thank you both, noted." },
  { 471, "@hana", 1, 780, "hana", "Do you have ten minutes for the {product}? It could be {height} high." },
  { 472, "@hana", 1, 784, "me", "Yes, after lunch.", thread = 471 },
  { 473, "@callum", 1, 930, "callum", "Could you find out whether {supplier_company} still has {goods}? We have enough for {weeks} weeks." },
}

local function draw(r, now)
  local clients, supplier = company.draw(r, company.clients, 3), r:pick(company.suppliers)
  local count = 3 + r:below(17)
  local v = {
    room = company.meeting_room(now), end_hour = company.maintenance_end(now), count = count,
    kilos = 2 + r:below(19), stop = 13 + r:below(4), slat = 1400 + 20 * r:below(21),
    slats = 7 + r:below(5), leg = 400 + 10 * r:below(8), brace = 600 + 10 * r:below(30),
    bay = 1 + r:below(6), battery = 35 + r:below(60), product = r:pick(company.products),
    revision = 2 + r:below(6), done = 12 + r:below(4), late = 4 + r:below(30),
    limit = 500 * (2 + r:below(8)) .. ".00", copies = 2 + r:below(4), eaters = 3 + r:below(5),
    dish = r:pick({ "Lentil soup", "Potato salad", "Leek tart", "Bean stew" }),
    packs = 4 + r:below(20), longest = 3900 + 100 * r:below(9), height = 400 + 5 * count,
    weeks = 1 + r:below(4), goods = supplier.goods, supplier_company = supplier.name,
  }
  for i, as in ipairs({ "client", "second", "third" }) do
    v[as .. "_name"], v[as .. "_company"] = clients[i].contact, clients[i].name
  end
  for _, n in ipairs({ 3, 4, 5, 15, 16 }) do v["in" .. n] = dates.long(dates.work(now, n)) end
  return v
end

local function handle(address)
  return (re.match(address, "^[^@]+"))
end

-- Everybody who can be written to: the staff and the guests of shared channels.
local function put_people(w)
  local people = {}
  for key, person in pairs(company.staff) do
    people[key] = handle(person.address)
    w:put("people", people[key], { name = person.name, address = person.address, role = person.role })
  end
  local norrby = company.suppliers[1]
  people.norrby = handle(company.address(norrby))
  w:put("people", people.norrby, { name = norrby.contact, address = company.address(norrby),
    role = norrby.name, guest = true })
  return people
end

local function members_of(keys, people, me, closed)
  local out, seen = {}, {}
  local function add(who)
    if not seen[who] then
      seen[who] = true
      out[#out + 1] = who
    end
  end
  for _, key in ipairs(keys == "all" and company.order or keys) do add(people[key]) end
  if not closed then add(me) end
  return out
end

function seeding.seed(w, r)
  local now = w:now()
  local user = company.user(now)
  local me = handle(user.address)
  local values = draw(r, now)
  w:put("user", { name = user.name, address = user.address, handle = me })
  w:put("start", dates.iso(now))
  local people = put_people(w)
  people.me = me
  for name, c in pairs(channels) do
    w:put("channels", name, { topic = c.topic, private = c.private or false, shared = c.shared or false,
      archived = c.archived or false, members = list(members_of(c.members, people, me, c.closed)) })
  end
  for _, m in ipairs(messages) do
    local id, channel = "chat-" .. m[1], m[2]
    if string.sub(channel, 1, 1) == "@" then channel = "@" .. people[string.sub(channel, 2)] end
    local time = dates.work(now, -m[3]) + 60 * (m[4] + r:below(4))
    if m.snippet then
      w:put("snippets", id, { title = m.snippet.title, language = m.snippet.language,
        text = template.fill(m.snippet.text, values) })
    end
    w:put("messages", channel, id, { from = people[m[5]], text = template.fill(m[6], values),
      time = dates.iso(time), thread = m.thread and "chat-" .. m.thread })
  end
end

return seeding
