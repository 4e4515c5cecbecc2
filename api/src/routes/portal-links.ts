import { z } from '@hono/zod-openapi';
import { LIMITS, notFound } from '@headwater/shared';
import { eitherEndpoint, type Endpoint } from '../endpoint.ts';
import { given } from '../parameters/given.ts';
import { countParameter, textParameter } from '../parameters/schemas.ts';
import { epochSecondsField } from '../resources/time.ts';

const themeParameter = z
  .object({
    title: textParameter(64, 1).optional().openapi({ description: 'What stands above the pages.' }),
    mode: z.enum(['light', 'dark', 'system']).optional().openapi({ description: 'Default: as the browser says.' }),
    accent: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'must be a colour such as #1a655d')
      .optional()
      .openapi({ description: 'The colour of buttons and links.', example: '#1a655d' }),
  })
  .optional()
  .describe('How the page looks.');

const portalLinkSchema = z
  .object({
    url: z.string().openapi({ description: 'For one customer. Whoever has it may use it until it expires.' }),
    key_id: z.string().openapi({ description: 'Of the key in it: `DELETE /v1/api_keys/{id}` ends the link.' }),
    expires_at: epochSecondsField('When it ends.'),
  })
  .openapi('PortalLink');

/** `publicUrl`: as in AppOptions. */
export function portalLinkEndpoints(publicUrl: string): Endpoint[] {
  return [
    eitherEndpoint({
      method: 'post',
      path: '/v1/accounts/{id}/portal_links',
      name: 'createPortalLink',
      tag: 'Accounts',
      summary: 'Make a link to a page that shows the webhooks of one account, and nothing else',
      description:
        'For customers of an operator: the link holds a key with the scope `webhooks`, in the part of the URL that browsers keep to themselves. It takes the key of the operator, or a key of the account itself. Origins in `HEADWATER_PORTAL_FRAME_ORIGINS` may show the page in a frame.',
      pathId: 'The id of the account (`o_…`).',
      parameters: z.object({
        minutes: countParameter('maxPortalMinutes')
          .default(LIMITS.defaultPortalMinutes)
          .openapi({ description: 'How long it works.' }),
        theme: themeParameter,
      }),
      schema: portalLinkSchema,
      handle: async ({ engine, who, id, input }) => {
        if (who !== undefined && who.accountId !== id) throw notFound('account', id);
        const expiresAtSeconds = Math.ceil(Date.now() / 1_000) + input.minutes * 60;
        const { record, apiKey } = await engine.accounts.createPortalKey(id, new Date(expiresAtSeconds * 1_000));
        const parts: Record<string, string> = { key: apiKey, ...given({ ...input.theme }) };
        return {
          url: `${publicUrl}/portal#${new URLSearchParams(parts).toString()}`,
          key_id: record.id,
          expires_at: expiresAtSeconds,
        };
      },
    }),
  ];
}
