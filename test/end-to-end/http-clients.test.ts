import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientServer, startClientServer } from '../support/client-server.ts';
import { eventually } from '../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { sampleCases } from '../support/long-run.ts';

/**
 * Client, its code in http-clients/, and the package with the version that is imported; none: a
 * global of the guest.
 */
const CLIENTS: [client: string, file: string, specifier?: string][] = [
  ['fetch', 'fetch.js'],
  ['axios 0.27', 'axios.js', 'axios@0.27.2'],
  ['axios 1.6', 'axios.js', 'axios@1.6.8'],
  ['axios, newest', 'axios.js', 'axios'],
  ['got', 'got.js', 'got@13.0.0'],
  ['node-fetch', 'node-fetch.js', 'node-fetch@3.3.2'],
  ['superagent', 'superagent.js', 'superagent@8.1.2'],
  ['graphql-request', 'graphql-request.js', 'graphql-request@5.2.0'],
  ['Slack', 'slack-web-api.js', '@slack/web-api@6.12.0'],
  ['Stripe', 'stripe.js', 'stripe@14.25.0'],
  ['Octokit', 'octokit-core.js', '@octokit/core@5.2.0'],
  ['AWS S3', 'aws-s3.js', '@aws-sdk/client-s3@3.556.0'],
  ['Google Drive', 'googleapis-drive.js', '@googleapis/drive@8.7.0'],
];

/** Deploying fetches packages from the registry where no cache has them. */
const DEPLOY_TIMEOUT_MS = 90_000;

let headwater: Headwater;
let server: ClientServer;

beforeAll(async () => {
  [headwater, server] = await Promise.all([sharedHeadwater(), startClientServer()]);
  // A client may leave a request open that it has given up, and a run waits for it.
  await headwater.limit({ httpRunWallMs: 15_000 });
});

afterAll(async () => {
  await headwater.stop();
  await server.stop();
});

describe('a component makes requests with', () => {
  it.each(sampleCases(CLIENTS, 2))('%s', { timeout: DEPLOY_TIMEOUT_MS }, async (_client, file, specifier) => {
    const source = await headwater.deploy(await readClient(file, specifier));
    const answer = await fetch(source.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ base: server.url }),
    });
    const results = JSON.parse(await answer.text()) as Record<string, string>;
    expect(Object.keys(results).length).toBeGreaterThan(2);
    expect(results).toEqual(Object.fromEntries(Object.keys(results).map((check) => [check, 'ok'])));
    // A request that timed out or was aborted is over for its server as well.
    await eventually(() => server.unanswered() === 0, { what: 'the end of every request that was given up' });
  });
});

async function readClient(file: string, specifier: string | undefined): Promise<string> {
  const [client, harness] = await Promise.all([file, 'harness.js'].map(readFixture));
  const name = specifier?.replace(/(.)@.*/, '$1');
  const pinned = name === undefined ? client : client?.replace(`from '${name}'`, `from '${specifier}'`);
  return `${pinned}\n${harness}`;
}

function readFixture(name: string): Promise<string> {
  return readFile(new URL(`../http-clients/${name}`, import.meta.url), 'utf8');
}
