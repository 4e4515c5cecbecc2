import type { AccountLimits } from '@headwater/shared';
import { giveEmailBack, takeEmail } from './count-email.sql.ts';
import type { Sql } from '../../../db/database.ts';
import { readAccountEmail } from './read-account-email.sql.ts';
import { readEmail } from './email-message.ts';
import type { Mailer } from './mailer.ts';
import { final, type SendOutcome } from '../../sends/send-outcome.ts';

const NO_ADDRESS = 'The account has no e-mail address: its operator sets one with PUT /v1/accounts/{id}';

/** `$.send.email`: to the account's own address, so many a day. */
export async function sendEmail(
  { sql, mailer }: { sql: Sql; mailer: Mailer },
  account: { id: string; limits: AccountLimits },
  id: string,
  json: string,
): Promise<SendOutcome> {
  const read = await readEmail(json);
  if (!read.ok) return final(read.message, read.limit === undefined ? {} : { limit: read.limit });
  const to = mailer.isConfigured ? await readAccountEmail(sql, account.id) : '';
  if (to === undefined) return final(NO_ADDRESS);
  const { maxEmailsPerDay } = account.limits;
  const day = mailer.isConfigured ? await takeEmail(sql, account.id, maxEmailsPerDay) : undefined;
  if (mailer.isConfigured && day === undefined)
    return final(`The account has sent its e-mails of today: maxEmailsPerDay is ${maxEmailsPerDay}`, {
      limit: { name: 'maxEmailsPerDay', value: maxEmailsPerDay, used: maxEmailsPerDay + 1 },
    });
  const outcome = await mailer.send(to, id, read.value);
  if (outcome.kind !== 'delivered' && day !== undefined) await giveEmailBack(sql, account.id, day);
  return outcome;
}
