import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { LIMITS } from '../../../shared/src/index.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { S3_CREDENTIALS } from '../../support/object-server.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { createSendWorld, type SendNode, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let receiver: Receiver;
let who: Principal;
let node: SendNode;

beforeEach(async () => {
  world = await createSendWorld();
  receiver = await startReceiver();
  who = await world.account();
  node = await world.node();
  await node.sends.setS3(who, { endpoint: receiver.url, region: 'us-east-1', ...S3_CREDENTIALS });
});
afterEach(async () => {
  await world.stop();
  await receiver.stop();
});

/** A line whose minute is over. */
async function sendLine(): Promise<string> {
  const payload = { bucket: 'lines', prefix: 'logs', payload: { n: 0 } };
  const [id = ''] = await world.send(who, 's3', [payload], { nowMs: Date.now() - 120_000 });
  return id;
}

const SAID = 'The S3 server answered with the status 400';
const errorXml = (message: string) => `<Error><Code>Odd</Code><Message>${message}</Message></Error>`;

test('an answer of megabytes is not read, as XML of that size takes the thread for seconds', async () => {
  const attributes = Array.from({ length: 400_000 }, (_, n) => `a${n.toString(36)}=""`).join(' ');
  receiver.answer = { status: 400, body: `<Error ${attributes}></Error>` };
  const id = await sendLine();
  // The library is loaded with the first upload.
  await import('@aws-sdk/client-s3');
  const longestMs = await longestTurnMs(async () => {
    await node.runner.runLane(who);
    await world.ended(id, 1);
  });
  expect((await world.row(id)).attempts[0]?.error).toContain('is larger than 65536 bytes');
  expect(longestMs / slowness()).toBeLessThan(250);
});

test('an answer of things that are no elements is no more work than another, and nothing is told of it', async () => {
  const mark = '<!DOCTYPE>';
  const body = `<!DOCTYPE 中>${mark.repeat(Math.floor((LIMITS.maxUploadAnswerBytes - 20) / mark.length))}`;
  receiver.answer = { status: 400, body };
  const id = await sendLine();
  // The library is loaded with the first upload.
  await import('@aws-sdk/client-s3');
  const longestMs = await longestTurnMs(async () => {
    await node.runner.runLane(who);
    await world.ended(id, 1);
  });
  expect((await world.row(id)).attempts).toMatchObject([{ status_code: 400, error: SAID }]);
  expect(longestMs / slowness()).toBeLessThan(250);
});

const far = ' '.repeat(8 * 1024);

test.each([
  [
    'a code and a message',
    errorXml('It is &lt;odd&gt;, &quot;&#x41;&#66;&apos; &amp;amp;'),
    `${SAID} (Odd: It is <odd>, "AB' &amp;)`,
  ],
  ['a code alone', '<Error><Code>Odd</Code></Error>', `${SAID} (Odd)`],
  ['an element where a text should be', errorXml('<a>x</a>'), `${SAID} (Odd)`],
  ['a text that does not end', '<Error><Code>Odd</Code><Message>It is', `${SAID} (Odd: It is)`],
  [
    'references that are none',
    errorXml('&#x110000; &#99999999; &odd; &#; &'),
    `${SAID} (Odd: \uFFFD \uFFFD &odd; &#; &)`,
  ],
  ['words that begin too late', `<Error>${far}<Code>Odd</Code></Error>`, SAID],
  [
    'a name that every object has around the code',
    '<Error><__proto__><Code>a</Code></__proto__></Error>',
    `${SAID} (a)`,
  ],
  ['no XML', '{"Code":"Odd"}', SAID],
  ['nothing', '', SAID],
])('a refusal with %s shows its readable words', async (_, body, error) => {
  receiver.answer = { status: 400, body };
  const id = await sendLine();
  await node.runner.runLane(who);
  const { attempts } = await world.ended(id, 1);
  expect(attempts).toMatchObject([{ status_code: 400, error }]);
});

test('the answer to an accepted upload is not read', async () => {
  receiver.answer = { status: 200, headers: { 'x-amz-object-size': 'odd' }, body: '<Error><Code>Odd</Code></Error>' };
  const id = await sendLine();
  await node.runner.runLane(who);
  expect(await world.ended(id)).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200 }] });
});

test.each([
  ['NUL', '&#0;'],
  ['half of a surrogate pair', '&#xD800;'],
  ['a pair where the text is cut', `${'a'.repeat(294)}\u{1F600}`],
])('the readable part of an answer with %s is recorded', async (_, message) => {
  receiver.answer = { status: 400, body: errorXml(message) };
  const id = await sendLine();
  await node.runner.runLane(who);
  const { attempts } = await world.ended(id, 1);
  expect(attempts).toMatchObject([{ status_code: 400, error: expect.stringContaining('\uFFFD') }]);
});

test('a refusal that repeats a secret of a line shows only its status', async () => {
  const secret = 'sk_live_0123456789';
  receiver.answer = { status: 400, body: errorXml(secret) };
  const payload = { bucket: 'lines', payload: { secret } };
  const options = { secrets: [{ name: 'token', value: secret }], nowMs: Date.now() - 120_000 };
  const [id = ''] = await world.send(who, 's3', [payload], options);
  await node.runner.runLane(who);
  const row = await world.ended(id, 1);
  expect(row.attempts).toMatchObject([{ status_code: 400, error: SAID }]);
  expect(JSON.stringify(row)).not.toContain(secret);
});
