// Loaded before a measured server. Responds to each message of the parent process with the CPU time of all threads and
// the peak memory.

process.on('message', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  process.send?.({ userMicroseconds: userCPUTime, systemMicroseconds: systemCPUTime, peakMebibytes: maxRSS / 1024 })
})
process.channel?.unref()
