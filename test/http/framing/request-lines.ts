// Request lines, versions and targets: RFC 9112, sections 2 and 3.

import { closes, type FramingCase, goesOn, head, host, livez, smuggled } from './case.ts'

const start = (line: string, ...lines: readonly string[]): string => head(line, host, ...lines)

export const requestLines: readonly FramingCase[] = [
  // RFC 9112, section 3: method SP request-target SP HTTP-version CRLF.
  closes('not HTTP at all', 'hello\r\n\r\n', 'malformedRequest'),
  closes('a TLS client hello', Buffer.from('16030100a5010000a10303', 'hex'), 'malformedRequest'),
  closes('zeros', Buffer.alloc(100), 'malformedRequest'),
  closes('bytes past ASCII', Buffer.alloc(64, 0xff), 'malformedRequest'),
  closes('a request line without a version', `GET /livez\r\n\r\n${smuggled}`, 'malformedRequest'),
  closes('a request line without a target', start('GET HTTP/1.1'), 'malformedRequest'),
  closes('a request line of two targets', start('GET /livez /smuggled HTTP/1.1'), 'malformedRequest'),
  closes('a space in the target', start('GET /li vez HTTP/1.1'), 'malformedRequest'),
  closes('a space before the method', start(' GET /livez HTTP/1.1'), 'malformedRequest'),
  // One that splits at any white space may be lenient (section 3).
  goesOn('two spaces after the method', start('GET  /livez HTTP/1.1'), 200),
  closes('a tab after the method', start('GET\t/livez HTTP/1.1'), 'malformedRequest'),
  closes('a space behind the version', start('GET /livez HTTP/1.1 '), 'malformedRequest'),
  closes('a carriage return in the request line', start('GET /li\rvez HTTP/1.1'), 'malformedRequest'),
  closes('NUL in the target', start('GET /li\0vez HTTP/1.1'), 'malformedRequest'),
  closes('a control character in the target', start('GET /li\x01vez HTTP/1.1'), 'malformedRequest'),
  closes('a response instead of a request', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', 'malformedRequest'),

  // RFC 9112, section 2.2: empty lines before a request line are passed over.
  goesOn('empty lines before a request', `\r\n\r\n${livez()}`, 200),
  goesOn('an empty line between two requests', `${livez()}\r\n${livez()}`, 200, 200),
  closes('white space before a request', ` \r\n${livez()}`, 'malformedRequest'),

  // RFC 9112, section 2.3.
  closes('HTTP/2 by prior knowledge', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'malformedRequest'),
  closes('the version 3.7', start('GET /livez HTTP/3.7'), 'malformedRequest'),
  closes('the version 2.0', start('GET /livez HTTP/2.0'), 'malformedRequest'),
  closes('the version 0.9', start('GET /livez HTTP/0.9'), 'malformedRequest'),
  closes('the version 1.2', start('GET /livez HTTP/1.2'), 'malformedRequest'),
  closes('the version 1.10', start('GET /livez HTTP/1.10'), 'malformedRequest'),
  closes('the version 11', start('GET /livez HTTP/11'), 'malformedRequest'),
  // The parser of Node.js takes these for requests: RFC 2326, section 10, and others.
  ...['RTSP/1.0', 'RTSP/1.1', 'RTSP/2.0', 'ICE/1.0', 'HTTP/0.9', 'FTP/1.1'].map((version) =>
    closes(`a GET of ${version}`, start(`GET /livez ${version}`), 'malformedRequest'),
  ),
  ...['SETUP', 'DESCRIBE', 'ANNOUNCE', 'PLAY', 'PAUSE', 'TEARDOWN', 'GET_PARAMETER', 'FLUSH'].flatMap((method) => [
    closes(`${method} of RTSP`, start(`${method} /livez RTSP/1.0`), 'malformedRequest'),
    closes(`${method} of RTSP in HTTP`, start(`${method} /livez HTTP/1.1`), 'unknownMethod'),
  ]),
  closes('the version in lower case', start('GET /livez http/1.1'), 'malformedRequest'),
  closes('HTTP/1.0 without a Host', head('GET /livez HTTP/1.0'), 200),
  goesOn('HTTP/1.0 that asks to be kept', head('GET /livez HTTP/1.0', 'Connection: keep-alive'), 200),
  closes('HTTP/1.0 with a request behind', `${head('GET /livez HTTP/1.0')}${smuggled}`, 200),

  // RFC 9110, section 9.1, and RFC 9112, section 3.2.3.
  closes('CONNECT', head('CONNECT a.example:443 HTTP/1.1', 'Host: a.example:443'), 'unknownMethod'),
  closes('CONNECT to a path', start('CONNECT /livez HTTP/1.1'), 'unknownMethod'),
  closes('CONNECT with a request behind', `${start('CONNECT a.example:1 HTTP/1.1')}${smuggled}`, 'unknownMethod'),
  closes('an unknown method', start('BREW /plants HTTP/1.1'), 'unknownMethod'),
  closes('a method in lower case', start('post /plants HTTP/1.1'), 'unknownMethod'),
  closes('a method that is no token', start('GE(T /livez HTTP/1.1'), 'malformedRequest'),
  closes('a method of 5,000 characters', start(`${'A'.repeat(5_000)} /livez HTTP/1.1`), 'malformedRequest'),
  goesOn('a method of WebDAV', start('PROPFIND /livez HTTP/1.1'), 'unknownMethod'),
  goesOn('TRACE', start('TRACE /livez HTTP/1.1'), 'methodNotAllowed'),

  // RFC 9112, section 3.2.
  goesOn('OPTIONS of everything', start('OPTIONS * HTTP/1.1'), 204),
  goesOn('a target in full', start('GET http://plants.example/livez HTTP/1.1'), 200),
  goesOn('a target in full with another host', start('GET http://other.example/livez HTTP/1.1'), 200),
  closes('a target with a user', start('GET http://me@plants.example/livez HTTP/1.1'), 'malformedRequest'),
  closes('a target of another scheme', start('GET ftp://plants.example/livez HTTP/1.1'), 'malformedRequest'),
  closes('a target with a fragment', start('GET /livez#part HTTP/1.1'), 'malformedRequest'),
  closes('a target without a slash', start('GET livez HTTP/1.1'), 'malformedRequest'),
  closes('a broken percent sign', start('GET /plants/%zz HTTP/1.1'), 'malformedRequest'),
  goesOn('an encoded line end in the target', start('GET /livez%0d%0aX:%20y HTTP/1.1'), 'unknownPath'),
  goesOn('an encoded slash', start('GET /plants%2f1 HTTP/1.1'), 'unknownPath'),
  goesOn('dots in the target', start('GET /x/../livez HTTP/1.1'), 'unknownPath'),
  closes('a target of 20 KB', start(`GET /${'a'.repeat(20_000)} HTTP/1.1`), 'headerFieldsTooLarge'),
]
