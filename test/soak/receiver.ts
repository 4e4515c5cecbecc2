import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { readReceived, type Received } from './receiver-records.ts';
import type { ReceiverUrls } from './tenants.ts';

/**
 * Takes webhooks, of which some fail, and the calls of steps, which do not. A process of its own,
 * which notes both in files.
 */
export interface SoakReceiver {
  urlsOf(tenant: number): ReceiverUrls;
  /** Rejects when its process ends before `stop`. Never resolves. */
  died: Promise<never>;
  /** Ends it, and reads what it has noted. No node sends anything any more. */
  finish(tenants: number): Promise<Received>;
  /** Idempotent. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('receiver-process.ts', import.meta.url));

export async function startReceiver(folder: string, seed: number): Promise<SoakReceiver> {
  // Ctrl-C in the terminal reaches the soak alone, which ends the receiver after the nodes.
  const child = fork(MAIN, [folder, String(seed)], { detached: true });
  let isStopping = false;
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const died = ended.then(([code, signal]): Promise<never> => {
    if (isStopping) return new Promise(() => undefined);
    throw new Error(`The receiver of the soak has ended (${signal ?? `code ${code}`}): nothing can be judged`);
  });
  // A soak that ends for another reason does not wait for this.
  died.catch(() => undefined);
  const [port] = (await Promise.race([once(child, 'message'), died])) as [number];
  const url = `http://127.0.0.1:${port}`;
  async function stop(): Promise<void> {
    if (!isStopping && child.connected) child.send('stop');
    isStopping = true;
    await ended;
  }
  return {
    urlsOf: (tenant) => ({ hook: (name) => `${url}/hook/${tenant}/${name}`, step: `${url}/step/${tenant}` }),
    died,
    async finish(tenants) {
      await stop();
      return readReceived(folder, tenants);
    },
    stop,
  };
}
