// The folder of the package.

/** In a build, src/ is dist/src/. */
export const root = new URL(import.meta.url.endsWith('.ts') ? '../' : '../../', import.meta.url)
