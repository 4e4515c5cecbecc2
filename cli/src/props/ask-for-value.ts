import type { ApiClient } from '../api/client.ts';
import type { ComponentProp } from '../api/resources.ts';
import type { CommandContext } from '../context.ts';
import { askForAccount } from './ask-for-account.ts';
import { askForChoice } from './ask-for-choice.ts';
import { parseTimer } from './parse-typed.ts';
import { askForText, notEmpty, type Question, titleOf } from './question.ts';

interface DataStore {
  id: string;
  name: string;
}

/** Asks at the terminal for the value of one prop. */
export async function askForValue(context: CommandContext, api: ApiClient, question: Question): Promise<unknown> {
  const { ask } = context;
  const { prop } = question;
  if (prop.type === 'app') return askForAccount(context, api, prop);
  if (prop.type === 'data_store') return askForStore(context, api, prop);
  if (prop.type === '$.interface.timer') return askForTimer(context, prop);
  if (prop.options !== undefined) return askForChoice(context, api, question);
  if (prop.type === 'boolean') return ask.confirm(titleOf(prop));
  if (prop['secret'] === true) return ask.secret(titleOf(prop));
  return askForText(context, prop);
}

async function askForTimer({ ask }: CommandContext, prop: ComponentProp): Promise<unknown> {
  const text = await ask.text(titleOf(prop), {
    placeholder: 'seconds, or a cron expression such as 0 9 * * 1-5',
    check: notEmpty,
  });
  return parseTimer(text);
}

const NEW = Symbol('new');

async function askForStore({ ask }: CommandContext, api: ApiClient, prop: ComponentProp): Promise<string> {
  const stores = await api.all<DataStore>('/data_stores');
  const choices = stores.map(({ id, name }) => ({ label: name, value: id }));
  const picked = await ask.choose<string | typeof NEW>(titleOf(prop), [
    ...choices,
    { label: 'a new data store …', value: NEW },
  ]);
  if (picked !== NEW) return picked;
  const name = await ask.text('Name of the new data store', { check: notEmpty });
  return (await api.send<DataStore>('POST', '/data_stores', { name })).id;
}
