import { type DoctorReport, runDoctor } from '@headwater/engine';
import { checkListenPort } from './check-port.ts';
import { type Config, readConfig } from './config.ts';
import { createProcessLog } from './process-log.ts';

/* `hw server doctor`: one JSON document to stdout, code 1 where something fails. */

// Only a process that ends by itself takes along the Postgres that it has started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const outcome = readConfig(process.env, []);
const report: DoctorReport = outcome.ok
  ? await examine(outcome.config)
  : {
      ok: false,
      checks: outcome.problems.map((detail) => ({
        name: 'configuration',
        status: 'fail',
        detail,
        costs: 'No node starts. docs/configuration.md lists all settings.',
      })),
    };
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exitCode = report.ok ? 0 : 1;

async function examine(config: Config): Promise<DoctorReport> {
  // Silent, because the report contains every finding.
  const log = createProcessLog({ ...config, logLevel: 'silent' }, process.stderr);
  const { checks } = await runDoctor({ ...config, log });
  // A node with the role engine listens only if a port is configured.
  if (config.role !== 'engine' || config.portIsSet)
    checks.push(await checkListenPort({ host: config.host, port: config.port }));
  return { ok: checks.every(({ status }) => status !== 'fail'), checks };
}
