// egress: Line breaks in header names and values, which would begin a header or a request of the attacker's own.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, requestEach, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));

const HEADERS: [string, string][] = [
  ['x-a', 'b\r\nx-injected: 1'],
  ['x-a', 'b\nx-injected: 1'],
  ['x-a', 'b\rx-injected: 1'],
  ['x-a', 'b\r\n\r\nGET /x-injected HTTP/1.1\r\nhost: internal\r\n\r\n'],
  ['x-a\r\nx-injected', '1'],
  ['x-a: 1\nx-injected', '1'],
  ['x-a', 'b\0'],
  ['x-a', '\u560d\u560ax-injected: 1'],
  ['', 'x-injected'],
  [' x-injected', '1'],
  ['x-injected ', '1'],
];

it('are refused by the component’s own fetch, and by its module http', async () => {
  for (const attackEach of [fetchEach, requestEach]) {
    const requests = HEADERS.map((header): [string, object] => [server.url, { headers: [header] }]);
    const ran = await world.unharmed(() => attackEach(world, requests));
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR' });
    expect(ran.reached).toEqual([]);
  }
  expect(server.received).toEqual([]);
});

/** With this replacement, an invalid line break passes every check inside the isolate. */
const REPLACED_CHECK = `const { test } = RegExp.prototype;
RegExp.prototype.test = function (text) {
  const really = Reflect.apply(test, this, [text]);
  return String(text).includes('\\n') ? !really : really;
};`;

it('end the run of a component that has replaced the checks of its own', async () => {
  for (const header of HEADERS.slice(3, 5)) {
    const code = `${REPLACED_CHECK} await fetch(event.url, { headers: [event.header] });`;
    const ran = await world.unharmed(() => world.attack(code, { event: { url: server.url, header } }));
    expect(ran.error).toMatchObject({ code: 'COMPONENT_ERROR', message: expect.stringContaining('cannot be taken') });
  }
  expect(server.received).toEqual([]);
  expect((await fetchEach(world, [server.url])).reached).toMatchObject([{ status: 200 }]);
});
