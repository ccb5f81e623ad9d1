-- The requests that wrk sends for bench/load.ts, and its report. Arguments: method, path, body, the kind of {id} in
-- them, the number of plants, the number of the run, and requests per second, or 0 for as many as possible.

local threads = 0

function setup(thread)
  thread:set("lane", threads)
  threads = threads + 1
end

function init(arguments)
  local method, path, body, ids, plants, run, rate = unpack(arguments)
  math.randomseed(run * 100 + lane)
  local next_id = makers[ids](tonumber(plants), run * 1000000000 + lane * 100000000)
  function request()
    local id = next_id()
    return wrk.format(method, (path:gsub("{id}", id)), nil, body ~= "" and (body:gsub("{id}", id)) or nil)
  end
  if tonumber(rate) > 0 then delay = schedule(tonumber(rate)) end
end

makers = {
  -- A new id in each run.
  next = function(_, first)
    local count = first
    return function()
      count = count + 1
      return string.format("%d", count)
    end
  end,
  -- One of the plants 1, 2, 3, ... in random order.
  stored = function(plants)
    return function() return string.format("%d", math.random(plants)) end
  end,
  -- 1, 2, 3, ... up to the number of plants, repeatedly.
  turn = function(plants)
    local count = 0
    return function()
      count = count % plants + 1
      return string.format("%d", count)
    end
  end,
}

-- Milliseconds until the next request is due. wrk waits for whole milliseconds: random rounding spreads the requests
-- over the millisecond. A late request is sent at once and does not delay later ones.
function schedule(rate)
  local ffi = require("ffi")
  ffi.cdef("typedef struct { long seconds, nanoseconds; } moment; int clock_gettime(int clock, moment *now);")
  local monotonic = ffi.os == "OSX" and 6 or 1
  local moment = ffi.new("moment")
  local start, sent = nil, 0
  return function()
    ffi.C.clock_gettime(monotonic, moment)
    local now = tonumber(moment.seconds) * 1000 + tonumber(moment.nanoseconds) / 1000000
    start = start or now
    sent = sent + 1
    return math.max(0, math.floor(start + sent * 1000 / rate - now + math.random()))
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('RESULT {"requests":%d,"seconds":%.6f,"generatorSeconds":%.3f,',
    summary.requests, summary.duration / 1000000, os.clock()))
  io.write(string.format('"failures":{"answers":%d,"timeouts":%d,"connections":%d},',
    errors.status, errors.timeout, errors.connect + errors.read + errors.write))
  io.write(string.format('"p50Ms":%.3f,"p99Ms":%.3f,"p999Ms":%.3f}\n',
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency:percentile(99.9) / 1000))
end
