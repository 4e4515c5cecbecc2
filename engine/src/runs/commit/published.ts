import type { EmittedEvent } from '@headwater/shared';
import { type EventPosition, storableText } from '../../events/index.ts';

/** The outcome of an event that was published. */
export interface PublishedEvent {
  /** As its sender gave it. */
  id: string | undefined;
  /** For a duplicate: where the event is that was stored for its id. */
  position: EventPosition;
  isDuplicate: boolean;
}

interface Decision {
  accepted: EmittedEvent[];
  /** Answers what has become of each, given where those that were accepted are. */
  decide: (positions: readonly EventPosition[]) => PublishedEvent[];
}

export function publishedIdOf({ id }: EmittedEvent): string | undefined {
  return id === undefined ? undefined : storableText(String(id));
}

/** An event without an id is always a new one; of those that share one, the first is stored. */
export function decidePublished(
  events: readonly EmittedEvent[],
  known: (id: string) => EventPosition | undefined,
): Decision {
  const accepted: EmittedEvent[] = [];
  const newIds = new Map<string, number>();
  const decided = events.map((event) => {
    const id = publishedIdOf(event);
    const before = id === undefined ? undefined : known(id);
    if (before !== undefined) return { id, before, isDuplicate: true };
    const repeats = id === undefined ? undefined : newIds.get(id);
    if (repeats !== undefined) return { id, index: repeats, isDuplicate: true };
    const index = accepted.push(event) - 1;
    if (id !== undefined) newIds.set(id, index);
    return { id, index, isDuplicate: false };
  });
  return {
    accepted,
    decide: (positions) =>
      decided.map(({ id, before, index = 0, isDuplicate }) => ({
        id,
        position: before ?? (positions[index] as EventPosition),
        isDuplicate,
      })),
  };
}
