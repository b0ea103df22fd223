-- The small company whose files and mail the servers show. The staff is the same in every world,
-- so that servers agree with each other and plans may name these people; clients, suppliers,
-- amounts and dates are drawn by seed. All addresses end in .example (RFC 2606).
local company = {}

company.name = "Alder & Finch Garden Joinery"
company.domain = "alderfinch.example"

local function person(name, mailbox, role, extension)
  return { name = name, address = mailbox .. "@alderfinch.example", role = role,
    phone = "555-01" .. extension }
end

company.staff = {
  maren = person("Maren Oduya", "maren.oduya", "managing director", "01"),
  tobias = person("Tobias Lindqvist", "tobias.lindqvist", "finance", "02"),
  priya = person("Priya Raman", "priya.raman", "project manager", "03"),
  callum = person("Callum Reyes", "callum.reyes", "workshop manager", "04"),
  ines = person("Ines Cardoso", "ines.cardoso", "sales", "05"),
  jonas = person("Jonas Weber", "jonas.weber", "purchasing", "06"),
  hana = person("Hana Sato", "hana.sato", "design", "07"),
  leila = person("Leila Haddad", "leila.haddad", "people and office", "08"),
  owen = person("Owen Price", "owen.price", "IT", "09"),
  sofia = person("Sofia Marchetti", "sofia.marchetti", "customer service", "10"),
  daniel = person("Daniel Mensah", "daniel.mensah", "installation", "11"),
  ruth = person("Ruth Feldman", "ruth.feldman", "bookkeeping", "12"),
}

-- Staff in the order of the contact list.
company.order = { "maren", "tobias", "priya", "callum", "ines", "jonas", "hana", "leila", "owen",
  "sofia", "daniel", "ruth" }

-- Who may be the user of a world: nobody here sends mail to the user in the seeded mailbox.
company.users = { "priya", "ines", "jonas" }

company.clients = {
  { name = "Brookside Primary School", contact = "Edith Tanner",
    host = "brookside-primary.example" },
  { name = "Quayside Hotel", contact = "Marco Bellini", host = "quaysidehotel.example" },
  { name = "Linden Court Residents", contact = "Aoife Brennan", host = "lindencourt.example" },
  { name = "Copper Kettle Cafe", contact = "Samir Nouri", host = "copperkettle.example" },
  { name = "Hollis & Wray Architects", contact = "Nadia Wray", host = "holliswray.example" },
  { name = "Fernhill Care Home", contact = "Grace Adeyemi", host = "fernhillcare.example" },
  { name = "Tallow Street Library", contact = "Piet de Boer", host = "tallowlibrary.example" },
  { name = "Marlow Vale Golf Club", contact = "Victor Lang", host = "marlowvalegolf.example" },
}

company.suppliers = {
  { name = "Norrby Timber", contact = "Elsa Norrby", host = "norrbytimber.example",
    goods = "larch boards" },
  { name = "Castell Fixings", contact = "Huw Castell", host = "castellfixings.example",
    goods = "screws and brackets" },
  { name = "Beeswax Finishes", contact = "Tilda Krol", host = "beeswaxfinishes.example",
    goods = "oil and wax" },
  { name = "Southgate Haulage", contact = "Imran Qureshi", host = "southgatehaulage.example",
    goods = "transport" },
  { name = "Ironbark Tools", contact = "Kirsty Doyle", host = "ironbarktools.example",
    goods = "saw blades" },
  { name = "Weir Plating", contact = "Stefan Weir", host = "weirplating.example",
    goods = "galvanised feet" },
}

company.products = { "oak bench", "larch planter", "cedar pergola", "round picnic table",
  "bicycle shelter", "raised bed", "garden gate", "reading pavilion" }

-- What several servers of one world tell about has to be the same in all of them: it follows from
-- the day on which the world begins, which they share, and not from a server's own draws.
-- Whose mailbox, calendar, chat and memory the world shows:
function company.user(now)
  return company.staff[company.users[now // 86400 % #company.users + 1]]
end

local rooms = { "the canteen", "the showroom", "meeting room two" }

-- The staff meeting is four working days after the beginning, in this room.
function company.meeting_room(now)
  return rooms[now // 86400 // 3 % #rooms + 1]
end

-- Three working days after the beginning, remote access is down from 18:00 to this hour.
function company.maintenance_end(now)
  return 20 + now // 86400 // 2 % 3
end

-- "Edith Tanner" at a host: "edith.tanner@host".
function company.address(contact)
  local first, last = re.match(string.lower(contact.contact), "^(\\S+) (.+)$")
  return first .. "." .. re.sub(last, "[^a-z]", "") .. "@" .. contact.host
end

-- Whether an address is one of the company's own.
function company.inside(address)
  return re.find(address, "(?i)@alderfinch\\.example$") ~= nil
end

-- `n` different items of a list, in drawn order.
function company.draw(r, from, n)
  local left, out = {}, {}
  for i, item in ipairs(from) do left[i] = item end
  for i = 1, n do
    local at = r:below(#left) + 1
    out[i] = left[at]
    table.remove(left, at)
  end
  return out
end

-- 123456 cents as "1,234.56".
function company.money(cents)
  local whole = tostring(cents // 100)
  local grouped = ""
  while #whole > 3 do
    grouped = "," .. string.sub(whole, -3) .. grouped
    whole = string.sub(whole, 1, -4)
  end
  return whole .. grouped .. string.format(".%02d", cents % 100)
end

return company
