import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { startProcess, type TestProcess } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { freePort } from '../support/server.ts';
import type { Json } from '../support/json.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const README = await readFile(path.join(ROOT, 'README.md'), 'utf8');
const README_PORTS = { server: '127.0.0.1:3000', receiver: '127.0.0.1:4000' };

function section(heading: string): string {
  return README.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

function blocksOf(heading: string, language: string): string[] {
  const blocks = section(heading).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...blocks].map(([, block = '']) => block.trim());
}

let dir: string;
let serverPort: number;
let receiverPort: number;
let server: TestProcess | undefined;
let receiver: TestProcess | undefined;
/** The variables of the reader's shell. */
const shell: Record<string, string> = {};
/** Last JSON answer. */
let answer: Json;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'headwater-readme-'));
  serverPort = await freePort();
  receiverPort = await freePort();
});
afterAll(async () => {
  await receiver?.end();
  await server?.end('SIGTERM');
  await rm(dir, { recursive: true, force: true });
});

/** The README's addresses, led to the free ports of this test. */
function localise(text: string): string {
  return text
    .replaceAll(README_PORTS.server, `127.0.0.1:${serverPort}`)
    .replaceAll(README_PORTS.receiver, `127.0.0.1:${receiverPort}`);
}

async function runInShell(command: string): Promise<string> {
  const env = { ...process.env, ...shell };
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command], { cwd: ROOT, env });
  return stdout;
}

/** `HEADWATER_EGRESS_ALLOW=… npm start`, with folder and port of the test's own. */
async function start(command: string): Promise<void> {
  const words = command.split(' ');
  expect(words.slice(-2)).toEqual(['npm', 'start']);
  const variables = words.slice(0, -2).map((word) => word.split('=') as [string, string]);
  const { scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const [, script = ''] = /^exec node (.+)$/.exec(scripts.start) ?? [];
  const [file = '', ...args] = script.split(' ');
  const env = { ...Object.fromEntries(variables), HEADWATER_DATA_DIR: dir, PORT: String(serverPort) };
  server = startProcess({ args: [path.join(ROOT, file), ...args], cwd: ROOT, env });
  const [, key = ''] = await server.untilOutput(/API key\s+(hw_\S+)/, 60_000);
  answer = { key };
}

/** `SOURCE=dc_…`: values that a reader copies from the previous answer. */
function fillIn(assignments: string): void {
  const found: Record<string, string | undefined> = {
    KEY: answer.key,
    SOURCE: answer.data?.id,
    ENDPOINT: answer.data?.configured_props?.http.endpoint_url,
    WEBHOOK: answer.data?.id,
    SECRET: answer.data?.secret,
  };
  for (const line of assignments.split('\n')) {
    const [, name = '', beginning = ''] = /^([A-Z]+)=(.*)…$/.exec(line) ?? [];
    const value = found[name];
    if (value === undefined) throw new Error(`Nothing in the last answer is a value for ${line}`);
    expect(value.slice(0, localise(beginning).length)).toBe(localise(beginning));
    shell[name] = value;
  }
}

async function runStep(block: string): Promise<void> {
  if (block.endsWith('npm start')) return start(block);
  if (/^[A-Z]+=.*…$/m.test(block)) return fillIn(block);
  if (block.startsWith('node examples/receiver.mjs ')) {
    const [, secret = ''] = /"\$(\w+)" &$/.exec(block) ?? [];
    const args = ['examples/receiver.mjs', shell[secret] ?? '', String(receiverPort)];
    receiver = startProcess({ args, cwd: ROOT });
    await receiver.untilOutput(/Waiting for deliveries/);
    return undefined;
  }
  const text = await runInShell(localise(block));
  if (text.startsWith('{')) answer = JSON.parse(text);
  expect(answer.error).toBeUndefined();
  return undefined;
}

test('the commands of the five minutes work as they stand, and end in a verified delivery', async () => {
  const steps = blocksOf('Five minutes', 'sh');
  expect(steps.length).toBeGreaterThan(8);
  const [listEvents = '', listDeliveries = ''] = steps.slice(-2);
  for (const step of steps.slice(0, -2)) await runStep(step);

  const [, id] = (await receiver?.untilOutput(/verified {2}(evt_\S+)\n(\{.*\})\n/)) ?? [];
  expect(id).toMatch(/^evt_/);
  expect(receiver?.output()).toContain('"path":"/orders"');
  await eventually(async () => {
    await runStep(listEvents);
    return answer.data.length === 1;
  });
  expect(answer.data[0]).toMatchObject({
    event: { method: 'POST', path: '/orders', query: { page: '2' }, body: { total: 12.5 } },
    metadata: { summary: 'POST /orders', emitter_id: shell['SOURCE'] },
  });
  await eventually(async () => {
    await runStep(listDeliveries);
    return answer.data[0]?.status === 'delivered';
  });
  expect(answer.data[0].attempts).toHaveLength(1);
});

test('both ways to verify a signature accept a real delivery and refuse a changed one', async () => {
  const snippets = blocksOf('Verify a signature', 'js');
  expect(snippets).toHaveLength(2);
  const inbox = await startReceiver();
  // In node_modules, so that the library of the first snippet is found.
  const modules = path.join(ROOT, 'node_modules', '.cache', `headwater-readme-${process.pid}`);
  try {
    const authorization = `Authorization: Bearer ${shell['KEY']}`;
    const post = (query: string) =>
      runInShell(`curl -sf -X POST -H '${authorization}' 'http://127.0.0.1:${serverPort}/v1/${query}'`);
    const webhook = JSON.parse(await post(`webhooks?url=${inbox.url}/`)) as { data: { id: string; secret: string } };
    await post(`subscriptions?emitter_id=${shell['SOURCE']}&listener_id=${webhook.data.id}`);
    await runInShell('curl -sf "$ENDPOINT" -d "grüße=1"');
    const [delivery] = await inbox.until(1);
    await mkdir(modules, { recursive: true });
    for (const [i, snippet] of snippets.entries()) {
      const file = path.join(modules, `verify-${i}.mjs`);
      await writeFile(file, snippet);
      const { verify } = (await import(pathToFileURL(file).href)) as {
        verify(headers: object, body: string, secret: string): unknown;
      };
      const { headers, body } = delivery!;
      expect(verify(headers, body, webhook.data.secret)).toEqual(JSON.parse(body));
      expect(() => verify(headers, `${body} `, webhook.data.secret)).toThrow(/./);
      expect(() => verify({ ...headers, 'webhook-timestamp': '1' }, body, webhook.data.secret)).toThrow(/./);
    }
  } finally {
    await inbox.stop();
    await rm(modules, { recursive: true, force: true });
  }
});

test('the two commands for starting and testing stand in it literally', () => {
  expect(blocksOf('Start', 'sh')).toEqual(['npm ci && npm start', 'npm ci && npm test']);
});
