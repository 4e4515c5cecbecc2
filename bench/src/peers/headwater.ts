import { type BootOptions, bootSystem } from '../system/boot-system.ts';
import { createApiClient } from '../system/api-client.ts';
import { fibo } from './fibo.ts';
import { STEP_COUNTS, type WorkflowSystem } from './workflow-system.ts';

const STEP = `
${fibo.toString()}
export default {
  name: 'Fibo', version: '1.0.0', type: 'action',
  props: { n: { type: 'integer' } },
  async run() { return fibo(this.n); },
};`;

const LAST_STEP = `
${fibo.toString()}
export default {
  name: 'Fibo and answer', version: '1.0.0', type: 'action',
  props: { n: { type: 'integer' } },
  async run({ $ }) {
    const result = fibo(this.n);
    await $.respond({ status: 200, headers: { 'content-type': 'application/json' }, body: { result } });
    return result;
  },
};`;

/** The whole system with its defaults, as `npm start` runs it. */
export function headwater(name: string, options: Pick<BootOptions, 'inspect' | 'projectDir'> = {}): WorkflowSystem {
  return {
    name,
    async start(undo) {
      const system = await bootSystem(undo, options);
      const api = createApiClient(system);
      const step = await api.saveComponent(STEP);
      const last = await api.saveComponent(LAST_STEP);
      const endpoints = new Map<number, string>();
      for (const count of STEP_COUNTS) {
        const components = [...Array.from({ length: count - 1 }, () => step), last];
        endpoints.set(count, await api.deployWorkflow(components, { n: '{{steps.trigger.event.body.n}}' }));
      }
      const { processes, inspectorUrl } = system;
      return {
        endpoint: (steps) => endpoints.get(steps) as string,
        processes,
        ...(inspectorUrl === undefined ? {} : { inspectorUrl }),
      };
    },
  };
}
