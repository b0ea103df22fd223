-- The script API seen from a script: each case asserts for itself.
local function same(a, b)
  if a ~= b then error("expected " .. tostring(b) .. ", got " .. tostring(a), 2) end
end

local function raises(part, f, ...)
  local ok, reason = pcall(f, ...)
  if ok then error("no error was raised", 2) end
  if not text.contains(tostring(reason), part) then error("raised: " .. tostring(reason), 2) end
end

local cases = {}

function cases.put_and_get(w)
  w:put("a", "b", "c", 1)
  same(w:get("a", "b", "c"), 1)
  same(w:get("a", "b").c, 1)
  same(w:get("a", "x"), nil)
  same(w:has("a", "b"), true)
  same(w:has("a", "x"), false)
  w:put("a", "b", "c", 2)
  same(w:get("a", "b", "c"), 2)
  same(w:get("shared", "deep", "value"), "base")
  w:put("shared", "deep", "value", "mine")
  same(w:get("shared", "deep", "value"), "mine")
  same(w:get("shared", "other"), true)
end

function cases.values_are_copies(w)
  local t = { list = { 1, 2 } }
  w:put("t", t)
  t.list[3] = 3
  same(w:count("t", "list"), 2)
  local got = w:get("t")
  got.list[1] = "changed"
  same(w:get("t", "list", 1), 1)
end

function cases.lists(w)
  same(w:append("l", "a"), 1)
  same(w:append("l", "b"), 2)
  same(w:count("l"), 2)
  same(w:get("l", 2), "b")
  same(w:get("l", 3), nil)
  same(w:get("l", 0), nil)
  w:put("l", 1, "z")
  same(w:get("l", 1), "z")
  w:put("l", 3, "c")
  same(w:count("l"), 3)
  same(w:delete("l", 1), true)
  same(w:get("l", 1), "b")
  same(w:delete("l", 9), false)
  raises("position", w.put, w, "l", 9, "far")
  raises("names", w.put, w, "l", "name", "x")
  raises("positions", w.put, w, "shared", 1, "x")
  w:put("empty", {})
  same(w:append("empty", "first"), 1)
  w:put("marked", list {})
  same(w:append("marked", "first"), 1)
  raises("append", w.append, w, "shared", 1)
end

function cases.written_values_stay(w)
  local v = { inner = { 1 } }
  w:put("one", v)
  w:put("two", w:get("one"))
  w:append("one", "inner", 2)
  same(w:count("one", "inner"), 2)
  same(w:count("two", "inner"), 1)
end

function cases.keys(w)
  w:put("k", "b", 1)
  w:put("k", "a", 2)
  same(table.concat(w:keys("k"), ","), "b,a")
  same(#w:keys("nothing"), 0)
  w:delete("k", "b")
  same(table.concat(w:keys("k"), ","), "a")
  same(w:delete("k", "b"), false)
end

function cases.wrong_use(w)
  raises("colon", w.get, "a")
  raises("names and positions", w.get, w, {})
  raises("nil cannot", w.put, w, "a", nil)
  raises("plain data", w.put, w, "a", function() end)
  raises("plain data", w.put, w, "a", w)
  raises("neither object nor list", function() w:put("n", 1) w:put("n", "x", 2) end)
  raises("no fields", function() w.x = 1 end)
  raises("path is too long", w.get, w, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17)
  raises("not finite", w.put, w, "a", 1 / 0)
  raises("keys must be strings", w.put, w, "a", { [1.5] = 1 })
  raises("nested too deep", function() local t = {} t.t = t w:put("a", t) end)
end

function cases.numbers(w)
  w:put("n", 9007199254740993)
  same(w:get("n"), 9007199254740993)
  same(math.tointeger(w:get("n")) ~= nil, true)
  w:put("f", 0.1)
  same(w:get("f"), 0.1)
  w:put("null", null)
  same(w:get("null"), null)
  same(w:has("null"), true)
  w:put("flag", false)
  same(w:get("flag"), false)
end

function cases.ids_and_chance(w)
  local seen = {}
  for i = 1, 200 do
    local id = w:id("case")
    same(seen[id], nil)
    seen[id] = true
    local n = w:random(6)
    same(n >= 1 and n <= 6 and math.tointeger(n) == n, true)
  end
  raises("1..n", w.random, w, 0)
  same(w:now() > 1700000000, true)
  same(w:now(), w:now())
end

function cases.own_part_only(w)
  same(w:get("bench"), nil)
  w:put("sinks", "mine")
  w:sink("bench.sink", { v = 1 })
  same(w:get("sinks"), "mine")
end

function cases.texts()
  same(text.find("a.b.c", ".", 3), 4)
  same(text.find("abc", "x"), nil)
  same(table.concat(text.split("a,b,,c", ","), "|"), "a|b||c")
  same(text.trim("  a b \n"), "a b")
  same(text.fold("A b\tC"), "abc")
  same(text.sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
  same(text.contains("the word is terces-yrev-a", "a-very-secret"), true)
  same(text.contains("YS12ZXJ5LXNlY3JldA==", "a-very-secret"), true)
  same(text.contains("a - v e r y - s e c r e t", "a-very-secret"), true)
  same(text.contains("a-very-public", "a-very-secret"), false)
end

function cases.patterns()
  local first, last, year = re.find("on 2026-03-02", "(\\d{4})-\\d\\d-\\d\\d")
  same(first, 4)
  same(last, 13)
  same(year, "2026")
  same(re.match("k=v", "(\\w)=(\\w)"), "k")
  same(select(2, re.match("k=v", "(\\w)=(\\w)")), "v")
  same(re.match("abc", "x"), nil)
  same(table.concat(re.all("a1b22c333", "\\d+"), ","), "1,22,333")
  same(re.sub("a-b-c", "-", "+"), "a+b+c")
  same(re.sub("a-b-c", "-", "+", 1), "a+b-c")
  same(re.sub("ab", "(a)(b)", "%2%1%%"), "ba%")
  same(table.concat(re.split("a, b,c", ",\\s*"), "|"), "a|b|c")
  same(re.sub("äö", "", "."), ".ä.ö.")
  raises("bad pattern", re.find, "a", "(")
  raises("group", re.sub, "a", "a", "%3")
  raises("UTF-8", re.find, "\xff", "a")
end

function cases.order()
  local t = {}
  for _, k in ipairs { "zeta", "alpha", "mid", "beta" } do t[k] = true end
  t[2], t[1], t[1.5] = "two", "one", "mid"
  local keys = {}
  for k in pairs(t) do keys[#keys + 1] = tostring(k) end
  same(table.concat(keys, " "), "1 1.5 2 alpha beta mid zeta")
  same(next({}), nil)
  same(next(t), 1)
  same(next(t, "zeta"), nil)
  same(next(t, 2), "alpha")
  raises("no order", function() for k in pairs { [{}] = 1 } do end end)
  same(tostring({}), "table")
  same(tostring(null), "null")
  same(string.format("%s %s", {}, nil), "table nil")
end

local shared = { 1, 2, 3, named = "x" }

function cases.frozen()
  raises("frozen", function() shared[1] = 9 end)
  raises("frozen", function() shared.new = 9 end)
  raises("frozen", table.insert, shared, 4)
  raises("frozen", table.sort, shared)
  raises("frozen", function() cases.more = 1 end)
  raises("global", function() oops = 1 end)
  raises("no global", function() return oops end)
  same(#shared, 3)
  same(shared.named, "x")
  same(table.concat(shared, "-"), "1-2-3")
  same(select("#", table.unpack(shared)), 3)
  local n = 0
  for _ in pairs(shared) do n = n + 1 end
  same(n, 4)
  for i, v in ipairs(shared) do same(i, v) end
  same(json.encode({ 1, shared.named }), '[1,"x"]')
end

function cases.json_round()
  same(json.encode(json.decode('{"b":[],"a":{},"n":null}')), '{"a":{},"b":[],"n":null}')
  same(json.encode { z = 1, a = list {} }, '{"a":[],"z":1}')
  raises("not JSON", json.decode, "{")
  raises("not JSON", json.decode, '{"a":1,"a":2}')
end

function cases.tables()
  local t = { 3, 1, 2 }
  table.sort(t)
  same(table.concat(t), "123")
  table.sort(t, function(a, b) return a > b end)
  same(table.concat(t), "321")
  table.insert(t, 2, 9)
  same(table.concat(t), "3921")
  same(table.remove(t, 1), 3)
  same(table.remove(t), 1)
  same(table.concat(t, ","), "9,2")
  same(table.remove({}), nil)
  raises("position", table.insert, t, 9, 1)
end

local names = {}
for name in pairs(cases) do names[#names + 1] = name end

return server {
  id = "bench", title = "Bench", instructions = "",
  base = function() return { shared = { deep = { value = "base" }, other = true } } end,
  tools = {
    { name = "run", title = "Run", description = "Runs a case.",
      input = { type = "object", properties = { case = { type = "string" } }, required = { "case" } },
      annotations = {},
      handler = function(w, args) cases[args.case](w) return "passed" end },
    { name = "names", title = "Names", description = "Names of the cases.",
      input = { type = "object", properties = {} }, annotations = {},
      handler = function() return { structured = { names = names } } end },
    { name = "count_calls", title = "State", description = "Tries to keep state.",
      input = { type = "object", properties = {} }, annotations = {},
      handler = (function()
        local n = 0
        return function() n = n + 1 return tostring(n) end
      end)() },
    { name = "bad_result", title = "Bad", description = "Breaks its output schema.",
      input = { type = "object", properties = { how = { type = "string" } } },
      output = { type = "object", properties = { n = { type = "integer" } }, required = { "n" } },
      annotations = {},
      handler = function(w, args)
        if args.how == "none" then return nil end
        if args.how == "field" then return { txt = "x" } end
        if args.how == "text" then return "x" end
        return { structured = { n = "one" } }
      end },
  },
  resources = {}, prompts = {},
}
