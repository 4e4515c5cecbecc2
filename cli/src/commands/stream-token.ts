import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import { findNamed } from '../names/find-named.ts';
import { ofSeconds } from '../terminal/describe-time.ts';

const MAX_MINUTES = 60;

export const streamToken: CommandSpec = {
  path: 'stream-token',
  summary: "Make a token with which a browser's EventSource opens streams",
  details:
    'It opens streams of events and log lines and nothing else, those that the key may read: `new EventSource(url + "/v1/sources/dc_…/sse?token=" + token)`. It ends with the key.',
  arguments: [
    {
      name: 'name',
      summary: 'The source or workflow whose streams it opens. Default: all.',
      optional: true,
      completes: { names: ['sources', 'workflows'] },
    },
  ],
  options: [
    { name: 'minutes', value: 'number', summary: `How long it opens streams, up to ${MAX_MINUTES}. Default: 5.` },
  ],
  examples: [{ does: 'For the page of one source', command: 'hw stream-token orders --minutes 30 --quiet' }],
  json: '{ token, expires_at }',
  exits: NAMING_EXITS,
  async run({ api: connect, input }) {
    const minutes = input.count('minutes', { min: 1, max: MAX_MINUTES });
    const name = input.optionalArgument('name');
    const api = await connect();
    const emitter = name === undefined ? undefined : await findNamed(api, ['source', 'workflow'], name);
    const body = { emitter_id: emitter?.id, minutes };
    const made = await api.send<{ token: string; expires_at: number }>('POST', '/streams/token', body);
    return {
      json: made,
      text: `${made.token}\nIt opens streams until ${ofSeconds(made.expires_at)}.`,
      quiet: made.token,
    };
  },
};
