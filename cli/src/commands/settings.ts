import { usageError } from '../cli-error.ts';
import { type CommandSpec, SERVER_EXITS } from '../command.ts';

type Settings = Record<string, string | boolean>;

export const settings: CommandSpec = {
  path: 'settings',
  summary: 'The settings of your account; with NAME=value, changes them',
  details:
    '`trace_context`: whether `traceparent` of requests to your endpoints is taken in, and passed on in deliveries and in `fetch` of components.',
  arguments: [{ name: 'setting', summary: '`NAME=true` or `NAME=false`.', optional: true, variadic: true }],
  examples: [
    { does: 'All of them', command: 'hw settings' },
    { does: 'Traces are passed on', command: 'hw settings trace_context=true' },
  ],
  json: 'the settings, as `GET /v1/users/me/settings` answers them',
  exits: SERVER_EXITS,
  async run({ api: connect, input, output }) {
    const change = Object.fromEntries(input.words('setting').map(readSetting));
    const api = await connect();
    const isRead = Object.keys(change).length === 0;
    const path = '/users/me/settings';
    const found = isRead ? await api.get<Settings>(path) : await api.send<Settings>('PUT', path, change);
    const rows = Object.entries(found).map(([name, value]) => [name, String(value)] as const);
    return { json: found, text: output.fields(rows) };
  },
};

function readSetting(word: string): [string, boolean] {
  const [, name = '', value] = /^(\w+)=(true|false)$/.exec(word) ?? [];
  if (name === '') throw usageError(`${word} sets nothing`, 'Write it as trace_context=true');
  return [name, value === 'true'];
}
