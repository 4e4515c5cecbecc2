import type { Webhook } from '../api/resources.ts';
import { type ApiClient, interrupted, making } from '../api/client.ts';
import { CliError, usageError } from '../cli-error.ts';
import { type CommandSpec, NAMING_EXITS } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { tellOfConnection } from '../follow/recent-and-new.ts';
import { forwardRequest, type LocalAnswer, readTunnelRequest, type TunnelRequest } from '../listen/forward-request.ts';
import { findNamed } from '../names/find-named.ts';

const CLEAN_UP_MS = 5_000;

export const listen: CommandSpec = {
  path: 'listen',
  summary: 'Stream real deliveries to this machine',
  details:
    'Makes a webhook for as long as the command runs, and shows each of its requests. With --forward they go on to a server on this machine, signed, and its answers become those of the attempts. Each event has one attempt of 30 seconds. Ctrl-C ends it.',
  options: [
    { name: 'forward', value: 'url', summary: 'Where requests are sent on: `http://localhost:4000/hooks`.' },
    {
      name: 'emitter',
      value: 'name',
      summary: 'Only events of this source or workflow. Default: of all.',
      completes: { names: ['sources', 'workflows'] },
    },
    { name: 'channel', value: 'name', summary: 'Only this channel, or a pattern: `order.*`. Default: all.' },
  ],
  examples: [
    { does: 'To a server on this machine', command: 'hw listen --forward http://localhost:4000/hooks' },
    { does: 'See what a source sends', command: 'hw listen --emitter orders' },
  ],
  json: 'one record a line: `{ webhook }`, then `{ request, answer }` for each delivery',
  exits: [...NAMING_EXITS, 'interrupted'],
  async run(context) {
    const { input, output } = context;
    const forward = forwardUrlOf(input.text('forward'));
    const api = await context.api();
    const webhook = await makeTunnel(context, api);
    output.record({ webhook }, welcome(webhook, forward));
    try {
      await follow(context, api, webhook, forward);
    } finally {
      await remove(context, webhook);
    }
    return undefined;
  },
};

function forwardUrlOf(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw usageError(`--forward ${text} is no http or https URL`);
  return url;
}

async function makeTunnel({ input }: CommandContext, api: ApiClient): Promise<Webhook> {
  const [name, event_name] = [input.text('emitter'), input.text('channel')];
  const emitter = name === undefined ? undefined : await findNamed(api, ['source', 'workflow'], name);
  return making(() => api.send<Webhook>('POST', '/tunnels', { emitter_id: emitter?.id, event_name }));
}

function welcome({ id, secret }: Webhook, forward: URL | undefined): string {
  const to = forward === undefined ? 'Answers each with 200' : `Forwards to ${forward.href}`;
  return `Listening as the webhook ${id}\nIts secret: ${secret}\n${to}. Ctrl-C ends it.`;
}

/** Requests go on one beside the other, as a receiver would get them. */
async function follow(
  { output, signal }: CommandContext,
  api: ApiClient,
  { id }: Webhook,
  forward: URL | undefined,
): Promise<never> {
  const connection = tellOfConnection(output);
  const failed = Promise.withResolvers<never>();

  async function pass(request: TunnelRequest): Promise<void> {
    const answer = forward === undefined ? { status: 200 } : await forwardRequest(request, forward, signal);
    if (signal.aborted) return;
    output.record({ request, answer }, lineOf(request, answer));
    try {
      await api.send('POST', `/webhooks/${id}/answer`, { request_id: request.id, ...answer });
    } catch (error) {
      if (error instanceof CliError && error.code === 'NOT_FOUND') output.warn('the answer came too late');
      else if (!signal.aborted) failed.reject(error);
    }
  }

  async function passAll(): Promise<never> {
    const watch = { onLost: connection.lost, onBack: connection.back };
    for await (const { data } of api.stream(`/webhooks/${id}/tunnel`, {}, watch)) {
      const request = readTunnelRequest(data);
      if (request === undefined) output.warn('a message of the server is not understood and left out');
      else void pass(request);
    }
    throw interrupted();
  }

  return Promise.race([passAll(), failed.promise]);
}

function lineOf({ headers, body }: TunnelRequest, { status, error }: LocalAnswer): string {
  const channel = headers['headwater-channel'] ?? '';
  return [new Date().toISOString(), status ?? `failed: ${error}`, headers['webhook-id'], channel, body].join('\t');
}

/**
 * With Ctrl-C, too. Where the server cannot be reached, it deletes the webhook itself after a
 * while.
 */
async function remove(context: CommandContext, { id }: Webhook): Promise<void> {
  const api = await context.api(AbortSignal.timeout(CLEAN_UP_MS));
  await api.send('DELETE', `/webhooks/${id}`).catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'NOT_FOUND') return;
    context.output.warn(`the webhook ${id} is left behind for some minutes: ${(error as Error).message}`);
  });
}
