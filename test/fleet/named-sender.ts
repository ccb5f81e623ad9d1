// Preloaded into a server: its webhooks name its process.

import http, { type ClientRequest, type RequestOptions } from 'node:http'

const { request } = http

http.request = ((url: string, options: RequestOptions): ClientRequest =>
  request(url, { ...options, headers: { ...options.headers, 'x-test-pid': process.pid } })) as typeof request
