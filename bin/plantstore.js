#!/usr/bin/env node
// Starts the program: from src/ in a checkout, from dist/ in the published package. If this Node.js is too old, the one
// in the checkout runs it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import module from 'node:module'
import { fileURLToPath } from 'node:url'
import { isTooOld, ownNode } from './node-version.js'

// On SIGUSR1, Node.js would open its inspector, through which other local programs could run code in this process. The
// listener prevents that. An older Node.js would not start with --disable-sigusr1.
process.on('SIGUSR1', () => {})

if (isTooOld && ownNode !== undefined) {
  handOver(ownNode)
} else {
  await import('./require-node.js')
  const source = new URL('../src/main.ts', import.meta.url)
  const isCheckout = existsSync(source)
  // Speeds up later starts. Without write access to the cache, each start compiles again.
  const compiled = new URL(isCheckout ? '../node_modules/.cache/compiled' : '../dist/compiled', import.meta.url)
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(compiled)
  module.enableCompileCache()
  await import(isCheckout ? source.href : new URL('../dist/src/main.js', import.meta.url).href)
}

/** Runs the program with another Node.js. Passes on input, output, signals and exit status. */
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
    // The parent process sees the signal, too.
    if (signal !== null) process.kill(process.pid, signal)
    else process.exit(status)
  })
}
