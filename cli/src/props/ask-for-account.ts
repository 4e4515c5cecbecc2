import type { ApiClient } from '../api/client.ts';
import type { App, ComponentProp } from '../api/resources.ts';
import type { CommandContext } from '../context.ts';
import type { Choice } from '../terminal/ask.ts';
import { accountsOf, connectAccount } from './connect-account.ts';
import { titleOf } from './question.ts';

const ANOTHER = Symbol('another');

/**
 * A connected account of the app of a prop: one of those that are there, or another that is
 * connected now.
 */
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
  return { authProvisionId: picked === ANOTHER ? (await connectAccount(context, api, app)).id : picked };
}
