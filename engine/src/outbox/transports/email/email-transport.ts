import { giveEmailBack, takeEmail } from './count-email.sql.ts';
import { readAccountEmail } from './read-account-email.sql.ts';
import { readEmail } from './email-message.ts';
import type { DueEmail } from '../../sends/due-send.ts';
import { openContent } from '../../sends/open-content.ts';
import { type AttemptOutcome, final, type Transport } from '../../transport.ts';
import type { SendTransportParts } from '../send-transport-parts.ts';

type EmailParts = Pick<SendTransportParts, 'sql' | 'mailer' | 'limits' | 'sealer'>;

const NO_ADDRESS = 'The account has no e-mail address: its operator sets one with PUT /v1/accounts/{id}';

/**
 * `$.send.email`: to the account's own address, with a daily limit. An e-mail cannot be recalled:
 * after a cut-off it may still arrive.
 */
export function createEmailTransport(parts: EmailParts): Transport<DueEmail> {
  return { attempt: (send) => sendEmail(parts, send) };
}

async function sendEmail(
  { sql, mailer, limits, sealer }: EmailParts,
  { id, accountId, content }: DueEmail,
): Promise<AttemptOutcome> {
  const { maxEmailsPerDay } = await limits.get(accountId);
  const read = await readEmail(openContent(sealer, accountId, content));
  if (!read.ok) return final(read.message, { errorClass: 'internal', limit: read.limit });
  const to = mailer.isConfigured ? await readAccountEmail(sql, accountId) : '';
  if (to === undefined) return final(NO_ADDRESS, { errorClass: 'internal' });
  const day = mailer.isConfigured ? await takeEmail(sql, accountId, maxEmailsPerDay) : undefined;
  if (mailer.isConfigured && day === undefined)
    return final(`The account has sent its e-mails of today: maxEmailsPerDay is ${maxEmailsPerDay}`, {
      errorClass: 'internal',
      limit: { name: 'maxEmailsPerDay', value: maxEmailsPerDay, used: maxEmailsPerDay + 1 },
    });
  const outcome = await mailer.send(to, id, read.value);
  if (outcome.kind !== 'delivered' && day !== undefined) await giveEmailBack(sql, accountId, day);
  return outcome;
}
