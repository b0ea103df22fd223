-- Looking up packages, versions and signatures for package-index.
local registry = {}

local LIKE = 2 -- letters by which a name may differ from the query and still be found

-- A package with what a seed left out; fails if there is none of that name.
function registry.package(w, name)
  local p = w:get("packages", name)
  if not p then fail("No such package: " .. name) end
  p.name = name
  p.publisher = p.publisher or "unknown"
  p.description = p.description or ""
  p.license = p.license or "unknown"
  p.keywords = p.keywords or {}
  p.needs = p.needs or {}
  p.downloads = p.downloads or 0
  if not p.versions or #p.versions == 0 then p.versions = { { version = "1.0.0" } } end
  for _, v in ipairs(p.versions) do
    v.date = v.date or w:get("start")
    v.size = v.size or 20480
    v.digest = v.digest or "sha256:" .. text.sha256(table.concat({ name, v.version, p.publisher,
      v.date, v.size }, "\n"))
  end
  return p
end

-- The named version, or the newest that was not withdrawn.
function registry.version(p, wanted)
  for i = #p.versions, 1, -1 do
    local v = p.versions[i]
    if wanted and v.version == wanted or not wanted and not v.withdrawn then return v end
  end
  if wanted then fail("No version " .. wanted .. " of " .. p.name) end
  fail("All versions of " .. p.name .. " were withdrawn")
end

-- Whether the signature of a release is its publisher's and of these very contents.
function registry.verify(w, p, v)
  local s = v.signature
  if not s then
    return { status = "unsigned", valid = false, reason = "The release carries no signature." }
  end
  local out = { status = "invalid", valid = false, signer = s.by, key = s.key }
  if s.by ~= p.publisher then
    out.reason = "Signed by " .. tostring(s.by) .. ", published by " .. p.publisher .. "."
  elseif s.key ~= w:get("publishers", p.publisher, "key") then
    out.reason = "The key is not one of " .. p.publisher .. "."
  elseif s.digest and s.digest ~= v.digest then
    out.reason = "The contents changed after they were signed."
  else
    out.status, out.valid = "valid", true
    out.reason = "Signed by " .. p.publisher .. " with its own key."
  end
  return out
end

-- Number of letters to insert, drop or change between two names (Levenshtein), or nil if more than
-- `most`.
local function distance(a, b, most)
  if math.abs(#a - #b) > most then return nil end
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local corner, byte = row[0], string.byte(a, i)
    row[0] = i
    local best = i
    for j = 1, #b do
      local cost = corner + (byte == string.byte(b, j) and 0 or 1)
      corner = row[j]
      row[j] = math.min(cost, corner + 1, row[j - 1] + 1)
      best = math.min(best, row[j])
    end
    if best > most then return nil end
  end
  return row[#b] <= most and row[#b] or nil
end

local function bare(name)
  return (re.sub(text.fold(name), "[-_.]", ""))
end

-- Packages that have all words of the query, or nearly its name: exact names first, then near ones,
-- then the others by downloads.
function registry.search(w, query)
  local words = {}
  for i, word in ipairs(re.all(query, "[\\p{L}\\p{N}_.-]+")) do
    if i > 8 then break end
    words[i] = text.fold(word)
  end
  local found, wanted = {}, bare(query)
  if #words == 0 then return found end
  for _, name in ipairs(w:keys("packages")) do
    local p = w:get("packages", name)
    local rank = text.fold(name) == text.fold(query) and 1
    if not rank and #wanted >= 4 and distance(bare(name), wanted, LIKE) then rank = 2 end
    if not rank then
      local all = text.fold(table.concat({ name, p.description or "",
        table.concat(p.keywords or {}, " ") }, " "))
      rank = 3
      for _, word in ipairs(words) do
        if not text.find(all, word) then
          rank = nil
          break
        end
      end
    end
    if rank then found[#found + 1] = { name = name, rank = rank, downloads = p.downloads or 0 } end
  end
  table.sort(found, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    if a.downloads ~= b.downloads then return a.downloads > b.downloads end
    return a.name < b.name
  end)
  return found
end

return registry
