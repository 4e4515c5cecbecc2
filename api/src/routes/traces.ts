import { traceSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { type Endpoint, itemEndpoint } from '../endpoint.ts';
import { presentTrace } from '../resources/trace.ts';

export function traceEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'get',
      path: '/v1/traces/{id}',
      name: 'getTrace',
      // They have turns of their own, longer than lists have.
      takesTurn: false,
      tag: 'Traces',
      summary: 'Everything that followed from one request, tick or run by hand',
      description:
        'A tree of runs and executions, what they emitted, and who got that: deliveries with their attempts, the runs that it started, and why others did not get it. Each run says in `explanation` what has become of it, also where that is nothing.',
      pathId:
        'The `trace_id` of an event or execution; or the id of a run or an execution (as the header `x-headwater-run` has it), or the `emit_id` of an event, that is part of it.',
      parameters: z.object({}),
      schema: traceSchema,
      handle: async ({ engine, who, id }) => presentTrace(await engine.traces.get(who, id)),
    }),
  ];
}
