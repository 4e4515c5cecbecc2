import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Undo } from '../../bench/src/undo.ts';
import { freePort } from '../support/server.ts';
import { openCheckout, OWN_FOLDER } from './checkout.ts';
import { untilHealthy } from './drain.ts';
import { type NodeProcess, startNode } from './node-process.ts';
import { type PostgresServer, startPostgresServer } from './postgres-server.ts';
import { createRandom } from './random.ts';
import { type SoakReceiver, startReceiver } from './receiver.ts';
import { createTenants, type ReceiverUrls, type Tenant } from './tenants.ts';
import { createTimeline, type Timeline } from './timeline.ts';

/** Everything that runs in a soak. */
export interface SoakSystem {
  timeline: Timeline;
  postgres: PostgresServer;
  receiver: SoakReceiver;
  nodes: readonly NodeProcess[];
  apiNodes: readonly NodeProcess[];
  tenants: readonly Tenant[];
  /** One for each account. */
  receivers: readonly ReceiverUrls[];
}

export interface SystemOptions {
  /** There already. */
  folder: string;
  seed: number;
  /** Checkout that `api-2` and `engine-2` are of. Default: the one that this file is of. */
  beside?: string;
  undo: Undo;
  signal: AbortSignal;
  tell: (line: string) => void;
}

const TENANTS = 2;
const NODES = [
  { name: 'api-2', role: 'api', canBeOther: true },
  { name: 'engine-2', role: 'engine', canBeOther: true },
  { name: 'api-1', role: 'api', canBeOther: false },
  { name: 'engine-1', role: 'engine', canBeOther: false },
] as const;
const API_KEY = `hw_soak_${'k'.repeat(32)}`;
const ADMIN_KEY = `hw_soak_${'a'.repeat(32)}`;
/** Failed deliveries come again soon: the soak waits for the last of them. */
const RETRY_SECONDS = '1,2,4,8,8,8,8';
const MIN_RESTART_PAUSE_MS = 1_000;
const MAX_RESTART_PAUSE_MS = 2_000;

/**
 * Starts four nodes at once on an empty database, then creates the accounts. Nodes of another
 * checkout start before the others, which then migrate beside them. `undo` stops all started parts.
 */
export async function startSystem(options: SystemOptions): Promise<SoakSystem> {
  const { folder, seed, undo, signal } = options;
  const timeline = createTimeline(path.join(folder, 'timeline.jsonl'), options.tell);
  const postgres = await startPostgresServer(path.join(folder, 'postgres'));
  undo.push(() => postgres.stop());
  const receiver = await startReceiver(folder, seed + 1);
  undo.push(() => receiver.stop());
  const nodes = await startNodes(options, postgres.url, timeline);
  const ill = await untilHealthy(nodes, signal);
  if (ill.length > 0) throw new Error(`${ill.join(', ')} did not start; see the logs in ${folder}`);
  const apiNodes = nodes.filter(({ role }) => role === 'api');
  const receivers = Array.from({ length: TENANTS }, (_, i) => receiver.urlsOf(i));
  const keys = { apiKey: API_KEY, adminKey: ADMIN_KEY };
  const tenants = await createTenants((apiNodes[0] as NodeProcess).url, keys, receivers);
  return { timeline, postgres, receiver, nodes, apiNodes, tenants, receivers };
}

async function startNodes(
  { folder, seed, undo, signal, beside = OWN_FOLDER }: SystemOptions,
  databaseUrl: string,
  timeline: Timeline,
): Promise<NodeProcess[]> {
  const random = createRandom(seed + 2);
  const nodes: NodeProcess[] = [];
  undo.push(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
  const [own, other] = [await openCheckout(OWN_FOLDER), await openCheckout(beside)];
  for (const { name, role, canBeOther } of NODES) {
    const isOther = canBeOther && beside !== OWN_FOLDER;
    if (!isOther && beside !== OWN_FOLDER) await untilHealthy(nodes, signal);
    const dataDir = path.join(folder, 'nodes', name);
    mkdirSync(dataDir, { recursive: true });
    nodes.push(
      startNode({
        name,
        role,
        checkout: isOther ? other : own,
        startsOnce: isOther,
        port: await freePort(),
        env: {
          DATABASE_URL: databaseUrl,
          HEADWATER_DATA_DIR: dataDir,
          HEADWATER_API_KEY: API_KEY,
          HEADWATER_ADMIN_KEY: ADMIN_KEY,
          HEADWATER_ENCRYPTION_KEY: 'e'.repeat(64),
          HEADWATER_EGRESS_ALLOW: '127.0.0.0/8',
          HEADWATER_RETRY_SCHEDULE_SECONDS: RETRY_SECONDS,
        },
        logFile: path.join(folder, `${name}.log`),
        timeline,
        restartPauseMs: () => random.between(MIN_RESTART_PAUSE_MS, MAX_RESTART_PAUSE_MS),
      }),
    );
  }
  // A seed hits the same nodes, in whichever order they have started.
  return nodes.toSorted((a, b) => a.name.localeCompare(b.name));
}
