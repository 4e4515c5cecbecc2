import type { Stack } from '@headwater/shared/contract';
import type { Principal } from './base.ts';

/** Something that was made from a folder. */
export interface StackResource {
  kind: Stack['resources'][number]['kind'];
  /** Its name in the folder. */
  key: string;
  id: string;
  /** A fingerprint of the secrets that it was last given, for comparison. */
  secrets?: string;
}

export interface StackRecord {
  name: string;
  resources: StackResource[];
  /** Until then only its holder changes it. */
  heldUntil?: Date;
  createdAt: Date;
  updatedAt: Date;
}

interface StackUpdate {
  /** Absent: those of before. */
  resources?: readonly StackResource[] | undefined;
  holder: string;
  /** 0: nobody holds it afterwards. */
  holdSeconds: number;
}

/**
 * The resources that `hw apply` has made from a folder. The resources themselves know nothing of
 * it.
 */
export interface Stacks {
  /** By name, all of them. */
  list(who: Principal): Promise<StackRecord[]>;
  get(who: Principal, name: string): Promise<StackRecord>;
  /** Makes it where it is not there. Throws CONFLICT where another holder has it. */
  put(who: Principal, name: string, update: StackUpdate): Promise<StackRecord>;
  /** Its resources stay. */
  delete(who: Principal, name: string): Promise<void>;
}
