import type { CpuProfile } from './summarize-profile.ts';

/** A process that runs under `node --inspect`, over the Chrome DevTools protocol. */
export interface Inspector {
  startProfile(): Promise<void>;
  stopProfile(): Promise<CpuProfile>;
  close(): void;
}

/**
 * Fine enough for functions that take microseconds an event, coarse enough to slow the process by a
 * few per cent only.
 */
const SAMPLING_US = 500;

export async function attachInspector(webSocketUrl: string): Promise<Inspector> {
  const socket = new WebSocket(webSocketUrl);
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  socket.addEventListener('open', () => resolve(), { once: true });
  socket.addEventListener('close', () => reject(new Error(`The inspector ${webSocketUrl} cannot be reached`)));
  await opened;
  const waiting = new Map<number, (result: unknown) => void>();
  let lastId = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const call = (method: string, params: Record<string, unknown> = {}) =>
    new Promise<unknown>((done) => {
      const id = ++lastId;
      waiting.set(id, done);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval: SAMPLING_US });
  return {
    async startProfile() {
      await call('Profiler.start');
    },
    async stopProfile() {
      const { profile } = (await call('Profiler.stop')) as { profile: CpuProfile };
      return profile;
    },
    close: () => socket.close(),
  };
}
