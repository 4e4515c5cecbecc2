import { expect, test } from 'vitest';
import { createRedactor } from '../../../engine/src/secrets/redactor.ts';
import { commonFormsOf, formsOf, textsOf } from '../../../engine/src/secrets/secret-forms.ts';

const MB = 1024 * 1024;

const keyLines = Array.from({ length: 26 }, (_, i) => Buffer.from(`${i}`.padStart(48, `${i}+/q`)).toString('base64'));
const pem = `-----BEGIN PRIVATE KEY-----\n${keyLines.join('\n')}\n-----END PRIVATE KEY-----\n`;
const serviceAccount = JSON.stringify(
  {
    type: 'service_account',
    project_id: 'the-project-of-it',
    private_key: pem,
    client_email: 'robot@the-project-of-it.example.com',
    token_uri: 'https://oauth2.example.com/token?v=2',
    notes: 'Größe & „Maß“ '.repeat(60),
  },
  null,
  2,
);

test('a key, a file of credentials and fifty tokens together are looked for in all of their forms', () => {
  const tokens = Array.from({ length: 50 }, (_, i) => `tok_${i}/"+é${(i * 7_654_321).toString(36)}_${'z'.repeat(20)}`);
  const values = [...tokens, pem, serviceAccount];
  const redactor = createRedactor(values.map((value, i) => ({ name: `s${i}`, value })));
  if (redactor === undefined) throw new Error('Nothing to look for');
  for (const form of values.flatMap(textsOf).flatMap(formsOf)) {
    const clean = redactor.text(`<${form}>`);
    expect([form, clean]).toEqual([form, expect.stringContaining('[secret:s')]);
  }
  expect(redactor.bytes()).toBeGreaterThan(0.5 * MB);
  expect(redactor.bytes()).toBeLessThan(4 * MB);
});

test('large secrets are found as text, JSON and base64, and a token in all forms', () => {
  const line = (i: number) =>
    `${((i * 7_919) % 46_656).toString(36).padStart(3, '0')}${i.toString(36).padStart(4, '0')}"‹&é+ %ü\\`;
  const large = Array.from({ length: 3_000 }, (_, i) => line(i)).join('\n');
  const token = 'tok_"é/\\of-the-shop';
  const redactor = createRedactor([
    { name: 'large', value: large },
    { name: 'token', value: token },
  ]);
  for (const form of textsOf(token).flatMap(formsOf)) expect(redactor?.text(form)).toContain('[secret:token]');
  for (const i of [0, 1, 1_500, 2_999]) {
    for (const form of commonFormsOf(line(i))) expect(redactor?.text(form)).toContain('[secret:large]');
  }
  expect(redactor?.text(large)).toMatch(/^(\[secret:large\]\n?)+$/);
  expect(redactor?.bytes()).toBeGreaterThan(4 * MB);
  expect(redactor?.bytes()).toBeLessThan(7 * MB);
});

test('a value is never looked for in less than itself and its JSON, however much there is', () => {
  const values = Array.from(
    { length: 40_000 },
    (_, i) => `${((i * 7_919) % 46_656).toString(36).padStart(3, '0')}"${i.toString(36).padStart(4, '.')}`,
  );
  const redactor = createRedactor([{ name: 'all', value: values }]);
  const shown = [values[0], values[20_000], values[39_999]];
  for (const value of shown) {
    expect(redactor?.text(`is ${value}!`)).toMatch(/^is \[secret:all\.\d+\]!$/);
    expect(redactor?.text(JSON.stringify(value))).toMatch(/^"\[secret:all\.\d+\]"$/);
  }
  expect(redactor?.bytes()).toBeGreaterThan(6 * MB);
  expect(redactor?.bytes()).toBeLessThan(16 * MB);
});

test('a value of several props is searched once, under the name of the first', () => {
  const one = createRedactor([{ name: 'p0', value: 'the-same-value' }]);
  const all = createRedactor(Array.from({ length: 500 }, (_, i) => ({ name: `p${i}`, value: 'the-same-value' })));
  expect(all?.text('the-same-value')).toBe('[secret:p0]');
  expect(one?.text('the-same-value')).toBe('[secret:p0]');
  expect(all?.bytes()).toBe(one?.bytes());
});

test('two secrets with a common form: the one given first is named, also in the longer form', () => {
  const redactor = createRedactor([
    { name: 'first', value: 'p%40ss-word' },
    { name: 'second', value: 'p@ss-word' },
  ]);
  expect(redactor?.text('p%40ss-word p@ss-word')).toBe('[secret:first] [secret:second]');
});
