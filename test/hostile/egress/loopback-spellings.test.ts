// egress: Loopback in octal, hexadecimal, as one number, with parts left out, and in wide digits.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');

/** Ways to write `127.<second>.0.1`. */
function spellings(second: number): string[] {
  const [rest, whole] = [second * 2 ** 16 + 1, 127 * 2 ** 24 + second * 2 ** 16 + 1];
  const [hex, octal] = [second.toString(16), second.toString(8)];
  const wide = String(second).replaceAll(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
  return [
    `127.${second}.1`,
    `127.${rest}`,
    String(whole),
    `0x${whole.toString(16)}`,
    `0x7f.0x${hex}.0x0.0x1`,
    `0x7f.${rest}`,
    `0177.0${octal}.0.1`,
    `0177.0${octal}.0.01`,
    `0${whole.toString(8)}`,
    `127.${second}.0.1.`,
    `%31%32%37.${second}.0.1`,
    `１２７.${wide}.０.１`,
    `127。${second}。0。1`,
    `①②⑦.${second}.⓪.①`,
  ];
}

const urlsOf = (second: string | undefined) =>
  spellings(Number(second)).map((host) => `http://${host}:${server.port}/`);

it('is refused before anything is connected, where it is not allowed', async () => {
  const urls = urlsOf(PRIVATE_LOOPBACK.split('.')[1]);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(`${PRIVATE_LOOPBACK} is not a public address`);
  expect(server.connections()).toBe(0);
});

it('is reached in the same spellings where it is allowed', async () => {
  const { reached } = await fetchEach(world, urlsOf('0'));
  expect(new Set(reached.map(({ status }) => status))).toEqual(new Set([200]));
  expect(reached).toHaveLength(urlsOf('0').length);
});
