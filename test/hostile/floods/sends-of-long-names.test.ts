// limits: `$.send.http` with a list of thousands under a name of thousands of characters, in params, headers and forms: half a gigabyte of text.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are refused before any of it is made', async () => {
  const url = 'http://127.0.0.1:8080/';
  const name = 'a'.repeat(32_000);
  const list = { [name]: Array<number>(16_000).fill(1) };
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const sends = await world.unharmed(() =>
    sendEach(world, [
      ['http', { url, params: list }],
      ['http', { url, headers, data: list }],
      ['http', { url, headers: { [name]: Array(900).fill('1') } }],
    ]),
  );
  expect(sends).toHaveLength(3);
  for (const { status, attempts } of sends) expect([status, attempts.length]).toEqual(['failed', 1]);
  const errors = sends.map(({ attempts }) => attempts[0]?.error).join('\n');
  for (const said of ['longer than 16384 characters with its params', 'The names in the form', 'cannot be sent'])
    expect(errors).toContain(said);
});
