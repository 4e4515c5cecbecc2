import { type Note, notesOf, NOTES_OF_REQUEST, passesFilter } from './expected.ts';
import { type Promised, repeated } from './promised.ts';
import type { EventRow, Messages, Outcome, TenantOutcome, WebhookMessage } from './records.ts';

type NoteRow = EventRow & Note;

const NOTHING: Messages = new Map();

/** Events without dedupe, and the webhooks that listen to them, each with a promise of its own. */
export function judgeNotes({ requests, tenants }: Outcome): Promised[] {
  const accepted = requests.filter(({ to, answer }) => to === 'notes' && answer === 'accepted');
  const sent = new Set(requests.filter(({ to }) => to === 'notes').map(({ request }) => request));
  const notes = tenants.map((tenant) => tenant.notes.map(parseNote));
  const places = new Set(notes.flat().map(placeOf));
  const isWhole = (request: number) => notesOf(request).every((note) => places.has(placeOf(note)));
  const each = <T>(judgeOne: (tenant: TenantOutcome, rows: readonly NoteRow[]) => T[]): T[] =>
    tenants.flatMap((tenant, i) => judgeOne(tenant, notes[i] ?? []));
  return [
    { name: 'no dedupe: accepted and not emitted', broken: accepted.filter(({ request }) => !isWhole(request)) },
    { name: 'no dedupe: emitted twice', broken: repeated(notes.flat(), placeOf) },
    { name: 'no dedupe: other events than were sent', broken: notes.flat().filter((note) => !isSent(note, sent)) },
    { name: 'fifo: events not delivered', broken: each(missingAt('fifo')) },
    { name: 'fifo: events sent before their turn', broken: each(outOfOrder('fifo', () => '')) },
    { name: 'fifo by key: events not delivered', broken: each(missingAt('fifo-by-key')) },
    { name: 'fifo by key: events sent before their turn', broken: each(outOfOrder('fifo-by-key', ({ key }) => key)) },
    { name: 'filter: events not delivered', broken: each(missingAt('filtered', passesFilter)) },
    { name: 'filter: events that do not pass', broken: each(unexpectedAt('filtered', passesFilter)) },
    { name: 'stopped and started: events not delivered', broken: each(missingAt('switched')) },
    { name: 'replays: not done, or not as many as counted', broken: each(badReplays) },
    { name: 'replays: events not delivered', broken: each(missingOfReplays) },
    { name: 'replays: events out of their range', broken: each(unexpectedOfReplays) },
    { name: 'webhooks of notes: messages of no event', broken: each(ghosts) },
    { name: 'webhooks of notes: other bodies than their event', broken: each(changed) },
  ];
}

const parseNote = (row: EventRow): NoteRow => ({ ...(JSON.parse(row.data) as Note), ...row });
const placeOf = ({ request, at }: Note) => request * NOTES_OF_REQUEST + at;

function isSent(row: NoteRow, sent: ReadonlySet<number>): boolean {
  const note = notesOf(row.request)[row.at];
  return sent.has(row.request) && row.data === JSON.stringify(note) && row.channel === note?.channel;
}

const isDelivered = (messages: Messages, { messageId }: EventRow) => (messages.get(messageId)?.taken ?? 0) > 0;

type JudgeOne<T> = (tenant: TenantOutcome, notes: readonly NoteRow[]) => T[];

function missingAt(hook: string, passes: (note: Note) => boolean = () => true): JudgeOne<NoteRow> {
  return ({ hooks }, notes) => {
    const messages = hooks.get(hook) ?? NOTHING;
    return notes.filter((note) => passes(note) && !isDelivered(messages, note));
  };
}

function unexpectedAt(hook: string, passes: (note: Note) => boolean): JudgeOne<NoteRow> {
  return ({ hooks }, notes) => notes.filter((note) => !passes(note) && hooks.get(hook)?.has(note.messageId) === true);
}

/**
 * Tried before the event that precedes it had been taken. Later repetitions of that one do not
 * count: a frozen node can send what was sent by another meanwhile.
 */
function outOfOrder(hook: string, keyOf: (note: Note) => string): JudgeOne<unknown> {
  return ({ hooks }, notes) => {
    const messages = hooks.get(hook) ?? NOTHING;
    const lastOfKey = new Map<string, WebhookMessage>();
    return notes.flatMap((note) => {
      const message = messages.get(note.messageId);
      if (message === undefined) return [];
      const before = lastOfKey.get(keyOf(note));
      lastOfKey.set(keyOf(note), message);
      return before !== undefined && message.firstTry < before.firstTaken ? [{ note, message, before }] : [];
    });
  };
}

function badReplays({ replays, hooks }: TenantOutcome): unknown[] {
  return replays.flatMap((replay) => {
    const received = hooks.get(replay.hook)?.size ?? 0;
    const isGood = replay.status === 'done' && replay.sent === replay.count && received === replay.count;
    return isGood ? [] : [{ ...replay, received }];
  });
}

function missingOfReplays({ replays, hooks }: TenantOutcome, notes: readonly NoteRow[]): unknown[] {
  return replays.flatMap(({ id, hook, sinceMs, untilMs }) =>
    notes
      .filter(({ indexedAtMs: at }) => at >= sinceMs && at < untilMs)
      .filter((note) => !isDelivered(hooks.get(hook) ?? NOTHING, note))
      .map((note) => ({ replay: id, note })),
  );
}

function unexpectedOfReplays({ replays, hooks }: TenantOutcome, notes: readonly NoteRow[]): unknown[] {
  return replays.flatMap(({ id, hook, sinceMs, untilMs }) =>
    notes
      .filter(({ indexedAtMs: at }) => at < sinceMs || at >= untilMs)
      .filter(({ messageId }) => hooks.get(hook)?.has(messageId) === true)
      .map((note) => ({ replay: id, note })),
  );
}

function messagesOfNotes({ hooks }: TenantOutcome): WebhookMessage[] {
  return [...hooks].flatMap(([name, messages]) => (name === 'plain' ? [] : [...messages.values()]));
}

function ghosts(tenant: TenantOutcome, notes: readonly NoteRow[]): WebhookMessage[] {
  const known = new Set(notes.map(({ messageId }) => messageId));
  return messagesOfNotes(tenant).filter(({ id }) => !known.has(id));
}

function changed(tenant: TenantOutcome, notes: readonly NoteRow[]): WebhookMessage[] {
  const data = new Map(notes.map((note) => [note.messageId, note.data]));
  return messagesOfNotes(tenant).filter(({ id, bodies }) => bodies.some((body) => body !== (data.get(id) ?? body)));
}
