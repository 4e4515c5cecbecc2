import type { Prefix } from './command-prefix.ts';
import type { ControlGroups } from './control-groups.ts';
import type { ProcessStarter } from '../starter/starter.ts';
import type { ProcessRights } from './process-rights.ts';
import type { UserIds } from './user-ids.ts';

export interface ConfinementOptions {
  starter: Promise<ProcessStarter>;
  /** Resident memory at which this node ends a process by itself. */
  maxRssMb: number;
  /** A control group folder that the operator has handed to this node. */
  controlGroup: string | undefined;
  log(level: 'warn', message: string, fields: Record<string, unknown>): void;
}

/** Confinement that works on this system. */
export interface Findings {
  network: Prefix;
  limits: Prefix;
  privileges: Prefix;
  priority: Prefix;
  users: UserIds | undefined;
  /** Empty where there are some. */
  whyNoUsers: string;
  /** Path of koffi, which installs the system call filter; undefined if it cannot be installed. */
  koffiPath: string | undefined;
  groups: ControlGroups;
  rights: ProcessRights;
  /** They have no capabilities. */
  isUnprivileged: boolean;
}
