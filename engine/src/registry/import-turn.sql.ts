/**
 * A turn of an import. Only a claim begins another, so a node that lost the import to one, as it
 * stalled, writes no more to it.
 */
export interface ImportTurn {
  id: string;
  /** When it was claimed, as the database says it. */
  turnAt: string;
}
