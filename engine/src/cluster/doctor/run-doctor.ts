import { checkBuilder } from './check-builder.ts';
import { checkDatabase } from './check-database.ts';
import { checkKey } from './check-key.ts';
import { checkDisk, checkEgress, checkMachine, checkVersions } from './check-machine.ts';
import { checkSandbox } from './check-sandbox.ts';
import type { DoctorCheck, DoctorOptions, DoctorReport } from './report.ts';

/**
 * Looks at everything that a node with these options needs. It makes and changes nothing that the
 * start of a node would not, and what it starts for looking it stops. Never rejects for what it
 * finds.
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
