-- What the `site` of an attack needs: web hosts that play an authorization server.
--
-- A site gets { from = "host"|"browser"|"server"|"icon", method, url, host, path, query, form, text,
-- authorization? } and returns nil (nobody answers there) or { status =, location =, body = }.
local M = {}

-- The browser goes back to the client that sent it, with a code.
function M.back(query)
  local code = "sign-" .. string.sub(text.sha256(query.state or ""), 1, 20)
  return { status = 302, location = query.redirect_uri .. "?code=" .. code .. "&state=" .. query.state
    .. "&iss=https%3A%2F%2F" .. M.host }
end

-- The host whose authorization server `issuer` plays.
M.host = "id.brightsluice.example"

-- Protected-resource metadata that names this host as the issuer.
function M.resource(url)
  return { status = 200, body = { resource = url, authorization_servers = list { "https://" .. M.host } } }
end

-- Answers for that host as an ordinary authorization server does: nil for other hosts. `endpoint` is
-- the authorization endpoint that its metadata names.
function M.issuer(request, endpoint)
  if request.host ~= M.host then return nil end
  local base = "https://" .. M.host
  if request.path == "/.well-known/oauth-authorization-server" then
    return { status = 200, body = { issuer = base, authorization_endpoint = endpoint or (base .. "/authorize"),
      token_endpoint = base .. "/token", registration_endpoint = base .. "/register",
      code_challenge_methods_supported = list { "S256" }, authorization_response_iss_parameter_supported = true } }
  end
  if request.path == "/register" then
    return { status = 201, body = { client_id = "desk-host", token_endpoint_auth_method = "none" } }
  end
  if request.path == "/token" then
    return { status = 200, body = { access_token = "addon-" .. string.sub(text.sha256(request.text), 1, 20), token_type = "Bearer" } }
  end
  if request.query.redirect_uri and request.query.state then return M.back(request.query) end
  return { status = 404 }
end

return M
