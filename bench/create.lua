-- Load for bench/create.ts: every request creates a plant with an id of its own. Arguments: token, first id.

local threads = 0

function setup(thread)
  thread:set("lane", threads)
  threads = threads + 1
end

function init(arguments)
  count = tonumber(arguments[2]) + lane * 100000000
  headers = { ["Authorization"] = "Bearer " .. arguments[1], ["Content-Type"] = "application/json" }
end

function request()
  count = count + 1
  local body = string.format('{"id":%d,"name":"Monstera deliciosa","tag":"aroid"}', count)
  return wrk.format("POST", "/plants", headers, body)
end

function done(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
