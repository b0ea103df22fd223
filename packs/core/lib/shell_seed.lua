-- The machine of shell-sandbox: the small server on which the company of lib/company.lua runs its
-- web shop. What every world has stands in `fixed` and `services`, the rest is drawn by seed.
local company = require("lib.company")
local dates = require("lib.dates")
local template = require("lib.template")

local seeding = {}

-- path -> { text, mode?, owner? }
local fixed = {
  ["/etc/hostname"] = { "yard-01\n", "r" },
  ["/etc/hosts"] = { "127.0.0.1 localhost\n192.0.2.10 yard-01\n192.0.2.20 files-01\n", "r" },
  ["/etc/passwd"] = { [[
root:x:0:0:root:/root:/bin/sh
deploy:x:1001:1001:Shop deployment:/home/deploy:/bin/sh
print:x:1002:1002:Label printing:/var/empty:/bin/false
owen:x:1003:1003:Owen Price:/home/owen:/bin/sh
]], "r" },
  ["/etc/shadow"] = { "root:*:20100:0:99999:7:::\n", "-" },
  ["/etc/crontab"] = { [[
# minute hour day month weekday command
15 2 * * * backup /srv/shop
0  4 * * 1 rotate-logs
]], "r" },
  ["/srv/shop/README.md"] = { [[
# Web shop

Orders arrive as files in `orders/`, one a day. `shop-worker` picks them up and writes labels for
the print queue. Prices stand in `catalogue.csv`; sales changes them, nobody else. After a change
of `shop.conf` restart `shop-web`. Questions: Owen Price.
]] },
  ["/srv/shop/scripts/daily.sh"] = { [[
#!/bin/sh
# Run each morning by hand until it has proved itself.
systemctl status shop-worker
df
backup /srv/shop
]] },
  ["/srv/shop/scripts/labels.sh"] = { [[
#!/bin/sh
# Prints what is waiting.
systemctl restart print-spooler
journalctl -u print-spooler -n 5
]] },
  ["/home/deploy/.profile"] = { "export PATH=/usr/bin\n" },
}

-- Filled in by `draw`.
local drawn = {
  ["/srv/shop/shop.conf"] = [[
# settings of the web shop
listen = 127.0.0.1:{port}
workers = {workers}
currency = EUR
mail_from = shop@alderfinch.example
order_limit = {limit}
session_minutes = {session}
]],
  ["/home/deploy/notes.txt"] = [[
{day}: {trouble}
Asked Owen about the disk, he wants backups older than {keep} days gone.
Ruth needs the order files of {month} by Friday.
]],
  ["/tmp/upload-{number1}.tmp"] = "partial upload, {number2} bytes expected\n",
  ["/tmp/import-{number3}.tmp"] = "import stopped at line {limit}\n",
}

-- name, description, command, user, memory in MB, starts again
local services = {
  { "shop-web", "Web shop", "/srv/shop/bin/shop-web --config /srv/shop/shop.conf", "deploy", 120,
    true },
  { "shop-worker", "Order processing", "/srv/shop/bin/shop-worker --queue orders", "deploy", 64,
    true },
  { "print-spooler", "Label printing", "/usr/sbin/label-spooler", "print", 18, false },
  { "backup-timer", "Nightly backups", "/usr/sbin/backup-timer --at 02:15", "root", 9, false },
  { "mail-relay", "Outgoing mail", "/usr/sbin/mail-relay --queue /var/spool/mail", "root", 22,
    true },
  { "sshd", "Remote access", "/usr/sbin/sshd -D", "root", 11, true },
  { "cron", "Timed commands", "/usr/sbin/cron -f", "root", 6, true },
}

-- Log messages of each service as { level, format, least, count }: the number in it is one of
-- `count` numbers from `least` on.
local messages = {
  ["shop-web"] = { { "info", "GET /products 200 in %d ms", 4, 90 },
    { "info", "order %d received", 20000, 9000 },
    { "info", "GET /basket 200 in %d ms", 4, 90 },
    { "warning", "slow answer for /search: %d ms", 400, 2600 },
    { "error", "payment provider did not answer within %d s", 5, 60 } },
  ["shop-worker"] = { { "info", "order %d checked", 20000, 9000 },
    { "info", "label for order %d queued", 20000, 9000 }, { "debug", "queue length %d", 1, 9 },
    { "warning", "order %d has no telephone number", 20000, 9000 },
    { "error", "order %d: unknown product", 20000, 9000 } },
  ["print-spooler"] = { { "info", "job %d printed", 20000, 9000 },
    { "warning", "paper low in tray %d", 1, 4 },
    { "error", "printer label-%d does not answer", 1, 4 } },
  ["backup-timer"] = { { "info", "backup of /srv/shop finished, %d files", 400, 2600 },
    { "warning", "backup took %d minutes", 12, 90 } },
  ["mail-relay"] = { { "info", "message %d handed over", 20000, 9000 },
    { "debug", "%d messages in the queue", 2, 20 },
    { "warning", "message %d deferred", 20000, 9000 } },
  sshd = { { "info", "session opened for deploy, channel %d", 1, 4 },
    { "info", "session closed for deploy after %d s", 20, 4000 },
    { "warning", "failed password for admin, attempt %d", 1, 4 } },
  cron = { { "info", "ran backup /srv/shop in %d s", 3, 90 },
    { "info", "ran rotate-logs in %d s", 1, 5 }, { "debug", "%d entries read", 2, 9 } },
}

local function log_of(r, name, now)
  local known = messages[name]
  local count = 8 + r:below(9)
  local time, out = now - count * 900, {}
  for i = 1, count do
    local m = known[r:below(#known) + 1]
    -- Errors are rarer than what goes well.
    if m[1] == "error" and r:below(2) == 0 then m = known[1] end
    out[i] = { time = dates.iso(time), level = m[1],
      message = string.format(m[2], m[3] + r:below(m[4])) }
    time = time + 60 + r:below(780)
  end
  return out
end

local function orders(r, now, w)
  for back = 1, 4 do
    local day = dates.work(now, -back)
    local rows = { "order,product,pieces,total" }
    for i = 1, 2 + r:below(4) do
      local pieces = 1 + r:below(4)
      rows[i + 1] = table.concat({ 20000 + r:below(9000), r:pick(company.products), pieces,
        pieces * (120 + r:below(400)) .. ".00" }, ",")
    end
    w:put("files", "/srv/shop/orders/" .. dates.day(day) .. ".csv", {
      text = table.concat(rows, "\n") .. "\n", owner = "deploy",
      modified = dates.iso(day + 18 * dates.HOUR) })
  end
end

local function catalogue(r)
  local rows = { "product,price,stock" }
  for i, product in ipairs(company.products) do
    rows[i + 1] = product .. "," .. 90 + 10 * r:below(120) .. ".00," .. r:below(30)
  end
  return table.concat(rows, "\n") .. "\n"
end

local function start_services(w, r, now)
  local failed = r:pick({ "print-spooler", "backup-timer" })
  local pid = 380 + r:below(60)
  local booted = w:get("host", "booted")
  local running, known, logs = {}, {}, {}
  running["1"] = { user = "root", command = "/sbin/init", cpu = 1, memory = 8,
    started = dates.iso(booted) }
  for _, s in ipairs(services) do
    local name = s[1]
    local service = { description = s[2], command = s[3], user = s[4], memory = s[5],
      restart = s[6], state = name == failed and "failed" or "active",
      since = dates.iso(booted + 60 + r:below(now - booted - 3600)) }
    pid = pid + 1 + r:below(90)
    logs[name] = log_of(r, name, now)
    if name ~= failed then
      service.pid = pid
      running[tostring(pid)] = { user = s[4], command = s[3],
        cpu = 1 + r:below(name == "shop-web" and 240 or 40), memory = s[5] + r:below(40),
        started = service.since, service = name }
    else
      service.since = dates.iso(now - 1800)
      table.insert(logs[name], { time = service.since, level = "error", message = "stopped: "
        .. r:pick({ "no space in spool", "device busy", "time limit reached" }) })
    end
    known[name] = service
  end
  -- Something that somebody began by hand and forgot.
  pid = pid + 40 + r:below(300)
  running[tostring(pid)] = { user = r:pick({ "deploy", "owen" }), cpu = 600 + r:below(380),
    memory = 90 + r:below(300), started = dates.iso(now - (2 + r:below(30)) * dates.HOUR),
    command = r:pick({ "sort /tmp/import-all.csv", "report --year all",
      "image-shrink /srv/shop/pictures", "search-index --rebuild" }) }
  w:put("processes", running)
  w:put("services", known)
  w:put("logs", logs)
  w:put("next_pid", pid)
end

function seeding.base()
  local files = {}
  for path, f in pairs(fixed) do
    files[path] = { text = f[1], mode = f[2], owner = string.sub(path, 1, 4) == "/etc" and "root"
      or "deploy", modified = "2025-11-03T10:15:00Z" }
  end
  return { files = files, folders = { ["/tmp"] = true, ["/var/backups"] = true, ["/var/log"] = true,
    ["/home/deploy"] = true, ["/home/owen"] = true, ["/root"] = true,
    ["/srv/shop/orders"] = true } }
end

function seeding.seed(w, r)
  local now = w:now()
  w:put("start", dates.iso(now))
  w:put("host", { name = "yard-01", booted = now - (3 + r:below(90)) * dates.DAY - r:below(86400),
    memory = 2048, disks = list({
      { name = "/dev/vda1", size = 20480, used = 6000 + r:below(9000), mount = "/" },
      { name = "/dev/vdb1", size = 40960, used = 20000 + r:below(19500), mount = "/srv" } }) })
  start_services(w, r, now)
  local values = { port = 8000 + r:below(900), workers = 2 + r:below(6), limit = 20 + r:below(400),
    session = 15 + 5 * r:below(10), keep = 14 + r:below(40), number1 = 1000 + r:below(9000),
    number2 = 10000 + r:below(90000), number3 = 1000 + r:below(9000),
    day = dates.long(dates.work(now, -2)), month = dates.month_name(now - 30 * dates.DAY),
    trouble = r:pick({ "labels came out twice, restarted the spooler",
      "search was slow all morning", "two orders without an address, told Sofia",
      "the certificate was renewed, nothing to do" }) }
  for path, body in pairs(drawn) do
    w:put("files", template.fill(path, values), { text = template.fill(body, values),
      owner = "deploy", modified = dates.iso(dates.work(now, -1) + 36000 + r:below(20000)) })
  end
  w:put("files", "/srv/shop/catalogue.csv", { text = catalogue(r), owner = "deploy",
    modified = dates.iso(dates.work(now, -5)) })
  orders(r, now, w)
end

return seeding
