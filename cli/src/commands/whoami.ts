import type { User } from '../api/resources.ts';
import { type CommandSpec, SERVER_EXITS } from '../command.ts';

export const whoami: CommandSpec = {
  path: 'whoami',
  summary: 'Which server, which account, and how much of it is used',
  examples: [
    { does: 'Of the default profile', command: 'hw whoami' },
    { does: 'Of another one', command: 'hw whoami -p work' },
  ],
  json: '{ url, profile, key_from, user } (`key_from`: `option`, `environment` or `profile`)',
  exits: SERVER_EXITS,
  async run(context) {
    const api = await context.api();
    const { profile, keyFrom } = await context.server();
    const user = await api.get<User>('/users/me');
    const quotas = Object.entries(user.quotas).map(([name, { used, limit }]): [string, string] => [
      name,
      limit === null ? `${used}` : `${used} of ${limit}`,
    ]);
    const keyOf = { option: '--api-key', environment: 'HEADWATER_API_KEY', profile: `profile ${profile}` };
    const fields: (readonly [string, string | null])[] = [
      ['server', api.url],
      ['user', user.email ?? user.username],
      ['user id', user.id],
      ...user.orgs.map(({ id, name }): [string, string] => ['account', `${name} (${id})`]),
      ['key', keyOf[keyFrom ?? 'profile']],
      ...quotas,
    ];
    return { json: { url: api.url, profile, key_from: keyFrom, user }, text: context.output.fields(fields) };
  },
};

export const limits: CommandSpec = {
  path: 'limits',
  summary: 'The limits of the account',
  details: 'The operator sets them: hw tenants limits.',
  examples: [{ does: 'One of them', command: "hw limits --json | jq '.limits.maxSources'" }],
  json: 'the limits, as `GET /v1/users/me/limits` answers them',
  exits: SERVER_EXITS,
  async run({ api, output }) {
    const found = await (await api()).get<{ limits: Record<string, number> }>('/users/me/limits');
    const text = output.table(Object.entries(found.limits), [
      { title: 'LIMIT', whole: true, value: ([name]) => name },
      { title: 'VALUE', value: ([, value]) => `${value}` },
    ]);
    return { json: found, text };
  },
};
