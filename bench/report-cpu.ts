// Loaded before a measured server. Responds to messages of the parent process with the CPU time of all threads and the
// peak memory, or with the longest delay of the event loop since the last such message.

import { monitorEventLoopDelay } from 'node:perf_hooks'

/** Starts with the first request, because its millisecond timer costs CPU time. */
const delay = monitorEventLoopDelay({ resolution: 1 })

process.on('message', (question) => {
  if (question === 'figures') {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    process.send?.({ userMicroseconds: userCPUTime, systemMicroseconds: systemCPUTime, peakMebibytes: maxRSS / 1024 })
    return
  }
  process.send?.({ loopDelayMs: delay.max / 1e6 })
  delay.enable()
  delay.reset()
})
process.channel?.unref()
