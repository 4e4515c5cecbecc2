import { fc } from '../../support/properties.ts';
import { expect, test } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { errorEventJson, errorEventJsonAtOnce, type FailedRun } from '../../../engine/src/runs/commit/error-event.ts';
import { createRedactor, type Redactor } from '../../../engine/src/secrets/redactor.ts';
import { longestTurnMs } from '../../support/longest-turn.ts';

const TOKEN = 'ghp_x7/Q"k\\9+é=Ω z';
/** Contains characters that URL, JSON and HTML encodings write differently. */
const PASSWORD = `p^s|w'o/r+d*(1)!<&>"Ω_x`;

function redactorOf(values: Record<string, unknown>): Redactor {
  const redactor = createRedactor(Object.entries(values).map(([name, value]) => ({ name, value })));
  if (redactor === undefined) throw new Error('Nothing to look for');
  return redactor;
}

const bytes = (text: string) => Buffer.from(text, 'utf8');
const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
const ascii = (text: string) => text.replaceAll(/[^\0-\x7F]/g, escapeUnit);
const FORMS: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'as JSON': (secret) => JSON.stringify({ secret }),
  'as JSON within JSON': (secret) => JSON.stringify({ body: JSON.stringify({ secret }) }),
  'as the console quotes it': (secret) => inspect({ secret }),
  'in a query': (secret) => `https://example.com/?token=${encodeURIComponent(secret)}&x=1`,
  'in a query, escapes in lower case': (secret) =>
    encodeURIComponent(secret).replaceAll(/%../g, (e) => e.toLowerCase()),
  'in a form': (secret) => new URLSearchParams({ token: secret }).toString(),
  'in a URL of strict encoding': (secret) =>
    `https://example.com/?a=${encodeURIComponent(secret).replaceAll(/[!'()*]/g, (c) => `%${bytes(c).toString('hex').toUpperCase()}`)}`,
  'as a password in a URL': (secret) => Object.assign(new URL('https://ada@example.com/'), { password: secret }).href,
  'in the query of a URL that was parsed': (secret) => new URL(`https://example.com/?token=${secret}`).href,
  'in the path of a URL that was parsed': (secret) => new URL(`https://example.com/bot${secret}/me`).href,
  'in base64 in a form': (secret) => encodeURIComponent(bytes(`ada?${secret}:~`).toString('base64')),
  'as JSON of PHP': (secret) => ascii(JSON.stringify({ secret }).replaceAll('/', '\\/')),
  'as JSON of PHP, characters as they are': (secret) => JSON.stringify({ secret }).replaceAll('/', '\\/'),
  'as JSON of Python': (secret) => ascii(JSON.stringify({ secret })),
  'as JSON of Go': (secret) => JSON.stringify({ secret }).replaceAll(/[<>&]/g, escapeUnit),
  'as JSON of .NET': (secret) =>
    `{"secret":"${JSON.stringify(secret)
      .slice(1, -1)
      .replaceAll('\\"', '"')
      .replaceAll(/[<>&'"+]|[^\0-\x7F]/g, (c) => escapeUnit(c).toUpperCase().replace('U', 'u'))}"}`,
  'as HTML': (secret) =>
    `<p>${secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')}</p>`,
  'in a path': (secret) => encodeURI(`https://example.com/${secret}`),
  'as base64': (secret) => bytes(secret).toString('base64'),
  'as base64url': (secret) => bytes(secret).toString('base64url'),
  'as a password of Basic': (secret) => `Basic ${bytes(`ada:${secret}`).toString('base64')}`,
  'as a user of Basic': (secret) => `Basic ${bytes(`${secret}:x`).toString('base64')}`,
  'one byte further in base64': (secret) => bytes(`x${secret}yz`).toString('base64'),
  'two bytes further in base64': (secret) => bytes(`xy${secret}z`).toString('base64url'),
  'in JSON in base64': (secret) => bytes(JSON.stringify({ k: secret })).toString('base64'),
  'as hex': (secret) => bytes(secret).toString('hex'),
  'as HEX': (secret) => bytes(secret).toString('hex').toUpperCase(),
  'as a buffer in a log': (secret) => inspect(bytes(secret)),
  'as a buffer in JSON': (secret) => JSON.stringify(bytes(secret)),
  'as bytes in lines': (secret) => `Uint8Array [\n  1,\n  ${bytes(secret).join(',\n  ')},\n  2\n]`,
  'as bytes with spaces': (secret) => `{ key: [ ${bytes(secret).join(', ')} ] }`,
  'in a URL within a URL': (secret) =>
    `https://example.com/?to=${encodeURIComponent(`https://example.com/?token=${encodeURIComponent(secret)}`)}`,
  'in Unicode’s composed form': (secret) => secret.normalize('NFC'),
  'in its decomposed form': (secret) => secret.normalize('NFD'),
};

test.each(Object.entries(FORMS))('a secret is found %s', (_, form) => {
  const redactor = redactorOf({ token: TOKEN });
  const text = `before ${form(TOKEN)} after`;
  const clean = redactor.text(text);
  expect(clean).toContain('[secret:token]');
  expect(clean).toMatch(/^before .* after$/s);
  // Nothing of it but what base64 shares with its neighbours.
  for (const other of Object.values(FORMS)) expect(clean).not.toContain(other(TOKEN).slice(0, -2));
  expect(clean.length).toBeLessThan(text.length + '[secret:token]'.length);
});

test.each(Object.entries(FORMS))('a password of odd characters is found %s', (_, form) => {
  const clean = redactorOf({ password: PASSWORD }).text(`before ${form(PASSWORD)} after`);
  expect(clean).toContain('[secret:password]');
});

test('a password with letters beyond ASCII is found as btoa writes it', () => {
  expect(redactorOf({ pw: 'pässwörd-1' }).text(`Basic ${btoa('ada:pässwörd-1')}`)).toMatch(
    /^Basic .{1,8}\[secret:pw\]/,
  );
});

test('a secret is found in the name of a host, which has no large letters', () => {
  const redactor = redactorOf({ key: 'Ab12-CDef34' });
  expect(redactor.text(new URL('https://Ab12-CDef34.example.com/').host)).toBe('[secret:key].example.com');
});

test('the console shows the first of many bytes, and a secret among them is found', () => {
  const secret = 'Ab12-'.repeat(30);
  const shown = `Uint8Array(150) [\n  ${bytes(secret).subarray(0, 100).join(',\n  ')},\n  ... 50 more items\n]`;
  expect(redactorOf({ key: secret }).text(shown)).toBe('Uint8Array(150) [\n  [secret:key]… 50 more items\n]');
});

test('bytes of a secret in JSON are found between others, and nothing within a number', () => {
  const redactor = redactorOf({ key: 'HostAb' });
  const numbers = [...bytes('HostAb')];
  expect(JSON.parse(redactor.json(JSON.stringify({ type: 'Buffer', data: [1, ...numbers, 2] })))).toEqual({
    type: 'Buffer',
    data: [1, '[secret:key]', 2],
  });
  const others = JSON.stringify([[`1${numbers.join()}`], [1, 172, ...numbers.slice(1)], { a: numbers.slice(0, 5) }]);
  expect(redactor.json(others)).toBe(others.replace(numbers.join(), '[secret:key]'));
});

test('an error of JSON.parse shows no part of a text', () => {
  const key = 'Hunter2-Secret-Value-0123456789-abcdefghijklmnopqrstuvwxyz';
  const redactor = redactorOf({ key });
  for (const text of [
    key,
    `["${key}" ${key}]`,
    `{"a":1,"b":${key.slice(0, 30)}`,
    `[1,${key}`,
    `[${'1,'.repeat(30)}${key}`,
  ]) {
    let message = '';
    try {
      JSON.parse(text);
    } catch (error) {
      message = (error as Error).message;
    }
    const clean = redactor.text(`SyntaxError: ${message}\n    at run`);
    for (let at = 0; at + 6 <= key.length; at++) expect(clean).not.toContain(key.slice(at, at + 6));
    expect(clean).toMatch(/JSON.*\n {4}at run$/s);
  }
  expect(redactor.text('"1, 2" is not valid JSON')).toBe('"1, 2" is not valid JSON');
});

test('redacted text names the prop and the place in it', () => {
  const redactor = redactorOf({
    keys: ['first-key', 'second-key'],
    login: { user: 'ada-lovelace', deep: [{ pw: 'hunter22' }] },
  });
  expect(redactor.text('first-key second-key ada-lovelace hunter22')).toBe(
    '[secret:keys.0] [secret:keys.1] [secret:login.user] [secret:login.deep.0.pw]',
  );
});

test('short values, numbers and booleans are not looked for: they are in too much that is no secret', () => {
  expect(createRedactor([])).toBeUndefined();
  expect(createRedactor([{ name: 'n', value: 1_234_567 }])).toBeUndefined();
  expect(redactorOf({ a: 'admin', b: 'token-9' }).text('admin: token-9, true')).toBe('admin: [secret:b], true');
});

test('the longest of several secrets with the same beginning is taken, and each line of a key is a secret', () => {
  const redactor = redactorOf({ short: 'sk_live_', long: 'sk_live_51Habc' });
  expect(redactor.text('sk_live_51Habc sk_live_x')).toBe('[secret:long] [secret:short]x');
  const lines = ['-----BEGIN KEY-----', 'MIIEvQIBADANBgkqhkiG9w0B', 'AQEFAASCBKcwggSjAgEAAoIB', '-----END KEY-----'];
  const key = redactorOf({ key: lines.join('\n') });
  expect(key.text(`line 2 is ${lines[1]}.`)).toBe('line 2 is [secret:key].');
  expect(key.text(`all: ${lines.join('\n')}`)).toBe('all: [secret:key]');
  expect(key.text('-----BEGIN KEY-----')).toBe('-----BEGIN KEY-----');
});

test('a secret cut by a limit is found by its rest', () => {
  const redactor = redactorOf({ token: 'abcdefghijklmnop' });
  expect(redactor.text('Bearer abcdefghij…')).toBe('Bearer [secret:token]…');
  expect(redactor.text('Bearer abcdefghij')).toBe('Bearer abcdefghij');
});

test('redacted JSON is valid, and equal in everything but the strings that held a secret', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '123456', '":true,"', '\u001babcdef', 'nabcdef'),
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.array(tie('value')),
      fc.dictionary(text, tie('value')),
    ),
  })).value;
  const secrets = ['123456', '":true,"', 'babcdef', 'nabcdef', '\\"\\"\\"', '"a":"b"', 'true,false'];
  const redactor = redactorOf({ s: secrets });
  const cleaned = (value: unknown): unknown => {
    if (typeof value === 'string') return redactor.text(value);
    if (Array.isArray(value)) return value.map(cleaned);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [redactor.text(key), cleaned(item)]));
  };
  fc.assert(
    fc.property(json, (value) => {
      const given = JSON.stringify(value);
      const clean = redactor.json(given);
      expect(clean).toBe(JSON.stringify(cleaned(value)));
    }),
    { numRuns: 500 },
  );
  expect(redactor.json('{"n":1234567,"t":[true,false]}')).toBe('{"n":1234567,"t":[true,false]}');
});

test('a secret behind half a million other strings is found, and these stay as they are', () => {
  const redactor = redactorOf({ token: TOKEN });
  const others = '","'.repeat(500_000);
  expect(redactor.json(`["${others}",${JSON.stringify(TOKEN)}]`)).toBe(`["${others}","[secret:token]"]`);
});

test('megabytes that fit the ends of a secret at every place are left as they are, or withheld', () => {
  const text = JSON.stringify('a'.repeat(6_000_000));
  for (const key of ['xaaaaa-secret', 'aaxaaa-secret']) {
    const clean = redactorOf({ key }).json(text);
    // A text with too many possible places is withheld.
    expect(clean === text || clean.includes('withheld')).toBe(true);
  }
  expect(redactorOf({ key: 'xyzwaa-secret' }).json(text) === text).toBe(true);
});

const LARGE_SECRETS = { key: 'xyzwaa-secret', other: 'b'.repeat(40) };
const LARGE = JSON.stringify([
  'a'.repeat(3_000_000),
  'xyzwaa-secret',
  `${'a'.repeat(3_000_000)}xyzwaa-secret`,
  'b'.repeat(400),
]);

test('megabytes are looked through in turns, and come out the same', async () => {
  const redactor = redactorOf(LARGE_SECRETS);
  const text = LARGE;
  let atOnce = '';
  let inTurns = '';
  const wholeMs = await longestTurnMs(async () => {
    await sleep(5);
    atOnce = redactor.json(text);
    await sleep(5);
  });
  const turnMs = await longestTurnMs(async () => {
    await sleep(5);
    inTurns = await redactor.jsonInTurns(text);
  });
  expect(inTurns).toBe(atOnce);
  expect(JSON.parse(inTurns)[1]).toBe('[secret:key]');
  expect(turnMs).toBeLessThan(wholeMs / 3);
});

test('so is the event that a failed run is told with', async () => {
  const redactor = redactorOf(LARGE_SECRETS);
  const run: FailedRun = {
    error: { code: 'COMPONENT_ERROR', message: 'no xyzwaa-secret', ts: 1 },
    originalEvent: LARGE,
    originalContext: { id: 'e_1', emitter_id: 'dc_1' },
  };
  let atOnce = '';
  let told = '';
  const wholeMs = await longestTurnMs(async () => {
    await sleep(5);
    atOnce = errorEventJsonAtOnce(run, redactor);
    await sleep(5);
  });
  const turnMs = await longestTurnMs(async () => {
    await sleep(5);
    told = await errorEventJson(run, redactor);
  });
  expect(told).toBe(atOnce);
  expect(told).not.toContain('xyzwaa');
  expect(turnMs).toBeLessThan(wholeMs / 2);
});

test('secrets and texts that are made to take long cost bounded time, and show nothing', () => {
  const alike = redactorOf({ a: Array.from({ length: 2_000 }, (_, i) => `sk_live_${String(i).padStart(6, '0')}`) });
  const long = redactorOf({ a: `${'a'.repeat(60_000)}b` });
  const short = redactorOf({ with_a_long_name: 'aaaaaa' });
  const startedAt = performance.now();
  for (const [redactor, text] of [
    [alike, 'sk_live_'.repeat(500_000)],
    [long, 'a'.repeat(4_000_000)],
    [short, 'aaaaaa.'.repeat(500_000)],
  ] as const) {
    expect(redactor.text(text).slice(0, 100)).toMatch(/^\[secrets: .* withheld/);
    const array = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => text.slice(i * 4_000, (i + 1) * 4_000)));
    const json = redactor.json(array);
    expect(json.length).toBeLessThan(3 * array.length);
    JSON.parse(json);
  }
  // Quadratic work would take hours.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});
