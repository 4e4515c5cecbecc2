import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { importPeer } from './install-peers.ts';
import { fibo } from './fibo.ts';
import { STEP_COUNTS } from './workflow-system.ts';

/** HTTP server whose requests run DBOS workflows. Its argument is the URL of the database. */
type Run = (input: { n: number }) => Promise<{ result: number }>;

interface Sdk {
  DBOS: {
    setConfig(config: { name: string; systemDatabaseUrl: string; logLevel: string; runAdminServer: boolean }): void;
    registerWorkflow(run: Run, config: { name: string }): Run;
    runStep<T>(step: () => Promise<T>, config: { name: string }): Promise<T>;
    launch(): Promise<void>;
  };
}

const { DBOS } = await importPeer<Sdk>('@dbos-inc/dbos-sdk');

function workflow(steps: number): Run {
  const run: Run = async ({ n }) => {
    let result = 0;
    for (let step = 1; step <= steps; step++) {
      result = await DBOS.runStep(() => Promise.resolve(fibo(n)), { name: `step ${step}` });
    }
    return { result };
  };
  return DBOS.registerWorkflow(run, { name: `steps${steps}` });
}

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: process.argv[2] ?? '',
  logLevel: 'error',
  runAdminServer: false,
});
const workflows = new Map(STEP_COUNTS.map((steps) => [`/steps${steps}`, workflow(steps)]));
await DBOS.launch();

const server = createServer((request, response) => {
  void (async () => {
    const run = workflows.get(request.url ?? '');
    const input = JSON.parse(await text(request)) as { n: number };
    const answer = Buffer.from(JSON.stringify(await run?.(input)));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
  })();
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
