// Ends with one clear line on a Node.js that is too old for this program. Written for any Node.js that knows modules.

const needed = 24

if (Number(process.versions.node.split('.')[0]) < needed) {
  process.stderr.write(
    `plantstore: Node.js ${needed} or newer is needed, this is ${process.version}; in a checkout run \`npm ci\` with install scripts allowed, which brings one along\n`,
  )
  process.exit(1)
}
