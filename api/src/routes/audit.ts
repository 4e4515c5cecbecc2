import { z } from '@hono/zod-openapi';
import { auditEntrySchema } from '@headwater/shared/contract';
import { eitherListEndpoint, type Endpoint } from '../endpoint.ts';
import { given, pageOf } from '../parameters/given.ts';
import { timeParameter } from '../parameters/moment.ts';
import { pageParameters, textParameter } from '../parameters/schemas.ts';
import { presentAuditEntry } from '../resources/audit.ts';
import { EXPORT, mapPage } from '../resources/page.ts';

const word = (description: string) => textParameter('maxIdChars').optional().openapi({ description });

export function auditEndpoints(): Endpoint[] {
  return [
    eitherListEndpoint({
      method: 'get',
      path: '/v1/audit',
      name: 'listAuditEntries',
      tag: 'API keys',
      summary: 'Who changed what, newest first',
      description:
        'Of the account of the key; of all accounts and of the instance for the key of the operator. Each change through this API is here, but for events and records of data stores. Entries are never changed, and are kept for `auditRetentionDays`. ' +
        `${EXPORT} \`after\` goes on behind an entry by its \`id\`.`,
      parameters: z.object({
        ...pageParameters,
        since: timeParameter('Only those of this time or later.'),
        until: timeParameter('Only those before this time.'),
        actor: word('Only those of this key, by its id or name, or of `operator`.'),
        action: word('Only this operation, such as `updateSource`.'),
        thing: word('Only those done to the thing with this id.'),
      }),
      schema: auditEntrySchema,
      exported: { parameters: {}, cursorOf: (record) => (record as { id: string }).id },
      handle: async ({ engine, who, input }) => {
        const { since, until, actor, action, thing } = input;
        const choice = given({ since, until, actor, action, thing });
        return mapPage(await engine.audit.list(who?.accountId, pageOf(input), choice), presentAuditEntry);
      },
    }),
  ];
}
