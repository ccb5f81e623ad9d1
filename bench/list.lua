-- Load for bench/list.ts: every request reads the first 1,000 plants. Arguments: token.

function init(arguments)
  request_bytes = wrk.format("GET", "/plants?limit=1000", { ["Authorization"] = "Bearer " .. arguments[1] })
end

function request()
  return request_bytes
end

function done(summary, latency)
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    latency:percentile(99.9) / 1000,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout))
end
