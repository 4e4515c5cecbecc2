import { z } from '@hono/zod-openapi';
import { LIMITS } from '@headwater/shared';
import { sampleReceiverSchema, sampleRequestSchema } from '@headwater/shared/contract';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { pageOf } from '../parameters/given.ts';
import { pageParameters } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import { presentSampleReceiver, presentSampleRequest } from '../resources/sample-receiver.ts';

const tag = 'Sample receiver';

export function sampleReceiverEndpoints(): Endpoint[] {
  return [
    itemEndpoint({
      method: 'get',
      path: '/v1/sample_receiver',
      name: 'getSampleReceiver',
      tag,
      summary: 'The built-in receiver of the account, for first tries',
      description:
        'A URL for a webhook of this account. What is delivered to it is kept for a look, with what became of the check of its signature. It takes deliveries of the account alone: requests from outside, and deliveries of other accounts, do not reach it.',
      parameters: z.object({}),
      schema: sampleReceiverSchema,
      handle: async ({ engine, who }) => presentSampleReceiver(await engine.sampleReceiver.url(who)),
    }),
    listEndpoint({
      method: 'get',
      path: '/v1/sample_receiver/requests',
      name: 'listSampleRequests',
      tag,
      summary: 'What the built-in receiver got, newest first',
      description: `The newest ${LIMITS.maxSampleRequests} of the last ${LIMITS.sampleRequestsKeptMs / 3_600_000} hours.`,
      parameters: z.object(pageParameters),
      schema: sampleRequestSchema,
      handle: async ({ engine, who, input }) =>
        mapPage(await engine.sampleReceiver.requests(who, pageOf(input)), presentSampleRequest),
    }),
    emptyEndpoint({
      method: 'delete',
      path: '/v1/sample_receiver/requests',
      name: 'clearSampleRequests',
      tag,
      summary: 'Forget what the built-in receiver got',
      description: 'All that it keeps for the account is gone; it goes on receiving.',
      parameters: z.object({}),
      status: 204,
      handle: async ({ engine, who }) => engine.sampleReceiver.clear(who),
    }),
  ];
}
