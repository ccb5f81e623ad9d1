#!/usr/bin/env node
// Starts the program: from its sources in a checkout, from dist/ in the published package, which has no sources. On a
// Node.js that is too old the checkout's own runs it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { isTooOld, ownNode } from './node-version.js'

// At this signal Node.js would open its inspector, by which other programs of this machine could run code in this one. A
// listener takes its place; --disable-sigusr1 cannot be given here, as an older Node.js would not start with it.
process.on('SIGUSR1', () => {})

if (isTooOld && ownNode !== undefined) {
  handOver(ownNode)
} else {
  await import('./require-node.js')
  const source = new URL('../src/main.ts', import.meta.url)
  const isCheckout = existsSync(source)
  // What Node.js has compiled is kept beside the code that it was made from, for the next start. Where that cannot be
  // written, each start compiles anew.
  const compiled = new URL(isCheckout ? '../node_modules/.cache/compiled' : '../dist/compiled', import.meta.url)
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(compiled)
  module.enableCompileCache()
  await import(isCheckout ? source.href : new URL('../dist/main.js', import.meta.url).href)
}

/** Runs this program by another Node.js, in this one's place: with its input, output, signals and exit status. */
function handOver(node) {
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP']
  const pass = (signal) => child.kill(signal)
  for (const signal of signals) process.on(signal, pass)
  child.on('error', (error) => {
    process.stderr.write(`plantstore: ${node} cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (status, signal) => {
    for (const each of signals) process.off(each, pass)
    // Whoever waits for this process sees that a signal ended it.
    if (signal !== null) process.kill(process.pid, signal)
    else process.exit(status)
  })
}
