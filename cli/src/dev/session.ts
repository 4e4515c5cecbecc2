import { type ApiClient, making } from '../api/client.ts';
import type { Component, EventRecord, Source } from '../api/resources.ts';
import { nameLocally, namingLocally } from '../bundle/name-locally.ts';
import { type CliError, usageError } from '../cli-error.ts';
import { describePlaces } from '../commands/describe-source.ts';
import { saveComponent } from '../commands/which-component.ts';
import type { CommandContext } from '../context.ts';
import { followFeed, RECENT, tellOfConnection } from '../follow/recent-and-new.ts';
import { eventText, logText } from '../follow/show-record.ts';
import { givenProps } from '../props/given-props.ts';
import { type HeldOutput, holdOutput } from './held-output.ts';
import { RECORDED_OPTIONS } from './recorded-event.ts';
import { createActionTrials } from './try-steps.ts';

export interface Session {
  /** Makes the source, or gives it other code. An action is run once. */
  deploy(code: string): Promise<void>;
  onBroken(error: CliError): void;
  onMended(): void;
  /** Undefined while no source exists. */
  sourceId(): string | undefined;
  /** Rejects when its events or logs cannot be followed any longer. */
  failed: Promise<never>;
}

export interface SessionOptions {
  /** The file, as the user calls it. */
  word: string;
  /** A source that is there already. */
  attached: Source | undefined;
}

/**
 * Deploys one source at every save, and shows its events and log lines; or runs an action, and
 * shows what it came to.
 */
export function createSession(context: CommandContext, api: ApiClient, options: SessionOptions): Session {
  const { input, output } = context;
  const { word, attached } = options;
  const held = holdOutput(output);
  const failed = Promise.withResolvers<never>();
  const name = input.text('name');
  let source = attached;
  // Kept until a deployment with these answers succeeds, so that a failed hook does not repeat the
  // questions.
  let answers: Record<string, unknown> = {};
  let places = '';
  const trials = createActionTrials(context, api, held, word);

  function follow(id: string, count: number): void {
    followSource(context, api, held, { id, count, word }).catch(failed.reject);
  }

  async function send({ id }: Component): Promise<Source> {
    const choice = { parameters: { component_id: id }, described: word };
    const parameters = await held.during(() => givenProps(context, api, { choice, source, answers }));
    answers = parameters.configured_props;
    const body = { ...parameters, ...(name === undefined ? {} : { name }) };
    return output.progress(`Deploying ${word}`, () =>
      source === undefined
        ? making(() => api.send<Source>('POST', '/sources', body))
        : api.send<Source>('PUT', `/sources/${source.id}`, body),
    );
  }

  // Begins before the first deployment, because its hooks may emit.
  if (attached !== undefined) follow(attached.id, 0);
  return {
    failed: failed.promise,
    sourceId: () => source?.id,
    async deploy(code) {
      const before = source;
      const choice = { parameters: { component_code: code }, described: word };
      const component = await namingLocally(word, () =>
        output.progress(`Reading ${word}`, () => saveComponent(api, choice)),
      );
      if (component.type === 'action' && before === undefined && name === undefined)
        return namingLocally(word, () => trials.run(component));
      refuseRecorded(context, component);
      source = await namingLocally(word, () => send(component));
      answers = {};
      const now = placesOf(source);
      showDeployed(context, held, source, before === undefined || now !== places ? now : undefined);
      places = now;
      // Events and log lines that its hooks already wrote belong to the source.
      if (before === undefined) follow(source.id, RECENT);
    },
    onBroken(error) {
      const { code, message, fields } = error;
      if (output.json) return held.record({ broken: { code, message, fields } }, '');
      output.error(error);
      output.note(nextStep(error, source));
    },
    onMended() {
      if (source === undefined) return output.note('Mended: what is saved is what ran last');
      held.record({ deployed: source }, `${output.style.green('✓')} Mended: what is saved is what runs`);
    },
  };
}

/** Options that say nothing here would be passed over in silence. */
function refuseRecorded({ input }: CommandContext, { name, type }: Component): void {
  const given = RECORDED_OPTIONS.find((option) => input.text(option.name) !== undefined);
  if (type === 'source' && given !== undefined)
    throw usageError(
      `--${given.name} is for actions and workflows, and ${name} is a source`,
      'Once it is deployed, run it with an event: hw run <source> --event <file>',
    );
}

function nextStep({ exit }: CliError, source: Source | undefined): string {
  if (exit === 'unreachable') return 'Trying again until it is there';
  return source === undefined ? 'Waiting for a save' : 'The version before goes on running. Waiting for a save';
}

function placesOf(source: Source): string {
  return describePlaces(source)
    .map(([what, place]) => `\n${what}: ${place}`)
    .join('');
}

/** `places`: only where there is something new about them. */
function showDeployed({ output }: CommandContext, held: HeldOutput, source: Source, places: string | undefined): void {
  const mark = output.style.green('✓');
  const text =
    places === undefined ? `${mark} Deployed again` : `${mark} Deployed ${source.name_slug} (${source.id})${places}`;
  held.record({ deployed: source }, text);
}

/** Events and log lines as they come, each with its kind under --json. */
async function followSource(
  { output }: CommandContext,
  api: ApiClient,
  held: HeldOutput,
  { id, count, word }: { id: string; count: number; word: string },
): Promise<void> {
  const base = `/sources/${id}`;
  const connection = tellOfConnection(output);
  const following = (show: (record: EventRecord) => void) => ({ count, show, output, connection });
  const events = { listPath: `${base}/event_summaries`, streamPath: `${base}/sse` };
  const logs = { listPath: `${base}/$logs/event_summaries`, streamPath: `${base}/logs` };
  await Promise.all([
    followFeed(
      api,
      events,
      following((event) => held.record({ event }, eventText(event, output.style, output.forTerminal))),
    ),
    followFeed(
      api,
      logs,
      following((log) => held.record({ log }, nameLocally(logText(log, output.style), word))),
    ),
  ]);
}
