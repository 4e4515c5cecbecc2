import type { ApiClient } from '../api/client.ts';
import type { EventRecord, Execution } from '../api/resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { OptionSpec } from '../command.ts';
import { EVENT, readEvent } from '../commands/run.ts';
import type { CommandContext } from '../context.ts';
import { findNamed } from '../names/find-named.ts';

/** The event that an action or a workflow is tried with. */
export const RECORDED_OPTIONS: readonly OptionSpec[] = [
  { ...EVENT, summary: 'JSON of the event that an action or workflow is run with; `-` reads standard input.' },
  {
    name: 'event-id',
    value: 'id',
    summary: 'A past event instead: the `emit_id` of an event, or an execution (`exec_…`) of a workflow.',
  },
  {
    name: 'newest',
    value: 'name',
    summary: 'The newest event of this source instead, or the newest execution of this workflow.',
    completes: { names: ['sources', 'workflows'] },
  },
  {
    name: 'step',
    value: 'namespace',
    summary: 'With an execution: the step that is run, with what the steps before it came to.',
  },
];

export interface RecordedEvent {
  event?: unknown;
  eventId?: string;
  /** The event is that of an execution of this workflow. */
  workflowId?: string;
}

/**
 * Reads the event that the options name. A past one is looked up once, so that each save is run
 * with the same; a file is read each time.
 */
export function recordedEvent(context: CommandContext, api: ApiClient): () => Promise<RecordedEvent> {
  const { input } = context;
  const [id, newest] = [input.text('event-id'), input.text('newest')];
  const given = ['event', 'event-id', 'newest'].filter((name) => input.text(name) !== undefined);
  if (given.length > 1) throw usageError(`--${given.join(' and --')} exclude each other`, 'Give one of them');
  let past: RecordedEvent | undefined;
  return async () => {
    if (past !== undefined) return past;
    if (newest !== undefined) past = await newestOf(api, newest);
    else if (id !== undefined) past = id.startsWith('exec_') ? await executionOf(api, id) : { eventId: id };
    else return { event: await readEvent(context) };
    return past;
  };
}

async function newestOf(api: ApiClient, name: string): Promise<RecordedEvent> {
  const { kind, id } = await findNamed(api, ['source', 'workflow'], name);
  if (kind === 'workflow') {
    const [execution] = await api.page<Execution>(`/workflows/${id}/executions`, { limit: 1 });
    if (execution === undefined) throw nothingYet(name, 'no executions', `hw run ${name}`);
    return { eventId: execution.id, workflowId: id };
  }
  const [event] = await api.page<EventRecord>(`/sources/${id}/event_summaries`, { limit: 1 });
  if (event === undefined) throw nothingYet(name, 'emitted nothing', `hw run ${name}`);
  return { eventId: event.metadata.emit_id };
}

function nothingYet(name: string, what: string, command: string): CliError {
  return new CliError('notFound', `${name} has ${what} yet`, {
    hint: `Start it: ${command}   or give an event: --event <file>`,
  });
}

async function executionOf(api: ApiClient, id: string): Promise<RecordedEvent> {
  const { workflow_id: workflowId } = await api.get<Execution & { workflow_id: string }>(`/executions/${id}`);
  return { eventId: id, workflowId };
}
