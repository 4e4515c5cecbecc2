import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, interrupted } from '../api/client.ts';
import type { App, CheckedAccount, ConnectedAccount } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { notEmpty } from './question.ts';

const POLL_MS = 1_000;

export function accountsOf(api: ApiClient, { name_slug: app }: App): Promise<ConnectedAccount[]> {
  return api.all<ConnectedAccount>('/users/me/accounts', { app });
}

/**
 * Connects an account: asks for its name, where none is given, and for the fields of the app. Keys
 * that the app can test, and that are refused, are not kept.
 */
export async function connectAccount(
  context: CommandContext,
  api: ApiClient,
  app: App,
  givenName?: string,
): Promise<ConnectedAccount> {
  const name = givenName ?? (await askForName(context, app));
  const fields = await readFields(context, app);
  const named = { app: app.name_slug, ...(name === '' ? {} : { name }) };
  if (app.auth_type === 'oauth2') return authorize(context, api, app, { ...named, ...fieldsOf(fields) });
  const made = await api.send<ConnectedAccount>('POST', '/connected_accounts', { ...named, credentials: fields });
  return testKeys(context, api, app, made);
}

const fieldsOf = (fields: Record<string, string>) => (Object.keys(fields).length === 0 ? {} : { fields });

async function askForName({ ask }: CommandContext, app: App): Promise<string> {
  if (!ask.possible) return '';
  return ask.text(`${app.name}: name of the account, to tell it from others`, { fallback: '' });
}

async function readFields({ ask, readStdin }: CommandContext, app: App): Promise<Record<string, string>> {
  if (app.fields.length === 0) return {};
  if (!ask.possible) return parseFields(await readStdin(), app);
  const fields: Record<string, string> = {};
  for (const { name, label, secret, optional } of app.fields) {
    const isSecret = secret ?? app.auth_type === 'keys';
    const question = `${app.name}: ${label}`;
    const value =
      isSecret && optional !== true
        ? await ask.secret(question)
        : await ask.text(question, optional === true ? { fallback: '' } : { check: notEmpty });
    if (value !== '') fields[name] = value;
  }
  return fields;
}

function parseFields(text: string, app: App): Record<string, string> {
  const example = JSON.stringify(Object.fromEntries(app.fields.map(({ name }) => [name, '…'])));
  try {
    const fields = JSON.parse(text) as unknown;
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields))
      return fields as Record<string, string>;
  } catch {
    // Invalid JSON gets the same error as a value that is no object.
  }
  throw usageError(`Standard input has no JSON object of the fields of ${app.name}`, `Give it ${example}`);
}

/** The server keeps nothing of keys that the provider refuses. */
async function testKeys(
  { output, ask }: CommandContext,
  api: ApiClient,
  app: App,
  made: ConnectedAccount,
): Promise<ConnectedAccount> {
  const at = `/connected_accounts/${made.id}`;
  const checked = await output.progress(`Testing the keys of ${app.name}`, () =>
    api.send<CheckedAccount>('POST', `${at}/check`),
  );
  const { conclusive, detail } = checked.check;
  if (!conclusive) ask.tell(`The keys of ${app.name} are stored and were not tested: ${detail}`);
  if (!conclusive || !checked.dead) return checked;
  await api.send('DELETE', at);
  throw new CliError('failure', `${app.name} does not accept these keys: ${detail}`, {
    code: 'KEYS_REFUSED',
    hint: 'Nothing was stored. Look at the keys, and connect it again',
  });
}

/**
 * The user says yes in a browser, which the provider sends to the server: here the new account is
 * waited for.
 */
async function authorize(
  { ask, output, signal }: CommandContext,
  api: ApiClient,
  app: App,
  body: object,
): Promise<ConnectedAccount> {
  const before = new Set((await accountsOf(api, app)).map(({ id }) => id));
  const flow = await api.send<{ authorize_url: string; expires_at: number }>(
    'POST',
    '/connected_accounts/oauth/start',
    body,
  );
  ask.tell(`Open this in your browser to connect ${app.name}:\n${flow.authorize_url}`);
  return output.progress(`Waiting for the account of ${app.name}`, async () => {
    while (Date.now() < flow.expires_at * 1_000) {
      const made = (await accountsOf(api, app)).find(({ id }) => !before.has(id));
      if (made !== undefined) return made;
      await sleep(POLL_MS, undefined, { signal }).catch(() => {
        throw interrupted();
      });
    }
    throw new CliError('failure', `No account of ${app.name} was connected in time`, {
      code: 'NOT_CONNECTED',
      hint: 'Try again',
    });
  });
}
