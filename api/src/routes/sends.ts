import { s3SettingsSchema, sendSchema } from '@headwater/shared/contract';
import { z } from '@hono/zod-openapi';
import { emptyEndpoint, type Endpoint, itemEndpoint, listEndpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { mapPage } from '../resources/page.ts';
import { presentS3Settings, presentSend } from '../resources/send.ts';

const tag = 'Sends';
const s3Path = '/v1/sends/s3';

export function sendEndpoints(): Endpoint[] {
  return [listSends, retrySend, getS3Settings, setS3Settings, deleteS3Settings];
}

const listSends = listEndpoint({
  method: 'get',
  path: '/v1/executions/{id}/sends',
  name: 'listSends',
  tag,
  summary: 'What an execution sent with `$.send`, with the attempts, newest first',
  description: 'A send is attempted like a delivery, after its execution has ended.',
  pathId: 'The id of the execution.',
  parameters: z.object(pageParameters),
  schema: sendSchema,
  handle: async ({ engine, who, id, input }) => mapPage(await engine.sends.list(who, id, pageOf(input)), presentSend),
});

const retrySend = itemEndpoint({
  method: 'post',
  path: '/v1/sends/{id}/retry',
  name: 'retrySend',
  tag,
  summary: 'Attempt a send that has failed anew',
  description: 'Answers 409 for one that has not failed.',
  pathId: 'The id of the send (`snd_…`).',
  parameters: z.object({}),
  schema: sendSchema,
  handle: async ({ engine, who, id }) => presentSend(await engine.sends.retry(who, id)),
});

const getS3Settings = itemEndpoint({
  method: 'get',
  path: s3Path,
  name: 'getS3Settings',
  tag,
  summary: 'The S3 server that `$.send.s3` puts objects on',
  description: 'Without the secret of the access key. Answers 404 where none are set.',
  parameters: z.object({}),
  schema: s3SettingsSchema,
  handle: async ({ engine, who }) => presentS3Settings(await engine.sends.s3Settings(who)),
});

const setS3Settings = itemEndpoint({
  method: 'put',
  path: s3Path,
  name: 'setS3Settings',
  tag,
  summary: 'Set the S3 server that `$.send.s3` puts objects on',
  description: 'Replaces all that was set before. The secret is stored encrypted and never shown again.',
  example: {
    region: 'eu-central-1',
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: 'wJalrXUtnFEMI/EXAMPLEKEY',
  },
  parameters: z.object({
    endpoint: textParameter('maxUrlChars').optional().openapi({
      description: "Of a server that speaks S3; its buckets are paths of it. Default: Amazon's of the region.",
    }),
    region: textParameter(64, 1).openapi({ description: 'The region of the bucket.', example: 'eu-central-1' }),
    access_key_id: textParameter(256, 1).describe('The id of the access key.'),
    secret_access_key: textParameter(256, 1).describe('The secret of the access key. It is never shown.'),
  }),
  schema: s3SettingsSchema,
  handle: async ({ engine, who, input }) => {
    const { endpoint, region, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = input;
    const settings = { region, accessKeyId, secretAccessKey, ...given({ endpoint }) };
    return presentS3Settings(await engine.sends.setS3(who, settings));
  },
});

const deleteS3Settings = emptyEndpoint({
  method: 'delete',
  path: s3Path,
  name: 'deleteS3Settings',
  tag,
  summary: 'Forget the S3 server',
  description: '`$.send.s3` fails from then on. What is stored there stays.',
  parameters: z.object({}),
  status: 204,
  handle: async ({ engine, who }) => engine.sends.deleteS3(who),
});
