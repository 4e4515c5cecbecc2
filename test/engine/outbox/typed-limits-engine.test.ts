import { expect, test } from 'vitest';
import { validateAccount, validateKey } from '../../../engine/src/accounts/validate-account.ts';
import { findAppFaults } from '../../../engine/src/connections/apps/validate-app.ts';
import { checkListenerKey } from '../../../engine/src/outbox/subscriptions/subscriptions.ts';
import { validateWebhook } from '../../../engine/src/outbox/webhooks/validate-webhook.ts';
import { checkS3Settings } from '../../../engine/src/outbox/transports/s3/check-s3-settings.ts';
import { checkPageSize } from '../../../engine/src/db/paging.ts';
import { checkName } from '../../../engine/src/workflows/plan-version.ts';
import { HeadwaterError, LIMITS } from '../../../shared/src/index.ts';

/** The engine takes nothing on trust that the REST API has looked at before. */

type Name = keyof typeof LIMITS;

const over = (name: Name, before = '') => before.padEnd(LIMITS[name] + 1, 'a');
const url = 'https://receiver.example/';
const longHost = `https://${over('maxUrlHostChars')}/`;

const egress = { checkUrl: () => undefined };
const s3 = { region: 'eu', accessKeyId: 'a', secretAccessKey: 'b' };

const APP = { slug: 'typed', name: 'A', authType: 'keys', fields: [{ name: 'key', label: 'Key' }] } as const;
const checkApp = (docsUrl: string) => {
  throw new HeadwaterError('INVALID_REQUEST', 'The app', { fields: findAppFaults({ ...APP, docsUrl }) });
};

const REFUSED: [name: Name, check: () => void][] = [
  ['maxNameChars', () => validateWebhook({ name: over('maxNameChars') })],
  ['maxDescriptionChars', () => validateWebhook({ url: 'no URL', description: over('maxDescriptionChars') })],
  ['maxUrlChars', () => validateWebhook({ url: over('maxUrlChars', url) })],
  ['maxUrlHostChars', () => validateWebhook({ url: longHost })],
  ['maxUrlChars', () => checkS3Settings(egress, { ...s3, endpoint: over('maxUrlChars', url) })],
  ['maxUrlHostChars', () => checkS3Settings(egress, { ...s3, endpoint: longHost })],
  ['maxUrlChars', () => checkApp(over('maxUrlChars', url))],
  ['maxNameChars', () => checkListenerKey({ listenerId: over('maxNameChars') })],
  ['maxChannelChars', () => checkListenerKey({ listenerId: 'dc_1', eventName: over('maxChannelChars') })],
  ['maxNameChars', () => validateAccount({ name: over('maxNameChars') })],
  ['maxEmailChars', () => validateAccount({ name: 'A', email: over('maxEmailChars', 'a@example.org') })],
  ['maxNameChars', () => validateKey({ name: over('maxNameChars') })],
  ['maxNameChars', () => checkName(over('maxNameChars'))],
  ['maxPageSize', () => checkPageSize(LIMITS.maxPageSize + 1)],
];

test.each(REFUSED)('the engine refuses a value over %s with the limit', (name, check) => {
  const value = LIMITS[name];
  expect(check).toThrow(expect.objectContaining({ limit: { name, value, used: value + 1 } }));
});
