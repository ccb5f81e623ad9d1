-- What wrk sends for bench/load.ts, and what it says of it. Arguments: token, first id, kind of load.

local threads = 0

function setup(thread)
  thread:set("lane", threads)
  threads = threads + 1
end

function init(arguments)
  count = tonumber(arguments[2]) + lane * 100000000
  headers = { ["Authorization"] = "Bearer " .. arguments[1] }
  make = makers[arguments[3]]
end

makers = {
  -- A plant with an id of its own.
  create = function()
    count = count + 1
    headers["Content-Type"] = "application/json"
    local body = string.format('{"id":%d,"name":"Monstera deliciosa","tag":"aroid"}', count)
    return wrk.format("POST", "/plants", headers, body)
  end,
  -- One of the plants from 1 to 100,000.
  get = function()
    return wrk.format("GET", "/plants/" .. math.random(100000), headers)
  end,
  -- The first 1,000 plants.
  list = function()
    page = page or wrk.format("GET", "/plants?limit=1000", headers)
    return page
  end,
}

function request()
  return make()
end

function done(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
