-- How repo-host keeps branches: each one is a tree of its own, and remembers the texts that the
-- branch it was made from had at that time, so that a merge can tell who changed what.
local repo_store = {}

-- The text of each file of a branch, by path.
function repo_store.texts(w, repo, branch)
  local out = {}
  for _, path in ipairs(w:keys("blobs", repo, branch)) do
    out[path] = w:get("blobs", repo, branch, path, "text") or ""
  end
  return out
end

-- What the branch had in common with `into`: what it was made from, or nothing if it was put there
-- by a seed without saying from where.
local function common(w, repo, branch)
  return w:get("forks", repo, branch, "blobs") or {}
end

-- Why a file cannot stand at `path` beside the files that are the keys of `paths`, or nil.
local function in_the_way(paths, path)
  for other in pairs(paths) do
    if string.sub(other, 1, #path + 1) == path .. "/" then return "Is a folder: " .. path end
    if string.sub(path, 1, #other + 1) == other .. "/" then return "Is a file: " .. other end
  end
  return nil
end

-- What merging `branch` would do: `changes` is a list { path, op = "add"|"change"|"remove", text? }
-- in the order of paths, `conflicts` a list of paths that both sides changed in different ways.
function repo_store.compare(w, repo, branch, into)
  local base, mine, theirs = common(w, repo, branch), repo_store.texts(w, repo, branch),
    repo_store.texts(w, repo, into)
  local all, changes, conflicts = {}, {}, {}
  for _, side in ipairs({ base, mine }) do
    for path in pairs(side) do all[path] = true end
  end
  for path in pairs(all) do
    if mine[path] ~= base[path] and mine[path] ~= theirs[path] then
      if theirs[path] ~= base[path] or theirs[path] == nil and in_the_way(theirs, path) then
        conflicts[#conflicts + 1] = path
      else
        changes[#changes + 1] = { path = path, text = mine[path],
          op = mine[path] == nil and "remove" or theirs[path] == nil and "add" or "change" }
      end
    end
  end
  return changes, conflicts
end

-- Makes a branch as a copy of another.
function repo_store.fork(w, repo, name, from)
  w:put("blobs", repo, name, object(w:get("blobs", repo, from) or {}))
  w:put("forks", repo, name, { from = from, blobs = object(repo_store.texts(w, repo, from)) })
end

-- Why these files ({ path }) cannot be committed on top of a branch, or nil if they can.
function repo_store.refusal(w, repo, branch, files)
  local there, given = {}, {}
  for _, path in ipairs(w:keys("blobs", repo, branch)) do there[path] = true end
  for _, file in ipairs(files) do
    for _, part in ipairs(text.split(file.path, "/")) do
      if part == "." or part == ".." or part == ".git" then
        return "Not a path of a repository: " .. file.path
      end
    end
    if given[file.path] then return "File is given twice: " .. file.path end
    local why = in_the_way(there, file.path)
    if why then return why end
    given[file.path], there[file.path] = true, true
  end
  return nil
end

return repo_store
