import { checkBuilder } from './check-builder.ts';
import { checkDatabase } from './check-database.ts';
import { checkKey } from './check-key.ts';
import { checkDisk, checkEgress, checkMachine, checkVersions } from './check-machine.ts';
import { checkSandbox } from './check-sandbox.ts';
import type { DoctorCheck, DoctorOptions, DoctorReport } from './report.ts';

/**
 * Checks everything that a node with these options needs. It changes nothing that the start of a
 * node would not, and stops the processes that it starts. Problems are in the report; it never
 * rejects because of them.
 */
export async function runDoctor(options: DoctorOptions): Promise<DoctorReport> {
  const parts: DoctorCheck[][] = [
    await checkVersions(),
    [checkMachine(), await checkDisk(options), await checkKey(options)],
    await checkDatabase(options),
    checkEgress(options),
    await checkSandbox(options),
    await checkBuilder(options),
  ];
  const checks = parts.flat();
  return { ok: checks.every(({ status }) => status !== 'fail'), checks };
}
