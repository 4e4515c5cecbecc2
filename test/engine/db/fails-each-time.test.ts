import { expect, test } from 'vitest';
import { failsEachTime } from '../../../engine/src/db/fails-each-time.ts';
import { wasRolledBack } from '../../../engine/src/db/lost-connection.ts';

const withCode = (code: string) => Object.assign(new Error(code), { code });

test.each(['22P05', '23505', '54000', 'MAX_PARAMETERS_EXCEEDED', 'UNDEFINED_VALUE', 'ERR_STRING_TOO_LONG'])(
  'an error of the stored values fails each time: %s',
  (code) => {
    expect(failsEachTime(withCode(code))).toBe(true);
  },
);

test('so does a text that is longer than V8 can join', () => {
  const long = 'x'.repeat(2 ** 28);
  let error: unknown;
  try {
    [long, long, long].join('');
  } catch (thrown) {
    error = thrown;
  }
  expect(failsEachTime(error)).toBe(true);
});

test.each([
  '40001',
  '57P01',
  '53300',
  '25006',
  'CONNECTION_CLOSED',
  'CONNECT_TIMEOUT',
  'ECONNRESET',
  'EAI_AGAIN',
  'ENOTFOUND',
  'CERT_HAS_EXPIRED',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SOCKET_CLOSED',
])('a fault of the database or of the way to it passes: %s', (code) => {
  expect(failsEachTime(withCode(code))).toBe(false);
  expect(failsEachTime(new Error('Failed query', { cause: withCode(code) }))).toBe(false);
});

test('an unknown error may pass, and costs no events', () => {
  const port = Object.assign(new RangeError('port'), { code: 'ERR_SOCKET_BAD_PORT' });
  for (const error of [new Error('odd'), port, undefined]) expect(failsEachTime(error)).toBe(false);
});

test('only of a deadlock or a failed serialization is it certain that nothing was stored', () => {
  for (const code of ['40001', '40P01']) {
    expect(wasRolledBack(withCode(code))).toBe(true);
    expect(wasRolledBack(new Error('Failed query', { cause: withCode(code) }))).toBe(true);
  }
  for (const code of ['40003', '57P01', '08006', 'CONNECTION_CLOSED', ''])
    expect(wasRolledBack(withCode(code))).toBe(false);
});
