-- Load for bench/get.ts: every request reads one of the plants from 1 to 100,000. Arguments: token.

function init(arguments)
  headers = { ["Authorization"] = "Bearer " .. arguments[1] }
end

function request()
  return wrk.format("GET", "/plants/" .. math.random(100000), headers)
end

function done(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
