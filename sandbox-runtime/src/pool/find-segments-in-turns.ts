import { createGiveWay } from '@headwater/shared';
import { type GeneratedPlace, searchSegments, type Segment } from '../bridge/find-segments.ts';

/** As `findSegments`, in turns with others: on the node's thread. */
export async function findSegmentsInTurns(
  mappings: string,
  places: readonly GeneratedPlace[],
): Promise<(Segment | undefined)[]> {
  const giveWay = createGiveWay();
  const search = searchSegments(mappings, places);
  for (;;) {
    const { done, value } = search.next();
    if (done === true) return value;
    await giveWay();
  }
}
