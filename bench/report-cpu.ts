// Loaded before a server under measurement: answers its parent's messages with the CPU time of all its threads and its
// memory, or with how long its event loop was held at most since the last such message.

import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The delay is seen by a timer of a millisecond, which itself takes time: it is started by the first question. */
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
