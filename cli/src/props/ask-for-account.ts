import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, interrupted } from '../api/client.ts';
import type { App, ComponentProp, ConnectedAccount } from '../api/resources.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import type { Choice } from '../terminal/ask.ts';
import { notEmpty, titleOf } from './question.ts';

const ANOTHER = Symbol('another');
const POLL_MS = 1_000;

/** A connected account of the app of a prop: one of those that are there, or another that is connected now. */
export async function askForAccount(context: CommandContext, api: ApiClient, prop: ComponentProp): Promise<unknown> {
  const slug = String(prop['app']);
  const app = await api.get<App>(`/apps/${encodeURIComponent(slug)}`);
  const accounts = await accountsOf(api, app);
  const choices: Choice<string | typeof ANOTHER>[] = accounts.map(({ id, name, oauth_uid: uid, dead }) => ({
    label: `${name ?? uid ?? id}${dead ? ' (has to be connected again)' : ''}`,
    value: id,
  }));
  choices.push({ label: `connect ${accounts.length === 0 ? 'an' : 'another'} account …`, value: ANOTHER });
  const picked = await context.ask.choose(titleOf({ ...prop, label: prop.label ?? app.name }), choices);
  return { authProvisionId: picked === ANOTHER ? await connectAccount(context, api, app) : picked };
}

function accountsOf(api: ApiClient, { name_slug: app }: App): Promise<ConnectedAccount[]> {
  return api.all<ConnectedAccount>('/users/me/accounts', { app });
}

async function connectAccount(context: CommandContext, api: ApiClient, app: App): Promise<string> {
  const fields: Record<string, string> = {};
  for (const { name, label, secret, optional } of app.fields) {
    const isSecret = secret ?? app.auth_type === 'keys';
    const question = `${app.name}: ${label}`;
    const value =
      isSecret && optional !== true
        ? await context.ask.secret(question)
        : await context.ask.text(question, optional === true ? { fallback: '' } : { check: notEmpty });
    if (value !== '') fields[name] = value;
  }
  if (app.auth_type === 'oauth2') return authorize(context, api, app, fields);
  const body = { app: app.name_slug, credentials: fields };
  return (await api.send<ConnectedAccount>('POST', '/connected_accounts', body)).id;
}

/** The user says yes in a browser, which the provider sends to the server: here the new account is waited for. */
async function authorize(
  { ask, output, signal }: CommandContext,
  api: ApiClient,
  app: App,
  fields: Record<string, string>,
): Promise<string> {
  const before = new Set((await accountsOf(api, app)).map(({ id }) => id));
  const body = { app: app.name_slug, ...(Object.keys(fields).length === 0 ? {} : { fields }) };
  const flow = await api.send<{ authorize_url: string; expires_at: number }>(
    'POST',
    '/connected_accounts/oauth/start',
    body,
  );
  ask.tell(`Open this in your browser to connect ${app.name}:\n${flow.authorize_url}`);
  return output.progress(`Waiting for the account of ${app.name}`, async () => {
    while (Date.now() < flow.expires_at * 1_000) {
      const made = (await accountsOf(api, app)).find(({ id }) => !before.has(id));
      if (made !== undefined) return made.id;
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
