import { type DoctorReport, runDoctor } from '@headwater/engine';
import { readConfig } from './config.ts';
import { createProcessLog } from './process-log.ts';

/* `hw server doctor`: one JSON document to stdout, code 1 where something fails. */

const outcome = readConfig(process.env, []);
const report: DoctorReport = outcome.ok
  ? await runDoctor({
      ...outcome.config,
      // What it finds is in the report.
      log: createProcessLog({ ...outcome.config, logLevel: 'silent' }, process.stderr),
    })
  : {
      ok: false,
      checks: outcome.problems.map((detail) => ({
        name: 'configuration',
        status: 'fail',
        detail,
        costs: 'Nothing starts. docs/configuration.md lists what can be set.',
      })),
    };
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exitCode = report.ok ? 0 : 1;
