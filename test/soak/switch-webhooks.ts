import { setTimeout as sleep } from 'node:timers/promises';
import { callAnyNode } from './api-calls.ts';
import type { Random } from './random.ts';
import type { Tenant } from './tenants.ts';
import type { Timeline } from './timeline.ts';

export interface WebhookSwitch {
  /** Resolves when no call is under way. The webhooks may be stopped then. */
  stop(): Promise<{ stops: number }>;
}

interface SwitchOptions {
  nodeUrls: readonly string[];
  tenants: readonly Tenant[];
  random: Random;
  timeline: Timeline;
}

const MIN_MS = 4_000;
const MAX_MS = 10_000;
/** Postgres may be away for some time, and nodes too. */
const TRIES = 120;
/** Half of the starts drain at this rate, the others at once. */
const DRAIN_PER_SECOND = 20;

/** Stops a webhook of each account and starts it again, every few seconds. */
export function switchWebhooks({ nodeUrls, tenants, random, timeline }: SwitchOptions): WebhookSwitch {
  const over = new AbortController();
  const { signal } = over;
  let stops = 0;

  async function turn(tenant: Tenant, active: boolean): Promise<void> {
    const drain = active && random.next() < 0.5 ? { drain_per_second: DRAIN_PER_SECOND } : {};
    const path = `/webhooks/${tenant.switchedWebhookId}`;
    const call = { key: tenant.apiKey, method: 'PUT', path, body: { active, ...drain } };
    await callAnyNode(nodeUrls, call, { tries: TRIES, signal });
    timeline.add(active ? 'webhook started' : 'webhook stopped', { id: tenant.switchedWebhookId, ...drain });
    if (!active) stops++;
  }

  async function switchOne(tenant: Tenant): Promise<void> {
    for (let active = false; !signal.aborted; active = !active) {
      await sleep(random.between(MIN_MS, MAX_MS), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await turn(tenant, active).catch((error: Error) => timeline.add('no switch', { error: error.message }));
    }
  }

  const all = Promise.all(tenants.map(switchOne));
  return {
    async stop() {
      over.abort();
      await all;
      return { stops };
    },
  };
}
