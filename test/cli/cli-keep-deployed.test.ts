import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliError } from '../../cli/src/cli-error.ts';
import { keepDeployed } from '../../cli/src/dev/keep-deployed.ts';
import { tellOfConnection } from '../../cli/src/follow/recent-and-new.ts';
import { eventually } from '../support/eventually.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'headwater-keep-'));
  file = path.join(folder, 'main.mjs');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const away = new CliError('unreachable', 'nobody is there');

test('a save that finds no server is sent once there is one, without another save, and told once', async () => {
  const stopping = new AbortController();
  const sent: string[] = [];
  const told: string[] = [];
  let isAway = false;
  await writeFile(file, 'export default 1;');
  const kept = keepDeployed({
    file,
    signal: stopping.signal,
    async deploy(code) {
      sent.push(code);
      if (isAway) throw away;
    },
    onBroken: ({ message }) => told.push(message),
    onMended: () => told.push('mended'),
  });
  await eventually(() => sent.length === 1);
  isAway = true;
  await writeFile(file, 'export default 2;');
  await eventually(() => sent.length === 3);
  isAway = false;
  await eventually(() => sent.length === 4);
  expect(new Set(sent.slice(1))).toEqual(new Set(['export default 2;']));
  expect(told).toEqual(['nobody is there']);
  await writeFile(file, 'export default 3;');
  await eventually(() => sent.at(-1) === 'export default 3;');
  stopping.abort();
  await expect(kept).rejects.toMatchObject({ exit: 'interrupted' });
});

test('a server that is not there at the beginning ends it: no save would help', async () => {
  await writeFile(file, 'export default 1;');
  const never = () => undefined;
  const { signal } = new AbortController();
  const kept = keepDeployed({ file, signal, deploy: () => Promise.reject(away), onBroken: never, onMended: never });
  await expect(kept).rejects.toBe(away);
});

test('several connections are reported once as lost, and once as all back', () => {
  const said: string[] = [];
  const connection = tellOfConnection({ note: (text) => void said.push(text) });
  connection.lost('gone');
  connection.lost('gone');
  connection.back();
  expect(said).toEqual(['(gone; connecting again)']);
  connection.back();
  expect(said).toHaveLength(2);
});
