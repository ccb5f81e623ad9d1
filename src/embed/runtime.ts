// Throws, on import, in a runtime that cannot run the servers.

const needed = 24
const { bun, deno, node } = process.versions

if (bun !== undefined || deno !== undefined) {
  const name = bun === undefined ? 'Deno' : 'Bun'
  throw new Error(`startPlantStore needs Node.js ${needed} or newer, not ${name}; plantstore/client runs on both`)
}
if (Number(node.split('.', 1)[0]) < needed) {
  throw new Error(`plantstore needs Node.js ${needed} or newer, ${process.execPath} is ${process.version}`)
}
