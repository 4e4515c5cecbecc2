import { openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DrizzleQueryError } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { readConfig } from '../../api/src/config.ts';
import { createProcessLog } from '../../api/src/process-log.ts';
import { makeDataDir } from '../support/run-folder.ts';

const ENV = {
  HEADWATER_API_KEY: 'hw_key_of_the_first_account',
  HEADWATER_ADMIN_KEY: 'hw_admin_key_of_the_operator',
  HEADWATER_ENCRYPTION_KEY: 'a passphrase that is long enough',
  HEADWATER_ENCRYPTION_KEYS_OLD: 'the passphrase before it, and the one before that',
  DATABASE_URL: 'postgres://app:p%40ss-word@db.example.com/app',
  HTTPS_PROXY: 'http://user:proxy-password@proxy.example.com:3128',
};

/** Log output with that configuration. */
function logged(write: (log: ReturnType<typeof createProcessLog>) => void, env: Record<string, string> = ENV): string {
  const outcome = readConfig(env, []);
  if (!outcome.ok) throw new Error(outcome.problems.join('\n'));
  const file = path.join(makeDataDir(), 'log');
  write(createProcessLog(outcome.config, { isTTY: false, write: () => true, fd: openSync(file, 'w') }));
  return readFileSync(file, 'utf8');
}

test('the secrets of the configuration are in no line of the log', () => {
  const { DATABASE_URL, HTTPS_PROXY, ...keys } = ENV;
  const texts = [...Object.values(keys).flatMap((text) => text.split(', ')), DATABASE_URL, HTTPS_PROXY, 'p@ss-word'];
  const text = logged((log) => {
    for (const secret of texts) {
      log.info({ nested: { of: [secret] } }, `message with ${secret}`);
      log.error({ err: new Error(secret, { cause: new Error(secret) }) }, 'failed');
    }
  });
  for (const secret of [...texts, 'p%40ss-word', 'proxy-password']) expect(text).not.toContain(secret);
  expect(text).toContain('postgres://app:[secret:DATABASE_URL.0]@db.example.com/app');
  for (const line of text.trim().split('\n')) JSON.parse(line);
});

test('a password that is the name of its user is no secret, and does not spoil the log', () => {
  const env = { DATABASE_URL: 'postgres://headwater:headwater@localhost/headwater' };
  expect(logged((log) => log.info('headwater is up'), env)).toContain('"headwater is up"');
});

test('fields that name secrets are not written at any depth', () => {
  const fields = {
    headers: { authorization: 'Bearer x-1' },
    a: { secret: 'x-2', b: { password: 'x-3' } },
    apiKey: 'x-4',
  };
  expect(logged((log) => log.info(fields, 'request'))).not.toMatch(/x-\d/);
});

test("the log escapes control characters of a tenant's text and keeps all of it", () => {
  const said = 'a\u001B[2J\u009B2J\u007F\u0085\u202Eb\u2028\nc';
  const text = logged((log) => log.error({ said, err: new Error(said) }, said));
  expect(text.trimEnd()).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u2028-\u202E]/);
  expect(JSON.parse(text)).toMatchObject({ said, msg: said, err: { message: said } });
});

test('dates and lists are written as they are', () => {
  const line = logged((log) => log.info({ at: new Date(0), of: { days: [new Date(1), 2] } }, 'dates'));
  expect(JSON.parse(line)).toMatchObject({
    at: '1970-01-01T00:00:00.000Z',
    of: { days: ['1970-01-01T00:00:00.001Z', 2] },
  });
});

test('the log of an error has its message and place, without the data that libraries attach', () => {
  const cause = Object.assign(new Error('duplicate key value violates unique constraint "api_keys_key_hash_key"'), {
    code: '23505',
    constraint_name: 'api_keys_key_hash_key',
    detail: 'Key (email)=(ada@example.com) already exists.',
    parameters: ['ada@example.com'],
  });
  const thrown = new DrizzleQueryError('insert into users values ($1, $2)', ['ada@example.com', 'x\n    at y'], cause);
  const text = logged((log) => log.error({ err: thrown }, 'failed'));
  expect(text).not.toContain('ada@example.com');
  const { err } = JSON.parse(text);
  expect(err.message).toContain('insert into users values ($1, $2)');
  expect(err.stack).toContain('process-log.test.ts');
  expect(err.cause).toMatchObject({ code: '23505', constraint_name: 'api_keys_key_hash_key' });
});

test('foreign text moves no cursor and forges no line on the operator’s terminal', () => {
  const outcome = readConfig(ENV, []);
  if (!outcome.ok) throw new Error(outcome.problems.join('\n'));
  let text = '';
  const terminal = { isTTY: true, fd: 1, write: (line: string | Uint8Array) => Boolean((text += String(line))) };
  const said = 'a\u001b[2J\u009b1A\u0007\rb\u202e';
  const error = Object.assign(new Error(said), { stack: `Error: ${said}\n    at x` });
  createProcessLog(outcome.config, terminal).error({ err: error, word: '\u001b[31m', words: `two ${said}` }, said);
  // Removes the colours of the log itself.
  const plain = text.replaceAll(/\u001b\[\d+m/g, '');
  expect(plain).not.toMatch(/[^\n\u0020-\u007e]/);
  expect(plain).toContain(String.raw`a\u001b[2J\u009b1A\u0007\u000db\u202e`);
  expect(text).not.toContain('word=\u001b');
});
