// Header fields: their syntax, Host, those that must not come twice, and too many of them. RFC 9112, sections 3.2 and
// 5; RFC 9110, section 5.

import { closes, create, type FramingCase, goesOn, head, host, json, livez, smuggled, token } from './case.ts'

const get = 'GET /livez HTTP/1.1'
const numbered = Array.from({ length: 100 }, (_, index) => `X-${index}: a`)

export const fields: readonly FramingCase[] = [
  // RFC 9112, section 5.1: no white space before the colon.
  closes('a space before a colon', livez('X-A : b'), 'malformedRequest'),
  closes('a tab before a colon', livez('X-A\t: b'), 'malformedRequest'),
  closes(
    'a space before the colon of Content-Length',
    `${livez('Content-Length : 60')}${smuggled}`,
    'malformedRequest',
  ),
  closes('a field without a colon', livez('X-A'), 'malformedRequest'),
  closes('a field without a name', livez(': b'), 'malformedRequest'),
  closes('a name that is no token', livez('X(A): b'), 'malformedRequest'),
  closes('a name past ASCII', livez('X-\xe9: b'), 'malformedRequest'),
  closes('a space before the first field', head(get, ' X-A: b', host), 'malformedRequest'),
  {
    ...closes('a broken field of a HEAD', head('HEAD /livez HTTP/1.1', host, 'Bad Field'), 'malformedRequest'),
    heads: [0],
  },

  // RFC 9112, section 5.2: a server may refuse folded fields, and this one does.
  closes('a folded field', livez('X-A: b', ' c'), 'malformedRequest'),
  closes('a field folded by a tab', livez('X-A: b', '\tc'), 'malformedRequest'),
  closes('a folded Transfer-Encoding', `${create('Transfer-Encoding:', ' chunked')}0\r\n\r\n`, 'malformedRequest'),

  // RFC 9110, section 5.5, and RFC 9112, section 2.2: no NUL, no bare line end.
  closes('NUL in a field', livez('X-A: b\0c'), 'malformedRequest'),
  closes('a control character in a field', livez('X-A: b\x01c'), 'malformedRequest'),
  closes('a bare line feed in a field', livez('X-A: b\n c'), 'malformedRequest'),
  closes('a bare carriage return in a field', livez('X-A: b\rX-B: c'), 'malformedRequest'),
  closes('lines that end in line feeds alone', 'GET /livez HTTP/1.1\nHost: plants.example\n\n', 'malformedRequest'),
  closes('a head that ends in a line feed alone', `GET /livez HTTP/1.1\r\n${host}\r\n\n`, 'malformedRequest'),
  goesOn('a field of bytes past ASCII', livez('X-A: \xe9\xff'), 200),
  goesOn('an empty field', livez('X-A:'), 200),

  // RFC 9112, section 3.2: one valid Host.
  goesOn('no Host', head(get), 'invalidHeader'),
  goesOn('two Hosts', livez('Host: other.example'), 'repeatedHeader'),
  goesOn('the same Host twice', livez(host), 'repeatedHeader'),
  goesOn('two Hosts, one of them in capitals', livez('HOST: other.example'), 'repeatedHeader'),
  goesOn('a Host with a path', head(get, 'Host: plants.example/x'), 'invalidHeader'),
  goesOn('a Host with a user', head(get, 'Host: me@plants.example'), 'invalidHeader'),
  goesOn('a Host with a space', head(get, 'Host: plants example'), 'invalidHeader'),
  goesOn('a Host of two', head(get, 'Host: plants.example, other.example'), 'invalidHeader'),
  goesOn('an empty Host', head(get, 'Host:'), 200),
  goesOn('a Host that is an IPv6 address', head(get, 'Host: [::1]:80'), 200),

  // RFC 9110, section 5.3: fields that are no lists.
  goesOn('two Authorizations', head('GET /plants HTTP/1.1', host, token, 'Authorization: Bearer x'), 'repeatedHeader'),
  goesOn('two Content-Types', `${create(json, 'Content-Length: 2')}{}`, 'repeatedHeader'),

  // RFC 6585, section 5.
  closes('a field of 20 KB', livez(`X-A: ${'a'.repeat(20_000)}`), 'headerFieldsTooLarge'),
  closes('a field name of 20 KB', livez(`${'a'.repeat(20_000)}: b`), 'headerFieldsTooLarge'),
  closes('a head that never ends', `${get}\r\n${'X-A: b\r\n'.repeat(8_000)}`, 'headerFieldsTooLarge'),
  closes('a flood of Cookies', livez(...Array(3_000).fill('Cookie: a=b')), 'headerFieldsTooLarge'),
  goesOn('100 header fields', livez(...numbered.slice(1)), 200),
  closes('101 header fields', livez(...numbered), 'headerFieldsTooLarge'),
  // Node.js would drop those past 2,000 silently, the Authorization of a request among them.
  closes('2,500 header fields', livez(...Array(2_500).fill('a:')), 'headerFieldsTooLarge'),
]
