import type { Sandbox } from '@headwater/sandbox-runtime';
import type { GuestFetch } from '../../egress/index.ts';
import type { UseCount } from '../../events/index.ts';

/** Counts the time of all that runs: runs, steps, hooks, transforms, each of their tries. */
export function countRuns(sandbox: Sandbox, counts: UseCount): Sandbox {
  return {
    ...sandbox,
    async run(request, host) {
      const outcome = await sandbox.run(request, host);
      counts.use(request.tenantId, 'runMs', outcome.wallMs);
      counts.use(request.tenantId, 'cpuMs', outcome.cpuMs);
      return outcome;
    },
  };
}

/** Counts the bodies of what is fetched for an account: by its code, its sends, its connections. */
export function countFetches(guestFetch: GuestFetch, counts: UseCount): GuestFetch {
  return {
    ...guestFetch,
    async fetch(tenant, request, signal, repeats) {
      const outcome = await guestFetch.fetch(tenant, request, signal, repeats);
      counts.use(tenant.id, 'bytesOut', request.body?.byteLength ?? 0);
      if (outcome.ok) counts.use(tenant.id, 'bytesIn', outcome.body.byteLength);
      return outcome;
    },
  };
}
