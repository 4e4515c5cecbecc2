/** Asks whether rows that a node leased are still its own. */
export interface LeaseCheck {
  /**
   * No other node can have taken what is leased by this id: it said that it lives a short time ago.
   * Else `confirm` asks the database, for as long as that is away, and answers whether the leases
   * are still this node's.
   */
  isCertain(leasedBy: string): boolean;
  confirm(leasedBy: string): Promise<boolean>;
}
