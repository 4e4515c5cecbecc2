import { createApiClient } from '../system/api-client.ts';
import { type BootOptions, bootSystem } from '../system/boot-system.ts';
import { listProcessTree } from '../system/process-tree.ts';
import { nextMessage, startChild } from '../start-child.ts';
import { ANSWERING_SOURCE, SILENT_SOURCE } from '../event-source.ts';
import { startNodeRed } from '../peers/node-red.ts';
import { startWorkerd } from '../peers/workerd.ts';
import type { AnsweringSystem } from './answering-system.ts';

const NODE = /api\/src\/main\.ts/;

/** The whole system with its defaults. */
export function headwater(name: string, options: Pick<BootOptions, 'inspect' | 'projectDir'> = {}): AnsweringSystem {
  return {
    name,
    async start(undo) {
      const system = await bootSystem(undo, options);
      const api = createApiClient(system);
      const endpoint = async (code: string, settings = {}) => (await api.deploySource(code, settings)).endpointUrl;
      const endpoints = new Map([
        [`${name}, answers itself`, await endpoint(ANSWERING_SOURCE)],
        [`${name}, 200 once stored`, await endpoint(SILENT_SOURCE)],
      ]);
      const unstored = `${name}, answers itself, not stored`;
      // An older tree may not have the setting.
      if (options.projectDir === undefined)
        endpoints.set(unstored, await endpoint(ANSWERING_SOURCE, { durability: 'none' }));
      const mainPid = system.processes().find(({ command }) => NODE.test(command))?.pid ?? 0;
      const { inspectorUrl } = system;
      return {
        endpoints,
        processes: system.processes,
        mainPid,
        ...(inspectorUrl === undefined ? {} : { inspectorUrl }),
      };
    },
  };
}

/** The worker that does the same, in the server that Cloudflare's users run locally. */
export const WORKERD: AnsweringSystem = {
  name: 'workerd',
  async start(undo) {
    const { pid, url } = await startWorkerd(undo);
    return { endpoints: new Map([['workerd', url]]), processes: () => listProcessTree(pid), mainPid: pid };
  },
};

/** Two nodes of a flow do the same, in the server that its users run. */
export const NODE_RED: AnsweringSystem = {
  name: 'Node-RED',
  async start(undo) {
    const { pid, url } = await startNodeRed(undo);
    return { endpoints: new Map([['Node-RED', url]]), processes: () => listProcessTree(pid), mainPid: pid };
  },
};

export const HONO: AnsweringSystem = {
  name: 'Hono echo',
  async start(undo) {
    const child = startChild(new URL('../baselines/hono-echo-main.ts', import.meta.url), undo);
    const { port } = await nextMessage<{ port: number }>(child);
    const pid = child.pid as number;
    const url = `http://127.0.0.1:${port}/echo`;
    return { endpoints: new Map([['Hono echo', url]]), processes: () => listProcessTree(pid), mainPid: pid };
  },
};
