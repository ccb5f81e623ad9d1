#!/usr/bin/env node
// Starts the program: from its sources in a checkout, from dist/ in the published package, which has no sources.

import './require-node.js'
import { existsSync } from 'node:fs'

const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href)
