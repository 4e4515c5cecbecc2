import { importPeer } from './install-peers.ts';
import { fibo } from './fibo.ts';
import { STEP_COUNTS } from './workflow-system.ts';

/** The service that Restate calls back, in a process of its own. */
interface Context {
  run<T>(name: string, action: () => T): Promise<T>;
}

interface Sdk {
  service(definition: {
    name: string;
    handlers: Record<string, (context: Context, input: { n: number }) => Promise<unknown>>;
  }): unknown;
  serve(options: { services: unknown[]; port: number }): Promise<number>;
}

// A line an invocation would be measured as well.
process.env['RESTATE_LOGGING'] = 'ERROR';
const { service, serve } = await importPeer<Sdk>('@restatedev/restate-sdk');

function workflow(steps: number) {
  return async (context: Context, { n }: { n: number }) => {
    let result = 0;
    for (let step = 1; step <= steps; step++) result = await context.run(`step ${step}`, () => fibo(n));
    return { result };
  };
}

const handlers = Object.fromEntries(STEP_COUNTS.map((steps) => [`steps${steps}`, workflow(steps)]));
const port = await serve({ services: [service({ name: 'bench', handlers })], port: 0 });
process.send?.(port);
