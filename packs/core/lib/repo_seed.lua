-- The seeded repositories of repo-host (files: lib/repo_files.lua), their issues and pull requests:
--   quote-tool       #1 issue, closed · #2 issue: rounding · #3 issue: a discount that looks wrong ·
--                    #4 pull request fix-rounding -> main: approved, checks pass, may be merged ·
--                    #5 spring-prices -> main: approved, but conflicts · #6 old-export -> main: closed
--   shop-site        #1 issue: a typing error · #2 opening-hours -> main: approved, checks pass ·
--                    #3 new-gallery -> main: a draft · public
--   workshop-labels  #1 issue · #2 wider-labels -> main: nobody approved it, checks fail · branch
--                    staging is not protected
--   cut-lists        #1 issue · main is protected, needs no approval
local company = require("lib.company")
local dates = require("lib.dates")
local files = require("lib.repo_files")
local template = require("lib.template")

local seeding = {}

local repos = {
  ["quote-tool"] = { description = "Works out the price of a quote", owner = "owen",
    language = "Python", approvals = 1 },
  ["shop-site"] = { description = "Pages of the public site", owner = "hana", language = "HTML",
    approvals = 1, visibility = "public" },
  ["workshop-labels"] = { description = "Labels for parts that leave the saw", owner = "callum",
    language = "Python", approvals = 1 },
  ["cut-lists"] = { description = "Cut lists of the products, read by the saw", owner = "callum",
    language = "CSV", approvals = 0 },
}

-- { repository, number, days ago, author, title, text, fields, comments = { author, text } ... }
local items = {
  { "quote-tool", 1, 21, "sofia", "List with a semicolon is refused",
    "The export of the shop uses semicolons.", { state = "closed", labels = { "bug" } },
    { "owen", "Fixed in {old_version}." } },
  { "quote-tool", 2, 9, "tobias", "Totals end in odd cents",
    "A quote for {count} x {product} came to {odd}. Please round to {new_step}.",
    { labels = { "bug", "finance" } }, { "owen", "On it, see the branch fix-rounding." } },
  { "quote-tool", 3, 4, "ruth", "Is the discount right?",
    "From {many} pieces on we give {discount} percent. The offer template says {other_many}. Which one holds?",
    { labels = { "question" } } },
  { "quote-tool", 4, 3, "owen", "Round totals half up", "Closes #2. Adds rounding.py, not used by quote.py yet.",
    { source = "fix-rounding", checks = "passing", approved_by = { "tobias" } },
    { "tobias", "Checked with twenty old quotes, fine." } },
  { "quote-tool", 5, 6, "tobias", "Prices of spring", "Prices as agreed with {supplier}.",
    { source = "spring-prices", checks = "passing", approved_by = { "owen" } },
    { "owen", "Main has newer prices by now, please bring this up to date." } },
  { "quote-tool", 6, 18, "hana", "Export as a page", "First try.",
    { source = "old-export", state = "closed", checks = "failing" },
    { "hana", "Closing, the template does it." } },
  { "shop-site", 1, 5, "sofia", "Typing error on the product page",
    "{client} tells us that {product} is spelled in two ways.", { labels = { "text" } } },
  { "shop-site", 2, 2, "sofia", "New opening hours", "From next month on until {new_closes}:00.",
    { source = "opening-hours", checks = "passing", approved_by = { "hana" } } },
  { "shop-site", 3, 7, "hana", "Gallery", "Pictures are still missing.",
    { source = "new-gallery", checks = "pending", draft = true } },
  { "workshop-labels", 1, 8, "callum", "Order numbers are cut off",
    "Orders with more than {width} characters lose their end.", { labels = { "bug" } } },
  { "workshop-labels", 2, 6, "callum", "Wider labels", "Needs the roll of {new_width} characters.",
    { source = "wider-labels", checks = "failing" },
    { "daniel", "Do we have that roll in stock?" } },
  { "cut-lists", 1, 11, "daniel", "Planter boards are {short} mm short",
    "Measured on site at {client}.", { labels = { "on site" } } },
}

local function csv(prices, percent)
  local lines = {}
  for i, product in ipairs(company.products) do
    local cents = prices[i] * percent // 100
    lines[i] = product .. "," .. cents // 100 .. string.format(".%02d", cents % 100)
  end
  return table.concat(lines, "\n") .. "\n"
end

local function draw(r)
  local cents, rows = {}, {}
  for i, product in ipairs(company.products) do
    cents[i] = 500 * (18 + r:below(400))
    rows[i] = "<li>" .. product .. "</li>\n"
  end
  local minor, width, slat = 3 + r:below(9), 20 + 2 * r:below(7), 1400 + 20 * r:below(21)
  local closes, many = 16 + r:below(2), 5 + r:below(8)
  return {
    version = "1." .. minor, old_version = "1." .. minor - 1, step = r:pick({ "0.01", "0.10" }),
    new_step = r:pick({ "0.05", "0.50" }), transport = 20 + 5 * r:below(15) .. ".00",
    many = many, other_many = many + 2, discount = 5 + r:below(5), minutes = 5 + r:below(20),
    prices = csv(cents, 100), new_prices = csv(cents, 103 + r:below(5)),
    now_prices = csv(cents, 101 + r:below(2)), products = table.concat(rows),
    product = r:pick(company.products), count = 2 + r:below(9),
    odd = company.money(10001 + 100 * r:below(4000) + 2 * r:below(9)),
    opens = 7 + r:below(3), closes = closes, new_closes = closes + 2, bay = 1 + r:below(6),
    width = width, new_width = width + 8, copies = 1 + r:below(3), slat = slat,
    slats = 7 + r:below(5), leg = 400 + 10 * r:below(8), rail = slat - 120 - 10 * r:below(5),
    board = 700 + 20 * r:below(20), boards = 12 + 4 * r:below(4), post = 420 + 10 * r:below(10),
    reserve = 5 + r:below(8), longest = 3900 + 100 * r:below(9), short = 2 + r:below(6),
    supplier = r:pick(company.suppliers).name, client = r:pick(company.clients).name,
  }
end

local function snapshot(w, repo, branch)
  local out = {}
  for _, path in ipairs(w:keys("blobs", repo, branch)) do
    out[path] = w:get("blobs", repo, branch, path, "text")
  end
  return object(out)
end

local function put_branches(w, now, values)
  for _, b in ipairs(files.branches) do
    local repo, name, author, changed = table.unpack(b)
    w:put("blobs", repo, name, w:get("blobs", repo, "main"))
    w:put("forks", repo, name, { from = "main", blobs = snapshot(w, repo, "main") })
    for path, body in pairs(changed) do
      w:put("blobs", repo, name, path, { text = template.fill(body, values),
        author = company.staff[author].name, date = dates.iso(dates.work(now, -7) + 10 * dates.HOUR) })
    end
  end
  for _, one in ipairs(files.later) do
    w:put("blobs", one[1], "main", one[2], { text = template.fill(one[3], values),
      author = company.staff.owen.name, date = dates.iso(dates.work(now, -6) + 9 * dates.HOUR) })
  end
end

local function put_items(w, r, now, values)
  for _, it in ipairs(items) do
    local fields = it[7]
    local time = dates.work(now, -it[3]) + (8 + r:below(8)) * dates.HOUR + 60 * r:below(60)
    local comments, approved, labels = {}, {}, {}
    for i = 8, #it do
      comments[#comments + 1] = { author = company.staff[it[i][1]].name,
        text = template.fill(it[i][2], values), date = dates.iso(time + 3 * dates.HOUR) }
    end
    for i, key in ipairs(fields.approved_by or {}) do approved[i] = company.staff[key].name end
    for i, label in ipairs(fields.labels or {}) do labels[i] = label end
    w:put("items", it[1], tostring(it[2]), {
      kind = fields.source and "pull" or "issue", title = template.fill(it[5], values),
      body = template.fill(it[6], values), author = company.staff[it[4]].name,
      date = dates.iso(time), state = fields.state or "open", labels = list(labels),
      comments = list(comments), source = fields.source, into = fields.source and "main",
      checks = fields.checks, draft = fields.draft, approved_by = list(approved),
    })
  end
end

function seeding.seed(w, r)
  local now = w:now()
  local user = company.user(now)
  local values = draw(r)
  w:put("user", { name = user.name, address = user.address })
  w:put("start", dates.iso(now))
  for name, repo in pairs(repos) do
    w:put("repos", name, { description = repo.description, language = repo.language,
      owner = company.staff[repo.owner].name, visibility = repo.visibility or "private",
      protected = { main = { approvals = repo.approvals } } })
    for path, body in pairs(files.main[name]) do
      w:put("blobs", name, "main", path, { text = template.fill(body, values),
        author = company.staff[repo.owner].name,
        date = dates.iso(dates.work(now, -20 - r:below(60)) + 9 * dates.HOUR) })
    end
  end
  put_branches(w, now, values)
  put_items(w, r, now, values)
end

return seeding
