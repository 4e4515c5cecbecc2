/** The source that is being changed, and which of its changes that is. */
export interface ChangeLease {
  accountId: string;
  sourceId: string;
  changeId: string;
}

/** How a lease begins. */
export interface LeaseTerms {
  changeId: string;
  nodeId: string;
  /** Until it has to be extended. */
  seconds: number;
}
