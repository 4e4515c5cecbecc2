import type { AppTest, CheckOutcome } from '../contract/index.ts';
import { fillText, fillUrl } from './apps/fill-template.ts';
import { type ConnectedAccountRow, recordHealth } from './connected-accounts.sql.ts';
import { type AccountContext, openCredentials, partyOf, recordOf, requireAccount } from './account-context.ts';
import { askUserinfo, type Proof, proofOf } from './ask-userinfo.ts';
import type { ProviderRequest } from './provider-request.ts';
import type { AccountResolver } from './share-resolves.ts';
import { secretsOf, type StoredCredentials } from './stored-credentials.ts';

type CheckContext = AccountContext & Pick<AccountResolver, 'resolve'>;

interface Asked {
  proof: Proof;
  /** The credentials that were asked about. */
  version: number;
}

/** Asks the provider whether it still accepts the credentials, and records the answer. */
export async function checkAccount(context: CheckContext, accountId: string, id: string): Promise<CheckOutcome> {
  const row = await requireAccount(context.sql, accountId, id);
  const { proof, version } = await (row.definition.authType === 'oauth2' ? askOAuth : askKeys)(context, row);
  if (proof.kind !== 'unclear') {
    const isHealthy = proof.kind === 'answered';
    const found = { state: isHealthy ? 'healthy' : 'dead', reason: isHealthy ? null : proof.detail } as const;
    await recordHealth(context.sql, accountId, id, { ...found, version, isCheck: true });
  }
  const account = recordOf(await requireAccount(context.sql, accountId, id));
  return { account, conclusive: proof.kind !== 'unclear', detail: proof.detail };
}

/** With a new token where the one at hand is refused, or the account was given up before. */
async function askOAuth(context: CheckContext, row: ConnectedAccountRow): Promise<Asked> {
  const first = await askWithToken(context, row, row.state === 'dead');
  return first.proof.kind === 'refused' && first.canRenew ? askWithToken(context, row, true) : first;
}

async function askWithToken(
  context: CheckContext,
  row: ConnectedAccountRow,
  renew: boolean,
): Promise<Asked & { canRenew: boolean }> {
  const outcome = await context.resolve(row.account_id, row.id, { renew });
  if (!outcome.ok) {
    const now = await requireAccount(context.sql, row.account_id, row.id);
    const kind = now.state === 'dead' ? 'refused' : 'unclear';
    return { proof: { kind, detail: now.reason ?? outcome.message }, version: now.version, canRenew: false };
  }
  const { credentials, row: current } = outcome.account;
  const party = await partyOf(context, current, credentials.fields);
  const { oauth } = credentials;
  const proof: Proof =
    party === undefined || oauth === undefined
      ? { kind: 'unclear', detail: 'The OAuth client that it was connected with is not there any more' }
      : await askUserinfo(context.ask, party, oauth.accessToken, secretsOf('$auth', current.definition, credentials));
  return { proof, version: current.version, canRenew: !renew && oauth?.refreshToken !== undefined };
}

async function askKeys(context: AccountContext, row: ConnectedAccountRow): Promise<Asked> {
  const { test } = row.definition;
  if (test === undefined) return unclear(row, 'The app has no request to test its keys with');
  const credentials = openCredentials(context.sealer, row);
  const request = testRequestOf(test, credentials);
  if (typeof request === 'string') return unclear(row, request);
  const secrets = secretsOf('$auth', row.definition, credentials);
  const answer = await context.ask(row.account_id, request);
  return { proof: await proofOf(request.url.host, answer, secrets), version: row.version };
}

function unclear(row: ConnectedAccountRow, detail: string): Asked {
  return { proof: { kind: 'unclear', detail }, version: row.version };
}

function testRequestOf(
  { url: template, auth, headers = {} }: AppTest,
  { fields }: StoredCredentials,
): ProviderRequest | string {
  const filled = fillUrl(template, fields);
  if (!filled.ok) return `The field ${filled.field} ${filled.message}`;
  const extra = Object.entries(headers).map(([name, value]) => [name, fillText(value, fields)]);
  const sent = { ...Object.fromEntries(extra), ...authHeader(auth, fields) } as Record<string, string>;
  return { method: 'GET', url: filled.url, headers: sent };
}

function authHeader(auth: AppTest['auth'], fields: Readonly<Record<string, string>>): Record<string, string> {
  switch (auth.type) {
    case 'bearer':
      return { authorization: `Bearer ${fillText(auth.token, fields)}` };
    case 'basic': {
      const pair = `${fillText(auth.user, fields)}:${fillText(auth.password, fields)}`;
      return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
    }
    case 'header':
      return { [auth.name]: fillText(auth.value, fields) };
    case 'none':
      return {};
  }
}
