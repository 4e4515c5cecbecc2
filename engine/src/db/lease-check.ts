/** Asks whether rows that a node leased are still its own. */
export interface LeaseCheck {
  /**
   * True if this id renewed its lease so recently that no other node can have taken its rows.
   * Otherwise `confirm` asks the database, for as long as that is away. It returns whether the
   * leases are still this node's.
   */
  isCertain(leasedBy: string): boolean;
  confirm(leasedBy: string): Promise<boolean>;
}
