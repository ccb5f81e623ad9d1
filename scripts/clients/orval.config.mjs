export default {
  plants: { input: './openapi.json', output: { client: 'zod', target: './schemas.ts' } },
}
