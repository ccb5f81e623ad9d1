// Drives Firefox by WebDriver BiDi (W3C), as far as the tests of the page need it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { makeFolder } from '../support/folder.ts'

const command = process.env['FIREFOX'] ?? '/usr/bin/firefox-esr'

/** Why a test with Firefox is skipped, or false. */
export const noFirefox = !existsSync(command) && 'there is no Firefox here; name one with FIREFOX'

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly message?: string
}

/** A page in a new browser without a window. */
export class FirefoxPage implements AsyncDisposable {
  /** What the page asked for. */
  readonly requests: string[] = []
  /** Errors of scripts and of the console. */
  readonly errors: string[] = []
  readonly #socket: WebSocket
  readonly #stack: AsyncDisposableStack
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #context = ''

  private constructor(socket: WebSocket, stack: AsyncDisposableStack) {
    this.#socket = socket
    this.#stack = stack
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data))))
  }

  static async open(url: string): Promise<FirefoxPage> {
    const stack = new AsyncDisposableStack()
    const profile = stack.use(await makeFolder())
    const flags = ['--headless', '--no-remote', '--profile', profile.path, '--remote-debugging-port', '0']
    const browser = spawn(command, flags, { stdio: ['ignore', 'ignore', 'pipe'] })
    stack.defer(async () => {
      const ended = once(browser, 'exit')
      browser.kill('SIGKILL')
      await ended
    })
    let said = ''
    let address: string | undefined
    for await (const piece of browser.stderr) {
      said += piece
      address = /BiDi listening on (ws:\S+)/.exec(said)?.[1]
      if (address !== undefined) break
    }
    if (address === undefined) throw new Error(`${command}: ${said}`)
    const socket = new WebSocket(`${address}/session`)
    await once(socket, 'open')
    stack.defer(() => socket.close())
    const page = new FirefoxPage(socket, stack)
    await page.#send('session.new', { capabilities: {} })
    await page.#send('session.subscribe', { events: ['network.beforeRequestSent', 'log.entryAdded'] })
    const { context } = (await page.#send('browsingContext.create', { type: 'tab' })) as { context: string }
    page.#context = context
    await page.#send('browsingContext.navigate', { context, url, wait: 'complete' })
    return page
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync()
  }

  /** The value of an expression that is a text. */
  async textOf(expression: string): Promise<string> {
    const target = { context: this.#context }
    const answer = await this.#send('script.evaluate', { expression, target, awaitPromise: true })
    return String((answer as { result: { value?: unknown } }).result.value)
  }

  /** Presses keys, one for each character. */
  async type(text: string): Promise<void> {
    const actions = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ])
    await this.#send('input.performActions', {
      context: this.#context,
      actions: [{ type: 'key', id: 'keys', actions }],
    })
  }

  async #send(method: string, params: unknown): Promise<unknown> {
    const id = this.#waiting.size + 1
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return await waiting.promise
  }

  #take({ id, method, params, result, message }: Reply): void {
    if (id !== undefined && result !== undefined) this.#waiting.get(id)?.resolve(result)
    else if (id !== undefined) this.#waiting.get(id)?.reject(new Error(message))
    else if (method === 'network.beforeRequestSent')
      this.requests.push((params as { request: { url: string } }).request.url)
    else if (method === 'log.entryAdded' && (params as { level: string }).level === 'error')
      this.errors.push((params as { text: string }).text)
  }
}
