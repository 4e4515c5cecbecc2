import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

/** Tells of its secrets only their sizes. */
const sourceWith = (props: string) => `export default {
  name: 'Secrets', version: '1', props: { ${props} },
  run() { this.$emit({ token: this.token?.length ?? null, keys: this.keys?.length ?? null, plain: this.plain ?? null }); },
};`;
const SECRETS = sourceWith(`token: { type: 'string', secret: true, optional: true },
  keys: { type: 'string[]', secret: true, optional: true }, plain: { type: 'string', optional: true }`);

const TOKEN = 'ghp_a-secret-token';
const KEYS = ['first-secret-key', 'second-secret-key'];

async function sizesOf(id: string, count: number): Promise<unknown> {
  await hw.api('POST', `/sources/${id}/run`);
  return (await hw.untilEvents(id, count)).at(-1)?.event;
}

test('props: secret: a value is never returned, by no answer about its source', async () => {
  const made = await hw.api('POST', '/sources', {
    component_code: SECRETS,
    configured_props: { token: TOKEN, keys: KEYS, plain: 'shown' },
  });
  const { id } = made.data as { id: string };
  const answers = [
    made,
    await hw.api('GET', `/sources/${id}`),
    await hw.api('PUT', `/sources/${id}`, { configured_props: { plain: 'other' } }),
    await hw.api('GET', '/sources'),
  ];
  for (const { text } of answers) for (const secret of [TOKEN, ...KEYS]) expect(text).not.toContain(secret);
  expect(made.data.configured_props).toEqual({ plain: 'shown' });
  expect(await sizesOf(id, 1)).toEqual({ token: TOKEN.length, keys: 2, plain: 'other' });
});

test('props: secret: an update keeps secrets that it does not name, replaces named ones and removes null ones', async () => {
  const { id } = await hw.deploy(SECRETS, { token: TOKEN, keys: KEYS });
  await hw.api('PUT', `/sources/${id}`, { configured_props: { plain: 'x' } });
  expect(await sizesOf(id, 1)).toEqual({ token: TOKEN.length, keys: 2, plain: 'x' });
  await hw.api('PUT', `/sources/${id}`, { configured_props: { token: 'another' } });
  expect(await sizesOf(id, 2)).toEqual({ token: 7, keys: 2, plain: 'x' });
  await hw.api('PUT', `/sources/${id}`, { configured_props: { keys: null, plain: null } });
  expect(await sizesOf(id, 3)).toEqual({ token: 7, keys: null, plain: null });
});

test('props: secret: code that no longer calls a prop secret does not bring it to light', async () => {
  const { id } = await hw.deploy(SECRETS, { token: TOKEN, keys: KEYS });
  const open = sourceWith(
    `token: { type: 'string' }, keys: { type: 'any' }, plain: { type: 'string', optional: true }`,
  );
  const { text, data } = await hw.api('PUT', `/sources/${id}`, { component_code: open });
  expect(data.configured_props).toEqual({});
  for (const secret of [TOKEN, ...KEYS]) expect(text).not.toContain(secret);
  expect(await sizesOf(id, 1)).toMatchObject({ token: TOKEN.length, keys: 2 });
  const given = await hw.api('PUT', `/sources/${id}`, { configured_props: { token: 'open now' } });
  expect(given.data.configured_props).toEqual({ token: 'open now' });
});

test('props: secret: a value that breaks a rule is refused without being repeated', async () => {
  for (const configuredProps of [{ token: [TOKEN] }, { keys: { a: TOKEN } }, { token: TOKEN.repeat(10_000) }]) {
    const { status, text } = await hw.api('POST', '/sources', {
      component_code: SECRETS,
      configured_props: configuredProps,
    });
    expect(status).toBe(400);
    expect(text).not.toContain(TOKEN);
  }
});
